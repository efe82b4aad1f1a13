//! Parquet that is damaged, or out of all proportion.

use std::sync::Arc;

use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::dedup_parquet::{bytes, column, file, place_of, two_files};
use crate::sandbox::{Sandbox, text};

#[test]
fn a_column_that_is_damaged_is_named_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    let mut damaged = file(&[(["a", "b", "c"], [1, 2, 1])]);
    let place = place_of(&damaged, 0, 9);
    damaged[place].fill(0xff);
    sandbox.write("in/damaged.parquet", &damaged);
    for keep in ["first", "longest"] {
        let ran = sandbox
            .run(&["dedup", "in", "-o", "out", "--keep", keep])
            .expect(2);
        let place = "damaged.parquet: its column \"time\" in row group 1: damaged";
        assert!(ran.stderr.contains(place), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        assert_eq!(sandbox.names(), ["in"]);
    }
    let ran = sandbox
        .run(&["dedup", "in/damaged.parquet", "-o", "x.jsonl"])
        .expect(2);
    assert!(ran.stderr.contains("damaged"), "{}", ran.stderr);
}

#[test]
fn a_damaged_text_or_key_loses_no_rows_of_the_output() {
    let sandbox = Sandbox::new();
    let whole = file(&[(["a", "b", "c"], [1, 2, 3]), (["d", "e", "f"], [4, 5, 6])]);
    sandbox.write("good/good.parquet", &whole);
    sandbox.run(&["dedup", "good", "-o", "out"]).expect(0);
    let before = std::fs::read(sandbox.path("out/good.parquet")).unwrap();
    let reader = SerializedFileReader::new(bytes::Bytes::from(whole.clone())).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    for name in ["id", "text"] {
        let mut columns = schema.columns().iter();
        let at = columns.position(|column| column.name() == name).unwrap();
        let mut damaged = whole.clone();
        damaged[place_of(&whole, 1, at)].fill(0xff);
        sandbox.write("in/damaged.parquet", &damaged);
        for keep in ["first", "longest"] {
            let replacing = ["dedup", "in", "-o", "out", "--force", "--keep", keep];
            let ran = sandbox.run(&replacing).expect(2);
            assert!(
                ran.stderr.contains("damaged.parquet: ")
                    && ran.stderr.contains("(row group 2 of 2; ")
                    && ran.stderr.contains("nothing is written"),
                "{name}: {}",
                ran.stderr
            );
            assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
            let after = std::fs::read(sandbox.path("out/good.parquet")).unwrap();
            assert_eq!((after, sandbox.names().len()), (before.clone(), 3));
        }
    }
    // A command that only reads the file gets the rows before the damage.
    assert_eq!(sandbox.add(&["in"], 2)["documents"], 4);
}

#[test]
fn a_table_without_a_row_before_its_damage_can_be_left_out() {
    let sandbox = Sandbox::new();
    let whole = file(&[(["a", "b", "c"], [1, 2, 3]), (["d", "e", "f"], [4, 5, 6])]);
    let reader = SerializedFileReader::new(bytes::Bytes::from(whole.clone())).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let mut columns = schema.columns().iter();
    let at = columns.position(|column| column.name() == "text").unwrap();
    sandbox.write("in/b.parquet", &whole);
    for (group, is_written) in [(0, true), (1, false)] {
        let mut damaged = whole.clone();
        damaged[place_of(&whole, group, at)].fill(0xff);
        sandbox.write("in/a.parquet", &damaged);
        for end in ["", ".parquet", ".jsonl"] {
            for keep in ["first", "longest"] {
                let output = format!("out-{keep}-{group}{end}");
                let dedup = ["dedup", "in", "-o", &output, "--keep", keep];
                let skipping = [&dedup[..], &["--skip-unreadable"]].concat();
                let ran = sandbox.run(&skipping).expect(2);
                assert!(
                    ran.stderr.contains("in/a.parquet: damaged"),
                    "{}",
                    ran.stderr
                );
                assert_eq!(sandbox.path(&output).exists(), is_written, "{}", ran.stderr);
                if is_written {
                    assert!(ran.stderr.contains("1 unreadable"), "{}", ran.stderr);
                    assert!(!sandbox.path(&output).join("a.parquet").exists());
                }
            }
        }
    }
}

#[test]
fn a_table_that_cannot_be_opened_loses_no_rows_of_the_output() {
    let sandbox = Sandbox::new();
    let whole = file(&[(["a", "b", "c"], [1, 2, 3])]);
    sandbox.write("in/a.parquet", &whole);
    sandbox.write("in/b.parquet", file(&[(["d", "e", "f"], [4, 5, 6])]));
    sandbox.run(&["dedup", "in", "-o", "out"]).expect(0);
    let before = std::fs::read(sandbox.path("out/a.parquet")).unwrap();
    for cut in [&whole[..whole.len() - 20], &whole[..0]] {
        sandbox.write("in/a.parquet", cut);
        for output in [
            &["out", "--force"][..],
            &["new"],
            &["new.parquet"],
            &["new.jsonl", "--keep", "longest"],
        ] {
            let ran = sandbox.run(&[&["dedup", "in", "-o"], output].concat());
            let ran = ran.expect(2);
            assert!(
                ran.stderr.contains("in/a.parquet: damaged")
                    && ran.stderr.contains("nothing is written"),
                "{}",
                ran.stderr
            );
            assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
            assert_eq!(sandbox.names(), ["in", "out"]);
        }
        assert_eq!(
            std::fs::read(sandbox.path("out/a.parquet")).unwrap(),
            before
        );
    }
}

#[test]
fn a_table_without_the_columns_is_told_how_to_choose_them() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.parquet", file(&[(["a", "b", "c"], [1, 2, 3])]));
    let told = |input: &str, output: &str| {
        let arguments = ["dedup", input, "-o", output, "--text-field", "body"];
        sandbox.run(&arguments).expect(2).stderr
    };
    {
        let told = told("in/a.parquet", "new.parquet");
        assert!(
            told.starts_with("dedupdb: in/a.parquet: it has no column \"body\", its columns are "),
            "{told}"
        );
        let advice = "; choose columns by name or by number with --text-field and --id-field; ";
        assert!(told.contains(advice), "{told}");
        assert!(told.ends_with("nothing is written\n"), "{told}");
    }
    // In a folder, it is one of the files that cannot be read.
    sandbox.write("in/b.jsonl", "{\"id\": 1, \"body\": \"the night tram\"}\n");
    let of_folder = told("in", "new");
    let first = "dedupdb: in/a.parquet: it has no column \"body\", its columns are ";
    assert!(of_folder.starts_with(first), "{of_folder}");
    assert!(sandbox.path("new/b.jsonl").exists() && !sandbox.path("new/a.parquet").exists());
    // Leaving out the only file would leave nothing.
    sandbox.write("in/a.parquet", "PAR1");
    let streamed = told("in", "-");
    let part = "standard output may have a part of what is kept (to go on without it, leave it out with --exclude, or give --skip-unreadable)\n";
    assert!(streamed.ends_with(part), "{streamed}");
    let alone = told("in/a.parquet", "new.parquet");
    assert!(alone.ends_with("; nothing is written\n"), "{alone}");
    let of_folder = told("in", "other");
    assert!(
        of_folder.ends_with("; nothing is written (to go on without it, leave it out with --exclude, or give --skip-unreadable)\n"),
        "{of_folder}"
    );
}

#[test]
fn what_is_compared_with_is_read_to_its_end_or_nothing_is_written() {
    let sandbox = Sandbox::new();
    two_files(&sandbox);
    let whole = file(&[(["a", "b", "c"], [1, 2, 3]), (["d", "e", "f"], [4, 5, 6])]);
    sandbox.write("old/good.parquet", &whole);
    let mut holed = whole.clone();
    holed[place_of(&whole, 1, 0)].fill(0xff);
    for bad in [&whole[..whole.len() - 20], &holed] {
        sandbox.write("old/bad.parquet", bad);
        let against = ["dedup", "in", "-o", "out", "--against", "old"];
        let ran = sandbox.run(&against).expect(2);
        assert!(
            ran.stderr.contains("old/bad.parquet: damaged")
                && ran.stderr.contains("would be kept (leave it out"),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        assert_eq!(sandbox.names(), ["in", "old"]);
        let without = [&against[..], &["--exclude", "bad.parquet"]].concat();
        sandbox.run(&without).expect(0);
        std::fs::remove_dir_all(sandbox.path("out")).unwrap();
    }
}

#[test]
fn one_row_may_not_grow_without_end() {
    let schema = "message m { required binary text (UTF8); repeated int64 n; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    column::<ByteArrayType>(&mut group, &[bytes(&text(1, 50))], None, None);
    let values = vec![7_i64; 6_000_000];
    let mut repetition = vec![1; values.len()];
    repetition[0] = 0;
    column::<Int64Type>(
        &mut group,
        &values,
        Some(&vec![1; values.len()]),
        Some(&repetition),
    );
    group.close().unwrap();
    let file = file.into_inner().unwrap();
    assert!(file.len() < 65_000, "{}", file.len());
    let sandbox = Sandbox::new();
    sandbox.write("in/large.parquet", file);
    for output in ["out", "out.jsonl"] {
        let ran = sandbox.run(&["dedup", "in", "-o", output]).expect(2);
        assert!(
            ran.stderr.contains("grows to more than 1000 times"),
            "{}",
            ran.stderr
        );
    }
    assert!(!sandbox.path("out").exists());
}

/// A table of four rows, the last a copy of the first, with a list for each.
fn lists() -> Vec<u8> {
    let schema = "message m { required binary text (UTF8); repeated int64 n; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_dictionary_enabled(false);
    let properties = Arc::new(properties.build());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    let mut rows = file.next_row_group().unwrap();
    let texts = [1, 2, 3, 1].map(|seed| bytes(&text(seed, 50)));
    column::<ByteArrayType>(&mut rows, &texts, None, None);
    let begins: [i16; 8] = [0, 1, 0, 1, 0, 1, 0, 1];
    column::<Int64Type>(
        &mut rows,
        &[1, 2, 3, 4, 5, 6, 7, 8],
        Some(&[1; 8]),
        Some(&begins),
    );
    rows.close().unwrap();
    file.into_inner().unwrap()
}

/// The number of rows in the lists, as far as they can be read.
fn rows_of_lists(file: &[u8]) -> Option<usize> {
    let read = || {
        let file = SerializedFileReader::new(bytes::Bytes::copy_from_slice(file)).ok()?;
        let group = file.get_row_group(0).ok()?;
        let mut column = get_typed_column_reader::<Int64Type>(group.get_column_reader(1).ok()?);
        let (mut definition, mut repetition, mut values) = (vec![], vec![], vec![]);
        let levels = (Some(&mut definition), Some(&mut repetition));
        let read = column.read_records(100, levels.0, levels.1, &mut values);
        let is_whole = definition.iter().filter(|&&level| level == 1).count() == values.len();
        read.ok().filter(|_| is_whole).map(|(rows, ..)| rows)
    };
    std::panic::catch_unwind(read).ok().flatten()
}

#[test]
fn a_list_is_of_its_row_or_nothing_is_written() {
    let sandbox = Sandbox::new();
    let sound = lists();
    let place = place_of(&sound, 0, 1);
    let (mut refused, mut written) = (0, 0);
    // The header of the page, and its levels.
    for bit in 8 * place.start..8 * (place.start + 48) {
        let mut damaged = sound.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let rows = rows_of_lists(&damaged);
        if rows == Some(4) && bit % 5 > 0 {
            continue;
        }
        sandbox.write("in.parquet", &damaged);
        let ran = sandbox.run(&["dedup", "in.parquet", "-o", "out.parquet"]);
        assert!(!ran.stderr.contains("defect"), "{bit}: {}", ran.stderr);
        let out = sandbox.path("out.parquet");
        if rows == Some(4) && out.exists() {
            written += 1;
            std::fs::remove_file(&out).unwrap();
        } else {
            refused += 1;
            ran.expect(2);
            assert!(!out.exists(), "{bit}: {rows:?}");
        }
    }
    assert!(refused > 20 && written > 10, "{refused}, {written}");
}
