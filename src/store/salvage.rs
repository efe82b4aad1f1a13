//! A store made of what is whole of a damaged one.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::sketch::Sketcher;
use super::writer::Writer;
use super::{Options, Store};
use crate::clock;
use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::storage::{Content, DocumentRow, NewContent, Note, Place, Wreck};

/// Memory that uncommitted documents may take.
const MEMORY: u64 = 256 << 20;

/// Contents that are tried to find out whether a schema fits.
const TRIED: u32 = 1000;

/// What a salvage brought back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// Documents of the new store.
    pub documents: u64,
    /// Contents of the new store.
    pub contents: u64,
    /// Of the documents, those that may not be quite what they were; each is told.
    pub doubtful: u64,
    /// Documents that are lost; each is told.
    pub lost: u64,
    /// Of the documents, those whose key is lost: their key now is `blake3:` and the hash of their text.
    pub unnamed: u64,
    /// Of the documents, those whose size and times are lost.
    pub undated: u64,
    /// Whether the index is whole. Where it is not, documents of which nothing is left are not
    /// counted, and sizes and times may be wrong, for nothing else has them.
    pub index_is_whole: bool,
}

/// A document that is lost, or may not be quite what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Casualty {
    /// The document's key, if it is known.
    pub key: Option<String>,
    /// Whether it is lost; else it is in the new store.
    pub is_lost: bool,
    /// What happened to it.
    pub what: &'static str,
}

impl Store {
    /// Makes a store in `target` of what is whole of the damaged one in `source`; see
    /// [`Options::salvage`].
    ///
    /// # Errors
    ///
    /// Those of [`Options::salvage`].
    pub fn salvage(
        source: impl AsRef<Path>,
        target: impl AsRef<Path>,
        told: impl FnMut(&Casualty),
    ) -> Result<Salvaged> {
        Options::new().salvage(source, target, &Schema::default(), told)
    }
}

impl Options {
    /// Makes a store in `target` of what is whole of the damaged one in `source`, which nobody may
    /// have open for writing. The source is not changed, and the target appears whole or not at all.
    ///
    /// Every part is read for itself and held against the others: columns against the checksums of
    /// their blocks, shingles against the signature, documents against the names of contents.
    /// A signature that is damaged is computed again from its shingles. What lies in a damaged block
    /// and fits all the rest is kept and told as doubtful: a bit of its hash or a shingle may be
    /// another. Contents of which no key can be read are kept under the key `blake3:` and the hash of
    /// their text; removed ones may be among them.
    ///
    /// `schema` stands in where the index does not tell its own; it is refused if the signatures are
    /// not those that it gives. `told` is called with each document that is lost or doubtful.
    ///
    /// ```
    /// use dedupdb::{Schema, Store};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("store");
    /// let store = Store::create(&path, &Schema::default())?;
    /// store.insert_unless_duplicate("one", "cold nights in the old lighthouse")?;
    /// drop(store);
    /// std::fs::write(path.join("index.redb"), "gone")?;
    ///
    /// let saved = Store::salvage(&path, folder.path().join("saved"), |lost| println!("{lost:?}"))?;
    /// assert_eq!((saved.documents, saved.unnamed), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NotAStore`] if there is nothing of a store, [`Error::Locked`] if someone has it open
    /// for writing, [`Error::Damaged`] if its parameters are lost and `schema` is not they, those of a
    /// folder that is to be made like that of [`Store::backup`], or the system's.
    pub fn salvage(
        &self,
        source: impl AsRef<Path>,
        target: impl AsRef<Path>,
        schema: &Schema,
        told: impl FnMut(&Casualty),
    ) -> Result<Salvaged> {
        let source = source.as_ref();
        if let holder @ Some(_) = Note::read(source) {
            let path = source.to_owned();
            return Err(Error::Locked { path, holder });
        }
        if !source.is_dir() {
            let path = source.to_owned();
            return Err(Error::NotAStore { path });
        }
        Place::new(target.as_ref())?.fill(|building| {
            let scratch = building.join("scratch");
            fs::create_dir(&scratch).map_err(|error| Error::io(&scratch, error))?;
            let wreck = Wreck::open(source, &scratch)?;
            let schema = known_schema(&wreck, schema, source)?;
            let store = self.create(building, &schema)?;
            let mut salvage = Salvage {
                sketcher: Sketcher::new(&schema, &Arc::default())?,
                schema,
                wreck: &wreck,
                writer: store.writer()?,
                strays: HashMap::new(),
                saved: Salvaged::default(),
                told,
            };
            salvage.run(&self.progress)?;
            let mut saved = salvage.saved;
            drop(salvage);
            drop(store);
            saved.index_is_whole = wreck.has_whole_index(&scratch);
            fs::remove_dir_all(&scratch).map_err(|error| Error::io(&scratch, error))?;
            Ok(saved)
        })
    }
}

/// The schema in the index or, where it is lost, `other` if it gives the stored signatures.
fn known_schema(wreck: &Wreck, other: &Schema, source: &Path) -> Result<Schema> {
    if let Some(schema) = &wreck.schema {
        return Ok(schema.clone());
    }
    let sketcher = Sketcher::new(other, &Arc::default())?;
    let mut shingles = Vec::new();
    let (mut tried, mut fit) = (0, 0);
    for id in 0..wreck.len().min(TRIED) {
        let Some(content) = wreck.content(id, other.signature_bytes()) else {
            continue;
        };
        if content.row.shingle_count > 0 && content.unpack(&mut shingles) {
            tried += 1;
            fit += u32::from(content.signature == Some(&*sketcher.signature(&shingles)));
        }
    }
    if fit * 2 > tried {
        return Ok(other.clone());
    }
    let why = match &wreck.no_index {
        Some(error) => format!("the index cannot be read, nor the store's parameters ({error})"),
        None => "the store's parameters cannot be read".to_owned(),
    };
    let reason = format!("{why}; name a store that has the same ones");
    Err(Error::damaged(source, reason))
}

/// What is known of a content's worth.
enum Worth {
    /// It is what it was.
    Whole,
    /// It fits the rest, but lies where something is damaged.
    Doubtful(&'static str),
    Lost(&'static str),
}

struct Salvage<'a, F> {
    wreck: &'a Wreck,
    schema: Schema,
    sketcher: Sketcher,
    writer: Writer<'a>,
    /// Documents whose name cannot be read, by content.
    strays: HashMap<u32, Vec<(String, DocumentRow)>>,
    saved: Salvaged,
    told: F,
}

impl<F: FnMut(&Casualty)> Salvage<'_, F> {
    fn run(&mut self, progress: &crate::progress::Progress) -> Result<()> {
        let wreck = self.wreck;
        progress.begin(wreck.len().into());
        wreck.for_each_document(|key, row| match wreck.is_name(row.content, &key) {
            Ok(true) if row.content < wreck.len() => {}
            Ok(true) => self.lose(Some(key), "its content is missing"),
            Ok(false) => self.lose(Some(key), CONTRADICTION),
            Err(_) => self.strays.entry(row.content).or_default().push((key, row)),
        });
        for content in 0..wreck.len() {
            self.content(content)?;
            progress.step(1);
            if self.writer.uncommitted_bytes() >= MEMORY {
                self.writer.commit()?;
            }
        }
        let beyond: Vec<_> = self.strays.drain().collect();
        for (key, _) in beyond.into_iter().flat_map(|(_, strays)| strays) {
            self.lose(Some(key), "its content is missing");
        }
        self.writer.commit()
    }

    fn lose(&mut self, key: Option<String>, what: &'static str) {
        self.saved.lost += 1;
        (self.told)(&Casualty {
            key,
            is_lost: true,
            what,
        });
    }

    /// The documents that name a content, each with its row if that can be read, and whether those
    /// are all.
    fn documents(&mut self, id: u32) -> (Vec<(String, Option<DocumentRow>)>, bool) {
        let (keys, are_all) = self.wreck.names(id);
        let mut documents = Vec::new();
        for key in keys {
            match self.wreck.document(&key) {
                Ok(Some(row)) if row.content == id => documents.push((key, Some(row))),
                // The other content's names tell whose it is.
                Ok(Some(row)) if self.wreck.is_name(row.content, &key).unwrap_or(false) => {}
                Ok(_) => self.lose(Some(key), CONTRADICTION),
                Err(_) => documents.push((key, None)),
            }
        }
        let strays = self.strays.remove(&id).into_iter().flatten();
        for (key, row) in strays {
            if documents.iter().all(|(known, _)| *known != key) {
                documents.push((key, Some(row)));
            }
        }
        (documents, are_all)
    }

    fn content(&mut self, id: u32) -> Result<()> {
        let (mut documents, are_all) = self.documents(id);
        if documents.is_empty() && are_all {
            return Ok(());
        }
        let wreck = self.wreck;
        let Some(content) = wreck.content(id, self.schema.signature_bytes()) else {
            self.lose_all(documents, "its row is missing");
            return Ok(());
        };
        if documents.is_empty() && content.row.hash == UNWRITTEN {
            return Ok(());
        }
        let mut shingles = Vec::new();
        let doubt = match self.judge(&content, &mut shingles) {
            Worth::Whole => None,
            Worth::Doubtful(what) => Some(what),
            Worth::Lost(what) => {
                self.lose_all(documents, what);
                return Ok(());
            }
        };
        if documents.is_empty() {
            let hash = blake3::Hash::from_bytes(content.row.hash);
            documents.push((format!("blake3:{hash}"), None));
            self.saved.unnamed += 1;
        }
        if let Some(what) = doubt {
            self.doubt(&documents, what);
        }
        self.keep(&content, &shingles, documents)
    }

    /// Loses the documents of a content, or one whose key is not known.
    fn lose_all(&mut self, documents: Vec<(String, Option<DocumentRow>)>, what: &'static str) {
        if documents.is_empty() {
            self.lose(None, what);
        }
        for (key, _) in documents {
            self.lose(Some(key), what);
        }
    }

    fn doubt(&mut self, documents: &[(String, Option<DocumentRow>)], what: &'static str) {
        self.saved.doubtful += documents.len() as u64;
        for (key, _) in documents {
            (self.told)(&Casualty {
                key: Some(key.clone()),
                is_lost: false,
                what,
            });
        }
    }

    /// Holds the parts of a content against each other; `shingles` are its own afterwards.
    fn judge(&self, content: &Content<'_>, shingles: &mut Vec<u32>) -> Worth {
        if !self.schema.keeps_shingles() {
            return match (content.is_row_sound, content.is_signature_sound) {
                _ if content.signature.is_none() => Worth::Lost("its signature is missing"),
                (true, true) => Worth::Whole,
                (false, _) => Worth::Doubtful(ROW),
                (_, false) => Worth::Doubtful("nothing verifies its signature"),
            };
        }
        if !content.unpack(shingles) {
            return Worth::Lost("its shingles are damaged");
        }
        if content.is_row_sound && content.are_shingles_sound {
            return Worth::Whole;
        }
        if content.signature != Some(&*self.sketcher.signature(shingles)) {
            return Worth::Lost("its shingles do not fit its signature");
        }
        if content.is_row_sound {
            Worth::Doubtful("its shingles fit its signature, and nothing else verifies them")
        } else {
            Worth::Doubtful(ROW)
        }
    }

    /// Adds a content with its documents to the new store.
    fn keep(
        &mut self,
        content: &Content<'_>,
        shingles: &[u32],
        documents: Vec<(String, Option<DocumentRow>)>,
    ) -> Result<()> {
        let computed;
        let signature = if self.schema.keeps_shingles() {
            computed = self.sketcher.signature(shingles);
            &computed
        } else {
            content.signature.unwrap_or(&[])
        };
        let mut band_hashes = Vec::new();
        if content.row.shingle_count > 0 {
            let width = self.schema.slot_width();
            let bands = self.schema.bands();
            bands.hashes(signature, width, &mut band_hashes);
        }
        let new = self.writer.files.push(&NewContent {
            hash: &content.row.hash,
            shingle_count: content.row.shingle_count,
            packed_shingles: content.packed_shingles.unwrap_or(&[]),
            signature,
            band_hashes: &band_hashes,
        })?;
        self.saved.contents += 1;
        for (key, row) in documents {
            self.saved.documents += 1;
            self.saved.undated += u64::from(row.is_none());
            let known = row.unwrap_or(DocumentRow {
                content: new,
                size: 0,
                modified: None,
                added: clock::now(),
            });
            let row = DocumentRow {
                content: new,
                ..known
            };
            self.writer.pending.set(&key, None, Some(row));
        }
        Ok(())
    }
}

/// The hash in rows that a column was grown by in advance.
const UNWRITTEN: [u8; 32] = [0; 32];

const CONTRADICTION: &str = "the index contradicts itself about it";

const ROW: &str = "nothing verifies the hash of its text";
