//! The page to look through clusters: what is on it, what is not, and where it is written.

use std::fs;

use serde_json::Value;

use crate::sandbox::{Sandbox, text};

pub(crate) const EVIL: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";

/// The data of a page.
pub(crate) fn data(page: &str) -> Value {
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

fn read(sandbox: &Sandbox, name: &str) -> String {
    fs::read_to_string(sandbox.path(name)).unwrap()
}

/// The keys of each cluster.
pub(crate) fn keys(data: &Value) -> Vec<Vec<&str>> {
    let clusters = data["clusters"].as_array().unwrap();
    let rows = clusters
        .iter()
        .map(|cluster| cluster[3].as_array().unwrap());
    let found = rows.map(|rows| rows.iter().map(|row| row[0].as_str().unwrap()).collect());
    found.collect()
}

/// The text that is shown for a document, or the number that stands for the lack of one.
fn shown<'a>(data: &'a Value, key: &str) -> Result<&'a str, i64> {
    let clusters = data["clusters"].as_array().unwrap();
    let mut rows = clusters
        .iter()
        .flat_map(|cluster| cluster[3].as_array().unwrap());
    let row = rows.find(|row| row[0] == key).unwrap();
    match row[5].as_i64().unwrap() {
        number if number < 0 => Err(number),
        number => Ok(data["texts"][usize::try_from(number).unwrap()][0]
            .as_str()
            .unwrap()),
    }
}

/// Three similar documents, two of them identical, two others, and one alone.
fn files(sandbox: &Sandbox) {
    let words = text(1, 60);
    sandbox.write("in/a.txt", &words);
    sandbox.write("in/b.txt", format!("{words} {EVIL}"));
    sandbox.write("in/c.txt", &words);
    sandbox.write("in/d.txt", text(2, 40));
    sandbox.write("in/e.txt", format!("{} end", text(2, 40)));
    sandbox.write("in/f.txt", text(3, 40));
}

#[test]
fn a_page_has_clusters_the_largest_first_and_their_texts() {
    let sandbox = Sandbox::new();
    files(&sandbox);
    sandbox.write("first.txt", text(9, 30));
    sandbox.write("second.txt", format!("{} end", text(9, 30)));
    sandbox.add(&["first.txt", "second.txt", "in"], 0);
    let ran = sandbox.run(&["report", "-o", "report.html"]).expect(0);
    assert!(
        ran.stderr.starts_with("3 clusters of 7 documents; "),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("; wrote report.html, "),
        "{}",
        ran.stderr
    );
    let page = read(&sandbox, "report.html");
    let data = data(&page);
    let pairs = [
        vec!["second.txt", "first.txt"],
        vec!["in/e.txt", "in/d.txt"],
    ];
    let expected = [&[vec!["in/b.txt", "in/a.txt", "in/c.txt"]], &pairs[..]].concat();
    assert_eq!(keys(&data), expected);
    assert_eq!(shown(&data, "in/a.txt"), shown(&data, "in/c.txt"));
    assert!(shown(&data, "in/b.txt").unwrap().ends_with(EVIL));
    assert_eq!(data["clusters"][0][2], 1, "one is identical");
    // The same store, the same bytes.
    sandbox.run(&["report", "-o", "again.html"]).expect(0);
    assert_eq!(page, read(&sandbox, "again.html"));
    let ran = sandbox
        .run(&["report", "-o", "-", "--threads", "1"])
        .expect(0);
    assert_eq!(page, ran.stdout);
    let ran = sandbox
        .run(&["--json", "report", "-o", "json.html", "--min-size", "3"])
        .expect(0);
    assert_eq!(ran.objects()[0]["clusters"], 1);
    assert_eq!(ran.objects()[0]["identical"], 1);
    sandbox
        .run(&["report", "-o", "none.html", "--min-size", "9"])
        .expect(1);
}

#[test]
fn a_page_says_what_texts_share_and_which_is_inside_which() {
    let sandbox = Sandbox::new();
    let (one, other) = (text(1, 40), text(2, 60));
    // The same parts in another order, and some words more.
    sandbox.write("in/a.txt", format!("é {one}\n{other}\n{}", text(3, 15)));
    sandbox.write("in/b.txt", format!("{other}\n{one}"));
    sandbox
        .run(&["report", "in", "-o", "report.html", "--threshold", "0.7"])
        .expect(0);
    let page = read(&sandbox, "report.html");
    let data = data(&page);
    assert_eq!(keys(&data), [["in/a.txt", "in/b.txt"]]);
    // 92 of 96 shingles, and of 112.
    let contained = &data["clusters"][0][3][1][9];
    assert_eq!(*contained, serde_json::json!([0.9583, 0.8214]));
    let shared = &data["shared"][0];
    assert_eq!((&shared[2], &shared[3]), (&116.into(), &100.into()));
    let (from, end) = (2 + one.len() + 1, 2 + one.len() + 1 + other.len());
    let in_a = serde_json::json!([[2, 2 + one.len(), 40, 1], [from, end, 60, 0]]);
    assert_eq!(shared[4], in_a);
    assert_eq!(shared[5][0], serde_json::json!([0, other.len(), 60, 1]));
    // A store that finds longer passages marks these alone.
    sandbox
        .run(&["init", "--passage", "50", "--threshold", "0.7"])
        .expect(0);
    sandbox.add(&["in"], 0);
    sandbox.run(&["report", "-o", "report.html"]).expect(0);
    let data = self::data(&read(&sandbox, "report.html"));
    assert_eq!(data["least"], 50);
    assert_eq!(data["shared"][0][4].as_array().unwrap().len(), 1);
}

#[test]
fn a_page_shows_texts_below_those_that_contain_them() {
    let sandbox = Sandbox::new();
    let inner = text(1, 60);
    // The text that is inside the other one repeats itself, and so is the longer one.
    let long = [&*inner; 4].join(" ");
    sandbox.write("in/inner.txt", &long);
    sandbox.write("in/outer.txt", format!("{inner} {}", text(2, 90)));
    sandbox.write("in/short.txt", "five words and no more");
    sandbox.run(&["report", "in", "-o", "none.html"]).expect(1);
    let asked = [
        "--json",
        "report",
        "in",
        "--containment",
        "0.8",
        "-o",
        "report.html",
    ];
    let ran = sandbox.run(&asked).expect(0);
    let found = &ran.objects()[0];
    assert_eq!(
        (&found["clusters"], &found["short"]),
        (&1.into(), &1.into())
    );
    assert_eq!(found["could_go"], long.len());
    assert!(
        ran.stderr
            .contains("1 text was too short for a search by containment"),
        "{}",
        ran.stderr
    );
    let page = read(&sandbox, "report.html");
    assert!(page.contains("Drop what the representative contains") && !page.contains("S-curve"));
    let data = data(&page);
    assert_eq!(keys(&data), [["in/outer.txt", "in/inner.txt"]]);
    let rows = &data["clusters"][0][3];
    // It is in the representative, which is not in it.
    assert_eq!(
        (&rows[1][8], &rows[1][9]),
        (&1.into(), &serde_json::json!([0.9333, 0.3836]))
    );
    assert_eq!(data["shared"][0][2], 150);
    let ran = sandbox
        .run(&[&asked[1..], &["--threshold", "0.8"]].concat())
        .expect(2);
    assert!(ran.stderr.contains("cannot be used with"), "{}", ran.stderr);
}

/// Essays of which the second has a part of the first, and the third one of the second; six with the same cover sheet,
/// which all of them have.
fn essays(sandbox: &Sandbox) {
    let cover = text(90, 30);
    let part = |seed, words: usize| {
        let text = text(seed, 60);
        text.split(' ').take(words).collect::<Vec<_>>().join(" ")
    };
    for (name, body) in [
        ("a", text(1, 60)),
        ("b", format!("{} {}", text(2, 60), part(1, 30))),
        ("c", format!("{} {}", part(2, 40), text(3, 60))),
        ("d", text(4, 60)),
        ("e", text(5, 60)),
        ("f", text(6, 60)),
    ] {
        sandbox.write(format!("essays/{name}.txt"), format!("{cover}\n{body}"));
    }
}

#[test]
fn a_page_shows_texts_that_only_share_passages() {
    let sandbox = Sandbox::new();
    essays(&sandbox);
    sandbox
        .run(&["report", "essays", "-o", "none.html"])
        .expect(1);
    let asked = ["report", "essays", "--passages", "-o", "report.html"];
    sandbox.run(&asked).expect(0);
    let page = read(&sandbox, "report.html");
    let data = data(&page);
    // The cover sheet links none.
    let [b, c, a] = ["b", "c", "a"].map(|name| format!("essays/{name}.txt"));
    assert_eq!(keys(&data), [[&*c, &*b, &*a]]);
    let rows = data["clusters"][0][3].as_array().unwrap();
    let longest: Vec<&Value> = rows.iter().map(|row| &row[10]).collect();
    // The second part of the chain begins with the cover sheet.
    let expected = [[70, 1], [70, 0], [30, 1]];
    assert_eq!(
        longest,
        expected
            .map(|longest| serde_json::json!(longest))
            .iter()
            .collect::<Vec<_>>()
    );
    assert_eq!(data["shared"].as_array().unwrap().len(), 2);
    let least = [&asked[..], &["--at-least", "31"]].concat();
    sandbox.run(&least).expect(0);
    assert_eq!(
        keys(&self::data(&read(&sandbox, "report.html"))),
        [[&*c, &*b]]
    );
    sandbox
        .run(&[&asked[..], &["--at-least", "71"]].concat())
        .expect(1);
    // The same bytes for any number of threads.
    sandbox
        .run(&[&asked[..], &["--threads", "1"]].concat())
        .expect(0);
    assert_eq!(page, read(&sandbox, "report.html"));
    // What the second passage has is ignored.
    fs::copy(sandbox.path("essays/a.txt"), sandbox.path("a.txt")).unwrap();
    let ignoring = [&asked[..], &["--ignore", "a.txt"]].concat();
    sandbox.run(&ignoring).expect(0);
    assert_eq!(keys(&self::data(&read(&sandbox, "report.html"))), [[c, b]]);
}

#[test]
fn texts_of_a_store_that_only_share_passages_are_read_again() {
    let sandbox = Sandbox::new();
    essays(&sandbox);
    sandbox.add(&["essays"], 0);
    let asked = ["--json", "report", "--passages", "-o", "report.html"];
    let found = sandbox.run(&asked).expect(0);
    assert_eq!(
        (
            &found.objects()[0]["clusters"],
            &found.objects()[0]["not_compared"]
        ),
        (&1.into(), &0.into())
    );
    fs::rename(sandbox.path("essays"), sandbox.path("elsewhere")).unwrap();
    let ran = sandbox.run(&asked).expect(1);
    assert!(
        ran.stderr
            .contains("6 documents were not asked for shared passages"),
        "{}",
        ran.stderr
    );
    let ran = sandbox
        .run(&[&asked[..], &["--texts-from", "elsewhere"]].concat())
        .expect(0);
    assert_eq!(ran.objects()[0]["not_compared"], 0);
    sandbox
        .run(&["--store", "none", "init", "--passage", "0"])
        .expect(0);
    for (more, told) in [
        (&["--store", "none"][..], "reindex --passage 20 --from PATH"),
        (&["--at-least", "4"], "4 is less than 5"),
        (&["--containment", "0.8"], "cannot be used with"),
    ] {
        let ran = sandbox.run(&[&asked[1..], more].concat()).expect(2);
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
    }
}

#[test]
fn keys_and_texts_of_strangers_are_data() {
    let sandbox = Sandbox::new();
    let words = text(1, 40);
    let lines = ["a", "b"].map(|name| {
        let key = format!("{name}{EVIL}\n\u{2028}<!--");
        serde_json::json!({ "id": key, "text": format!("{words} {EVIL} <!-- <script> {name}") })
    });
    sandbox.write("evil.jsonl", lines.map(|line| format!("{line}\n")).concat());
    sandbox.add(&["evil.jsonl"], 0);
    let arguments = ["report", "-o", "report.html", "--texts-from", "evil.jsonl"];
    sandbox.run(&arguments).expect(0);
    let page = read(&sandbox, "report.html");
    assert_eq!(
        page.matches("<script").count(),
        2,
        "the data and the script"
    );
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!page.contains("<img") && !page.contains("<!--"));
    let data = data(&page);
    assert!(keys(&data)[0][0].ends_with("\n\u{2028}<!--"));
    assert!(data["texts"][0][0].as_str().unwrap().contains(EVIL));
    // A heading is typed by a user.
    let hostile = "x<script>alert(1)</script>";
    sandbox.run(&["backup", "store"]).expect(0);
    fs::create_dir_all(sandbox.path("x<script>alert(1)<")).unwrap();
    fs::rename(sandbox.path("store"), sandbox.path(hostile)).unwrap();
    sandbox
        .run(&["--store", hostile, "report", "-o", "title.html"])
        .expect(0);
    assert_eq!(read(&sandbox, "title.html").matches("<script").count(), 2);
}

#[test]
fn texts_are_shown_where_they_are_as_they_were() {
    let sandbox = Sandbox::new();
    files(&sandbox);
    let record = |id: &str, words: &str| serde_json::json!({ "id": id, "text": words }).to_string();
    let records = [record("x", &text(5, 40)), record("y", &text(5, 41))];
    sandbox.write("r.jsonl", records.join("\n"));
    let nameless =
        [text(6, 40), text(6, 41)].map(|words| serde_json::json!({ "text": words }).to_string());
    sandbox.write("n.jsonl", nameless.join("\n"));
    sandbox.add(&["in", "r.jsonl", "n.jsonl"], 0);
    sandbox.write("in/e.txt", "other words than before");
    let report = |more: &[&str]| {
        let all = [&["report", "-o", "report.html"], more].concat();
        let ran = sandbox.run(&all).expect(0);
        (data(&read(&sandbox, "report.html")), ran.stderr)
    };
    let (found, told) = report(&[]);
    assert_eq!(shown(&found, "in/d.txt").unwrap(), text(2, 40));
    assert_eq!(
        shown(&found, "in/e.txt"),
        Err(-1),
        "it has another text now"
    );
    assert_eq!(shown(&found, "x"), Err(-1), "an id names no file");
    assert_eq!(shown(&found, "n.jsonl#2").unwrap(), text(6, 41));
    for line in [
        "dedupdb: 1 text is not shown: the files have changed",
        "dedupdb: 2 texts are not shown: none of the keys names a file; give `--texts-from PATH`\n",
    ] {
        assert!(told.contains(line), "{told}");
    }
    let (found, told) = report(&["--texts-from", "r.jsonl"]);
    assert_eq!(shown(&found, "y").unwrap(), text(5, 41));
    assert!(told.contains("dedupdb: 1 text is not shown"), "{told}");
    let (found, told) = report(&["--no-text"]);
    assert_eq!(shown(&found, "in/d.txt"), Err(-3));
    assert!(!told.contains("text"), "{told}");
}

/// For each document of the first cluster: its key, the state of its file, and where that file comes first.
fn standings(data: &Value) -> Vec<(&str, u64, u64)> {
    let rows = data["clusters"][0][3].as_array().unwrap();
    let standing = |row: &'_ Value| (row[6].as_u64().unwrap(), row[7].as_u64().unwrap());
    let rows = rows
        .iter()
        .map(|row| (row[0].as_str().unwrap(), standing(row)));
    rows.map(|(key, (state, file))| (key, state, file))
        .collect()
}

#[test]
fn what_is_gone_is_no_reason_to_drop_the_only_copy() {
    let sandbox = Sandbox::new();
    let words = text(1, 60);
    sandbox.write("notes/a.txt", &words);
    sandbox.write("notes/b.txt", format!("{words} end"));
    sandbox.add(&["notes"], 0);
    fs::rename(sandbox.path("notes"), sandbox.path("papers")).unwrap();
    sandbox.add(&["papers"], 0);
    let arguments = ["--json", "report", "-o", "report.html"];
    let ran = sandbox.run(&arguments).expect(0);
    let page = read(&sandbox, "report.html");
    let told = "2 files are not found from this folder; run this where you ran `add`, and `dedupdb remove \
                --missing` there to remove what is gone";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert!(page.contains(told));
    assert!(!page.contains("xargs"), "no page deletes files unseen");
    let data = data(&page);
    let mut found = standings(&data);
    found.sort_unstable();
    let places = found.iter().map(|(.., file)| *file);
    assert_eq!(places.collect::<std::collections::BTreeSet<_>>().len(), 4);
    let states = found.iter().map(|(key, state, _)| (*key, *state));
    let expected = [
        ("notes/a.txt", 2),
        ("notes/b.txt", 2),
        ("papers/a.txt", 1),
        ("papers/b.txt", 1),
    ];
    assert_eq!(states.collect::<Vec<_>>(), expected);
    let summary = &ran.objects()[0];
    assert_eq!(summary["gone"], 2);
    // One of the two that exist could go, and neither in favour of the same text under its old name.
    let sizes = ["papers/a.txt", "papers/b.txt"].map(|name| read(&sandbox, name).len() as u64);
    assert!(
        sizes.contains(&summary["could_go"].as_u64().unwrap()),
        "{summary}"
    );
    assert_eq!(summary["identical_could_go"], 0);
}

#[cfg(unix)]
#[test]
fn another_name_of_a_file_is_no_copy() {
    let sandbox = Sandbox::new();
    let whole = sandbox.path("docs");
    // Files that become names of one file after they were added.
    let copied = |names: &[&str]| {
        for name in names {
            sandbox.write(name, text(1, 60));
            let file = fs::File::options().append(true).open(sandbox.path(name));
            let time = fs::metadata(whole.join("a.txt")).unwrap().modified();
            file.unwrap().set_modified(time.unwrap()).unwrap();
            sandbox.add(&[name], 0);
            fs::remove_file(sandbox.path(name)).unwrap();
        }
    };
    sandbox.write("docs/a.txt", text(1, 60));
    sandbox.add(&["docs"], 0);
    copied(&["second/a.txt"]);
    fs::hard_link(whole.join("a.txt"), sandbox.path("second/a.txt")).unwrap();
    let arguments = ["--json", "report", "-o", "report.html"];
    let check = |others: u64| {
        let ran = sandbox.run(&arguments).expect(0);
        let summary = &ran.objects()[0];
        assert_eq!(summary["other_names"], others);
        assert_eq!(summary["could_go"], 0, "{summary}");
        assert_eq!(summary["identical_could_go"], 0);
        let data = data(&read(&sandbox, "report.html"));
        let mut states = standings(&data).into_iter();
        assert!(matches!(states.next(), Some((_, 1, 0))));
        assert!(states.all(|(_, state, file)| (state, file) == (5, 0)));
        ran.stderr
    };
    assert!(check(1).contains("1 document is another name of a listed file"));
    copied(&["hard/b.txt", "linked/a.txt"]);
    fs::hard_link(whole.join("a.txt"), sandbox.path("hard/b.txt")).unwrap();
    fs::remove_dir(sandbox.path("linked")).unwrap();
    std::os::unix::fs::symlink(&whole, sandbox.path("linked")).unwrap();
    check(3);
    // A copy is another file.
    sandbox.write("copy.txt", text(1, 60));
    sandbox.add(&["copy.txt"], 0);
    let ran = sandbox.run(&arguments).expect(0);
    assert!(ran.objects()[0]["identical_could_go"].as_u64().unwrap() > 0);
}

#[test]
fn a_file_that_changed_is_not_what_was_added() {
    let sandbox = Sandbox::new();
    for name in ["a.txt", "b.txt", "c.txt"] {
        sandbox.write(name, text(1, 60));
    }
    sandbox.add(&["a.txt", "b.txt", "c.txt"], 0);
    sandbox.write("b.txt", "something else");
    let ran = sandbox
        .run(&["--json", "report", "-o", "report.html"])
        .expect(0);
    assert!(
        ran.stderr.contains("1 file has changed after being added"),
        "{}",
        ran.stderr
    );
    let page = data(&read(&sandbox, "report.html"));
    assert_eq!(
        standings(&page),
        [("a.txt", 1, 0), ("c.txt", 1, 1), ("b.txt", 3, 2)]
    );
    let summary = &ran.objects()[0];
    assert_eq!(summary["changed"], 1);
    assert_eq!(summary["identical_could_go"], text(1, 60).len());
    // The size and the time stay the same, but not the text.
    let time = std::fs::metadata(sandbox.path("c.txt"))
        .unwrap()
        .modified()
        .unwrap();
    sandbox.write("c.txt", text(1, 60).to_uppercase());
    let file = std::fs::File::options()
        .write(true)
        .open(sandbox.path("c.txt"))
        .unwrap();
    file.set_modified(time).unwrap();
    sandbox.write("a.txt", "something else again");
    let ran = sandbox
        .run(&["--json", "report", "-o", "report.html", "--force"])
        .expect(0);
    assert!(
        ran.stderr
            .contains("1 file has another text than was added"),
        "{}",
        ran.stderr
    );
    let page = data(&read(&sandbox, "report.html"));
    assert_eq!(
        standings(&page),
        [("c.txt", 3, 0), ("a.txt", 3, 1), ("b.txt", 3, 2)]
    );
    let summary = &ran.objects()[0];
    assert_eq!(
        (&summary["changed"], &summary["other_texts"]),
        (&2.into(), &1.into())
    );
    // Records are not looked for.
    let record = |id: &str| serde_json::json!({ "id": id, "text": text(2, 60) }).to_string();
    sandbox.write("r.jsonl", ["x", "y"].map(record).join("\n"));
    sandbox
        .run(&["report", "r.jsonl", "-o", "records.html"])
        .expect(0);
    let page = data(&read(&sandbox, "records.html"));
    assert_eq!(standings(&page), [("x", 0, 0), ("y", 0, 1)]);
}

#[test]
fn a_page_keeps_to_its_bytes_and_says_what_is_left_out() {
    let sandbox = Sandbox::new();
    let mut lines = Vec::new();
    for group in 0..1500_u64 {
        for copy in 0..2 + u64::from(group == 700) {
            let id = format!("{}-{group}-{copy}", "k".repeat(40));
            // Each of these takes six bytes on the page.
            let words = format!("{} {copy} {}", text(group, 60), "<".repeat(300));
            lines.push(serde_json::json!({ "id": id, "text": words }).to_string());
        }
    }
    sandbox.write("many.jsonl", lines.join("\n"));
    let arguments = [
        "--json",
        "report",
        "many.jsonl",
        "-o",
        "report.html",
        "--bytes",
    ];
    let mut before = 0;
    for bytes in [200_000_u64, 300_000, 5_000_000] {
        let most = bytes.to_string();
        let ran = sandbox.run(&[&arguments[..], &[&most]].concat()).expect(0);
        let summary = ran.objects().pop().unwrap();
        let count = |name: &str| summary[name].as_u64().unwrap();
        let page = read(&sandbox, "report.html");
        assert!(page.len() as u64 <= bytes, "{} of {bytes}", page.len());
        assert_eq!(count("clusters"), 1500);
        let data = data(&page);
        let listed = keys(&data);
        assert_eq!(count("clusters_left_out"), 1500 - listed.len() as u64);
        assert_eq!(listed[0].len(), 3, "the largest is there");
        assert!(listed.len() > before);
        before = listed.len();
        let texts = data["texts"].as_array().unwrap().len() as u64;
        assert_eq!(count("texts"), texts);
        assert!(
            texts > 0 && texts + count("texts_left_out") == listed.iter().flatten().count() as u64
        );
        let told = format!("{} clusters are not listed", count("clusters_left_out"));
        let is_all = listed.len() == 1500;
        assert_eq!(page.contains("clusters are not listed"), !is_all, "{told}");
        assert_eq!(
            ran.stderr.contains("clusters are not listed"),
            !is_all,
            "{}",
            ran.stderr
        );
        let raise = ": there is no room for more; raise `--bytes` (now ";
        let has_left_out = !is_all || count("texts_left_out") > 0;
        assert_eq!(ran.stderr.contains(raise), has_left_out, "{}", ran.stderr);
    }
    assert_eq!(before, 1500);
    let ran = sandbox.run(&["report", "many.jsonl", "-o", "x.html", "--bytes", "10kB"]);
    assert!(ran.expect(2).stderr.contains("200kB"));
}

#[test]
fn of_a_huge_cluster_a_page_lists_the_first_and_says_so() {
    let sandbox = Sandbox::new();
    let line =
        |id: u32| serde_json::json!({ "id": id.to_string(), "text": text(1, 40) }).to_string();
    sandbox.write(
        "same.jsonl",
        (0..2100).map(line).collect::<Vec<_>>().join("\n"),
    );
    let ran = sandbox.run(&["report", "same.jsonl", "-o", "report.html", "--no-text"]);
    let said =
        "100 documents of clusters are not listed: a page lists the first 2,000 of a cluster\n";
    let told = ran.expect(0).stderr;
    assert!(told.contains(said) && !told.contains("no room"), "{told}");
    let page = read(&sandbox, "report.html");
    assert!(page.contains(said.trim_end()));
    assert_eq!(keys(&data(&page))[0].len(), 2000);
}

#[test]
fn paths_are_compared_without_a_store() {
    let sandbox = Sandbox::new();
    files(&sandbox);
    let ran = sandbox
        .run(&["report", "in", "-o", "report.html"])
        .expect(0);
    assert!(
        ran.stderr.contains("2 clusters of 5 documents"),
        "{}",
        ran.stderr
    );
    let page = read(&sandbox, "report.html");
    assert_eq!(shown(&data(&page), "in/a.txt").unwrap(), text(1, 60));
    assert_eq!(sandbox.names(), ["in", "report.html"]);
    sandbox.run(&["report", "in", "-o", "again.html"]).expect(0);
    assert_eq!(page, read(&sandbox, "again.html"));
    let ran = sandbox
        .run(&["--store", "s", "report", "in", "-o", "x.html"])
        .expect(2);
    assert!(ran.stderr.contains("without a store"), "{}", ran.stderr);
    for wrong in ["missing", "in/missing"] {
        let ran = sandbox.run(&["report", wrong, "-o", "x.html"]).expect(2);
        assert!(
            ran.stderr.contains("there is no such file"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn only_a_report_is_replaced() {
    let sandbox = Sandbox::new();
    files(&sandbox);
    sandbox.add(&["in"], 0);
    sandbox.run(&["report", "-o", "report.html"]).expect(0);
    sandbox.run(&["report", "-o", "report.html"]).expect(0);
    sandbox.write("mine.html", "<!DOCTYPE html><html lang=\"en\"><p>mine</p>");
    let ran = sandbox.run(&["report", "-o", "mine.html"]).expect(2);
    assert!(
        ran.stderr.contains("mine.html") && ran.stderr.contains("--force"),
        "{}",
        ran.stderr
    );
    assert!(read(&sandbox, "mine.html").ends_with("<p>mine</p>"));
    sandbox
        .run(&["report", "-o", "mine.html", "--force"])
        .expect(0);
    for place in ["in", ".dedupdb/report.html", "no/report.html", "in/x.html"] {
        let arguments = ["report", "-o", place, "--texts-from", "in"];
        let ran = sandbox.run(&arguments).expect(2);
        assert!(ran.stderr.contains(place), "{}", ran.stderr);
    }
    assert!(!sandbox.path("in/x.html").exists());
}

/// Texts each of which resembles the next, while the ends do not resemble each other.
fn chain(sandbox: &Sandbox) {
    let words: Vec<String> = text(5, 100).split(' ').map(str::to_owned).collect();
    for version in 0..12 {
        let start = (0..4 * version).map(|word| format!("new{word}"));
        let words: Vec<String> = start.chain(words[4 * version..].iter().cloned()).collect();
        sandbox.write(format!("chain/{version:02}.txt"), words.join(" "));
    }
}

#[test]
fn only_what_is_known_to_be_like_what_stays_could_go() {
    let sandbox = Sandbox::new();
    chain(&sandbox);
    let arguments = ["--json", "report", "chain", "-o", "report.html"];
    let ran = sandbox.run(&arguments).expect(0);
    let summary = ran.objects().pop().unwrap();
    assert_eq!(summary["clusters"], 1, "{summary}");
    assert_eq!(summary["clustered"], 12, "{summary}");
    let page = data(&read(&sandbox, "report.html"));
    let rows = page["clusters"][0][3].as_array().unwrap();
    let (mut near, mut far) = (0, 0);
    for row in &rows[1..] {
        let (similarity, size) = (row[1].as_f64().unwrap(), row[3].as_u64().unwrap());
        assert_eq!(row[8], 3 * u8::from(similarity >= 0.8), "{row}");
        if similarity >= 0.8 {
            near += size;
        } else {
            far += size;
        }
    }
    assert!(near > 0 && far > 0);
    assert_eq!(summary["could_go"], near, "{summary}");
}

#[test]
fn copies_of_any_text_of_a_cluster_are_counted() {
    let sandbox = Sandbox::new();
    let words = text(1, 60);
    sandbox.write("in/a.txt", &words);
    let other = format!("{words} end");
    for name in ["b", "c", "d"] {
        sandbox.write(format!("in/{name}.txt"), &other);
    }
    let arguments = ["--json", "report", "in", "-o", "report.html"];
    let ran = sandbox.run(&arguments).expect(0);
    let summary = &ran.objects()[0];
    assert_eq!(summary["identical"], 2, "{summary}");
    assert_eq!(summary["identical_could_go"], 2 * other.len(), "{summary}");
    assert_eq!(
        summary["could_go"],
        2 * other.len() + words.len(),
        "{summary}"
    );
    let page = data(&read(&sandbox, "report.html"));
    let rows = page["clusters"][0][3].as_array().unwrap();
    let contents: Vec<&Value> = rows.iter().map(|row| &row[2]).collect();
    assert_eq!(
        contents,
        [0, 0, 0, 3],
        "the largest file is the one to keep"
    );
}

#[test]
fn a_report_says_what_was_not_read() {
    let sandbox = Sandbox::new();
    files(&sandbox);
    sandbox.write("in/picture.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF\0");
    sandbox.write("in/paper.pdf", b"%PDF-1.5\n\0");
    let told = "2 files and records were skipped: 2 binary; formats with text in them, such as PDF, are read with --pre";
    let ran = sandbox
        .run(&["--json", "report", "in", "-o", "report.html"])
        .expect(0);
    assert_eq!(ran.objects()[0]["skipped"], 2);
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert!(read(&sandbox, "report.html").contains(told));
    sandbox.write("bad.jsonl", "{\"id\": 1}\n");
    let ran = sandbox
        .run(&["report", "bad.jsonl", "-o", "bad.html"])
        .expect(2);
    assert!(
        ran.stderr
            .contains("nothing could be read; bad.html is not written"),
        "{}",
        ran.stderr
    );
    assert!(!sandbox.path("bad.html").exists());
}

#[test]
fn a_large_cluster_shows_all_texts_that_there_is_room_for() {
    let sandbox = Sandbox::new();
    let words = text(1, 200);
    for number in 0..60 {
        sandbox.write(format!("in/{number}.txt"), format!("{words} {number}"));
    }
    let ran = sandbox
        .run(&["--json", "report", "in", "-o", "report.html"])
        .expect(0);
    let summary = &ran.objects()[0];
    assert_eq!(
        (&summary["texts"], &summary["texts_left_out"]),
        (&60.into(), &0.into())
    );
}

#[test]
fn texts_of_another_folder_are_read_from_there() {
    let sandbox = Sandbox::new();
    for (name, seed) in [
        ("one/d/f", 1),
        ("one/d/g", 1),
        ("two/d/f", 2),
        ("two/d/g", 3),
    ] {
        let more = if name.ends_with('g') { " more" } else { "" };
        sandbox.write(format!("{name}.txt"), text(seed, 40) + more);
    }
    sandbox.run_in("one", &["add", "d"]).expect(0);
    let report = ["report", "-o", "page.html"];
    let ran = sandbox.run_in("two", &report).expect(0);
    assert!(!ran.stderr.contains("another text"), "{}", ran.stderr);
    let page = fs::read_to_string(sandbox.path("two/page.html")).unwrap();
    assert!(page.contains(&text(1, 40)));
}
