//! The steps that are done to a store.

use super::documents::Source;

/// The number of bytes that a step is read from.
pub(crate) const UNIT: usize = 32;

/// The number of keys that documents are added under.
const KEYS: u8 = 12;

/// A document: its key and its text.
pub(crate) type Given = (u8, Text);

#[derive(Clone, Debug)]
pub(crate) enum Step {
    AddAll(Vec<Given>),
    AddUnique(Vec<Given>),
    Admit(Vec<Given>),
    /// Sketches a batch, which may be added or admitted later.
    Sketch(Vec<Given>),
    AddSketched,
    AdmitSketched,
    /// Begins a run, which commits.
    BeginRun,
    /// Publishes the open run, if there is one.
    PublishRun,
    /// Calls from several threads, which share a commit.
    Calls(Vec<SharedCall>),
    Remove(u8),
    Rename(u8, u8),
    /// Removes the documents whose keys have the same beginning.
    RemovePrefix(u8),
    /// Puts the clock forward by a day.
    NextDay,
    Commit,
    Abandon,
    Reopen,
    /// Merges another store with these documents.
    Merge(Vec<Given>),
    /// Copies the store, and may continue with the copy.
    Backup {
        go_on: bool,
    },
    Rebuild(Remake),
    Cancel,
}

/// A call of a store that may share a commit with others.
#[derive(Clone, Debug)]
pub(crate) enum SharedCall {
    Insert(Given),
    Replace(Given),
    Remove(u8),
    Touch(u8),
    Rename(u8, u8),
}

/// A rebuild, and the changes of the store in the meantime.
#[derive(Clone, Debug)]
pub(crate) struct Remake {
    /// `None` to compact.
    pub(super) permutations: Option<u32>,
    /// Stops at the report of this number.
    pub(super) stop: Option<u8>,
    /// For some reports, a call that is made then.
    pub(super) meanwhile: Vec<Option<SharedCall>>,
}

/// A text of one of a few families, whose members differ in some words and in case.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text {
    pub(crate) family: u8,
    pub(crate) changed: u8,
    pub(crate) upper: bool,
}

impl Text {
    /// The number of texts.
    const ALL: u8 = 70;

    pub(crate) fn read(byte: u8) -> Text {
        Text {
            family: byte % 5,
            changed: byte / 5 % 7,
            upper: byte / 35 % 2 == 1,
        }
    }

    /// The file that it comes from.
    pub(super) fn source(self) -> Source {
        match self.family {
            1 => Some("/one"),
            2 => Some("/two"),
            _ => None,
        }
    }

    pub(super) fn all() -> impl Iterator<Item = Text> {
        (0..Text::ALL).map(Text::read)
    }

    pub(crate) fn words(self) -> String {
        if self.family == 0 {
            return "!".repeat(usize::from(self.changed));
        }
        // The signatures of the last two families are stored, because they have more than 64 shingles.
        let count = if self.family < 3 { 12 } else { 72 };
        let words = (0..count).map(|word: u8| {
            let changed = word < self.changed;
            format!(
                "w{}x{word}{}",
                self.family,
                if changed { "changed" } else { "" }
            )
        });
        let text = words.collect::<Vec<_>>().join(" ");
        if self.upper {
            text.to_uppercase()
        } else {
            text
        }
    }
}

pub(crate) fn key(key: u8) -> String {
    format!("key{key:02}")
}

/// The beginning of the keys of ten documents, of two, of all or of none.
pub(super) fn prefix(which: u8) -> &'static str {
    ["key0", "key1", "key", "other"][usize::from(which % 4)]
}

impl Step {
    /// Reads a step from `bytes`; missing ones are zero.
    pub(crate) fn read(bytes: &[u8]) -> Step {
        let mut unit = [0; UNIT];
        let length = bytes.len().min(UNIT);
        unit[..length].copy_from_slice(&bytes[..length]);
        let [kind, what, rest @ ..] = unit;
        let batch = || {
            let documents = rest.as_chunks().0.iter().copied().map(given);
            documents.take(usize::from(what % 8) + 1).collect()
        };
        match kind % 37 {
            0..4 => Step::AddAll(batch()),
            4..6 => Step::AddUnique(batch()),
            6..9 => Step::Admit(batch()),
            9 => Step::Sketch(batch()),
            10 => Step::AddSketched,
            11 => Step::AdmitSketched,
            12..15 => {
                let calls = rest.as_chunks().0.iter().copied().map(SharedCall::read);
                Step::Calls(calls.take(usize::from(what % 5) + 1).collect())
            }
            15 => Step::Remove(what % KEYS),
            16 => Step::Rename(what % KEYS, rest[0] % KEYS),
            17 => Step::RemovePrefix(what),
            18..21 => Step::Commit,
            21 => Step::Abandon,
            22 => Step::Reopen,
            23..25 => Step::Merge(batch()),
            25 => Step::Backup {
                go_on: what % 2 == 0,
            },
            26..31 => Step::Rebuild(Remake::read(what, &rest)),
            31 => Step::Cancel,
            32..34 => Step::BeginRun,
            34 => Step::NextDay,
            _ => Step::PublishRun,
        }
    }
}

fn given([key, text]: [u8; 2]) -> Given {
    (key % KEYS, Text::read(text))
}

impl SharedCall {
    pub(crate) fn read([kind, key, text]: [u8; 3]) -> SharedCall {
        match kind % 8 {
            0..4 => SharedCall::Insert(given([key, text])),
            4..6 => SharedCall::Replace(given([key, text])),
            6 if text % 2 == 0 => SharedCall::Touch(key % KEYS),
            6 => SharedCall::Remove(key % KEYS),
            _ => SharedCall::Rename(key % KEYS, text % KEYS),
        }
    }
}

impl Remake {
    fn read(what: u8, [stop, rest @ ..]: &[u8; UNIT - 2]) -> Remake {
        let change = |bytes: &[u8; 2]| {
            let [kind, text] = *bytes;
            (kind < 80).then(|| SharedCall::read([kind / 10, kind, text]))
        };
        Remake {
            permutations: (what % 4)
                .checked_sub(1)
                .map(|more| 64 + 20 * u32::from(more)),
            stop: (1..20).contains(stop).then_some(*stop),
            meanwhile: rest.as_chunks().0.iter().map(change).collect(),
        }
    }
}
