//! Makes a store from the intact parts of a damaged one.

mod claims;
mod trial;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::clock;
use crate::codec::words;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::progress::Progress;
use crate::schema::Schema;
use crate::storage::{BuildSite, ContentRemains, DocumentRow, NewContent, NoWriter, Wreck};
use crate::store::compare::StoreSketcher;
use crate::store::handle::{Options, Store};
use crate::store::offer::HashedKey;
use crate::store::write::Writer;
use crate::text::ShingleSet;
use claims::{CONTRADICTION, ClaimedDocuments, DocumentClaim, DocumentClaims};
use trial::known_schema;

/// Uncommitted documents are committed once they take this many bytes of memory.
const MEMORY: u64 = 256 << 20;

/// The result of a salvage.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SalvageSummary {
    /// The parameters of the new store.
    pub schema: Schema,
    /// The number of documents in the new store.
    pub documents: u64,
    /// The number of contents in the new store.
    pub contents: u64,
    /// The number of documents that may be damaged; each is reported.
    pub doubtful: u64,
    /// The number of lost documents; each is reported.
    pub lost: u64,
    /// The number of documents with a lost key: their new key is `blake3:` and the hash of their text.
    pub unnamed: u64,
    /// The number of documents whose size and times are lost.
    pub undated: u64,
    /// The number of contents without fingerprints in a store that keeps them: [passages](crate::Store::passages) are not
    /// looked for in them.
    pub unfingerprinted: u64,
    /// Whether the index is intact. If not, documents without any remains are not counted, and sizes and times, which
    /// only the index has, may be wrong.
    pub index_is_whole: bool,
    /// The files that the disk could not read completely, the index first.
    pub unreadable: Vec<Unreadable>,
}

/// The bytes of a file that the disk could not read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unreadable {
    /// The file.
    pub file: PathBuf,
    /// The number of unreadable bytes, in whole pages of 4 KiB.
    pub bytes: u64,
}

/// A document that is lost or may be damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Casualty {
    /// The document's key, if it is known.
    pub key: Option<String>,
    /// Whether it is lost. Otherwise it is in the new store.
    pub is_lost: bool,
    /// What happened to it.
    pub what: &'static str,
}

impl Store {
    /// Makes a store in `target` from the intact parts of the damaged one in `source`; see [`Options::salvage`].
    ///
    /// # Errors
    ///
    /// Those of [`Options::salvage`].
    pub fn salvage(
        source: impl AsRef<Path>,
        target: impl AsRef<Path>,
        told: impl FnMut(&Casualty),
    ) -> Result<SalvageSummary> {
        Options::new().salvage(source, target, None, told)
    }
}

impl Options {
    /// Makes a store in `target` from the intact parts of the damaged one in `source`, which must not be open for
    /// writing. The source does not change. The target appears complete or not at all.
    ///
    /// Every part is read on its own and compared with the others: columns with the checksums of their blocks, shingles
    /// with the signature, documents with the names of contents. A damaged signature is computed again from its
    /// shingles. A content in a damaged block that agrees with everything else is kept and reported as doubtful: a bit
    /// of its hash or a shingle may be wrong. Contents without a readable key are kept under the key `blake3:` and the
    /// hash of their text. Removed contents may be among them.
    ///
    /// `schema`, or the default one, is used if the stored one is unreadable or does not reproduce the signatures. It
    /// is refused if it does not reproduce them either. If the index is damaged, the parameters that signatures do not
    /// show (how texts become shingles, the threshold, the bands) may also be wrong: look at [`Store::schema`] of the
    /// new store. `told` is called with each document that is lost or doubtful.
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
    /// [`Error::NotAStore`] if the folder has no part of a store, [`Error::Locked`] if a process has it open for
    /// writing, [`Error::Damaged`] if its parameters are lost and `schema` does not fit, [`Error::SchemaMismatch`] if
    /// its parameters are intact and `schema` is given and differs, [`Error::NewerFormat`], [`Error::OlderFormat`],
    /// those of [`Store::backup`] for the target, or those of the system, including one for a part that exists but
    /// cannot be read now.
    pub fn salvage(
        &self,
        source: impl AsRef<Path>,
        target: impl AsRef<Path>,
        schema: Option<&Schema>,
        mut told: impl FnMut(&Casualty),
    ) -> Result<SalvageSummary> {
        self.salvage_to(source.as_ref(), target.as_ref(), schema, &mut told)
    }

    fn salvage_to(
        &self,
        source: &Path,
        target: &Path,
        schema: Option<&Schema>,
        told: &mut dyn FnMut(&Casualty),
    ) -> Result<SalvageSummary> {
        let no_writer = self.patiently(source, || NoWriter::of(source))?;
        let saved = BuildSite::new(target, source)?.fill(|building| {
            let wreck = Wreck::open(source, building)?;
            let schema = known_schema(&wreck, schema, source)?;
            let store = self.create_in(building, source, &schema)?;
            let mut salvage = SalvageRun {
                sketcher: StoreSketcher::new(&schema, &Arc::default())?,
                schema,
                wreck: &wreck,
                writer: store.writer()?,
                unnamed: Vec::new(),
                settled: BTreeSet::new(),
                saved: SalvageSummary::default(),
                observe: told,
            };
            salvage.run(&self.progress)?;
            let mut saved = std::mem::take(&mut salvage.saved);
            saved.schema = salvage.schema.clone();
            drop(salvage);
            drop(store);
            // What the system could not read now may be intact, so the salvage fails, rather than leave it out.
            wreck.check_read()?;
            saved.unreadable = unreadable(&wreck);
            saved.index_is_whole = wreck.has_whole_index()?;
            Ok(saved)
        });
        drop(no_writer);
        saved
    }
}

fn unreadable(wreck: &Wreck) -> Vec<Unreadable> {
    let files = wreck.unreadable();
    let files = files.map(|(file, bytes)| Unreadable {
        file: file.to_owned(),
        bytes,
    });
    files.collect()
}

/// How reliable a content is.
enum ContentWorth {
    /// It is unchanged.
    Whole,
    /// It agrees with the other parts, but lies where something is damaged.
    Doubtful(&'static str),
    Lost(&'static str),
}

struct SalvageRun<'a> {
    wreck: &'a Wreck,
    schema: Schema,
    sketcher: StoreSketcher,
    writer: Writer,
    /// Contents without a key.
    unnamed: Vec<u32>,
    /// Keys that are not saved: those reported as lost, and those that damage made from others.
    settled: BTreeSet<String>,
    saved: SalvageSummary,
    observe: &'a mut dyn FnMut(&Casualty),
}

impl SalvageRun<'_> {
    fn run(&mut self, progress: &Progress) -> Result<()> {
        progress.begin(self.wreck.len().into());
        // Documents keep their runs, and an interrupted one can be forgotten later.
        self.writer.runs = self.wreck.runs();
        self.writer.id_scope = self.wreck.id_scope();
        let mut claims = DocumentClaims::read(self.wreck);
        for key in claims.contested() {
            self.lose(Some(key), CONTRADICTION);
        }
        // Content by content, with the documents that the index gives to it.
        for content in 0..self.wreck.len() {
            let claimed = claims.of(content);
            // If the index is sure that there are no others, the content was removed, and is left out.
            let is_removed = claimed.are_all && self.wreck.may_be_removed(content);
            if claimed.documents.is_empty() && !is_removed {
                self.unnamed.push(content);
            } else {
                progress.step(1)?;
            }
            self.named(content, claimed)?;
            self.make_room()?;
        }
        for key in claims.rest() {
            self.lose(Some(key), MISSING);
        }
        // These come last, because their texts may be those of documents that have their keys.
        for content in std::mem::take(&mut self.unnamed) {
            self.unnamed(content)?;
            progress.step(1)?;
            self.make_room()?;
        }
        self.writer.commit()?;
        self.lose_forgotten()
    }

    /// Reports the documents that only a walk through their table finds: its order may be disturbed in any way.
    fn lose_forgotten(&mut self) -> Result<()> {
        let mut forgotten = Ok(BTreeSet::new());
        self.wreck.for_each_document(|key, _| {
            let is_known = self.settled.contains(&key);
            match (&mut forgotten, self.has(&key)) {
                (Ok(keys), Ok(false)) if !is_known => {
                    keys.insert(key);
                }
                (Ok(_), Err(error)) => forgotten = Err(error),
                _ => {}
            }
        });
        for key in forgotten? {
            self.lose(Some(key), CONTRADICTION);
        }
        Ok(())
    }

    fn make_room(&mut self) -> Result<()> {
        if self.writer.uncommitted_bytes() >= MEMORY {
            self.writer.commit()?;
        }
        Ok(())
    }

    fn lose(&mut self, key: Option<String>, what: &'static str) {
        self.saved.lost += 1;
        self.settled.extend(key.clone());
        (self.observe)(&Casualty {
            key,
            is_lost: true,
            what,
        });
    }

    /// Keeps a content with the documents that name it.
    fn named(&mut self, id: u32, claimed: ClaimedDocuments) -> Result<()> {
        for key in claimed.lost {
            self.lose(Some(key), CONTRADICTION);
        }
        self.settled.extend(claimed.replaced);
        if claimed.documents.is_empty() {
            return Ok(());
        }
        for _ in 0..claimed.garbled {
            self.lose(None, "its key is damaged");
        }
        let mut documents = Vec::new();
        for claim in claimed.documents {
            // Another content has been kept under this key already.
            if self.has(&claim.key)? {
                self.lose(Some(claim.key), CONTRADICTION);
            } else {
                documents.push(claim);
            }
        }
        self.keep(id, documents)
    }

    /// Keeps a content with a lost key under the hash of its text. All contents with the same hash were removed, except
    /// at most one.
    fn unnamed(&mut self, id: u32) -> Result<()> {
        let Some(content) = self.wreck.content(id, &self.schema) else {
            self.lose(None, ROW_MISSING);
            return Ok(());
        };
        // A content with this text is stored, so this one was removed, or was never written.
        let hash = content.row.hash;
        if hash == UNWRITTEN || self.has_text(&hash)? {
            return Ok(());
        }
        let key = format!("blake3:{}", blake3::Hash::from_bytes(hash));
        if self.has(&key)? {
            self.lose(
                None,
                "its key is lost, and another document has the one it would get",
            );
            return Ok(());
        }
        let before = self.saved.documents;
        self.keep(id, vec![DocumentClaim::new(key)])?;
        self.saved.unnamed += self.saved.documents - before;
        Ok(())
    }

    /// Whether the new store has a document with this key.
    fn has(&self, key: &str) -> Result<bool> {
        let committed = self.writer.committed.snapshot.document(key)?;
        Ok(self
            .writer
            .pending
            .current(HashedKey::new(key), committed)
            .is_some())
    }

    /// Whether the new store has a text with this hash.
    fn has_text(&self, hash: &[u8; 32]) -> Result<bool> {
        let mut found = Vec::new();
        self.writer.committed.snapshot.copies(hash, &mut found)?;
        Ok(!found.is_empty() || self.writer.appended.get(hash).is_some())
    }

    /// Judges a content, and keeps it with its documents or reports them as lost.
    fn keep(&mut self, id: u32, documents: Vec<DocumentClaim>) -> Result<()> {
        let wreck = self.wreck;
        let Some(mut content) = wreck.content(id, &self.schema) else {
            self.lose_all(documents, ROW_MISSING);
            return Ok(());
        };
        let mut shingles = ShingleSet::default();
        let doubt = match self.judge(&mut content, &mut shingles) {
            ContentWorth::Whole => None,
            ContentWorth::Doubtful(what) => Some(what),
            ContentWorth::Lost(what) => {
                self.lose_all(documents, what);
                return Ok(());
            }
        };
        for document in &documents {
            if let Some(what) = document.doubt.or(doubt) {
                self.doubt(&document.key, what);
            }
        }
        self.push(&content, shingles.as_slice(), documents)
    }

    fn lose_all(&mut self, documents: Vec<DocumentClaim>, what: &'static str) {
        for document in documents {
            self.lose(Some(document.key), what);
        }
    }

    fn doubt(&mut self, key: &str, what: &'static str) {
        self.saved.doubtful += 1;
        (self.observe)(&Casualty {
            key: Some(key.to_owned()),
            is_lost: false,
            what,
        });
    }

    /// Compares the parts of a content with each other. Afterwards, `shingles` holds its shingles, and fingerprints that are not
    /// its own are gone.
    fn judge(&self, content: &mut ContentRemains, shingles: &mut ShingleSet) -> ContentWorth {
        if !self.schema.keeps_shingles() {
            return match (content.is_row_sound, content.is_signature_sound) {
                _ if content.signature.is_none() => ContentWorth::Lost("its signature is missing"),
                (true, true) => ContentWorth::Whole,
                (false, _) => ContentWorth::Doubtful(ROW),
                (_, false) => ContentWorth::Doubtful("nothing verifies its signature"),
            };
        }
        if !content.unpack(shingles) {
            return ContentWorth::Lost("its shingles are damaged");
        }
        if content.is_row_sound && content.are_shingles_sound {
            return ContentWorth::Whole;
        }
        let keeps_signature = self.schema.keeps_signature(content.row.shingle_count);
        let is_shingle = |hash: u32| shingles.as_slice().binary_search(&hash).is_ok();
        if !words(&content.fingerprints).all(is_shingle) {
            if !content.are_shingles_sound || !keeps_signature {
                return ContentWorth::Lost("its shingles do not fit its fingerprints");
            }
            // The row does not say where they are.
            content.fingerprints.clear();
        }
        if !keeps_signature {
            return ContentWorth::Doubtful("little or nothing verifies its shingles");
        }
        // Shingles that reproduce the signature have not changed. The hash of the text may have.
        if content.signature.as_deref() != Some(&*self.sketcher.signature(shingles.as_slice())) {
            return ContentWorth::Lost("its shingles do not fit its signature");
        }
        if content.is_row_sound {
            ContentWorth::Doubtful("its shingles fit its signature, and nothing else verifies them")
        } else {
            ContentWorth::Doubtful(ROW)
        }
    }

    /// Adds a content with its documents to the new store.
    fn push(
        &mut self,
        content: &ContentRemains,
        shingles: &[u32],
        documents: Vec<DocumentClaim>,
    ) -> Result<()> {
        if documents.is_empty() {
            return Ok(());
        }
        // The signature may be damaged. That of the shingles is right if they are.
        let computed;
        let signature = if self.schema.keeps_shingles() {
            computed = self.sketcher.signature(shingles);
            &computed
        } else {
            content.signature.as_deref().unwrap_or(&[])
        };
        let mut band_hashes = Vec::new();
        let shingles = content.row.shingle_count as usize;
        self.schema
            .band_hashes(shingles, signature, &mut band_hashes);
        // Without the schema, it is not known which shingles of the text they are.
        let step = |schema: &Schema| schema.fingerprint_step();
        let is_known = self.wreck.schema.as_ref().map(step) == Some(step(&self.schema));
        let fingerprints = if is_known {
            words(&content.fingerprints).collect()
        } else {
            Vec::new()
        };
        let new = self.writer.append(&NewContent {
            hash: &content.row.hash,
            shingle_count: content.row.shingle_count,
            packed_shingles: content.packed_shingles.as_deref().unwrap_or(&[]),
            signature,
            band_hashes: &band_hashes,
            fingerprints: &fingerprints,
        })?;
        self.saved.contents += 1;
        let lacks = fingerprints.is_empty() && content.row.shingle_count > 0;
        let keeps = self.schema.fingerprint_step().is_some();
        self.saved.unfingerprinted += u64::from(lacks && keeps);
        for DocumentClaim { key, row, .. } in documents {
            self.saved.documents += 1;
            self.saved.undated += u64::from(row.is_none());
            let known = row.unwrap_or(DocumentRow {
                content: new,
                size: 0,
                modified: None,
                added: clock::now(),
                run: 0,
                source: 0,
                last_seen: clock::day_of(clock::now()),
            });
            // The number of a file is taken over only if its path can be read.
            let source = self.wreck.source(known.source)?;
            let is_open = self.writer.runs.is_open(known.run);
            let row = DocumentRow {
                content: new,
                run: if is_open { known.run } else { 0 },
                source: self.writer.sources.note(source.as_ref()),
                ..known
            };
            self.writer
                .pending
                .set(HashedKey::new(&key), None, Some(row));
        }
        Ok(())
    }
}

/// The hash in rows by which a column was extended in advance.
const UNWRITTEN: [u8; 32] = [0; 32];

const MISSING: &str = "its content is missing";

const ROW_MISSING: &str = "its row is missing";

const ROW: &str = "nothing verifies the hash of its text";
