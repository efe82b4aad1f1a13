//! Comparisons of two texts.

use dedupdb::Schema;
use dedupdb::find::Explanation;
use dedupdb::sketching::Estimate;
use dedupdb_lab::diff::{LongestRun, WordRun};
use serde::Serialize;

use crate::text_side;

/// `explain`.
#[derive(Serialize)]
pub(crate) struct ExplainJson<'a> {
    a: SideJson<'a>,
    b: SideJson<'a>,
    #[serde(rename = "match")]
    is_match: bool,
    threshold: f64,
    exact_copy: bool,
    jaccard: Option<f64>,
    both: Option<u64>,
    either: Option<u64>,
    containment_of_a: Option<f64>,
    containment_of_b: Option<f64>,
    contained: Option<&'static str>,
    estimate: Option<f64>,
    error: Option<f64>,
    agreeing: Option<u32>,
    slots: u32,
    bands: &'a [u32],
    all_bands: u32,
    recall: f64,
    found: bool,
    diff: Option<WordDiffJson<'a>>,
}

impl<'a> ExplainJson<'a> {
    /// Why two texts match under a schema or do not, and where they differ.
    pub(crate) fn new(
        schema: &Schema,
        [a, b]: &'a [text_side::TextSide; 2],
        explanation: &'a Explanation,
        contained: Option<&'static str>,
        diff: Option<WordDiffJson<'a>>,
    ) -> ExplainJson<'a> {
        let [of_a, of_b] = explanation.shingles;
        let (common, estimate) = (explanation.common.as_ref(), explanation.estimate);
        ExplainJson {
            a: SideJson::new(a, of_a),
            b: SideJson::new(b, of_b),
            is_match: explanation.is_match,
            threshold: schema.threshold(),
            exact_copy: explanation.exact_copy,
            jaccard: common.map(|common| common.jaccard),
            both: common.map(|common| common.both),
            either: common.map(|common| common.either),
            containment_of_a: common.map(|common| common.containment_of_a),
            containment_of_b: common.map(|common| common.containment_of_b),
            contained,
            estimate: estimate.map(|estimate| estimate.jaccard),
            error: estimate.map(|estimate| estimate.error),
            agreeing: explanation.agreeing,
            slots: schema.permutations(),
            bands: &explanation.bands,
            all_bands: schema.bands().bands(),
            recall: explanation.recall,
            found: explanation.is_found(),
            diff,
        }
    }
}

#[derive(Serialize)]
struct SideJson<'a> {
    name: &'a str,
    stored: bool,
    shingles: u64,
    text: bool,
    why_no_text: Option<&'a str>,
}

impl SideJson<'_> {
    fn new(side: &text_side::TextSide, shingles: u64) -> SideJson<'_> {
        SideJson {
            name: &side.name,
            stored: side.is_stored,
            shingles,
            text: side.text.is_ok(),
            why_no_text: side.text.as_ref().err().map(String::as_str),
        }
    }
}

/// In `explain`: the word diff, in which each punctuation mark is a word.
#[derive(Serialize)]
pub(crate) struct WordDiffJson<'a> {
    pub(crate) shared_words: usize,
    pub(crate) passages: usize,
    pub(crate) shared: Vec<SharedPassageJson<'a>>,
    pub(crate) longest: Option<LongestRunJson<'a>>,
    pub(crate) changes: usize,
    pub(crate) differences: Vec<DifferenceJson<'a>>,
    pub(crate) words_compared: Option<usize>,
}

/// In `explain`: a shared passage.
#[derive(Serialize)]
pub(crate) struct SharedPassageJson<'a> {
    words: usize,
    text: &'a str,
}

impl<'a> From<&WordRun<'a>> for SharedPassageJson<'a> {
    fn from(shared: &WordRun<'a>) -> SharedPassageJson<'a> {
        SharedPassageJson {
            words: shared.words,
            text: shared.text,
        }
    }
}

/// In `explain`: the longest run of words that both texts have.
#[derive(Serialize)]
pub(crate) struct LongestRunJson<'a> {
    words: usize,
    /// The number of its first word in each text, from 1.
    first_in_a: usize,
    first_in_b: usize,
    text: &'a str,
}

impl<'a> LongestRunJson<'a> {
    pub(crate) fn new(run: &LongestRun<'a>) -> LongestRunJson<'a> {
        let [in_a, in_b] = run.places;
        LongestRunJson {
            words: run.passage.words,
            first_in_a: in_a + 1,
            first_in_b: in_b + 1,
            text: run.passage.text,
        }
    }
}

/// In `explain`: a difference.
#[derive(Serialize)]
pub(crate) struct DifferenceJson<'a> {
    pub(crate) a: &'a str,
    pub(crate) b: &'a str,
}

/// `jaccard`.
#[derive(Serialize)]
pub(crate) struct JaccardJson<'a> {
    a: &'a str,
    b: &'a str,
    jaccard: f64,
    both: usize,
    either: usize,
    estimate: f64,
    error: f64,
    agreeing: u32,
    slots: u32,
    exact_copy: bool,
}

impl<'a> JaccardJson<'a> {
    /// Two files: `both` of `either` shingles are in both of them, and `agreeing` of `slots` slots agree.
    pub(crate) fn new(
        (a, b): (&'a str, &'a str),
        jaccard: f64,
        (both, either): (usize, usize),
        estimate: Estimate,
        (agreeing, slots): (u32, u32),
        exact_copy: bool,
    ) -> JaccardJson<'a> {
        JaccardJson {
            a,
            b,
            jaccard,
            both,
            either,
            estimate: estimate.jaccard,
            error: estimate.error,
            agreeing,
            slots,
            exact_copy,
        }
    }
}
