//! A damaged or truncated index gives an error or the right answers, and a store that passes a check works.
//!
//! redb may panic at such an index, and a panic while another one unwinds ends the process. So the stores are judged in
//! a separate process: this test program, whose environment says what to damage. `DEDUPDB_PATIENCE=N` damages N times
//! as many bytes.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, Stdio};

use dedupdb::{
    Error, Input, Options, Query, Schema, Store,
    find::Subject,
    groups::{ClusterQuery, PairQuery},
};

use crate::numbered;

/// Gives the child its job: folder, kind of damage, first byte and step, separated by tabs.
const JOB: &str = "DEDUPDB_DAMAGE";

/// The number of bytes that are damaged without `DEDUPDB_PATIENCE`.
const POINTS: usize = 60;

/// The number of lengths to which the index is cut.
const CUTS: usize = 20;

const INDEX: &str = "index.redb";

/// What happens to the index at each byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Flip,
    Cut,
    /// The page becomes zeros.
    Zero,
    /// The page becomes a copy of another one.
    Other,
    /// The page becomes a copy of one that leads to others, so that pages can lead to themselves.
    Branch,
}

const PAGE: usize = 4 << 10;

/// The first byte of a page that leads to others.
const BRANCH: u8 = 2;

/// The number of such pages that replace each page.
const BRANCHES: usize = 8;

/// The number of pages that are damaged, from the first one on. A small index has nothing after them.
const PAGES: usize = 64;

impl How {
    fn read(name: &str) -> How {
        let all = [How::Flip, How::Cut, How::Zero, How::Other, How::Branch];
        *all.iter().find(|how| format!("{how:?}") == name).unwrap()
    }

    fn damage(self, bytes: &mut Vec<u8>, at: usize) {
        let page = at / PAGE * PAGE;
        match self {
            How::Flip => bytes[at] ^= 1 << (at % 8),
            How::Cut => bytes.truncate(at),
            How::Zero => bytes[page..page + PAGE].fill(0),
            How::Other => {
                let from = (page / PAGE * 7 + 1) % (bytes.len() / PAGE) * PAGE;
                bytes.copy_within(from..from + PAGE, page);
            }
            How::Branch => {
                let pages = (0..bytes.len()).step_by(PAGE);
                let branches: Vec<usize> = pages.filter(|&page| bytes[page] == BRANCH).collect();
                let from = branches[at % PAGE / (PAGE / BRANCHES) % branches.len()];
                bytes.copy_within(from..from + PAGE, page);
            }
        }
    }
}

const WORDS: usize = 20;

fn variable(name: &str) -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the parent tells its child what to do"
    )]
    std::env::var(name).ok()
}

fn make(path: &Path, documents: usize) {
    let schema = Schema::builder().permutations(16).bands(4, 4);
    let store = Store::create(path, &schema.build().unwrap()).unwrap();
    numbered::add(&store, 0..documents / 2, WORDS);
    numbered::add(&store, documents / 2..documents, WORDS);
    let mut writer = store.writer().unwrap();
    writer.remove("00003").unwrap();
    writer.add("copy", numbered::text(5, WORDS)).unwrap();
    writer.commit().unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::remove_dir_all(to).unwrap_or_default();
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Every document, and the answers about some texts.
fn answers(path: &Path) -> Result<Vec<String>, Error> {
    let store = Options::new().threads(1).read_only(true).open(path)?;
    let mut answers = Vec::new();
    for document in store.documents()? {
        let document = document?;
        answers.push(format!("{} {}", document.key, document.content));
    }
    for number in [0, 3, 5, 17, 39, 700] {
        for found in store.query(&Query::text(&numbered::text(number, WORDS)))? {
            answers.push(format!("{number}: {found:?}"));
        }
    }
    Ok(answers)
}

/// Adds, replaces and removes documents.
fn write(path: &Path) -> Result<(), Error> {
    let store = Options::new().threads(1).open(path)?;
    let mut writer = store.writer()?;
    let inputs = (0..30).map(|n| Input::new(format!("{n:05}"), numbered::text(n + 50_000, WORDS)));
    writer.add_all(inputs.collect())?;
    writer.remove("00035")?;
    writer.commit()
}

/// Makes all other calls that read a store. Each may fail; the first error is returned.
fn ask(path: &Path) -> Result<(), Error> {
    let store = Options::new().threads(1).read_only(true).open(path)?;
    let asked = [
        store.stats().map(drop),
        store.reclaimable_bytes().map(drop),
        store.largest_buckets(5).map(drop),
        store.get("00001").map(drop),
        store
            .pairs(PairQuery::new())
            .and_then(|mut pairs| pairs.try_for_each(|pair| pair.map(drop))),
        store.clusters(ClusterQuery::new()).map(drop),
        store
            .explain(Subject::Key("00001"), Subject::Key("00002"))
            .map(drop),
        store.sample().map(drop),
        store.refresh().map(drop),
        store.backup(path.with_extension("copy")).map(drop),
    ];
    fs::remove_dir_all(path.with_extension("copy")).unwrap_or_default();
    asked.into_iter().collect()
}

/// What is wrong with how the store in `path` behaves. `scratch` is the place for a copy of it.
fn judge(path: &Path, scratch: &Path, expected: &[String]) -> Option<String> {
    copy(path, scratch);
    let is_sound = match Store::check(scratch) {
        Ok(report) => report.is_clean(),
        Err(_) => false,
    };
    copy(path, scratch);
    let answered = answers(scratch);
    if let Err(Error::NotAStore { .. }) = answered {
        return Some("there is said to be no store".to_owned());
    }
    let is_right = answered.is_ok_and(|answers| answers == expected);
    if is_sound && !is_right {
        return Some("it passes the check and answers wrongly".to_owned());
    }
    let asked = ask(scratch);
    if is_sound && asked.is_err() {
        return Some(format!("it passes the check, and {asked:?}"));
    }
    // Whether it can be written to or not, it must not end the process.
    let written = write(scratch);
    if is_sound && written.is_err() {
        return Some(format!("it passes the check, and {written:?}"));
    }
    None
}

/// What is wrong with the figures of the store in `path`. They look at all pages.
fn judge_figures(path: &Path) -> Option<String> {
    let store = Options::new().threads(1).read_only(true).open(path).ok()?;
    let figures = store.reclaimable_bytes();
    let is_told = matches!(figures, Ok(_) | Err(Error::Damaged { .. }));
    (!is_told).then(|| format!("{figures:?}"))
}

/// Not a test by itself: judges damaged stores, and prints each byte and what is wrong.
#[test]
#[ignore = "it is run by other tests"]
fn child() {
    let Some(job) = variable(JOB) else { return };
    let mut job = job.split('\t');
    let mut next = || job.next().unwrap();
    let folder = next().to_owned();
    let how = How::read(next());
    let (first, step): (usize, usize) = (next().parse().unwrap(), next().parse().unwrap());
    let sound = Path::new(&folder).join("sound");
    let (damaged, scratch) = (
        sound.with_file_name("damaged"),
        sound.with_file_name("scratch"),
    );
    let expected = answers(&sound).unwrap();
    copy(&sound, &damaged);
    let bytes = fs::read(sound.join(INDEX)).unwrap();
    let last = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let told = last.clone();
    std::panic::set_hook(Box::new(move |panic| {
        *told.lock().unwrap() = panic.to_string();
    }));
    let end = match how {
        How::Flip | How::Cut => bytes.len(),
        How::Zero | How::Other | How::Branch => bytes.len().min(PAGES * PAGE),
    };
    for at in (first..end).step_by(step) {
        println!("at {at}");
        let mut other = bytes.clone();
        how.damage(&mut other, at);
        fs::write(damaged.join(INDEX), &other).unwrap();
        let judged = catch_unwind(AssertUnwindSafe(|| match how {
            How::Branch => judge_figures(&damaged),
            _ => judge(&damaged, &scratch, &expected),
        }));
        match judged {
            Ok(None) => {}
            Ok(Some(wrong)) => println!("wrong {wrong}"),
            Err(_) => println!("wrong {}", last.lock().unwrap().replace('\n', " ")),
        }
    }
    println!("done");
}

/// Damages bytes, `step` apart, of the index of the store in the folder `sound` of `folder`. Returns how many, and what
/// went wrong.
fn damage(folder: &Path, how: How, step: usize) -> (usize, Vec<String>) {
    let (mut points, mut wrong) = (0, Vec::new());
    let mut first = 0;
    loop {
        let job = format!("{}\t{how:?}\t{first}\t{step}", folder.display());
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "damaged_index::child",
                "--ignored",
                "--nocapture",
            ])
            .env(JOB, job)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = child.unwrap();
        let (mut at, mut is_done) = (first, false);
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            // The test harness may have written the beginning of the line.
            if let Some((_, number)) = line.rsplit_once("at ")
                && let Ok(number) = number.parse()
            {
                (at, points) = (number, points + 1);
            } else if let Some(what) = line.strip_prefix("wrong ") {
                wrong.push(format!("{how:?} at {at}: {what}"));
            }
            is_done |= line == "done";
        }
        let status = child.wait().unwrap();
        if is_done {
            return (points, wrong);
        }
        wrong.push(format!("{how:?} at {at}: the process ends ({status})"));
        first = at + step;
    }
}

fn damage_store(documents: usize, how: How, points: usize) {
    let folder = tempfile::tempdir().unwrap();
    let sound = folder.path().join("sound");
    make(&sound, documents);
    let patience: usize = variable("DEDUPDB_PATIENCE").map_or(1, |times| times.parse().unwrap());
    let bytes = fs::metadata(sound.join(INDEX)).unwrap().len();
    let step = match how {
        // Odd, so that over time it reaches every place of a page.
        How::Flip | How::Cut => (usize::try_from(bytes).unwrap() / (points * patience)).max(1) | 1,
        How::Zero | How::Other => PAGE,
        How::Branch => PAGE / BRANCHES,
    };
    let (done, wrong) = damage(folder.path(), how, step);
    let wrongs = wrong.len();
    println!("{how:?}: {done} places of an index of {bytes} bytes, {wrongs} wrong");
    let pages = usize::try_from(bytes).unwrap() / PAGE;
    assert!(done >= (points / 2).min(pages), "{done}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_index_without_tables_with_a_damaged_byte_is_named_or_not_minded() {
    damage_store(40, How::Flip, POINTS);
}

#[test]
fn an_index_with_tables_with_a_damaged_byte_is_named_or_not_minded() {
    damage_store(1100, How::Flip, POINTS);
}

#[test]
fn an_index_cut_short_is_named_or_not_minded() {
    damage_store(1100, How::Cut, CUTS);
}

#[test]
fn an_index_with_an_empty_page_is_named_or_not_minded() {
    damage_store(40, How::Zero, PAGES);
    damage_store(1100, How::Zero, PAGES);
}

#[test]
fn an_index_with_a_page_in_place_of_another_is_named_or_not_minded() {
    damage_store(40, How::Other, PAGES);
    damage_store(1100, How::Other, PAGES);
}

#[test]
fn an_index_whose_pages_lead_to_themselves_is_named_or_not_minded() {
    damage_store(1100, How::Branch, PAGES);
}
