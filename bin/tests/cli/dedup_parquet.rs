//! Parquet in and out, with all its columns.

use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, FixedLenByteArray, FixedLenByteArrayType,
    Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::record::Row;
use parquet::schema::parser::parse_message_type;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, text};

const SCHEMA: &str = "message rows {
    required binary id (UTF8);
    optional binary text (UTF8);
    optional group tags (LIST) { repeated group list { optional group element {
        required int32 n (INTEGER(32, false));
        optional group more (LIST) { repeated group list { optional binary element (UTF8); } }
    } } }
    optional group marks (MAP) {
        repeated group key_value { required binary key (UTF8); optional int64 value; }
    }
    repeated int96 seen;
    required fixed_len_byte_array(4) price (DECIMAL(9, 2));
    optional boolean flag;
    required int64 time (TIMESTAMP(MICROS, true));
}";

/// Writes the next column.
pub(crate) fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    definition: Option<&[i16]>,
    repetition: Option<&[i16]>,
) {
    let mut column = group.next_column().unwrap().unwrap();
    let written = column
        .typed::<T>()
        .write_batch(values, definition, repetition);
    written.unwrap();
    column.close().unwrap();
}

pub(crate) fn bytes(text: &str) -> ByteArray {
    ByteArray::from(text)
}

/// A group of three rows: texts of the numbers `seeds`, and nested columns that differ by row.
fn group(file: &mut SerializedFileWriter<Vec<u8>>, ids: [&str; 3], seeds: [u64; 3]) {
    let mut rows = file.next_row_group().unwrap();
    let group = &mut rows;
    column::<ByteArrayType>(group, &ids.map(bytes), None, None);
    let texts = seeds.map(|seed| bytes(&text(seed, 50)));
    column::<ByteArrayType>(group, &texts, Some(&[1; 3]), None);
    // [{1, ["x", null]}, {2, null}], null, [null, {3, []}]
    let numbers = [3, 3, 0, 2, 3];
    column::<Int32Type>(group, &[1, -1, 3], Some(&numbers), Some(&[0, 1, 0, 0, 1]));
    let more = [6, 5, 3, 0, 2, 4];
    column::<ByteArrayType>(group, &[bytes("x")], Some(&more), Some(&[0, 2, 1, 0, 0, 1]));
    // {"a": 1, "b": null}, {}, null
    column::<ByteArrayType>(
        group,
        &[bytes("a"), bytes("b")],
        Some(&[2, 2, 1, 0]),
        Some(&[0, 1, 0, 0]),
    );
    column::<Int64Type>(group, &[1], Some(&[3, 2, 1, 0]), Some(&[0, 1, 0, 0]));
    let mut time = Int96::new();
    time.set_data(5, 0, 2_440_588);
    column::<Int96Type>(group, &[time; 3], Some(&[0, 1, 1, 1]), Some(&[0, 0, 1, 0]));
    let price = |cents: u8| FixedLenByteArray::from(vec![0, 0, 1, cents]);
    column::<FixedLenByteArrayType>(group, &[1, 2, 3].map(price), None, None);
    column::<BoolType>(group, &[true, false], Some(&[1, 0, 1]), None);
    column::<Int64Type>(group, &[0, 1_000_001, 2], None, None);
    rows.close().unwrap();
}

/// A file of groups of three rows.
pub(crate) fn file(groups: &[([&str; 3], [u64; 3])]) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let pairs = vec![KeyValue::new("made by".to_owned(), "a test".to_owned())];
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_column_compression("text".into(), Compression::SNAPPY)
        .set_key_value_metadata(Some(pairs))
        .build();
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    for (ids, seeds) in groups {
        group(&mut file, *ids, *seeds);
    }
    file.into_inner().unwrap()
}

/// The rows of a file.
pub(crate) fn rows(sandbox: &Sandbox, name: &str) -> Vec<Row> {
    let file = std::fs::File::open(sandbox.path(name)).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Two files. In the first, the third and fourth rows are copies; in the second, the second row is one.
pub(crate) fn two_files(sandbox: &Sandbox) {
    let first = [(["a", "b", "c"], [1, 2, 1]), (["d", "e", "f"], [2, 3, 4])];
    sandbox.write("in/one.parquet", file(&first));
    sandbox.write("in/deep/two.parquet", file(&[(["g", "h", "i"], [5, 5, 3])]));
}

#[test]
fn rows_keep_all_their_columns_in_a_folder() {
    for keep in ["first", "longest", "newest"] {
        let sandbox = Sandbox::new();
        two_files(&sandbox);
        sandbox
            .run(&["dedup", "in", "-o", "out", "--keep", keep])
            .expect(0);
        let kept = [
            rows(&sandbox, "out/one.parquet"),
            rows(&sandbox, "out/deep/two.parquet"),
        ]
        .concat();
        let all = [
            rows(&sandbox, "in/one.parquet"),
            rows(&sandbox, "in/deep/two.parquet"),
        ]
        .concat();
        if keep == "newest" {
            assert_eq!(kept.len(), 5);
            assert!(kept.iter().all(|row| all.contains(row)));
            continue;
        }
        // The files are read by name: deep/two.parquet comes first.
        let expected: Vec<Row> = [0, 1, 5, 6, 8]
            .iter()
            .map(|&at: &usize| all[at].clone())
            .collect();
        assert_eq!(kept, expected, "{keep}");
        let open = |name: &str| {
            let file = std::fs::File::open(sandbox.path(name)).unwrap();
            SerializedFileReader::new(file).unwrap().metadata().clone()
        };
        let (old, new) = (open("in/one.parquet"), open("out/one.parquet"));
        let (old_file, new_file) = (old.file_metadata(), new.file_metadata());
        assert_eq!(new_file.schema(), old_file.schema());
        assert_eq!(new_file.key_value_metadata(), old_file.key_value_metadata());
        assert_eq!(new.num_row_groups(), 2);
        for (new, old) in new
            .row_group(0)
            .columns()
            .iter()
            .zip(old.row_group(0).columns())
        {
            assert_eq!(new.compression(), old.compression());
            assert_eq!(new.column_path(), old.column_path());
        }
    }
}

#[test]
fn several_files_of_the_same_columns_become_one() {
    let sandbox = Sandbox::new();
    two_files(&sandbox);
    let both = [
        "dedup",
        "in/one.parquet",
        "in/deep/two.parquet",
        "-o",
        "out.parquet",
    ];
    sandbox.run(&both).expect(0);
    let all = [
        rows(&sandbox, "in/one.parquet"),
        rows(&sandbox, "in/deep/two.parquet"),
    ]
    .concat();
    let expected: Vec<Row> = [0, 1, 4, 5, 6]
        .iter()
        .map(|&at: &usize| all[at].clone())
        .collect();
    assert_eq!(rows(&sandbox, "out.parquet"), expected);
    sandbox
        .run(&["dedup", "in/one.parquet", "-o", "one/"])
        .expect(0);
    assert_eq!(rows(&sandbox, "one/in/one.parquet").len(), 4);
    let other = "message m { optional binary id (UTF8); required binary text (UTF8); }";
    let other = crate::parquet::parquet(other, &[(None, text(9, 50))], 1, Compression::SNAPPY);
    sandbox.write("other.parquet", other);
    let ran = sandbox
        .run(&[
            "dedup",
            "in/one.parquet",
            "other.parquet",
            "-o",
            "all.parquet",
        ])
        .expect(2);
    assert!(
        ran.stderr
            .contains("other.parquet: its columns are not those"),
        "{}",
        ran.stderr
    );
    assert!(!sandbox.path("all.parquet").exists());
    sandbox.write(
        "lines.jsonl",
        "{\"text\":\"one two three four five six\"}\n",
    );
    let ran = sandbox
        .run(&["dedup", "lines.jsonl", "-o", "all.parquet"])
        .expect(2);
    assert!(
        ran.stderr.contains(
            "lines.jsonl: its records are jsonl, and are not converted to parquet; name the output .jsonl"
        ),
        "{}",
        ran.stderr
    );
}

#[test]
fn lines_have_all_columns() {
    let sandbox = Sandbox::new();
    two_files(&sandbox);
    sandbox
        .run(&["dedup", "in/one.parquet", "-o", "out.jsonl"])
        .expect(0);
    let lines = std::fs::read_to_string(sandbox.path("out.jsonl")).unwrap();
    let first = lines.lines().next().unwrap();
    assert!(first.starts_with("{\"id\":\"a\",\"text\":\""), "{first}");
    assert!(first.contains("\"price\":2.57,"), "{first}");
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let row = |id: &str, seed, tags: Value, marks: Value, seen: Value, rest: (f64, Value, &str)| {
        json!({
            "id": id, "text": text(seed, 50), "tags": tags, "marks": marks, "seen": seen,
            "price": rest.0, "flag": rest.1, "time": rest.2,
        })
    };
    let moment = "1970-01-01T00:00:00.000000005";
    let expected = [
        row(
            "a",
            1,
            json!([{ "n": 1, "more": ["x", null] }, { "n": u32::MAX, "more": null }]),
            json!({ "a": 1, "b": null }),
            json!([]),
            (2.57, json!(true), "1970-01-01T00:00:00.000000Z"),
        ),
        row(
            "b",
            2,
            Value::Null,
            json!({}),
            json!([moment, moment]),
            (2.58, Value::Null, "1970-01-01T00:00:01.000001Z"),
        ),
    ];
    assert_eq!(lines[..2], expected);
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[3]["tags"], json!([null, { "n": 3, "more": [] }]));
    // To standard output as well.
    let ran = sandbox
        .run(&["dedup", "in/one.parquet", "-o", "-"])
        .expect(0);
    assert_eq!(ran.lines().len(), 4);
}

#[test]
fn a_table_that_is_named_twice_is_read_once() {
    let sandbox = Sandbox::new();
    two_files(&sandbox);
    for arguments in [
        ["in/one.parquet", "in/one.parquet", "-o", "a.parquet"],
        ["in", "in/one.parquet", "-o", "b.parquet"],
    ] {
        let ran = sandbox.run(&[&["dedup"], &arguments[..]].concat());
        let ran = ran.expect(0);
        assert!(ran.stderr.contains("skipped"), "{}", ran.stderr);
    }
    assert_eq!(rows(&sandbox, "a.parquet").len(), 4);
}

#[test]
fn marks_are_further_columns() {
    let sandbox = Sandbox::new();
    two_files(&sandbox);
    for keep in ["first", "longest"] {
        let output = format!("out-{keep}");
        let marked = [
            "dedup", "in", "-o", &output, "--mark", "dup", "--keep", keep,
        ];
        sandbox.run(&marked).expect(0);
        let name = format!("{output}/one.parquet");
        let (old, new) = (rows(&sandbox, "in/one.parquet"), rows(&sandbox, &name));
        assert_eq!(old.len(), new.len());
        let whole = std::fs::read(sandbox.path(&name)).unwrap();
        let written = SerializedFileReader::new(bytes::Bytes::from(whole)).unwrap();
        let columns = written.metadata().row_group(0).columns();
        let marks = &columns[columns.len() - 4..];
        let first = columns[0].compression();
        assert!(marks.iter().all(|mark| mark.compression() == first));
        let mut kept = Vec::new();
        for (old, new) in old.iter().zip(&new) {
            let (old, mut new) = (old.clone().into_columns(), new.clone().into_columns());
            let marks = new.split_off(old.len());
            assert_eq!(old, new);
            kept.push(marks[0].1.to_string());
            let names: Vec<&str> = marks.iter().map(|mark| mark.0.as_str()).collect();
            assert_eq!(
                names,
                [
                    "dup_keep",
                    "dup_cluster",
                    "dup_representative",
                    "dup_similarity"
                ]
            );
        }
        assert_eq!(kept, ["true", "true", "false", "false", "false", "true"]);
    }
    let again = ["dedup", "out-first", "-o", "again", "--mark", "dup"];
    let ran = sandbox.run(&again).expect(2);
    assert!(
        ran.stderr
            .contains(": dup_keep: it has a field or a column"),
        "{}",
        ran.stderr
    );
}

/// The position of a column of a group in a file.
pub(crate) fn place_of(file: &[u8], group: usize, column: usize) -> std::ops::Range<usize> {
    let reader = SerializedFileReader::new(bytes::Bytes::copy_from_slice(file)).unwrap();
    let column = reader.metadata().row_group(group).column(column);
    let (start, length) = column.byte_range();
    usize::try_from(start).unwrap()..usize::try_from(start + length).unwrap()
}

/// The bytes of a column of a group.
fn chunk(sandbox: &Sandbox, name: &str, group: usize, column: usize) -> Vec<u8> {
    let bytes = std::fs::read(sandbox.path(name)).unwrap();
    bytes[place_of(&bytes, group, column)].to_vec()
}

/// A file with one group for each of `groups`: texts of these numbers, in pages of a few rows.
fn pages(groups: &[&[u64]]) -> Vec<u8> {
    let schema = "message m { required binary text (UTF8); optional int64 n; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder()
        .set_data_page_row_count_limit(100)
        .set_write_batch_size(100)
        .build();
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    for seeds in groups {
        let mut rows = file.next_row_group().unwrap();
        let texts: Vec<ByteArray> = seeds.iter().map(|&seed| bytes(&text(seed, 40))).collect();
        column::<ByteArrayType>(&mut rows, &texts, None, None);
        let odd: Vec<i64> = seeds
            .iter()
            .filter(|&seed| seed % 2 == 1)
            .map(|&seed| seed.cast_signed())
            .collect();
        let levels: Vec<i16> = seeds.iter().map(|seed| (seed % 2) as i16).collect();
        column::<Int64Type>(&mut rows, &odd, Some(&levels), None);
        rows.close().unwrap();
    }
    file.into_inner().unwrap()
}

#[test]
fn groups_that_lose_no_row_are_copied_byte_for_byte() {
    let sandbox = Sandbox::new();
    let first: Vec<u64> = (0..250).collect();
    let second: Vec<u64> = (200..400).collect();
    sandbox.write("in.parquet", pages(&[&first, &second]));
    sandbox
        .run(&["dedup", "in.parquet", "-o", "out.parquet"])
        .expect(0);
    let (old, new) = (rows(&sandbox, "in.parquet"), rows(&sandbox, "out.parquet"));
    assert_eq!(new, [&old[..250], &old[300..]].concat());
    for column in 0..2 {
        let same = |group| {
            chunk(&sandbox, "in.parquet", group, column)
                == chunk(&sandbox, "out.parquet", group, column)
        };
        assert!(same(0), "{column}");
        assert!(!same(1), "{column}");
    }
    let marked = ["dedup", "in.parquet", "-o", "marked.parquet", "--mark", "m"];
    sandbox.run(&marked).expect(0);
    let copied = chunk(&sandbox, "marked.parquet", 1, 0);
    assert_eq!(copied, chunk(&sandbox, "in.parquet", 1, 0));
}

#[test]
fn rows_of_one_group_are_copied_while_they_come() {
    let sandbox = Sandbox::new();
    // The first row that is dropped comes late, and the last ones are dropped.
    let seeds = (0..700).chain((0..900).map(|at| if at % 7 < 3 { at } else { 1000 + at }));
    let seeds: Vec<u64> = seeds.chain(0..300).collect();
    sandbox.write("in.parquet", pages(&[&seeds]));
    let mut met = std::collections::HashSet::new();
    let is_new: Vec<bool> = seeds.iter().map(|seed| met.insert(seed)).collect();
    for keep in ["first", "longest"] {
        let output = format!("{keep}.parquet");
        sandbox
            .run(&["dedup", "in.parquet", "-o", &output, "--keep", keep])
            .expect(0);
        let old = rows(&sandbox, "in.parquet").into_iter().zip(&is_new);
        let kept: Vec<Row> = old.filter(|(_, new)| **new).map(|(row, _)| row).collect();
        assert_eq!(rows(&sandbox, &output), kept, "{keep}");
    }
}

#[test]
fn a_field_that_only_a_folder_has_is_told_if_one_file_loses_it() {
    let sandbox = Sandbox::new();
    for (number, lang) in ["en", "de"].iter().enumerate() {
        let record = format!("{{\"text\": \"{}\"}}\n", text(number as u64, 40));
        sandbox.write(format!("in/lang={lang}/a.jsonl"), record);
    }
    let told = "lang=de is the name of a folder, and no field of the records in the output";
    let ran = sandbox.run(&["dedup", "in", "-o", "one.jsonl"]).expect(0);
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let ran = sandbox.run(&["dedup", "in", "-o", "out"]).expect(0);
    assert!(!ran.stderr.contains("lang="), "{}", ran.stderr);
}
