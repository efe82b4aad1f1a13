//! Tables: CSV and TSV.

use serde_json::json;

use crate::dedup::read;
use crate::sandbox::{Sandbox, text};

#[test]
fn rows_of_csv_are_documents() {
    let sandbox = Sandbox::new();
    let rows = "\u{feff}url,id,text\r\n\
        u1,a,\"one, \"\"two\"\"\r\nthree\"\r\n\
        \r\n\
        u2,,no id\r\n\
        u3,c\r\n\
        u4,d,last";
    sandbox.write("x.csv", rows);
    let ran = sandbox.run(&["--json", "-q", "add", "x.csv"]).expect(2);
    assert_eq!(
        ran.stderr,
        "dedupdb: x.csv#3: it has 2 cells, and the first row 3; a text that contains commas or line breaks needs quotes around it\n"
    );
    let summary = ran.objects().pop().unwrap();
    assert_eq!(summary["skipped"], json!({ "bad record": 1 }));
    assert_eq!(sandbox.keys(), ["a", "d", "x.csv#2"]);
    let ran = sandbox.run_with(&["query", "-"], b"one, \"two\"\r\nthree");
    assert_eq!(ran.expect(0).stdout, "-\ta\t1.0000\texact copy\n");
}

#[test]
fn columns_are_named_or_counted() {
    let sandbox = Sandbox::new();
    sandbox.write("x.csv", "key,body\nk1,some words\nk2,other words\n");
    let ran = sandbox.run(&["add", "x.csv"]).expect(2);
    assert!(
        ran.stderr.contains("its first row is \"key\", \"body\";"),
        "{}",
        ran.stderr
    );
    sandbox.write("twice.csv", "id,text,text\n1,some words,other words\n");
    let ran = sandbox.run(&["add", "twice.csv"]).expect(2);
    let said = "several columns are called \"text\"; choose columns by name or by number";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let named = ["x.csv", "--text-field", "body", "--id-field", "key"];
    assert_eq!(sandbox.add(&named, 0)["added"], 2);
    assert_eq!(sandbox.keys(), ["k1", "k2"]);
    let counted = ["x.csv", "--text-field", "2", "--id-field", "1"];
    let summary = sandbox.add(&counted, 0);
    assert_eq!(
        (&summary["added"], &summary["unchanged"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(sandbox.keys(), ["k1", "k2", "key"]);
}

#[test]
fn a_quote_without_an_end_does_not_fill_the_memory() {
    let sandbox = Sandbox::new();
    let mut rows = b"id,text\n1,fine\n2,\"never ends\n".to_vec();
    for index in 0..200 {
        rows.extend(format!("r{index},{}\n", text(index, 40)).bytes());
    }
    sandbox.write("x.csv", rows);
    let summary = sandbox.add(&["--max-document", "4kB", "x.csv"], 2);
    assert_eq!(summary["skipped"], json!({ "bad record": 1 }));
    assert_eq!(sandbox.keys(), ["1"]);
}

#[test]
fn rows_of_tsv_are_lines() {
    let sandbox = Sandbox::new();
    sandbox.write("head.tsv", "text\tid\n\"quotes stay\tq\nno id\t\n");
    sandbox.write(
        "pairs.tsv",
        "a\tsome text\twith a tab \r\n\nb\t \nno tab\nc\tlast",
    );
    let ran = sandbox
        .run(&["add", "-q", "head.tsv", "pairs.tsv"])
        .expect(2);
    let expected = "dedupdb: pairs.tsv:4: it has no tab between a key and a text\n";
    assert_eq!(ran.stderr, expected);
    assert_eq!(sandbox.keys(), ["a", "b", "c", "head.tsv#3", "q"]);
    for (text, key) in [("some text\twith a tab ", "a"), ("\"quotes stay", "q")] {
        let ran = sandbox.run_with(&["query", "-"], text.as_bytes());
        assert_eq!(
            ran.expect(0).stdout,
            format!("-\t{key}\t1.0000\texact copy\n")
        );
    }
    sandbox.write("counted.tsv", "a\tsome text\n\nb\t \nno tab\nc\tlast\t");
    sandbox.add(&["counted.tsv", "--text-field", "2"], 2);
    assert!(sandbox.keys().contains(&"counted.tsv#5".to_owned()));
    sandbox
        .run(&["add", "pairs.tsv", "--text-field", "body"])
        .expect(2);
    let empty = Sandbox::new();
    empty.write("empty.tsv", "");
    empty.write("empty.csv", "");
    assert_eq!(empty.add(&["empty.tsv", "empty.csv"], 0)["documents"], 0);
}

#[test]
fn a_row_that_is_longer_than_the_first_one_is_no_record() {
    let sandbox = Sandbox::new();
    let rows = "id,text\n\
        1,Dear Sir, the roof leaks\n\
        2,\"Dear Sir, thank you\"\n\
        3,Dear Madam,,\n";
    sandbox.write("letters.csv", rows);
    sandbox.write(
        "letters.tsv",
        "id\ttext\n4\tDear Sir\tthe roof leaks\n5\tDear Aunt\t\n",
    );
    let ran = sandbox
        .run(&["add", "-q", "letters.csv", "letters.tsv"])
        .expect(2);
    let told = [
        "dedupdb: letters.csv#1: it has 3 cells, and the first row 2; a text that contains commas or line breaks needs quotes around it",
        "dedupdb: letters.tsv:2: it has 3 cells, and the first row 2; write the tabs and line breaks of a text as spaces",
    ];
    assert_eq!(ran.stderr.lines().collect::<Vec<_>>(), told);
    assert_eq!(sandbox.keys(), ["2", "3", "5"]);
    // Without a header, and if columns are counted, the first row says how long a row is.
    let counted = ["letters.csv", "--text-field", "2", "--id-field", "1"];
    for input in [rows, rows.split_once('\n').unwrap().1] {
        let counted_in = Sandbox::new();
        counted_in.write("letters.csv", format!("0,Dear Lord\n{input}"));
        counted_in.add(&counted, 2);
        assert!(!counted_in.keys().contains(&"1".to_owned()));
        assert!(counted_in.keys().contains(&"3".to_owned()));
    }
}

#[test]
fn a_row_that_was_torn_at_a_line_break_is_no_record() {
    let sandbox = Sandbox::new();
    // As programs write a table with tabs that treat it like one with commas.
    sandbox.write(
        "letters.tsv",
        "id\ttext\tlang\na\t\"Letter one.\nThe will is in the drawer\"\ten\nb\tLetter two.\n",
    );
    sandbox.write("letters.csv", "id,text,lang\nc,one two\rthree four,en\n");
    let ran = sandbox
        .run(&["add", "-q", "letters.tsv", "letters.csv"])
        .expect(2);
    for place in [".tsv:2:", ".tsv:3:", ".tsv:4:", ".csv#1:", ".csv#2:"] {
        let told = format!("{place} it has 2 cells, and the first row 3");
        assert!(ran.stderr.contains(&told), "{}", ran.stderr);
    }
    assert!(sandbox.keys().is_empty());
}

#[test]
fn a_header_of_a_tsv_whose_columns_have_other_names_is_no_document() {
    let sandbox = Sandbox::new();
    // One that has no name of a key is no row of a key and a text either.
    sandbox.write("pairs.tsv", "sentence\tlabel\nthe night tram\t1\n");
    sandbox.run(&["add", "pairs.tsv"]).expect(2);
    assert!(sandbox.keys().is_empty());
    sandbox.write("x.tsv", "ID\tBody\n1\tthe night tram\n");
    let ran = sandbox.run(&["add", "x.tsv"]).expect(2);
    let told =
        "it has no column \"text\", its first row is \"ID\", \"Body\"; choose columns by name";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let counted = ["x.tsv", "--text-field", "2", "--id-field", "1"];
    assert_eq!(sandbox.add(&counted, 0)["added"], 2);
}

#[test]
fn a_tsv_in_quotes_is_refused_and_columns_that_pandas_numbers_are_found() {
    let sandbox = Sandbox::new();
    sandbox.write("r.tsv", "\"id\"\t\"text\"\n\"1\"\t\"a harbour bridge\"\n");
    for more in [
        &[][..],
        &["--text-field", "text"],
        &["--text-field", "2", "--id-field", "1"],
    ] {
        let ran = sandbox.run(&[&["add", "r.tsv"], more].concat()).expect(2);
        let told = "r.tsv: its first row is in quotes, which would be read as part of a text";
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
    sandbox.write("p.csv", "0,1\n7,the night tram\n8,a harbour bridge\n");
    let fields = ["--text-field", "1", "--id-field", "0"];
    let dedup = ["dedup", "p.csv", "-o", "q.csv"];
    let dedup = [&dedup[..], &fields[..2]].concat();
    sandbox.run(&dedup).expect(0);
    assert_eq!(read(&sandbox, "q.csv"), read(&sandbox, "p.csv"));
    sandbox.add(&[&["p.csv"], &fields[..]].concat(), 0);
    assert_eq!(sandbox.keys(), ["7", "8"]);
}

#[test]
fn a_tsv_whose_rows_end_with_carriage_returns_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("old.tsv", "id\ttext\rk1\tone text\rk2\tanother\r");
    let ran = sandbox.run(&["add", "-q", "old.tsv"]).expect(2);
    let said = "old.tsv: its rows end with carriage returns alone";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    // That of a line of Windows ends no row, nor does one in a text.
    sandbox.write("new.tsv", "id\ttext\r\nk1\tone\rtext\r\n");
    sandbox.run(&["add", "new.tsv"]).expect(0);
    assert_eq!(sandbox.keys(), ["k1"]);
}
