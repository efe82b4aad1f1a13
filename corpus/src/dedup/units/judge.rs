//! What becomes of documents whose units are judged.

use std::collections::VecDeque;

use super::UnitRule;
use super::split::SplitDocument;
use crate::dedup::error::Result;
use dedupdb::write::{Change, Outcome};
use dedupdb::{Input, Writer};

type UnitOutcome = dedupdb::Result<Outcome>;

/// Judges a few documents, one after another, by the outcomes for their units.
#[derive(Debug)]
pub(super) struct UnitJudge {
    rule: UnitRule,
    /// Those of the documents that are not yet judged.
    outcomes: VecDeque<UnitOutcome>,
}

/// What becomes of a document.
#[derive(Debug)]
pub(super) struct JudgedDocument {
    /// The outcomes for the units that are judged.
    pub(super) outcomes: Vec<Outcome>,
    /// The text without the units that are cut, if any are.
    pub(super) text: Option<String>,
    /// Whether it goes, because more of it is cut than may be, or no word is left.
    pub(super) is_dropped: bool,
}

impl UnitJudge {
    /// Begins with the outcomes for the units of all documents, which were offered to a writer.
    pub(super) fn new(rule: UnitRule, outcomes: Vec<UnitOutcome>) -> UnitJudge {
        UnitJudge {
            rule,
            outcomes: outcomes.into(),
        }
    }

    /// Judges the next document, given those behind it. If the writer refused one of its units, that is the inner error, and
    /// nothing of the document is stored.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub(super) fn next<'d>(
        &mut self,
        writer: &mut Writer,
        document: &SplitDocument,
        behind: impl Iterator<Item = &'d SplitDocument> + Clone,
    ) -> Result<dedupdb::Result<JudgedDocument>> {
        let units = document.judged.len();
        let is_refused = self.outcomes.range(..units).any(Result::is_err);
        let cut = cut(document, &self.outcomes);
        let text = (!cut.is_empty()).then(|| document.without(&cut));
        let is_dropped = text.as_ref().is_some_and(|text| {
            document.share(&cut) > self.rule.most_lost || !text.contains(char::is_alphanumeric)
        });
        // What the store took of it has to go, or later copies of it would be cut.
        if is_refused || is_dropped {
            self.forget(writer, document, behind)?;
        }
        let outcomes: dedupdb::Result<Vec<Outcome>> = self.outcomes.drain(..units).collect();
        Ok(outcomes.map(|outcomes| JudgedDocument {
            outcomes,
            text,
            is_dropped,
        }))
    }

    /// Removes from the store what it took of a document that is not kept. If units behind it were kept out as copies of these,
    /// all behind it are judged again, so that the first copy stays.
    fn forget<'d>(
        &mut self,
        writer: &mut Writer,
        document: &SplitDocument,
        behind: impl Iterator<Item = &'d SplitDocument> + Clone,
    ) -> Result<()> {
        let own = document.judged.iter().map(|&unit| (document, unit));
        let gone = remove(writer, own.zip(&self.outcomes))?;
        let is_of_gone = |outcome: &UnitOutcome| {
            let earlier = outcome.as_ref().ok().and_then(Outcome::duplicate_of);
            earlier.is_some_and(|earlier| gone.contains(&earlier.key))
        };
        let rest = document.judged.len()..;
        if gone.is_empty() || !self.outcomes.range(rest.clone()).any(is_of_gone) {
            return Ok(());
        }
        let units = behind.flat_map(|it| it.judged.iter().map(move |&unit| (it, unit)));
        // Everything behind it is judged again, as if the document had not been there.
        remove(writer, units.clone().zip(self.outcomes.range(rest.clone())))?;
        let inputs: Vec<Input> = units.map(|(document, unit)| document.input(unit)).collect();
        let sketches = writer.store().sketch_all(inputs);
        let judged = writer.admit_batch(sketches)?;
        self.outcomes.truncate(rest.start);
        self.outcomes.extend(judged);
        Ok(())
    }
}

/// Removes from the store the units that it took by these outcomes, and returns their keys.
fn remove<'u>(
    writer: &mut Writer,
    units: impl Iterator<Item = ((&'u SplitDocument, usize), &'u UnitOutcome)>,
) -> Result<Vec<String>> {
    let mut keys = Vec::new();
    for ((document, unit), outcome) in units {
        if let Ok(outcome) = outcome
            && outcome.change == Change::Added
        {
            let second = outcome.second_key.clone();
            let key = second.unwrap_or_else(|| document.key(unit));
            writer.remove(&key)?;
            keys.push(key);
        }
    }
    Ok(keys)
}

/// Returns the units of a document that are kept out, by outcomes that begin with its own.
fn cut(document: &SplitDocument, outcomes: &VecDeque<UnitOutcome>) -> Vec<usize> {
    let judged = document.judged.iter().zip(outcomes);
    let is_copy = |outcome: &UnitOutcome| {
        outcome
            .as_ref()
            .is_ok_and(|outcome| outcome.duplicate_of().is_some())
    };
    let cut = judged.filter(|(_, outcome)| is_copy(outcome));
    cut.map(|(&unit, _)| unit).collect()
}
