//! Parquet, and the same documents in all formats.

use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::json;

use crate::compressed::{gz, zst};
use crate::sandbox::{Sandbox, text};

/// A file of rows in groups of `group` rows, with a key that may be missing.
pub(crate) fn parquet(
    schema: &str,
    rows: &[(Option<&str>, String)],
    group: usize,
    coding: Compression,
) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_compression(coding).build();
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    for rows in rows.chunks(group) {
        let mut columns = file.next_row_group().unwrap();
        let ids: Vec<ByteArray> = rows
            .iter()
            .filter_map(|row| row.0.map(ByteArray::from))
            .collect();
        let levels: Vec<i16> = rows.iter().map(|row| i16::from(row.0.is_some())).collect();
        let mut column = columns.next_column().unwrap().unwrap();
        column
            .typed::<ByteArrayType>()
            .write_batch(&ids, Some(&levels), None)
            .unwrap();
        column.close().unwrap();
        let texts: Vec<ByteArray> = rows
            .iter()
            .map(|row| ByteArray::from(row.1.as_str()))
            .collect();
        let mut column = columns.next_column().unwrap().unwrap();
        column
            .typed::<ByteArrayType>()
            .write_batch(&texts, None, None)
            .unwrap();
        column.close().unwrap();
        columns.close().unwrap();
    }
    file.into_inner().unwrap()
}

const SCHEMA: &str = "message m { optional binary id (UTF8); required binary text (UTF8); }";

#[test]
fn the_same_documents_give_the_same_store_in_any_format() {
    const DOCUMENTS: u64 = 3000;
    let ids: Vec<String> = (0..DOCUMENTS).map(|id| format!("doc-{id}")).collect();
    let texts = (0..DOCUMENTS).map(|id| format!("{}, \"quoted\"\tétude", text(id % 2900, 20)));
    let rows: Vec<(Option<&str>, String)> =
        ids.iter().map(|id| Some(id.as_str())).zip(texts).collect();
    let jsonl: String = rows
        .iter()
        .map(|(id, text)| json!({ "id": id, "text": text }).to_string() + "\n")
        .collect();
    let csv = rows
        .iter()
        .map(|(id, text)| format!("{},\"{}\"\n", id.unwrap(), text.replace('"', "\"\"")));
    let csv = "id,text\n".to_owned() + &csv.collect::<String>();
    let tsv = rows
        .iter()
        .map(|(id, text)| format!("{}\t{text}\n", id.unwrap()));
    let tsv = tsv.collect::<Vec<_>>().concat();
    let plain = parquet(SCHEMA, &rows, 700, Compression::UNCOMPRESSED);
    let (head, tail) = jsonl.as_bytes().split_at(jsonl.len() / 2);
    let mut expected = None;
    for (name, bytes) in [
        ("a.jsonl", jsonl.clone().into_bytes()),
        ("a.jsonl.gz", gz(jsonl.as_bytes())),
        ("b.jsonl.gz", [gz(head), gz(tail)].concat()),
        ("a.jsonl.zst", zst(jsonl.as_bytes())),
        ("b.jsonl.zst", [zst(head), zst(tail)].concat()),
        ("a.csv", csv.into_bytes()),
        ("a.tsv", tsv.into_bytes()),
        (
            "b.parquet",
            parquet(SCHEMA, &rows, 3000, Compression::SNAPPY),
        ),
        (
            "c.parquet",
            parquet(SCHEMA, &rows, 31, Compression::ZSTD(ZstdLevel::default())),
        ),
        ("a.parquet.gz", gz(&plain)),
        ("a.parquet", plain),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write(name, bytes);
        let summary = sandbox.add(&[name], 0);
        assert_eq!(
            (&summary["added"], &summary["exact_copies"]),
            (&json!(DOCUMENTS), &json!(100))
        );
        let contents = sandbox.contents();
        assert_eq!(
            &contents,
            expected.get_or_insert_with(|| contents.clone()),
            "{name}"
        );
    }
}

#[test]
fn columns_may_be_binary_nested_and_missing() {
    let sandbox = Sandbox::new();
    let schema = "message m { optional group meta { optional binary url; } required binary body; }";
    let rows = [
        (Some("u"), "first text".to_owned()),
        (None, "second text".to_owned()),
    ];
    let schema = schema.replace("optional group", "required group");
    sandbox.write("x.parquet", parquet(&schema, &rows, 9, Compression::SNAPPY));
    let ran = sandbox.run(&["add", "x.parquet"]).expect(2);
    assert!(
        ran.stderr
            .contains("its columns are \"meta.url\", \"body\";"),
        "{}",
        ran.stderr
    );
    let fields = [
        "x.parquet",
        "--text-field",
        "body",
        "--id-field",
        "meta.url",
    ];
    sandbox.add(&fields, 0);
    assert_eq!(sandbox.keys(), ["u", "x.parquet#2"]);
}

#[test]
fn keys_may_be_numbers_and_texts_may_be_missing() {
    let schema = "message m { required int64 id (UINT_64); optional binary text (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut columns = file.next_row_group().unwrap();
    let mut column = columns.next_column().unwrap().unwrap();
    column
        .typed::<Int64Type>()
        .write_batch(&[7, -1], None, None)
        .unwrap();
    column.close().unwrap();
    let mut column = columns.next_column().unwrap().unwrap();
    let texts = [ByteArray::from("large number")];
    column
        .typed::<ByteArrayType>()
        .write_batch(&texts, Some(&[0, 1]), None)
        .unwrap();
    column.close().unwrap();
    columns.close().unwrap();
    let sandbox = Sandbox::new();
    sandbox.write("x.parquet", file.into_inner().unwrap());
    let ran = sandbox.run(&["add", "-q", "x.parquet"]).expect(2);
    assert_eq!(ran.stderr, "dedupdb: x.parquet#1: it has no text\n");
    assert_eq!(sandbox.keys(), ["18446744073709551615"]);
    let ran = sandbox
        .run(&["add", "x.parquet", "--text-field", "id"])
        .expect(2);
    assert!(
        ran.stderr.contains("INT64, which is no text"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_damaged_file_is_reported() {
    let sandbox = Sandbox::new();
    let rows: Vec<_> = (0..200).map(|seed| (Some("id"), text(seed, 20))).collect();
    let whole = parquet(SCHEMA, &rows, 50, Compression::SNAPPY);
    sandbox.write("cut.parquet", &whole[..whole.len() - 100]);
    sandbox.write("empty.parquet", "");
    sandbox.write("no.parquet", "no such file");
    let mut holed = whole.clone();
    holed[4..2000].fill(0x5a);
    sandbox.write("holed.parquet", holed);
    let names = [
        "cut.parquet",
        "empty.parquet",
        "no.parquet",
        "holed.parquet",
    ];
    let ran = sandbox
        .run(&[&["add", "-q"], &names[..]].concat())
        .expect(2);
    assert_eq!(ran.stderr.lines().count(), 4, "{}", ran.stderr);
    assert!(ran.stderr.contains("rows are read)"), "{}", ran.stderr);
    assert_eq!(
        ran.stderr
            .matches(".parquet: damaged, or cut short: ")
            .count(),
        4
    );
    assert_eq!(ran.stderr.matches("; copy or download it again").count(), 4);
}
