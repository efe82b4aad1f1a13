//! `report --sources`: the page of what one text shares with which documents.

use std::fs;

use crate::report::EVIL;
use crate::sandbox::{Ran, Sandbox, text};

/// Words of a text, from one to before another.
fn part(seed: u64, from: usize, to: usize) -> String {
    let words = text(seed, 80);
    let words = words.split(' ').skip(from).take(to - from);
    words.collect::<Vec<_>>().join(" ")
}

/// An essay of 25 words of its own, 30 of one source, 10 of its own, and 22 of another source.
fn files(sandbox: &Sandbox) {
    sandbox.write("sources/a.txt", text(1, 80));
    sandbox.write("sources/b.txt", text(2, 80));
    sandbox.write("sources/c.txt", text(3, 80));
    let parts = [
        text(7, 25),
        part(1, 10, 40),
        text(8, 10),
        part(2, 50, 72).to_uppercase(),
    ];
    sandbox.write("essay.txt", parts.join("\n\n"));
}

fn report(sandbox: &Sandbox, more: &[&str], code: i32) -> Ran {
    let asked = ["report", "--sources", "essay.txt", "-o", "essay.html"];
    sandbox.run(&[&asked, more].concat()).expect(code)
}

fn page(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.path("essay.html")).unwrap()
}

/// The text of a page, with spaces for its tags.
fn plain(page: &str) -> String {
    let (_, body) = page.split_once("<body>").unwrap();
    let parts = body.split('<').map(|part| match part.split_once('>') {
        Some((_, text)) => text,
        None => part,
    });
    let text = parts.collect::<Vec<_>>().join(" ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_page_has_nothing_of_what_is_ignored() {
    let sandbox = Sandbox::new();
    files(&sandbox);
    sandbox.write("template.txt", part(1, 0, 80));
    let ignored = ["--against", "sources", "--ignore", "template.txt"];
    let ran = report(&sandbox, &ignored, 0);
    assert!(
        ran.stderr
            .contains("22 words (33.8%) shared with 1 document; wrote"),
        "{}",
        ran.stderr
    );
    let plain = plain(&page(&sandbox));
    assert!(
        plain.contains("Passage 1 : 22 words, line 7, in 1 document"),
        "{plain}"
    );
    assert!(!plain.contains("sources/a.txt"), "{plain}");
    assert!(
        plain.contains("what the texts have of template.txt: it is not marked"),
        "{plain}"
    );
    let clusters = [
        "report",
        "sources",
        "-o",
        "other.html",
        "--ignore",
        "template.txt",
    ];
    let refused = sandbox.run(&clusters).expect(2);
    assert!(
        refused
            .stderr
            .contains("--ignore needs --passages or --sources"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_page_marks_passages_and_says_where_others_have_them() {
    let sandbox = Sandbox::new();
    files(&sandbox);
    let ran = report(&sandbox, &["--against", "sources"], 0);
    let told = "52 words (59.8%) shared with 2 documents; wrote essay.html, ";
    assert!(ran.stderr.starts_with(told), "{}", ran.stderr);
    let page = page(&sandbox);
    let plain = plain(&page);
    let around = format!("… {} {}", part(2, 38, 50), part(2, 50, 72));
    for expected in [
        "Of the 87 words of this text, 52 words (59.8%) are in passages that 2 other documents have, too.",
        "sources/a.txt 30 words (34.5%) 37.5% 30 words 1",
        "sources/b.txt 22 words (25.3%) 27.5% 22 words 2",
        "Passage 1 : 30 words, line 3, in 1 document",
        "sources/a.txt , from its word 11 on, line 1:",
        "Passage 2 : 22 words, line 7, in 1 document",
        "sources/b.txt , from its word 51 on, line 1:",
        &around,
    ] {
        assert!(plain.contains(expected), "{expected}\n{plain}");
    }
    let mark = format!(
        "href=\"#passage-2\" aria-label=\"Passage 2: 22 words, line 7, in 1 document\">2</a>{}",
        part(2, 50, 51).to_uppercase()
    );
    assert!(page.contains(&mark), "{page}");
    assert!(!page.contains("sources/c.txt") && !page.contains("<script"));
    assert!(sandbox.names().iter().all(|name| name != ".dedupdb"));

    // The same texts, the same bytes: again, on one thread, and to standard output.
    report(&sandbox, &["--against", "sources", "--threads", "1"], 0);
    assert_eq!(page, self::page(&sandbox));
    let asked = [
        "report",
        "--sources",
        "essay.txt",
        "--against",
        "sources",
        "-o",
        "-",
    ];
    assert_eq!(sandbox.run(&asked).expect(0).stdout, page);
    let mut asked = asked.to_vec();
    asked[2] = "-";
    asked.extend(["--against", "sources/a.txt"]);
    let read = sandbox.run_with(&asked, &fs::read(sandbox.path("essay.txt")).unwrap());
    assert!(read.expect(0).stdout.contains("id=\"passage-2\""));
}

#[test]
fn a_store_is_asked_if_no_files_are_named() {
    let sandbox = Sandbox::new();
    files(&sandbox);
    sandbox.add(&["sources", "essay.txt"], 0);
    let ran = sandbox.run(&[
        "--json",
        "report",
        "--sources",
        "essay.txt",
        "-o",
        "essay.html",
    ]);
    let found = &ran.expect(0).objects()[0];
    assert_eq!(
        (&found["covered"], &found["query_words"]),
        (&52.into(), &87.into())
    );
    assert_eq!(
        (&found["documents"], &found["texts_missing"]),
        (&2.into(), &0.into())
    );
    // What is gone or has changed is said.
    fs::remove_file(sandbox.path("sources/a.txt")).unwrap();
    sandbox.write("sources/b.txt", "something else");
    let ran = report(&sandbox, &[], 0);
    assert!(
        ran.stderr
            .contains("2 documents are shown without the words around a passage"),
        "{}",
        ran.stderr
    );
    let plain = plain(&page(&sandbox));
    assert!(plain.contains("sources/a.txt (gone)"), "{plain}");
    assert!(
        plain.contains("sources/b.txt (changed since it was added)"),
        "{plain}"
    );
    assert!(
        plain.contains("What stands around it is not shown: the document is gone."),
        "{plain}"
    );
    // Records whose keys are ids are read from the file that they came from.
    let lines = [1, 2].map(|seed| {
        serde_json::json!({ "id": format!("r{seed}"), "text": text(seed, 80) }).to_string() + "\n"
    });
    sandbox.write("records.jsonl", lines.concat());
    report(&sandbox, &["--against", "records.jsonl"], 0);
    assert!(self::plain(&page(&sandbox)).contains("r1 , from its word 11 on, line 1:"));
}

#[test]
fn a_passage_that_was_joined_is_shown_as_a_whole() {
    let sandbox = Sandbox::new();
    files(&sandbox);
    let essay = format!(
        "{} other {} more words {}",
        part(1, 5, 15),
        part(1, 16, 60),
        part(1, 60, 66)
    );
    sandbox.write("essay.txt", essay);
    report(&sandbox, &["--against", "sources", "--gap", "2"], 0);
    let plain = plain(&page(&sandbox));
    let around = format!(
        "… {} {} ⋯ {} {}",
        part(1, 0, 5),
        part(1, 5, 17),
        part(1, 54, 66),
        part(1, 66, 78)
    );
    for expected in [
        "joined over a few other words",
        "or between passages that were joined",
        // As much of the document is in the joined passage.
        "63 words (100%) 76.2% 63 words",
        "sources/a.txt : 60 words of it, from its word 6 on",
        &around[4..],
    ] {
        assert!(plain.contains(expected), "{expected}\n{plain}");
    }
}

#[test]
fn what_many_documents_have_is_told_apart() {
    let sandbox = Sandbox::new();
    for seed in 1..=6 {
        let others = text(seed, 30);
        sandbox.write(
            format!("class/{seed}.txt"),
            format!("{}\n{others}", text(99, 40)),
        );
    }
    sandbox.write(
        "essay.txt",
        format!("{}\n{}\n{}", text(99, 40), text(50, 20), text(2, 30)),
    );
    report(&sandbox, &["--against", "class"], 0);
    let page = page(&sandbox);
    let plain = plain(&page);
    for expected in [
        "30 words (33.3%)",
        "40 words (44.4%) are in what 5 documents or more have",
        "class/2.txt 70 words (77.8%), 40 of them common",
        "5 other documents at the end of this page.",
        "class/6.txt 40 words (44.4%), all of it common",
        "Passages that many documents have",
        "Passage 1 : 40 words, line 1, in 6 documents",
    ] {
        assert!(plain.contains(expected), "{expected}\n{plain}");
    }
    assert!(page.contains("<mark class=\"many\"") && page.contains("<mark class=\"few\""));
    let few = plain.find("Passages that few documents have").unwrap();
    assert!(
        plain[few..].find("Passage 2 : 30").unwrap() < plain[few..].find("Passage 1 : 40").unwrap()
    );
}

#[test]
fn keys_and_texts_of_strangers_are_no_html() {
    let sandbox = Sandbox::new();
    let evil = format!("{} {EVIL} <!-- \u{202e} & \" {}", text(1, 30), text(2, 30));
    let line = serde_json::json!({ "id": format!("key{EVIL}\n\u{202e}"), "text": evil });
    sandbox.write("evil.jsonl", format!("{line}\n"));
    sandbox.write(
        "essay.txt",
        format!("\0{EVIL} {evil} \u{1b}[1m \r\n & the end").replace('\0', "\u{1}"),
    );
    report(&sandbox, &["--against", "evil.jsonl"], 0);
    let page = page(&sandbox);
    for evil in [
        "<script", "<img", "<!--", "\u{202e}", "\u{1}", "\u{1b}", "\r",
    ] {
        assert!(!page.contains(evil), "{evil:?}");
    }
    assert!(page.contains("&lt;img src=x onerror=alert(2)&gt;") && page.contains("\\u{202e}"));
    assert!(page.contains("script-src 'none'"));
}

#[test]
fn a_page_is_bounded_and_says_what_is_left_out() {
    let sandbox = Sandbox::new();
    let parts = |seeds: std::ops::Range<u64>| seeds.map(|seed| text(seed, 25) + " \"&\"\n");
    sandbox.write("essay.txt", parts(0..1500).collect::<String>());
    for (number, part) in parts(0..1500).enumerate() {
        sandbox.write(format!("sources/{number:04}.txt"), part);
    }
    let ran = report(&sandbox, &["--against", "sources", "--bytes", "200kB"], 0);
    for told in [
        "500 documents are not listed: a page lists the first 1,000",
        "documents are not listed: there is no room for more; raise `--bytes`",
        "passages are marked and not listed: there is no room for more",
        "words of the text are not shown: there is no room for more",
    ] {
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
    let page = page(&sandbox);
    assert!(
        page.len() > 80_000 && page.len() <= 200_000,
        "{}",
        page.len()
    );
    assert!(page.contains("The text goes on."));
    report(&sandbox, &["--against", "sources"], 0);
    let whole = self::page(&sandbox);
    assert!(!whole.contains("The text goes on.") && whole.contains("id=\"passage-1500\""));
    assert!(plain(&whole).contains("500 documents are not listed"));
}

#[test]
fn what_cannot_be_done_is_said_in_one_line() {
    let sandbox = Sandbox::new();
    files(&sandbox);
    sandbox.write("empty.txt", " \n");
    sandbox.write("several.jsonl", "{\"text\":\"a\"}\n{\"text\":\"b\"}\n");
    sandbox.write("broken.txt.gz", b"\x1f\x8b\x08\0\0\0\0\0");
    sandbox.write("kept.html", "mine");
    sandbox
        .run(&["--store", "none", "init", "--passage", "0"])
        .expect(0);
    for (asked, told) in [
        ("--sources gone.txt --against sources -o x.html", "gone.txt"),
        (
            "--sources empty.txt --against sources -o x.html",
            "empty.txt: it has no words",
        ),
        (
            "--sources several.jsonl --against sources -o x.html",
            "several documents",
        ),
        (
            "--sources broken.txt.gz --against sources -o x.html",
            "broken.txt.gz",
        ),
        ("--sources essay.txt --against gone -o x.html", "gone"),
        (
            "--sources essay.txt --against broken.txt.gz -o x.html",
            "nothing could be read of --against",
        ),
        (
            "--sources essay.txt --store none -o x.html",
            "reindex --passage 20 --from PATH",
        ),
        (
            "--sources essay.txt --store none --against sources -o x.html",
            "leave one of them out",
        ),
        (
            "--sources essay.txt --against sources -o kept.html",
            "kept.html",
        ),
        (
            "--sources essay.txt --against sources -o x.pdf",
            "name it x.html",
        ),
        (
            "--sources essay.txt --against sources --at-least 3 -o x.html",
            "3 is less than 5",
        ),
        (
            "--sources essay.txt sources -o x.html",
            "cannot be used with",
        ),
        (
            "--sources essay.txt --min-size 3 -o x.html",
            "cannot be used with",
        ),
        ("--against sources -o x.html", "--sources"),
    ] {
        let asked: Vec<&str> = ["report"].into_iter().chain(asked.split(' ')).collect();
        let ran = sandbox.run(&asked).expect(2);
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    assert!(!sandbox.path("x.html").exists());
    assert_eq!(
        fs::read_to_string(sandbox.path("kept.html")).unwrap(),
        "mine"
    );
}

#[test]
fn what_only_a_page_of_one_text_has_is_refused_for_clusters() {
    let sandbox = Sandbox::new();
    files(&sandbox);
    for (option, asked) in [
        ("--against", &["--passages", "--against", "essay.txt"][..]),
        ("--gap", &["--passages", "--gap", "1"]),
        ("--gap", &["--gap", "1"]),
    ] {
        let clusters = ["report", "sources", "-o", "x.html"];
        let ran = sandbox.run(&[&clusters[..], asked].concat()).expect(2);
        let told = format!("{option} needs --sources");
        assert!(ran.stderr.contains(&told), "{}", ran.stderr);
    }
}

#[test]
fn a_page_is_written_without_what_cannot_be_read_and_without_passages() {
    let sandbox = Sandbox::new();
    files(&sandbox);
    sandbox.write("broken.txt.gz", b"\x1f\x8b\x08\0\0\0\0\0");
    let ran = report(&sandbox, &["--against", "sources", "broken.txt.gz"], 2);
    assert!(ran.stderr.contains("broken.txt.gz"), "{}", ran.stderr);
    assert!(plain(&page(&sandbox)).contains("What is not on this page broken.txt.gz"));
    let ran = report(&sandbox, &["--against", "sources/c.txt"], 1);
    assert!(
        ran.stderr.contains("found no passage of 20 words or more"),
        "{}",
        ran.stderr
    );
    assert!(
        plain(&page(&sandbox))
            .contains("No document that was compared shares a passage of at least 20 words")
    );
}
