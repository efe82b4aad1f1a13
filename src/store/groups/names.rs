//! The names of contents, read together and kept for a while.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;

use crate::error::Result;
use crate::pool::Pool;
use crate::storage::Snapshot;
use crate::store::compare::SpreadHasher;

/// The number of contents whose names one thread reads in a row.
const PIECE: usize = 1 << 8;

/// The number of names to read on the way to the next one that is needed, before that one is looked up instead. The
/// names on the way may be needed soon.
const NEAR: usize = 16;

/// The number of contents whose names are kept between calls.
const KEPT: usize = 1 << 17;

/// A content, and the key that represents it, if one does.
type ContentName = (u32, Option<Box<str>>);

/// The names of contents.
#[derive(Debug)]
pub(crate) struct ContentNames {
    /// Whether the first of several names represents a content.
    first: bool,
    names: HashMap<u32, Option<Box<str>>, BuildHasherDefault<SpreadHasher>>,
}

impl ContentNames {
    /// Makes an empty collection. With `first`, the first of several names represents a content, otherwise none does.
    pub(crate) fn new(first: bool) -> ContentNames {
        ContentNames {
            first,
            names: HashMap::default(),
        }
    }

    /// Ensures that the names of some contents are held.
    pub(crate) fn hold(
        &mut self,
        snapshot: &Snapshot,
        contents: impl Iterator<Item = u32>,
        pool: &Pool,
    ) -> Result<()> {
        if self.names.len() > KEPT {
            self.names = HashMap::default();
        }
        let mut lacking: Vec<u32> = contents
            .filter(|content| !self.names.contains_key(content))
            .collect();
        lacking.sort_unstable();
        lacking.dedup();
        let reader = NameReader {
            snapshot,
            first: self.first,
            others: self.names.len() + NEAR * lacking.len() <= KEPT,
        };
        let pieces = lacking.chunks(PIECE).collect();
        for names in pool.map(pieces, |piece| reader.read(piece)) {
            self.names.extend(names?);
        }
        Ok(())
    }

    /// The key that represents a content, if one does.
    pub(crate) fn get(&self, content: u32) -> Option<&str> {
        self.names.get(&content)?.as_deref()
    }
}

/// Reads the names of contents.
#[derive(Clone, Copy, Debug)]
struct NameReader<'a> {
    snapshot: &'a Snapshot,
    /// Whether the first of several names represents a content.
    first: bool,
    /// Whether to return the names that are read on the way, too.
    others: bool,
}

impl NameReader<'_> {
    /// The names of contents, which must ascend, and of some others.
    fn read(self, contents: &[u32]) -> Result<Vec<ContentName>> {
        let mut found: Vec<ContentName> = Vec::with_capacity(contents.len());
        let Some(&start) = contents.first() else {
            return Ok(found);
        };
        let from = |content| self.snapshot.names_from(u64::from(content));
        let mut names = from(start)?;
        let mut next = names.next().transpose()?;
        // The last content of which a name was read.
        let mut last = None;
        // Names are read in one go from the first content on, as long as the next one that is wanted is near.
        for &content in contents {
            let mut passed = 0;
            while last != Some(content)
                && let Some((of, name)) = next.take_if(|(of, _)| *of <= content)
            {
                if of < content && passed == NEAR {
                    names = from(content)?;
                    next = names.next().transpose()?;
                    continue;
                }
                passed += 1;
                next = names.next().transpose()?;
                // A name is the first of its content if the name before belongs to another one.
                let is_new = last.replace(of) != Some(of);
                if is_new && (self.others || of == content) {
                    let several = !self.first && next.as_ref().is_some_and(|next| next.0 == of);
                    found.push((of, (!several).then(|| name.into_boxed_str())));
                }
            }
            if last != Some(content) {
                found.push((content, None));
            }
        }
        Ok(found)
    }
}

/// The contents in a range that have several names.
pub(crate) fn with_several(snapshot: &Snapshot, contents: Range<u32>) -> Result<Vec<u32>> {
    let mut several = Vec::new();
    let mut before = None;
    for name in snapshot.names_from(u64::from(contents.start))? {
        let (content, _) = name?;
        if content >= contents.end {
            break;
        }
        if before == Some(content) && several.last() != Some(&content) {
            several.push(content);
        }
        before = Some(content);
    }
    Ok(several)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;
    use crate::store::handle::Store;

    #[test]
    fn names_that_are_read_together_are_those_of_each_content() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(folder.path().join("store"), &Schema::default()).unwrap();
        let mut writer = store.writer().unwrap();
        for content in 0..300 {
            // Many have one name, some have two, and one has more than are passed over.
            let names = match content {
                107 => 3 * NEAR,
                _ if content % 5 == 0 => 2,
                _ => 1,
            };
            for name in 0..names {
                let key = format!("{content}-{name}");
                writer.add(key, format!("the text {content}")).unwrap();
            }
        }
        writer.commit().unwrap();
        let snapshot = store.published().unwrap();
        let all_of = |content| {
            let names = snapshot.names(content).unwrap();
            names.collect::<Result<Vec<String>>>().unwrap()
        };
        for (first, step) in [(false, 1), (true, 1), (false, 3), (true, 7), (false, 23)] {
            for start in 0..step {
                let wanted = || (start..snapshot.len).rev().step_by(step as usize);
                let mut names = ContentNames::new(first);
                names.hold(&snapshot, wanted(), &Pool::new(2)).unwrap();
                assert!(wanted().all(|content| names.names.contains_key(&content)));
                for content in (0..snapshot.len).filter(|id| names.names.contains_key(id)) {
                    let all = all_of(content);
                    let expected = (first || all.len() == 1).then(|| all[0].as_str());
                    assert_eq!(names.get(content), expected, "{content} {step}");
                }
            }
        }
        for contents in [0..snapshot.len, 3..106, 106..108, 107..107] {
            let several = with_several(&snapshot, contents.clone()).unwrap();
            let expected: Vec<u32> = contents.filter(|&id| all_of(id).len() > 1).collect();
            assert_eq!(several, expected);
        }
    }
}
