//! Sectors that the disk cannot read: a salvage continues after them, and loses only what lies on their pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::crash::assert_clean;
use super::refusal::copy_folder;
use super::{FailureNote, options, say};
use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::storage::ContentRow;
use crate::storage::watch::DiskWatch;
use crate::store::{Casualty, Input, Query, SalvageSummary, Unreadable};

const BLOCK: u64 = 64 << 10;
const PAGE: u64 = 4 << 10;
const SECTOR: u64 = 512;
const HEADER: u64 = 64;
const ROW: u64 = ContentRow::BYTES as u64;

fn schema(keep_shingles: bool) -> Schema {
    let schema = Schema::builder().permutations(16).bands(4, 4);
    // More fingerprints than these would only be more pages of one kind.
    let passage = if keep_shingles { 200 } else { 0 };
    let schema = schema.keep_shingles(keep_shingles).passage(passage);
    schema.build().unwrap()
}

fn key(content: u32) -> String {
    format!("{content:05}")
}

fn text(content: u32) -> String {
    let word =
        |word: u32| blake3::hash(format!("{content} {word}").as_bytes()).to_hex()[..8].into();
    // Every fifth one is so small that its signature is not kept with its shingles.
    let count = if content.is_multiple_of(5) { 68 } else { 69 };
    let words: Vec<String> = (0..count).map(word).collect();
    words.join(" ")
}

fn hash(content: u32) -> [u8; 32] {
    *blake3::hash(text(content).as_bytes()).as_bytes()
}

/// A store whose document i names content i.
struct Sound {
    folder: TempDir,
    schema: Schema,
    len: u32,
    /// The contents by the hashes of their texts.
    hashes: BTreeMap<[u8; 32], u32>,
    /// The row of each content.
    rows: Vec<ContentRow>,
}

impl Sound {
    fn new(len: u32, keep_shingles: bool) -> Sound {
        let folder = tempfile::tempdir().unwrap();
        let schema = schema(keep_shingles);
        let path = folder.path().join("store");
        let store = options().create(&path, &schema).unwrap();
        let mut writer = store.writer().unwrap();
        let inputs = (0..len).map(|content| Input::new(key(content), text(content)));
        for outcome in writer.add_all(inputs.collect()).unwrap() {
            outcome.unwrap();
        }
        writer.commit().unwrap();
        drop(writer);
        drop(store);
        let rows = fs::read(path.join("contents.1")).unwrap();
        let rows = rows[usize::try_from(HEADER).unwrap()..].chunks_exact(ContentRow::BYTES);
        let rows = rows.map(|row| ContentRow::decode(row.first_chunk().unwrap()));
        Sound {
            rows: rows.collect(),
            hashes: (0..len).map(|content| (hash(content), content)).collect(),
            folder,
            schema,
            len,
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    fn bytes(&self, name: &str) -> u64 {
        fs::metadata(self.file(name)).unwrap().len()
    }

    /// Salvages the store while these ranges of bytes cannot be read, each of a different file.
    fn salvage(&self, spoilt: &[(&str, Range<u64>)]) -> Saved {
        let watch = DiskWatch::new(self.folder.path());
        for (file, bytes) in spoilt {
            watch.spoil(&self.file(file), bytes.clone());
        }
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("saved");
        let mut told = Vec::new();
        let saved = options().salvage(self.path(), &target, Some(&self.schema), |casualty| {
            told.push(casualty.clone());
        });
        let saved = saved.unwrap();
        assert!(!watch.failed().is_empty());
        drop(watch);
        assert_clean(&target);
        let store = options().open(&target).unwrap();
        let documents = store.documents().unwrap().map(|document| {
            let document = document.unwrap();
            (document.key, document.hash)
        });
        let documents: BTreeMap<_, _> = documents.collect();
        for (name, found) in &documents {
            let unnamed = format!("blake3:{}", blake3::Hash::from_bytes(*found));
            assert!(
                *name == key(self.hashes[found]) || *name == unnamed,
                "{name}"
            );
        }
        let contents: BTreeSet<u32> = documents.values().map(|hash| self.hashes[hash]).collect();
        // What was saved is found as before.
        for content in (0..self.len).step_by(97) {
            let found = store.query(&Query::text(&text(content))).unwrap();
            let is_found = found.iter().any(|found| found.exact_copy);
            assert_eq!(is_found, contents.contains(&content), "{content}");
        }
        assert_eq!(saved.documents, documents.len() as u64);
        let expected = spoilt.iter().map(|(file, bytes)| Unreadable {
            file: self.file(file),
            bytes: self
                .pages(file, bytes)
                .map(|page| page.end - page.start)
                .sum(),
        });
        assert_eq!(saved.unreadable, expected.collect::<Vec<_>>());
        Saved {
            summary: saved,
            told,
            keys: documents.into_keys().collect(),
            contents,
        }
    }

    /// The pages of a file on which some bytes lie.
    fn pages(&self, file: &str, bytes: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let len = self.bytes(file);
        let pages = bytes.start / PAGE..bytes.end.div_ceil(PAGE);
        pages.map(move |page| page * PAGE..len.min(page * PAGE + PAGE))
    }

    /// The documents that are lost because data of theirs lies on the pages of spoilt bytes.
    fn hit(&self, file: &str, bytes: &Range<u64>) -> Vec<u32> {
        let is_hit = |from: u64, to: u64| {
            let (from, to) = (HEADER + from, HEADER + to);
            let overlaps = |page: Range<u64>| from < page.end && page.start < to;
            self.pages(file, bytes).any(overlaps)
        };
        let end = |content: u32| self.rows[content as usize].shingles_end;
        let is_lost = |content: &u32| {
            let row = u64::from(*content);
            match file {
                // The row before says where the shingles begin.
                "contents.1" if self.schema.keeps_shingles() => {
                    is_hit(row.saturating_sub(1) * ROW, (row + 1) * ROW)
                }
                "contents.1" => is_hit(row * ROW, (row + 1) * ROW),
                "shingles.1" => {
                    let start = content.checked_sub(1).map_or(0, end);
                    is_hit(start, end(*content))
                }
                // With shingles, signatures are computed again.
                _ => {
                    let signature = self.signature(*content);
                    !self.schema.keeps_shingles() && is_hit(signature.start, signature.end)
                }
            }
        };
        (0..self.len).filter(is_lost).collect()
    }

    /// Where the signature of a content is in its column, which has none of small contents with shingles.
    fn signature(&self, content: u32) -> Range<u64> {
        let row = self.rows[content as usize];
        let bytes = self.schema.signature_bytes() as u64;
        let end = u64::from(row.signatures) * bytes;
        end - u64::from(self.schema.keeps_signature(row.shingle_count)) * bytes..end
    }

    /// Ranges of sectors throughout a column: in each block the first, the last and some between, a run of sectors, and
    /// the whole block.
    fn sectors(&self, file: &str) -> Vec<Range<u64>> {
        let len = self.bytes(file);
        let mut all = vec![0..1, 0..SECTOR, len - 1..len, 0..len];
        for start in (0..len).step_by(64 << 10) {
            let starts = [0, 5 * SECTOR, PAGE + SECTOR, BLOCK / 2, BLOCK - SECTOR];
            all.extend(starts.map(|at| start + at..start + at + SECTOR));
            all.push(start + 3 * PAGE..start + 4 * PAGE + SECTOR);
            all.push(HEADER + start..HEADER + start + BLOCK);
        }
        let in_file = all.into_iter().map(|bytes| bytes.start..bytes.end.min(len));
        in_file.filter(|bytes| bytes.start < bytes.end).collect()
    }
}

struct Saved {
    summary: SalvageSummary,
    told: Vec<Casualty>,
    keys: BTreeSet<String>,
    contents: BTreeSet<u32>,
}

impl Saved {
    fn lost(&self) -> Vec<u32> {
        let lost = self.told.iter().filter(|told| told.is_lost);
        let mut lost: Vec<u32> = lost.map(|told| number(told.key.as_deref())).collect();
        lost.sort_unstable();
        lost
    }

    fn doubtful(&self) -> impl Iterator<Item = u32> {
        let doubtful = self.told.iter().filter(|told| !told.is_lost);
        doubtful.map(|told| number(told.key.as_deref()))
    }
}

fn number(key: Option<&str>) -> u32 {
    key.unwrap().parse().unwrap()
}

#[test]
fn of_a_column_what_lies_on_unreadable_pages_is_lost_and_nothing_else() {
    for keep_shingles in [true, false] {
        // A block and part of another one, or more.
        let sound = Sound::new(2700, keep_shingles);
        let files = ["contents.1", "signatures.1", "shingles.1"];
        // Without shingles, their column is only a header.
        for file in &files[..if keep_shingles { 3 } else { 2 }] {
            assert!(sound.bytes(file) > HEADER + BLOCK);
            let (mut lost, mut cases) = (0, 0);
            for bytes in sound.sectors(file) {
                let _place = FailureNote(format!("{file} {bytes:?}, shingles {keep_shingles}"));
                let saved = sound.salvage(&[(file, bytes.clone())]);
                let expected = sound.hit(file, &bytes);
                assert_eq!(saved.lost(), expected);
                assert_eq!(
                    saved.summary.documents,
                    u64::from(sound.len) - expected.len() as u64
                );
                assert_eq!((saved.summary.unnamed, saved.summary.undated), (0, 0));
                assert!(saved.summary.index_is_whole);
                // Outside the blocks of these pages, nothing is doubtful.
                let block = |at: u64| at.saturating_sub(HEADER) / BLOCK * BLOCK;
                let blocks = block(bytes.start / PAGE * PAGE)
                    ..block(bytes.end.next_multiple_of(PAGE)) + BLOCK + PAGE;
                let near = sound.hit(file, &(blocks.start..blocks.end.min(sound.bytes(file))));
                for content in saved.doubtful() {
                    assert!(near.contains(&content), "{content}");
                }
                lost += expected.len();
                cases += 1;
            }
            say(&format!("{file}: {cases} places, {lost} lost"));
        }
    }
}

#[test]
fn without_an_index_what_lies_on_readable_pages_is_saved() {
    let sound = Sound::new(2700, true);
    let index = || ("index.redb", 0..sound.bytes("index.redb"));
    for (file, bytes) in [
        ("contents.1", 0..SECTOR),
        ("contents.1", BLOCK..BLOCK + SECTOR),
        ("shingles.1", BLOCK..BLOCK + 3 * PAGE),
        ("shingles.1", 0..SECTOR),
        ("signatures.1", 9 * PAGE..9 * PAGE + 1),
    ] {
        let _place = FailureNote(format!("{file} {bytes:?}"));
        let saved = sound.salvage(&[index(), (file, bytes.clone())]);
        let mut lost = sound.hit(file, &bytes);
        if file == "signatures.1" {
            // Nothing verifies the shingles of these contents.
            let is_hit = |content: &u32| {
                let Range { start, end } = sound.signature(*content);
                start < end && HEADER + start < 10 * PAGE && HEADER + end > 9 * PAGE
            };
            lost = (0..sound.len).filter(is_hit).collect();
        }
        assert_eq!(saved.summary.lost, lost.len() as u64);
        assert!(!saved.summary.index_is_whole);
        for content in 0..sound.len {
            let is_saved = saved.contents.contains(&content);
            assert_eq!(is_saved, !lost.contains(&content), "{content}");
        }
    }
}

/// A page of the index hides its entries. All texts are saved. If neither table of keys has the key of a document any
/// more, its key is the hash of its text.
#[test]
fn of_an_index_what_lies_on_unreadable_pages_is_lost_and_nothing_else() {
    let sound = Sound::new(600, true);
    let len = sound.bytes("index.redb");
    let (mut whole, mut named, mut pages) = (0, 0, 0);
    for page in 0..len / PAGE {
        let bytes = page * PAGE + SECTOR..page * PAGE + 2 * SECTOR;
        let _place = FailureNote(format!("page {page}"));
        let saved = sound.salvage(&[("index.redb", bytes.clone())]);
        assert_eq!(
            saved.contents.len(),
            sound.len as usize,
            "{:?}",
            saved.summary
        );
        let is_named = (0..sound.len).all(|content| saved.keys.contains(&key(content)));
        if saved.summary.index_is_whole {
            assert!(is_named && saved.told.is_empty());
            assert_eq!((saved.summary.unnamed, saved.summary.undated), (0, 0));
        }
        whole += u32::from(saved.summary.index_is_whole);
        named += u32::from(is_named);
        pages += 1;
        ask(&sound, &bytes);
    }
    say(&format!(
        "{pages} pages, {whole} of them unused, {named} times all keys saved"
    ));
    // Only the first page, and the one that says where the tables are, hide keys.
    assert!(whole < named && named + 2 >= pages);
}

/// Checks that such a store gives the right answers, or an error that names the file.
fn ask(sound: &Sound, bytes: &Range<u64>) {
    let folder = tempfile::tempdir().unwrap();
    copy_folder(sound.folder.path(), folder.path());
    let path = folder.path().join("store");
    let watch = DiskWatch::new(folder.path());
    watch.spoil(&path.join("index.redb"), bytes.clone());
    let asked = options().open(&path).and_then(|store| {
        for content in 0..sound.len {
            let found = store.query(&Query::text(&text(content)))?;
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].key, key(content));
        }
        Ok(())
    });
    let checked = options()
        .check(&path)
        .map(|report| assert!(report.is_clean()));
    for done in [asked, checked] {
        if done.is_err() {
            assert_names_the_index(done, &path);
        }
    }
}

fn assert_names_the_index(done: Result<()>, folder: &Path) {
    match done {
        Err(Error::Io { path, source }) => {
            assert_eq!(path, folder.join("index.redb"));
            assert!(source.to_string().contains("os error 5"), "{source}");
        }
        Err(Error::Poisoned) => {}
        other => panic!("{other:?}"),
    }
}

/// A file that cannot be read for another reason is not damaged.
#[test]
fn a_file_that_may_not_be_read_is_an_error() {
    let sound = Sound::new(3, true);
    let target = sound.folder.path().join("saved");
    for file in ["contents.1", "shingles.1", "signatures.1", "index.redb"] {
        let path = sound.file(file);
        let held = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let salvaged = options().salvage(sound.path(), &target, None, |_| {});
        let error = salvaged.unwrap_err();
        assert!(
            matches!(&error, Error::Io { path: named, .. } if *named == path),
            "{error}"
        );
        fs::remove_dir(&path).unwrap();
        fs::write(&path, held).unwrap();
        assert!(!target.exists());
    }
}

#[test]
fn a_check_names_the_column_that_the_disk_cannot_read() {
    let sound = Sound::new(2700, true);
    for file in ["contents.1", "shingles.1", "signatures.1"] {
        let path = sound.file(file);
        let watch = DiskWatch::new(&sound.path());
        watch.spoil(&path, BLOCK..BLOCK + SECTOR);
        let error = options().check(sound.path()).unwrap_err();
        assert!(error.is_of_damage(), "{error}");
        let told = error.to_string();
        assert!(
            told.contains(file) && told.contains("the disk cannot read"),
            "{told}"
        );
    }
    assert!(options().check(sound.path()).unwrap().is_clean());
}
