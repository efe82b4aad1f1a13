//! Where the pieces that are kept come from.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use crate::{Nth, Origin, PlaceTable, RecordPlace};

/// The documents of the pieces that are kept. Their keys are in a file.
#[derive(Debug)]
pub(super) struct PieceOrigins {
    keys: File,
    /// The end of the keys.
    end: u64,
    places: PlaceTable,
    documents: Vec<KeptDocument>,
    pieces: Vec<KeptPiece>,
}

#[derive(Debug)]
struct KeptDocument {
    /// Where its key begins.
    key: u64,
    place: RecordPlace,
}

/// A piece, with its place in what is kept.
#[derive(Debug)]
struct KeptPiece {
    start: u64,
    document: usize,
    /// The number of its first word in the document, from 0.
    first_word: usize,
}

/// A word of a document that is kept.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KeptWord {
    /// The key of the document.
    pub(super) key: String,
    pub(super) source: Option<PathBuf>,
    pub(super) record: Option<Nth>,
    /// The number of the word, from 0.
    pub(super) word: usize,
}

impl PieceOrigins {
    /// Begins with an empty file for the keys.
    pub(super) fn new(keys: File) -> PieceOrigins {
        PieceOrigins {
            keys,
            end: 0,
            places: PlaceTable::default(),
            documents: Vec::new(),
            pieces: Vec::new(),
        }
    }

    /// Adds a document, with the place in what is kept and the first word of each of its pieces.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(super) fn push(&mut self, origin: &Origin, pieces: &[(u64, usize)]) -> io::Result<()> {
        let document = self.documents.len();
        self.documents.push(KeptDocument {
            key: self.end,
            place: self.places.place(&origin.source, origin.record),
        });
        self.keys.seek(SeekFrom::Start(self.end))?;
        self.keys.write_all(origin.key.as_bytes())?;
        self.end += origin.key.len() as u64;
        let piece = |&(start, first_word)| KeptPiece {
            start,
            document,
            first_word,
        };
        self.pieces.extend(pieces.iter().map(piece));
        Ok(())
    }

    /// Returns the bytes of memory that this takes.
    pub(super) fn bytes(&self) -> u64 {
        let documents = self.documents.capacity() * size_of::<KeptDocument>();
        (documents + self.pieces.capacity() * size_of::<KeptPiece>()) as u64
    }

    /// Returns the word at this place in what is kept.
    ///
    /// # Errors
    ///
    /// Those of reading.
    pub(super) fn word(&mut self, place: u64) -> io::Result<Option<KeptWord>> {
        let behind = self.pieces.partition_point(|piece| piece.start <= place);
        let Some(piece) = behind.checked_sub(1).map(|at| &self.pieces[at]) else {
            return Ok(None);
        };
        let document = &self.documents[piece.document];
        let next = self.documents.get(piece.document + 1);
        let end = next.map_or(self.end, |next| next.key);
        let mut key = vec![0; usize::try_from(end - document.key).unwrap_or(0)];
        self.keys.seek(SeekFrom::Start(document.key))?;
        self.keys.read_exact(&mut key)?;
        let (source, record) = self.places.of(document.place);
        Ok(Some(KeptWord {
            key: String::from_utf8_lossy(&key).into_owned(),
            source: source.map(Into::into),
            record,
            word: piece.first_word + usize::try_from(place - piece.start).unwrap_or(0),
        }))
    }
}
