//! Keys of typed columns: the text of each type, from a row to its key and back.

use std::sync::Arc;

use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, FixedLenByteArray, FixedLenByteArrayType,
    Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use serde_json::Value;

use crate::sandbox::{Sandbox, text};

const ARROW: &str = "ARROW:schema";

/// Writes two rows with the same text and different ids.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the table of types is shorter with values"
)]
fn two_rows<T: DataType>(kind: &str, ids: [T::T; 2], written_by: Option<&str>) -> Vec<u8> {
    let end = if kind.ends_with('}') { "" } else { ";" };
    let schema = format!("message m {{ required {kind}{end} required binary text (UTF8); }}");
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let metadata = written_by.map(|key| vec![KeyValue::new(key.to_owned(), "x".to_owned())]);
    let properties = WriterProperties::builder().set_key_value_metadata(metadata);
    let mut file =
        SerializedFileWriter::new(Vec::new(), schema, properties.build().into()).unwrap();
    let mut group = file.next_row_group().unwrap();
    column::<T>(&mut group, &ids);
    column::<ByteArrayType>(
        &mut group,
        &[&*text(1, 50), &text(1, 50)].map(ByteArray::from),
    );
    group.close().unwrap();
    file.into_inner().unwrap()
}

fn column<T: DataType>(group: &mut SerializedRowGroupWriter<'_, Vec<u8>>, values: &[T::T]) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, None, None).unwrap();
    column.close().unwrap();
}

fn bytes(values: [&[u8]; 2]) -> [ByteArray; 2] {
    values.map(|value| ByteArray::from(value.to_vec()))
}

fn fixed(values: [&[u8]; 2]) -> [FixedLenByteArray; 2] {
    bytes(values).map(FixedLenByteArray::from)
}

/// Bytes that were taken for Chinese.
const UUID: [u8; 16] = *b"\x42\x56\x02\x9c\xb4\xf3\x4b\xb2\x8f\x26\x1d\x2d\x6e\x9d\x8e\x10";

/// Files of all types of ids, with the keys that their rows have.
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn files() -> Vec<(&'static str, Vec<u8>, [&'static str; 2])> {
    let mut noon = [Int96::new(), Int96::new()];
    noon[0].set_data(0, 0, 2_440_588);
    noon[1].set_data(1_000_000, 0, 2_440_589);
    let uuid = fixed([&UUID, &[0xab; 16]]);
    let dashed = [
        "4256029c-b4f3-4bb2-8f26-1d2d6e9d8e10",
        "abababab-abab-abab-abab-abababababab",
    ];
    let pair = [b"\xc4\xe3".as_slice(), b"\xba\xc3"];
    let int32 = |kind, ids| two_rows::<Int32Type>(kind, ids, None);
    let int64 = |kind, ids| two_rows::<Int64Type>(kind, ids, None);
    vec![
        (
            "string",
            two_rows::<ByteArrayType>(
                "binary id (UTF8)",
                bytes([b"a", "\u{e9}".as_bytes()]),
                Some(ARROW),
            ),
            ["a", "\u{e9}"],
        ),
        (
            "uuid",
            two_rows::<FixedLenByteArrayType>("fixed_len_byte_array(16) id (UUID)", uuid, None),
            dashed,
        ),
        (
            "fixed",
            two_rows::<FixedLenByteArrayType>("fixed_len_byte_array(2) id", fixed(pair), None),
            ["c4e3", "bac3"],
        ),
        (
            "fixed text",
            two_rows::<FixedLenByteArrayType>(
                "fixed_len_byte_array(2) id",
                fixed([b"ab", b"cd"]),
                None,
            ),
            ["6162", "6364"],
        ),
        (
            "binary of Arrow",
            two_rows::<ByteArrayType>("binary id", bytes([b"ab", b"\0\x01"]), Some(ARROW)),
            ["6162", "0001"],
        ),
        (
            "binary of an old writer",
            two_rows::<ByteArrayType>("binary id", bytes([b"ab", b"cd"]), None),
            ["ab", "cd"],
        ),
        (
            "boolean",
            two_rows::<BoolType>("boolean id", [true, false], None),
            ["true", "false"],
        ),
        ("int32", int32("int32 id", [-1, 7]), ["-1", "7"]),
        (
            "uint8",
            int32("int32 id (INTEGER(8, false))", [255, 7]),
            ["255", "7"],
        ),
        (
            "uint32",
            int32("int32 id (UINT_32)", [-1, 7]),
            ["4294967295", "7"],
        ),
        (
            "int64",
            int64("int64 id", [i64::MIN, 7]),
            ["-9223372036854775808", "7"],
        ),
        (
            "uint64",
            int64("int64 id (UINT_64)", [-1, 7]),
            ["18446744073709551615", "7"],
        ),
        (
            "decimal of int64",
            int64("int64 id (DECIMAL(9, 2))", [-1, 730]),
            ["-0.01", "7.30"],
        ),
        (
            "decimal of bytes",
            two_rows::<FixedLenByteArrayType>(
                "fixed_len_byte_array(3) id (DECIMAL(5, 1))",
                fixed([b"\xff\xff\xf6", b"\0\0\x07"]),
                None,
            ),
            ["-1.0", "0.7"],
        ),
        (
            "date",
            int32("int32 id (DATE)", [-1, 11_016]),
            ["1969-12-31", "2000-02-29"],
        ),
        (
            "time",
            int32("int32 id (TIME(MILLIS, true))", [0, 86_399_007]),
            ["00:00:00", "23:59:59.007"],
        ),
        (
            "moment",
            int64("int64 id (TIMESTAMP(MICROS, true))", [0, 1]),
            ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000001Z"],
        ),
        (
            "clock",
            int64("int64 id (TIMESTAMP(NANOS, false))", [0, 1]),
            ["1970-01-01T00:00:00", "1970-01-01T00:00:00.000000001"],
        ),
        (
            "int96",
            two_rows::<Int96Type>("int96 id", noon, None),
            ["1970-01-01T00:00:00", "1970-01-02T00:00:00.001"],
        ),
    ]
}

#[test]
fn each_type_has_one_text_in_both_directions() {
    for (name, file, keys) in files() {
        let sandbox = Sandbox::new();
        sandbox.write("t.parquet", file);
        sandbox.run(&["add", "t.parquet"]).expect(0);
        let mut sorted = keys;
        sorted.sort_unstable();
        assert_eq!(sandbox.keys(), sorted, "{name}");
        // As lines, the rows have the same keys.
        sandbox
            .run(&["dedup", "t.parquet", "-o", "t.jsonl", "--mark", "m"])
            .expect(0);
        let mut again = Sandbox::new();
        again.write("t.jsonl", std::fs::read(sandbox.path("t.jsonl")).unwrap());
        again.run(&["add", "t.jsonl"]).expect(0);
        assert_eq!(again.keys(), sorted, "{name}");
        again.forget();
        // From each key to its row.
        for (dropped, kept) in [(keys[0], keys[1]), (keys[1], keys[0])] {
            sandbox.write("drop", dropped);
            let dedup = [
                "dedup",
                "t.parquet",
                "-o",
                "o.jsonl",
                "--force",
                "--keys-from",
                "drop",
            ];
            sandbox.run(&dedup).expect(0);
            let left = std::fs::read_to_string(sandbox.path("o.jsonl")).unwrap();
            let left: Value = serde_json::from_str(&left).unwrap();
            let id = left["id"]
                .as_str()
                .map_or_else(|| left["id"].to_string(), str::to_owned);
            assert_eq!(id, kept, "{name}");
        }
    }
}

#[test]
#[expect(clippy::big_endian_bytes, reason = "other programs write ids so")]
fn many_ids_of_bytes_stay_as_many() {
    let sandbox = Sandbox::new();
    let schema = "message m { required fixed_len_byte_array(8) id; required binary text (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    let ids: Vec<FixedLenByteArray> = (0..20_000_u64)
        .map(|id| ByteArray::from((id * 7919).to_be_bytes().to_vec()).into())
        .collect();
    column::<FixedLenByteArrayType>(&mut group, &ids);
    let texts: Vec<ByteArray> = (0..20_000)
        .map(|id| ByteArray::from(&*format!("text {id}")))
        .collect();
    column::<ByteArrayType>(&mut group, &texts);
    group.close().unwrap();
    sandbox.write("t.parquet", file.into_inner().unwrap());
    assert_eq!(sandbox.add(&["t.parquet"], 0)["added"], 20_000);
}

#[test]
fn what_cannot_be_a_key_or_a_text_is_refused_by_name() {
    let rows = |kind, ids: [&[u8]; 2]| two_rows::<ByteArrayType>(kind, bytes(ids), None);
    for (file, said) in [
        (
            rows("binary id (UTF8)", [b"a", b"\xfc\xfe\xfd"]),
            "t.parquet#2: its key is not UTF-8",
        ),
        (
            rows("binary id", [b"a", b"\xc4\xe3\xba\xc3"]),
            "t.parquet#2: its key is not UTF-8",
        ),
        (
            rows("binary title (UTF8)", [b"a", b"\xe9t\xe9"]),
            "t.parquet#2: its text is not UTF-8",
        ),
        (
            two_rows::<parquet::data_type::DoubleType>("double id", [0.5, 1.5], None),
            "DOUBLE, which is no key",
        ),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write("t.parquet", file);
        let field = if said.contains("text is") {
            "title"
        } else {
            "text"
        };
        let add = ["add", "t.parquet", "--text-field", field];
        let ran = sandbox.run(&add).expect(2);
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
        if said.contains("UTF-8") {
            assert!(ran.stderr.contains("--encoding"), "{}", ran.stderr);
            sandbox
                .run(&[&add[..], &["--encoding", "latin1"]].concat())
                .expect(0);
        }
    }
}

#[test]
fn an_id_that_is_no_text_is_refused_and_an_empty_one_is_none() {
    let sandbox = Sandbox::new();
    let line = |id: &str, number| format!("{{\"id\": {id}, \"text\": \"{}\"}}\n", text(number, 40));
    let halves = [
        line(r#""\ud800""#, 1),
        line(r#""\ud801""#, 2),
        line("[1]", 3),
        line("\"\"", 4),
    ];
    sandbox.write("t.jsonl", halves.concat());
    let ran = sandbox.run(&["add", "t.jsonl"]).expect(2);
    for said in [
        "t.jsonl:1: its id is not Unicode",
        "t.jsonl:2: its id",
        "t.jsonl:3: \"id\" is neither",
    ] {
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    assert_eq!(
        ran.stderr
            .matches("choose another one with --id-field")
            .count(),
        3
    );
    let csv = format!("id,text\n,{}\n", text(5, 40));
    sandbox.write("t.csv", csv);
    sandbox.write(
        "t.parquet",
        two_rows::<ByteArrayType>("binary id (UTF8)", bytes([b"", b"a"]), None),
    );
    sandbox.add(&["t.csv", "t.parquet"], 0);
    assert_eq!(sandbox.keys(), ["a", "t.csv#1", "t.jsonl#4", "t.parquet#1"]);
}

#[test]
fn columns_that_cannot_be_keys_are_refused_by_name() {
    let wide = two_rows::<FixedLenByteArrayType>(
        "fixed_len_byte_array(20) id (DECIMAL(40, 2))",
        fixed([&[0; 20], &[1; 20]]),
        None,
    );
    let list = two_rows::<ByteArrayType>(
        "group id { required binary element (UTF8); }",
        bytes([b"a", b"b"]),
        None,
    );
    for (file, said) in [
        (wide, "which is no key"),
        (list, "\"id\" has nested fields"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write("t.parquet", file);
        let ran = sandbox.run(&["add", "t.parquet"]).expect(2);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        assert!(ran.stderr.contains("--id-field"), "{}", ran.stderr);
    }
}

#[test]
fn ids_that_are_repeated_in_one_output_are_told_whatever_their_scope() {
    let sandbox = Sandbox::new();
    for number in [1, 2] {
        let line = format!("{{\"id\": \"1\", \"text\": \"{}\"}}\n", text(number, 40));
        sandbox.write(format!("{number}.jsonl"), line);
    }
    for (scope, code) in [
        (&[][..], 2),
        (&["--id-scope", "all"], 2),
        (&["--id-scope", "file"], 0),
    ] {
        let dedup = ["dedup", "1.jsonl", "2.jsonl", "-o", "out.jsonl", "--force"];
        let ran = sandbox.run(&[&dedup, scope].concat()).expect(code);
        let said = "--id-scope file makes their keys PATH#ID";
        assert_eq!(ran.stderr.contains(said), code == 2, "{}", ran.stderr);
    }
}
