//! Reading a corpus from a program.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use dedupdb::write::IdScope;
use dedupdb::{Input, Schema, Store};
use dedupdb_corpus::{
    Corpus, Encoding, Format, Item, Nth, ReadCounts, Reason, Repeats, Skipped, Source, SourcedText,
    sketch_ahead,
};
use tempfile::TempDir;

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

/// The key and text of each document, and why others were left out.
fn read(corpus: Corpus) -> Vec<Result<(String, String), Reason>> {
    let pair = |document: Result<SourcedText, Skipped>| match document {
        Ok(document) => Ok((document.key.clone(), document.into_text())),
        Err(skipped) => Err(skipped.reason),
    };
    corpus.map(pair).collect()
}

#[expect(clippy::unnecessary_wraps, reason = "it is compared with what is read")]
fn pair(key: &str, text: &str) -> Result<(String, String), Reason> {
    Ok((key.to_owned(), text.to_owned()))
}

#[test]
fn documents_come_in_the_order_of_the_sources_and_nothing_is_left_out_in_silence() {
    let folder = folder(&[
        ("in/b.txt", b"second"),
        ("in/a.txt", b"first"),
        ("in/c.bin", b"\0"),
        (
            "rows.jsonl",
            b"{\"id\": 1, \"text\": \"x\"}\n{}\n\n{\"text\": \"y\"}\n",
        ),
        ("notes.txt", b"last"),
    ]);
    let at = |name: &str| folder.path().join(name);
    let key = |name: &str| at(name).display().to_string();
    let sources = [at("rows.jsonl"), at("in"), at("gone"), at("notes.txt")];
    let expected = [
        pair("1", "x"),
        Err(Reason::BadRecord),
        pair(&format!("{}#4", key("rows.jsonl")), "y"),
        pair(&key("in/a.txt"), "first"),
        pair(&key("in/b.txt"), "second"),
        Err(Reason::Binary),
        Err(Reason::NotFound),
        pair(&key("notes.txt"), "last"),
    ];
    assert_eq!(read(Corpus::open(&sources).unwrap()), expected);

    let documents: Vec<SourcedText> = Corpus::open(&sources).unwrap().flatten().collect();
    let (row, file) = (&documents[1], &documents[2]);
    assert_eq!(
        (row.record, row.size, row.modified),
        (Some(Nth::Line(4)), None, None)
    );
    assert_eq!(row.place(), format!("{}:4", key("rows.jsonl")));
    assert_eq!((file.record, file.size, file.bytes), (None, Some(5), 5));
    assert!(file.modified.is_some() && !row.has_id && documents[0].has_id);
    let input = Input::from(documents.into_iter().nth(2).unwrap());
    assert_eq!(
        (input.key(), input.text()),
        (&*key("in/a.txt"), Some("first"))
    );

    let mut reading = ReadCounts::default();
    for document in Corpus::open(&sources).unwrap() {
        match document {
            Ok(document) => reading.document(&document),
            Err(skipped) => reading.skipped(&skipped),
        }
    }
    assert_eq!(
        (reading.records(), reading.with_id(), reading.all_skipped()),
        (2, 1, 3)
    );
    assert!(reading.has_failures());
}

#[test]
fn a_pattern_stands_for_what_matches_it() {
    let folder = folder(&[
        ("2.jsonl", b"{\"id\": \"b\", \"text\": \"two\"}"),
        ("1.jsonl", b"{\"id\": \"a\", \"text\": \"one\"}"),
        (".3.jsonl", b"{\"id\": \"c\", \"text\": \"hidden\"}"),
        ("deep/4.jsonl", b"{\"id\": \"d\", \"text\": \"four\"}"),
    ]);
    let open = |pattern: &str| read(Corpus::open([folder.path().join(pattern)]).unwrap());
    assert_eq!(open("*.jsonl"), [pair("a", "one"), pair("b", "two")]);
    assert_eq!(open("**/[14].jsonl"), [pair("a", "one"), pair("d", "four")]);
    assert_eq!(open("*.csv"), [Err(Reason::NotFound)]);
    let exactly = Source::path(folder.path().join("*.jsonl"));
    assert_eq!(
        read(Corpus::open([exactly]).unwrap()),
        [Err(Reason::NotFound)]
    );
    // Windows does not allow this file name.
    if cfg!(unix) {
        fs::write(
            folder.path().join("*.jsonl"),
            "{\"id\": \"star\", \"text\": \"*\"}",
        )
        .unwrap();
        assert_eq!(
            open("*.jsonl"),
            [pair("star", "*")],
            "a file of this name comes first"
        );
    }
}

#[test]
fn streams_have_names_keys_and_formats() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"id,text\na,one\n,two\n").unwrap();
    let packed = io::Cursor::new(packed.finish().unwrap());
    let sources = [
        Source::stream("rows.csv", packed),
        Source::stream("a text", &b"three"[..]),
        Source::stream("named", &b"four"[..]).key("4"),
        Source::stream("lines", &b"{\"text\": \"five\"}"[..])
            .format(Format::Jsonl)
            .key("page"),
    ];
    let expected = [
        pair("a", "one"),
        pair("rows.csv#2", "two"),
        pair("a text", "three"),
        pair("4", "four"),
        pair("page#1", "five"),
    ];
    assert_eq!(read(Corpus::open(sources).unwrap()), expected);
}

#[test]
fn options_are_those_of_the_command_line() {
    let folder = folder(&[
        ("a.csv", b"n\tbody\n1\tcaf\xe9\n1\tother\n"),
        ("b.csv", b"n\tbody\n1\tfar too long\n"),
    ]);
    let options = Corpus::options()
        .format(Format::Tsv)
        .text_field("body")
        .id_field("n")
        .encoding("latin1".parse::<Encoding>().unwrap())
        .max_document(9);
    let open = |options: &dedupdb_corpus::Options| read(options.open([folder.path()]).unwrap());
    let (repeated, large) = (Err(Reason::RepeatedKey), Err(Reason::TooLarge));
    assert_eq!(
        open(&options),
        [pair("1", "café"), repeated.clone(), large.clone()]
    );
    let all = options.clone().repeats(Repeats::Allow);
    assert_eq!(
        open(&all),
        [pair("1", "café"), pair("1", "other"), large.clone()]
    );
    let scoped = options.clone().id_scope(IdScope::File);
    let key = format!("{}#1", folder.path().join("a.csv").display());
    assert_eq!(open(&scoped), [pair(&key, "café"), repeated.clone(), large]);
    assert_eq!(open(&options.strict(true)), [pair("1", "café"), repeated]);
    assert!("klingon".parse::<Encoding>().is_err() && "docx".parse::<Format>().is_err());
    for format in Format::ALL {
        assert_eq!(format.name().parse::<Format>().unwrap(), format);
    }
}

#[test]
fn records_as_they_are_make_the_file_again() {
    let file = b"text,id\r\n\"a, b\",1\r\nc,2\n";
    let folder = folder(&[("a.csv", file)]);
    let mut again = Vec::new();
    for batch in Corpus::options()
        .verbatim(true)
        .batches([folder.path()])
        .unwrap()
    {
        for item in batch.unwrap().items {
            match item {
                Item::Opened(opened) => again.extend(opened.header),
                Item::Document(document) => again.extend(&document.verbatim),
                item => panic!("{item:?}"),
            }
        }
    }
    assert_eq!(again, file);
}

#[test]
fn what_is_stored_as_it_is_need_not_be_read() {
    let folder = folder(&[
        ("in/a.txt", b"one two three"),
        ("in/b.txt", b"four five six"),
    ]);
    let (store_at, input) = (folder.path().join("in/store"), folder.path().join("in"));
    let store = Store::create(&store_at, &Schema::default()).unwrap();
    let options = Corpus::options()
        .store(store.folder())
        .added_to(&store, false);
    let met = || {
        let mut counts = [0; 3];
        for batch in options.batches([&input]).unwrap() {
            for item in batch.unwrap().items {
                match item {
                    Item::Document(_) => counts[0] += 1,
                    Item::Unchanged(_) => counts[1] += 1,
                    Item::Skipped(skipped) => {
                        assert_eq!(skipped.reason, Reason::Store);
                        counts[2] += 1;
                    }
                    _ => {}
                }
            }
        }
        counts
    };
    assert_eq!(met(), [2, 0, 1]);
    let mut writer = store.writer().unwrap();
    for sketched in sketch_ahead(options.batches([&input]).unwrap(), &store).unwrap() {
        let sketched = sketched.unwrap();
        assert_eq!(sketched.items.len(), 3);
        for outcome in writer.add_batch(sketched.documents).unwrap() {
            outcome.unwrap();
        }
    }
    writer.commit().unwrap();
    drop(writer);
    assert_eq!(met(), [0, 2, 1]);
    fs::write(input.join("a.txt"), "longer than it was").unwrap();
    assert_eq!(met(), [1, 1, 1]);
    assert_eq!(
        read(options.open([&input]).unwrap()).len(),
        2,
        "what is unchanged is none"
    );
}

/// Endless lines, until it is dropped.
struct Endless(Arc<AtomicBool>);

impl Read for Endless {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        bytes.fill(b'\n');
        let line = b"{\"text\": \"again\"}\n";
        for chunk in bytes.chunks_exact_mut(line.len()) {
            chunk.copy_from_slice(line);
        }
        Ok(bytes.len() / line.len() * line.len())
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn reading_ends_when_nobody_takes_documents() {
    let dropped = Arc::new(AtomicBool::new(false));
    let source = Source::stream("endless.jsonl", Endless(dropped.clone()));
    let mut corpus = Corpus::options().max_document(99).open([source]).unwrap();
    assert_eq!(corpus.next().unwrap().unwrap().key, "endless.jsonl#1");
    drop(corpus);
    // This may take any time. A thread that does not end makes the test hang.
    while !dropped.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(1));
    }
}

/// A reader that fails half-way, and one that panics.
struct Broken(bool);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        assert!(!self.0, "a defect of the reader");
        Err(io::Error::other("the cable is out"))
    }
}

#[test]
fn a_stream_that_fails_costs_no_other() {
    for panics in [false, true] {
        let lines = &b"{\"id\": \"a\", \"text\": \"one\"}\n"[..];
        let broken = Source::stream("broken.jsonl", lines.chain(Broken(panics)));
        let sources = [broken, Source::stream("b", &b"two"[..])];
        let read: Vec<_> = Corpus::open(sources).unwrap().collect();
        assert_eq!(read[0].as_ref().unwrap().key, "a");
        let skipped = read[1].as_ref().unwrap_err();
        assert_eq!(skipped.reason, Reason::Unreadable);
        let why = if panics {
            "by a defect"
        } else {
            "the cable is out"
        };
        assert!(skipped.to_string().contains(why), "{skipped}");
        assert_eq!(read[2].as_ref().unwrap().text(), "two");
        assert_eq!(read.len(), 3);
    }
}

#[test]
fn a_text_can_be_read_alone_and_bytes_can_be_counted_first() {
    let folder = folder(&[("a.txt", b"one"), ("b.jsonl", b"{}"), ("c.html", b"<p>two")]);
    let at = |name: &str| folder.path().join(name);
    let options = Corpus::options();
    assert_eq!(options.text(&at("a.txt")).as_deref(), Some("one"));
    assert_eq!(options.text(&at("c.html")).as_deref(), Some("two"));
    assert_eq!(options.text(&at("b.jsonl")), None);
    assert_eq!(options.text(Path::new("gone")), None);
    assert_eq!(options.disk_bytes([folder.path()]), Some(11));
    assert_eq!(options.disk_bytes([Source::stream("a", io::empty())]), None);
    fs::write(at("d.gz"), "").unwrap();
    assert_eq!(
        options.disk_bytes([folder.path()]),
        None,
        "nobody knows what it grows to"
    );
}

/// What is read of a file that is rewritten meanwhile may be of both, so it is no file that was read.
#[test]
fn records_that_change_while_they_are_read_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.jsonl");
    let line = |number: usize, word: &str| {
        format!(
            "{{\"id\": {number:6}, \"text\": \"{}\"}}\n",
            word.repeat(400)
        )
    };
    let lines = |word: &str| {
        (0..80_000)
            .map(|number| line(number, word))
            .collect::<String>()
    };
    for (others, is_changed) in [(Some("cd"), true), (None, false)] {
        fs::write(&path, lines("ab")).unwrap();
        let mut documents = dedupdb_corpus::Options::new().open([&path]).unwrap();
        assert!(documents.next().unwrap().is_ok());
        if let Some(others) = others {
            fs::write(&path, lines(others)).unwrap();
        } else {
            let mut file = fs::File::options().append(true).open(&path).unwrap();
            file.write_all(line(80_000, "ef").as_bytes()).unwrap();
        }
        let reported = documents.find_map(Result::err);
        let is_reported = reported.is_some_and(|it| it.to_string().contains("it changed while"));
        assert_eq!(is_reported, is_changed);
    }
}
