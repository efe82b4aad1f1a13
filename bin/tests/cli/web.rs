//! Pages, web archives and mail.

use serde_json::json;

use crate::compressed::{gz, zst};
use crate::sandbox::{Ran, Sandbox, text};

fn record(kind: &str, headers: &str, block: &[u8]) -> Vec<u8> {
    let length = block.len();
    let head =
        format!("WARC/1.0\r\nWARC-Type: {kind}\r\n{headers}Content-Length: {length}\r\n\r\n");
    [head.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn response(uri: &str, head: &str, body: &[u8]) -> Vec<u8> {
    let headers =
        format!("WARC-Target-URI: {uri}\r\nContent-Type: application/http; msgtype=response\r\n");
    record(
        "response",
        &headers,
        &[head.as_bytes(), b"\r\n\r\n", body].concat(),
    )
}

const PAGE: &str = "<title>Tram</title><p>The night tram <b>runs</b> again.<script>no</script>";
const TEXT: &[u8] = b"Tram\nThe night tram runs again.";

#[test]
fn pages_are_stored_without_their_tags() {
    let sandbox = Sandbox::new();
    sandbox.write("in/a.html", PAGE);
    sandbox.write("in/b.HTM.gz", gz(PAGE.as_bytes()));
    sandbox.write("in/c.txt", PAGE);
    sandbox.write("in/d.html", "<p>\0");
    let summary = sandbox.add(&["in"], 0);
    assert_eq!(
        (&summary["added"], &summary["exact_copies"]),
        (&json!(3), &json!(1))
    );
    assert_eq!(summary["skipped"], json!({ "binary": 1 }));
    let ran = sandbox.run_with(&["query", "-"], TEXT).expect(0);
    assert_eq!(ran.lines().len(), 2, "{}", ran.stdout);
    let ran = sandbox.run_with(&["query", "-", "--format", "html"], PAGE.as_bytes());
    assert_eq!(
        ran.expect(0).stdout,
        format!("-\tin/a.html\t1.0000\texact copy\n-\tin/b.HTM.gz\t1.0000\texact copy\n")
    );
}

#[test]
fn a_page_with_a_few_nul_bytes_is_read_and_what_is_no_text_is_no_page() {
    let sandbox = Sandbox::new();
    let html = "HTTP/1.1 200 OK\r\nContent-Type: text/html";
    let plain = "HTTP/1.1 200 OK\r\nContent-Type: text/plain";
    let page = |end: &str| format!("{}{end}", PAGE.repeat(3)).into_bytes();
    let archive = [
        response("http://a/html", html, &page(" by night\0")),
        response("http://a/plain", plain, &page(" by day\0")),
        response("http://a/nuls", html, &page(&"\0".repeat(100))),
        response("http://a/png", html, b"\x89PNG\r\n\x1a\npixels"),
    ];
    sandbox.write("a.warc", archive.concat());
    let summary = sandbox.add(&["a.warc"], 0);
    assert_eq!(summary["skipped"], json!({ "no page": 2 }));
    assert_eq!(sandbox.keys(), ["http://a/html", "http://a/plain"]);
}

/// Records that are not pages.
#[test]
fn pages_are_known_where_servers_and_archives_leave_out_their_type() {
    let sandbox = Sandbox::new();
    let page = |nth: usize| format!("<!DOCTYPE html>\n<p>{}", text(nth as u64, 40)).into_bytes();
    let http = |head: &str, nth: usize| [head.as_bytes(), b"\r\n\r\n", &page(nth)].concat();
    let html = "HTTP/1.1 200 OK\r\nContent-Type: text/html";
    let uri = |nth: usize| format!("WARC-Target-URI: http://a/{nth}\r\n");
    let archive = [
        response("http://a/0", "HTTP/1.1 200 OK", &page(0)),
        response(
            "http://a/1",
            "HTTP/1.1 200 OK\r\nContent-Type: text/html, text/html; charset=utf-8",
            &page(1),
        ),
        response(
            "http://a/2",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html",
            &page(2),
        ),
        record("response", &uri(3), &http(html, 3)),
        record(
            "response",
            &(uri(4) + "Content-Type: text/html\r\n"),
            &http(html, 4),
        ),
        record("conversion", &uri(5), text(5, 40).as_bytes()),
        record("resource", &uri(6), &page(6)),
        response("http://a/js", "HTTP/1.1 200 OK", b"function f() {}"),
        response(
            "http://a/abbr",
            "HTTP/1.1 200 OK",
            b"<abbr>none of these</abbr>",
        ),
    ];
    sandbox.write("a.warc", archive.concat());
    let summary = sandbox.add(&["a.warc"], 0);
    assert_eq!(summary["added"], 7);
    assert_eq!(summary["skipped"], json!({ "no page": 2 }));
    let ran = sandbox
        .run_with(&["query", "-"], text(3, 40).as_bytes())
        .expect(0);
    assert_eq!(ran.stdout, "-\thttp://a/3\t1.0000\texact copy\n");
}

fn no_pages() -> [Vec<u8>; 4] {
    let page = PAGE.as_bytes();
    [
        record("warcinfo", "", b"software: none"),
        record(
            "request",
            "WARC-Target-URI: http://a/plain\r\n",
            b"GET / HTTP/1.1\r\n\r\n",
        ),
        response(
            "http://a/image",
            "HTTP/1.1 200 OK\r\nContent-Type: image/png",
            b"png",
        ),
        response(
            "http://a/missing",
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/html",
            page,
        ),
    ]
}

#[test]
fn pages_of_archives_are_documents() {
    let sandbox = Sandbox::new();
    let html = "HTTP/1.1 200 OK\r\nContent-Type: text/html";
    let coded = |name: &str| format!("{html}\r\nContent-Encoding: {name}");
    let chunked = format!("{html}\r\nTransfer-Encoding: chunked");
    let (head, tail) = PAGE.split_at(20);
    let chunks = format!(
        "14\r\n{head}\r\n{:x};x=y\r\n{tail}\r\n0\r\n\r\n",
        tail.len()
    );
    let page = PAGE.as_bytes();
    let pages = [
        response("http://a/plain", html, page),
        response("<http://a/brackets>", html, page),
        response("http://a/chunks", &chunked, chunks.as_bytes()),
        response("http://a/no-chunks", &chunked, page),
        response("http://a/gzip", &coded("gzip"), &gz(page)),
        response("http://a/zstd", &coded("zstd"), &zst(page)),
        record(
            "conversion",
            "WARC-Target-URI: http://a/text\r\nContent-Type: text/plain\r\n",
            TEXT,
        ),
        record("resource", "Content-Type: text/html\r\n", page),
    ];
    let others = no_pages();
    let all = [pages.concat(), others.concat()].concat();
    sandbox.write("plain.warc", &all);
    let members: Vec<u8> = pages
        .iter()
        .chain(&others)
        .flat_map(|record| gz(record))
        .collect();
    sandbox.write("members.warc.gz", members);
    let summary = sandbox.add(&["plain.warc"], 0);
    assert_eq!(
        (&summary["added"], &summary["exact_copies"]),
        (&json!(8), &json!(7))
    );
    assert_eq!(summary["skipped"], json!({ "no page": 4 }));
    let names = [
        "brackets",
        "chunks",
        "gzip",
        "no-chunks",
        "plain",
        "text",
        "zstd",
    ];
    let mut keys: Vec<String> = names
        .iter()
        .map(|name| format!("http://a/{name}"))
        .collect();
    keys.push("plain.warc#8".to_owned());
    assert_eq!(sandbox.keys(), keys);
    assert_eq!(sandbox.add(&["members.warc.gz"], 0)["unchanged"], 7);
}

#[test]
fn a_broken_record_of_an_archive_is_passed_over() {
    let sandbox = Sandbox::new();
    let text = |uri: &str| {
        let headers = format!("WARC-Target-URI: {uri}\r\nContent-Type: text/plain\r\n");
        record("conversion", &headers, uri.as_bytes())
    };
    let html = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip";
    let mut broken = gz(PAGE.as_bytes());
    broken.truncate(broken.len() - 20);
    let all = [
        text("a"),
        b"stray lines\r\nand more\r\n".to_vec(),
        text("b"),
        b"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: many\r\n\r\nx\r\n".to_vec(),
        response("c", html, &broken),
        record(
            "conversion",
            "Content-Type: text/plain\r\n",
            &vec![b'x'; 2000],
        ),
        text("d"),
        b"WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 999999999999\r\n\r\nshort".to_vec(),
    ];
    sandbox.write("x.warc", all.concat());
    let ran = sandbox
        .run(&["--json", "-q", "add", "--max-document", "1kB", "x.warc"])
        .expect(2);
    let places: Vec<&str> = ran
        .stderr
        .lines()
        .map(|line| line.split(": ").nth(1).unwrap())
        .collect();
    assert_eq!(
        places,
        ["x.warc#2", "x.warc#4", "x.warc#5", "x.warc#6", "x.warc"],
        "{}",
        ran.stderr
    );
    let summary = ran.objects().pop().unwrap();
    // The bound also holds for the largest part of an archive that is kept in memory.
    let expected = json!({ "bad record": 4, "unreadable": 1 });
    assert_eq!(summary["skipped"], expected);
    assert_eq!(sandbox.keys(), ["a", "b", "d"]);
}

#[test]
fn mail_is_compared_by_what_its_senders_wrote() {
    let sandbox = Sandbox::new();
    let message = |id: &str, text: &str| {
        let head = format!("Message-ID: <{id}>\nSubject: about {id}\n");
        format!("From {id} Tue Mar  5 09:30:00 2024\n{head}\n{text}\n\n")
    };
    let (text, quoted) = (text(1, 30), format!("> {}\n", text(2, 30)));
    let one = message("one", &text);
    let mailbox = one.clone() + &message("answer", &format!("{quoted}{text}"));
    sandbox.write("in.mbox", &mailbox);
    let out = ["dedup", "in.mbox", "-o", "out.mbox", "--no-quoted"];
    sandbox.run(&out).expect(0);
    assert_eq!(
        std::fs::read(sandbox.path("out.mbox")).unwrap(),
        one.into_bytes()
    );
    sandbox.run(&["add", "in.mbox"]).expect(0);
    sandbox.run(&["pairs"]).expect(1);
    sandbox.run(&["add", "in.mbox", "--no-quoted"]).expect(0);
    let pairs = sandbox.run(&["pairs"]).expect(0);
    assert_eq!(pairs.stdout, "answer\tone\t1.0000\texact copy\n");
}

#[test]
fn files_of_a_maildir_are_messages_from_inside_too() {
    let sandbox = Sandbox::new();
    let message = "From: ada@example.org\nSubject: The tram\n\nIt runs again from Friday on.\n";
    sandbox.write("text.txt", "It runs again from Friday on.\n");
    sandbox.write("mail/new/1700000000.M1P2.host", message);
    sandbox.add(&["text.txt"], 0);
    for (folder, name) in [
        ("", "mail"),
        ("mail/new", "."),
        ("mail/new", "1700000000.M1P2.host"),
    ] {
        let mut command = sandbox.command(&["query", "--store"]);
        command.arg(sandbox.path(".dedupdb")).arg(name);
        let ran = command.current_dir(sandbox.path(folder)).output();
        let found = Ran::of(ran.unwrap()).expect(0).stdout;
        assert!(found.contains("text.txt\t1.0000"), "{name}: {found}");
    }
}
