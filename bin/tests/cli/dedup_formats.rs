//! `dedup` of tables, archives and compressed files.

use serde_json::json;

use crate::compressed::{gz, zst};
use crate::dedup::{files, lines, read};
use crate::sandbox::{Sandbox, text};

#[test]
fn rows_are_written_as_they_are() {
    let sandbox = Sandbox::new();
    let quoted = |id: &str, text: &str, end: &str| {
        format!("{id},\"a \"\"quoted\"\"\n, cell\",\"{text}\"{end}")
    };
    let (a, b) = (text(1, 50), text(2, 50));
    for end in ["\n", "\r\n"] {
        let header = format!("id,other,text{end}");
        let first = quoted("1", &a, end);
        let last = quoted("4", &b, "");
        let (copy, near) = (quoted("2", &a, end), quoted("3", &(a.clone() + "!"), end));
        sandbox.write(
            "a.csv",
            [&header, &*first, end, &copy, &near, &last].concat(),
        );
        let marked =
            "\u{feff}".to_owned() + &[&*header, &copy, &quoted("5", &text(3, 50), end)].concat();
        sandbox.write("b.csv", marked);
        sandbox
            .run(&["dedup", "a.csv", "-o", "one", "--force"])
            .expect(0);
        assert_eq!(read(&sandbox, "one"), [&*header, &first, &last].concat());
        for keep in ["first", "longest"] {
            let both = [
                "dedup", "a.csv", "b.csv", "-o", "all.csv", "--keep", keep, "--force",
            ];
            sandbox.run(&both).expect(0);
            let third = quoted("5", &text(3, 50), end);
            // One more character makes it the longest.
            let near = if keep == "first" { &first } else { &near };
            let all = [&*header, near, &last, "\n", &third].concat();
            assert_eq!(read(&sandbox, "all.csv"), all, "{keep}");
        }
    }
    let other = format!("id,text\n9,{}\n", text(9, 50));
    sandbox.write("c.csv", &other);
    let ran = sandbox
        .run(&["dedup", "a.csv", "c.csv", "-o", "x.csv"])
        .expect(2);
    assert!(ran.stderr.contains("c.csv: its header"), "{}", ran.stderr);
    sandbox.write("d.jsonl", lines(3).join("\n"));
    let ran = sandbox
        .run(&["dedup", "a.csv", "d.jsonl", "-o", "x.csv"])
        .expect(2);
    assert!(
        ran.stderr
            .contains("d.jsonl: its records are jsonl and do not go into a file of"),
        "{}",
        ran.stderr
    );
    sandbox
        .run(&["dedup", "a.csv", "c.csv", "d.jsonl", "-o", "all"])
        .expect(0);
    let written = ["a.csv", "c.csv", "d.jsonl"];
    assert_eq!(files(&sandbox.path("all")), written);
    assert_eq!(read(&sandbox, "all/c.csv"), other);
    // A table without any rows left has its header.
    sandbox.write("e.csv", "id,text\n");
    sandbox
        .run(&["dedup", "e.csv", "-o", "e-out.csv"])
        .expect(0);
    assert_eq!(read(&sandbox, "e-out.csv"), "id,text\n");
}

#[test]
fn tables_with_tabs_have_a_header_or_not() {
    let sandbox = Sandbox::new();
    let (a, b) = (text(1, 50), text(2, 50));
    let rows = format!("k1\t{a}\nk2\t{a}\r\nk3\t{b}\t\r\n");
    let kept = format!("k1\t{a}\nk3\t{b}\t\r\n");
    sandbox.write("pairs.tsv", &rows);
    sandbox
        .run(&["dedup", "pairs.tsv", "-o", "out.tsv"])
        .expect(0);
    assert_eq!(read(&sandbox, "out.tsv"), kept);
    let header = "id\ttext\r\n";
    sandbox.write("table.tsv", header.to_owned() + &rows);
    let ran = [
        "dedup",
        "table.tsv",
        "-o",
        "out.tsv",
        "--force",
        "--keep",
        "newest",
    ];
    sandbox.run(&ran).expect(0);
    let newest = format!("{header}k2\t{a}\r\nk3\t{b}\t\r\n");
    assert_eq!(read(&sandbox, "out.tsv"), newest);
}

#[test]
fn standard_input_goes_to_standard_output() {
    let sandbox = Sandbox::new();
    let all = lines(200).join("\n");
    sandbox.write("in.jsonl", &all);
    for keep in ["first", "longest"] {
        sandbox
            .run(&[
                "dedup",
                "in.jsonl",
                "-o",
                "out.jsonl",
                "--keep",
                keep,
                "--force",
            ])
            .expect(0);
        let filter = [
            "--json", "dedup", "-", "-o", "-", "--format", "jsonl", "--keep", keep,
        ];
        let ran = sandbox.run_with(&filter, all.as_bytes()).expect(0);
        assert_eq!(ran.stdout, read(&sandbox, "out.jsonl"));
        assert!(ran.stderr.contains("\"documents\":200"), "{}", ran.stderr);
    }
    assert_eq!(files(&sandbox.path("")), ["in.jsonl", "out.jsonl"]);
}

#[test]
fn what_is_compressed_is_written_as_the_name_says() {
    let sandbox = Sandbox::new();
    let all = lines(100).join("\n") + "\n";
    sandbox.write("in/a.jsonl.gz", gz(all.as_bytes()));
    sandbox.write("in/b.txt.zst", zst(text(999, 50).as_bytes()));
    sandbox.write("plain.jsonl", &all);
    sandbox
        .run(&["dedup", "plain.jsonl", "-o", "kept.jsonl"])
        .expect(0);
    let kept = read(&sandbox, "kept.jsonl");
    for (input, output) in [
        ("in/a.jsonl.gz", "out.jsonl"),
        ("in/a.jsonl.gz", "out.jsonl.gz"),
        ("plain.jsonl", "out.jsonl.zst"),
        ("in", "out/a.jsonl.gz"),
    ] {
        let target = output.split('/').next().unwrap();
        sandbox.run(&["dedup", input, "-o", target]).expect(0);
        let bytes = std::fs::read(sandbox.path(output)).unwrap();
        let plain = match output.rsplit('.').next() {
            Some("gz") => {
                let mut plain = String::new();
                let mut decoder = flate2::read::MultiGzDecoder::new(&*bytes);
                std::io::Read::read_to_string(&mut decoder, &mut plain).unwrap();
                plain
            }
            Some("zst") => String::from_utf8(zstd::decode_all(&*bytes).unwrap()).unwrap(),
            _ => String::from_utf8(bytes).unwrap(),
        };
        assert_eq!(plain, kept, "{output}");
    }
    let copied = std::fs::read(sandbox.path("out/b.txt.zst")).unwrap();
    assert_eq!(copied, zst(text(999, 50).as_bytes()));
}

#[test]
fn what_is_in_another_encoding_is_written_in_utf8() {
    let sandbox = Sandbox::new();
    let line =
        |id: u32| json!({ "id": id, "text": format!("{} été", text(7, 40)) }).to_string() + "\n";
    let all = line(1) + &line(2);
    let wide: Vec<u8> = all.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let wider: Vec<u8> = all
        .chars()
        .flat_map(|c| u32::from(c).to_le_bytes())
        .collect();
    for marked in [
        [&[0xff, 0xfe], &wide[..]].concat(),
        [&[0xff, 0xfe, 0, 0], &wider[..]].concat(),
    ] {
        sandbox.write("in.jsonl", marked);
        sandbox
            .run(&["dedup", "in.jsonl", "-o", "out.jsonl", "--force"])
            .expect(0);
        assert_eq!(read(&sandbox, "out.jsonl"), line(1));
    }
    // A line that is not UTF-8 stays as it is.
    let odd = [
        b"{\"id\": 3, \"text\": \"caf\xe9 ",
        text(8, 40).as_bytes(),
        b"\"}\n",
    ]
    .concat();
    sandbox.write("odd.jsonl", &odd);
    sandbox
        .run(&["dedup", "odd.jsonl", "-o", "odd-out.jsonl"])
        .expect(0);
    assert_eq!(std::fs::read(sandbox.path("odd-out.jsonl")).unwrap(), odd);
}

#[test]
fn pages_of_archives_are_written_with_their_headers() {
    let sandbox = Sandbox::new();
    let record = |number: u32, kind: &str, text: &str| {
        let length = text.len();
        let head = format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nX-Own: kept\r\nWARC-Target-URI: http://a/{number}\r\n\
             Content-Type: text/plain\r\nContent-Length: {length}\r\n\r\n"
        );
        head + text + "\r\n\r\n"
    };
    let (a, b) = (text(1, 50), text(2, 50));
    let first = record(1, "conversion", &a);
    let third = record(3, "conversion", &b);
    let all = [
        record(0, "warcinfo", "software: none"),
        first.clone(),
        record(2, "conversion", &(a.clone() + " more")),
        "nonsense\r\n".to_owned(),
        third.clone(),
    ];
    sandbox.write("in.warc.gz", gz(all.concat().as_bytes()));
    sandbox
        .run(&["dedup", "in.warc.gz", "-o", "out.warc"])
        .expect(2);
    assert_eq!(read(&sandbox, "out.warc"), [&*first, &third].concat());
    sandbox
        .run(&["dedup", "out.warc", "-o", "out.warc.gz"])
        .expect(0);
    let bytes = std::fs::read(sandbox.path("out.warc.gz")).unwrap();
    assert_eq!(bytes, [gz_default(&first), gz_default(&third)].concat());
}

/// A member of a gzip file.
fn gz_default(text: &str) -> Vec<u8> {
    let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut member, text.as_bytes()).unwrap();
    member.finish().unwrap()
}

#[test]
fn rows_of_parquet_become_lines() {
    let sandbox = Sandbox::new();
    let schema = "message m { required binary id (UTF8); required binary text (UTF8); }";
    let rows: Vec<(Option<&str>, String)> = vec![
        (Some("a"), text(1, 50)),
        (Some("b"), text(1, 50)),
        (Some("c"), text(2, 50)),
    ];
    let file = crate::parquet::parquet(schema, &rows, 9, parquet::basic::Compression::SNAPPY);
    sandbox.write("in/x.parquet", file);
    sandbox
        .run(&["dedup", "in/x.parquet", "-o", "out.jsonl"])
        .expect(0);
    let line =
        |row: &(Option<&str>, String)| json!({ "id": row.0, "text": row.1 }).to_string() + "\n";
    assert_eq!(
        read(&sandbox, "out.jsonl"),
        line(&rows[0]) + &line(&rows[2])
    );
    let ran = sandbox.run(&["dedup", "in", "-o", "out.csv"]).expect(2);
    assert!(ran.stderr.contains("write to a folder"), "{}", ran.stderr);
    assert!(!sandbox.path("out.csv").exists());
}

#[test]
fn an_empty_table_has_no_other_header() {
    let sandbox = Sandbox::new();
    sandbox.write("a.csv", "");
    sandbox.write("b.csv", "id,text\n1,the night tram\n");
    let inputs = ["dedup", "-q", "a.csv", "b.csv", "-o", "o.csv"];
    sandbox.run(&inputs).expect(0);
    let out = std::fs::read_to_string(sandbox.path("o.csv")).unwrap();
    assert_eq!(out, "id,text\n1,the night tram\n");
}
