//! `serve`: answers another program.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command};

use dedupdb::{Options, Query, Schema, Store, write::Outcome};
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, text};

/// A running `serve` with a client.
struct Client {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Client {
    fn start(sandbox: &Sandbox, arguments: &[&str]) -> Client {
        let mut child = sandbox.piped(&[arguments, &["serve"]].concat());
        Client {
            requests: child.stdin.take(),
            answers: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn send(&mut self, request: &Value) {
        let line = format!("{request}\n");
        let requests = self.requests.as_mut().unwrap();
        requests.write_all(line.as_bytes()).unwrap();
    }

    fn answer(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.answers.read_line(&mut line).unwrap();
        (read > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    fn ask(&mut self, request: &Value) -> Value {
        self.send(request);
        self.answer().unwrap()
    }

    fn end(mut self) -> Option<i32> {
        drop(self.requests.take());
        self.child.wait().unwrap().code()
    }
}

fn insert(key: &str, text: &str) -> Value {
    json!({"op": "insert", "key": key, "text": text})
}

#[test]
fn each_request_has_its_answer_in_order() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox, &[]);
    let swans = text(1, 40);
    let near = format!("{swans} again");
    assert_eq!(
        client.ask(&json!({"op": "insert", "key": "a", "text": swans, "id": 1})),
        json!({"id": 1, "verdict": "added", "earlier": null})
    );
    let kept_out = client.ask(&insert("b", &near));
    assert_eq!(kept_out["verdict"], "near_duplicate");
    assert_eq!(kept_out["earlier"]["key"], "a");
    assert_eq!(client.ask(&insert("b", &swans))["verdict"], "exact_copy");
    assert_eq!(client.ask(&insert("a", &swans))["verdict"], "unchanged");
    let replaced = client.ask(&json!({"op": "replace", "key": "b", "text": near}));
    assert_eq!(replaced["verdict"], "added");
    let found = client.ask(&json!({"op": "query", "text": swans, "limit": 1, "id": "x"}));
    assert_eq!(
        (&found["id"], &found["matches"][0]["key"]),
        (&json!("x"), &json!("a"))
    );
    let found = client.ask(&json!({"op": "query", "key": "a"}));
    assert_eq!(found["matches"][0]["key"], "b");
    let less = swans.split_once(' ').unwrap().1.to_owned() + " and many more words";
    let mut query = json!({"op": "query", "text": text(2, 9) + " " + &less[less.len() / 2..]});
    assert_eq!(client.ask(&query)["matches"], json!([]));
    (query["nearest"], query["exhaustive"]) = (json!(1), json!(true));
    let found = client.ask(&query);
    assert_eq!(found["matches"].as_array().unwrap().len(), 1, "{found}");
    let passage = format!("He said: {swans}, as everyone knows");
    let found = client.ask(&json!({"op": "passages", "text": passage, "at_least": 30}));
    assert_eq!(found["passages"][0]["text"], swans);
    assert_eq!(
        (&found["covered"], &found["words"]),
        (&json!(40), &json!(45))
    );
    for (request, done) in [
        (json!({"op": "rename", "key": "b", "to": "c"}), true),
        (json!({"op": "touch", "key": "c"}), true),
        (json!({"op": "remove", "key": "b"}), false),
        (json!({"op": "remove", "key": "c"}), true),
        (json!({"op": "commit"}), true),
    ] {
        assert_eq!(client.ask(&request), json!({"done": done}), "{request}");
    }
    assert_eq!(client.end(), Some(0));
    assert_eq!(sandbox.keys(), ["a"]);
}

#[test]
fn what_is_no_request_is_answered_and_the_next_one_goes_on() {
    let sandbox = Sandbox::new();
    let long = "k".repeat(100_000);
    let mut input = Vec::new();
    for (line, _) in wrong(&long) {
        input.extend_from_slice(line.as_bytes());
        input.push(b'\n');
    }
    input.extend_from_slice(b"{\"op\": \"touch\", \"key\": \"\xff\"}\n");
    // The last line may have no end.
    input.extend_from_slice(insert("a", &text(1, 40)).to_string().as_bytes());
    let ran = sandbox.run_with(&["serve", "--stdin"], &input).expect(0);
    let answers = ran.objects();
    assert_eq!(answers.len(), wrong(&long).len() + 2);
    for ((line, told), answer) in wrong(&long).into_iter().zip(&answers) {
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(told), "{line}: {message}");
    }
    assert_eq!(answers[answers.len() - 2]["error"]["kind"], "usage");
    // Half of a pair of surrogates, as a program writes that cut a text, and what an answer to a wrong request has.
    let odd = "\u{feff}{\"op\": \"insert\", \"key\": \"b\", \"text\": \"cut \\ud83d\"}\n{\"op\": 1, \"id\": 18446744073709551615}";
    let ran = sandbox.run_with(&["serve"], odd.as_bytes()).expect(0);
    let odd = ran.objects();
    assert_eq!(odd[0]["verdict"], "added");
    assert_eq!(odd[1]["id"], u64::MAX);
    assert_eq!(answers.last().unwrap()["verdict"], "added");
}

/// Lines that are no requests, or that the store refuses, and what is said of them.
fn wrong(long: &str) -> Vec<(String, &'static str)> {
    let refused = [
        ("", "not a request"),
        ("nonsense", "not a request"),
        ("[1]", "not a request"),
        (r#"{"op": "insert"} {"#, "not a request"),
        (r#"{"op": "dance"}"#, "unknown variant `dance`"),
        (r#"{"key": "a", "text": "b"}"#, "missing field `op`"),
        (
            r#"{"op": "insert", "key": "a", "txt": "b"}"#,
            "unknown field `txt`",
        ),
        (r#"{"op": "insert", "key": "a"}"#, r#"the field "text""#),
        (r#"{"op": "insert", "key": 1}"#, "expected a string"),
        (
            r#"{"op": "remove", "key": "a", "text": "b"}"#,
            r#"no field "text""#,
        ),
        (r#"{"op": "insert", "key": "", "text": "b"}"#, "key"),
        (r#"{"op": "rename", "key": "a", "to": ""}"#, "key"),
        (
            r#"{"op": "query", "text": "b", "threshold": "0.5"}"#,
            "expected a number",
        ),
        (
            r#"{"op": "query", "text": "b", "id": 0.5}"#,
            "an id is an integer or a string",
        ),
        (r#"{"op": "query"}"#, "a query needs a text or the key"),
        (
            r#"{"op": "query", "key": "a", "text": "b"}"#,
            "a query needs a text or the key",
        ),
        (r#"{"op": "query", "key": "nobody"}"#, "no document"),
        (
            r#"{"op": "query", "text": "b", "threshold": 7}"#,
            "threshold",
        ),
        (
            r#"{"op": "query", "text": "b", "limit": -1}"#,
            "expected a whole number from 1 on",
        ),
        (
            r#"{"op": "passages", "text": "b", "limit": 0}"#,
            "expected a whole number from 1 on",
        ),
        (
            r#"{"op": "query", "text": "b", "nearest": 1, "limit": 1}"#,
            r#"leave out "limit""#,
        ),
        (
            r#"{"op": "query", "text": "b", "nearest": 1, "containment": 0.5}"#,
            "nearest: ",
        ),
        (
            r#"{"op": "passages", "text": "b", "exhaustive": true}"#,
            r#"no field "exhaustive""#,
        ),
        (
            r#"{"op": "passages", "text": "b", "at_least": 0}"#,
            "at-least: 0 is less than 5",
        ),
    ];
    let refused = refused.map(|(line, told)| (line.to_owned(), told));
    let mut refused = Vec::from(refused);
    refused.push((insert(long, "b").to_string(), "key"));
    refused
}

/// If half of a pair of surrogates were replaced in a name, two names could become one.
#[test]
fn names_that_are_not_unicode_are_refused() {
    let sandbox = Sandbox::new();
    let lines = [
        r#"{"op": "replace", "key": "a\ud800", "text": "b", "id": 1}"#,
        r#"{"op": "insert", "key": "a", "text": "b", "id": "\udfff"}"#,
        r#"{"op": "rename", "key": "a", "to": "c\udfff", "id": 3}"#,
        r#"{"op": "replace", "key": "a \ud83d\ude80", "text": "cut \ud83d", "id": 4}"#,
    ];
    let ran = sandbox.run_with(&["serve"], lines.join("\n").as_bytes());
    let answers = ran.expect(0).objects();
    for (answer, id) in answers.iter().zip([json!(1), json!(null), json!(3)]) {
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("surrogate"), "{message}");
        assert_eq!(answer["id"], id);
    }
    assert_eq!(answers[3]["verdict"], "added");
    assert_eq!(sandbox.keys(), ["a \u{1f680}"]);
}

/// Many requests at once have the answers that each has alone.
#[test]
fn a_batch_answers_as_the_store_does_one_by_one() {
    let sandbox = Sandbox::new();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("store"), &Schema::default()).unwrap();
    let (mut input, mut expected) = (Vec::new(), Vec::new());
    let mut state = 5_u64;
    for _ in 0..1500 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let (request, answer) = asked_and_answered(&store, state >> 33);
        input.extend_from_slice(format!("{request}\n").as_bytes());
        expected.push(answer);
    }
    let ran = sandbox.run_with(&["serve"], &input).expect(0);
    let mut answers = ran.objects();
    for answer in &mut answers {
        if let Some(found) = answer["matches"].as_array() {
            let keys: Vec<Value> = found.iter().map(|found| found["key"].clone()).collect();
            *answer = json!({ "matches": keys });
        } else if answer["earlier"].is_object() {
            answer["earlier"] = answer["earlier"]["key"].clone();
        } else if let Some(fields) = answer.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
    }
    for (index, (answer, expected)) in answers.iter().zip(&expected).enumerate() {
        assert_eq!(answer, expected, "request {index}");
    }
    assert_eq!(answers.len(), expected.len());
    sandbox.run(&["check"]).expect(0);
}

/// A request, and what the store answers to the same call.
fn asked_and_answered(store: &Store, random: u64) -> (Value, Value) {
    let (number, version) = (random % 40, (random >> 8) % 3);
    let body = format!("{} version {version}", text(number / 2, 60));
    let (key, other) = (
        format!("key {number}"),
        format!("key {}", (random >> 16) % 40),
    );
    let verdict = |outcome: Outcome| match outcome.duplicate_of() {
        Some(earlier) => json!({"verdict": outcome.verdict(), "earlier": earlier.key}),
        None => json!({"verdict": outcome.verdict()}),
    };
    match (random >> 24) % 12 {
        0..5 => (
            insert(&key, &body),
            verdict(store.insert_unless_duplicate(&*key, &*body).unwrap()),
        ),
        5 | 6 => (
            json!({"op": "replace", "key": key, "text": body}),
            verdict(store.replace(&*key, &*body).unwrap()),
        ),
        7 => (
            json!({"op": "remove", "key": key}),
            json!({"done": store.remove(&key).unwrap()}),
        ),
        8 => (
            json!({"op": "rename", "key": key, "to": other}),
            json!({"done": store.rename(&key, &other).unwrap()}),
        ),
        9 => (
            json!({"op": "touch", "key": key}),
            json!({"done": store.touch(&key).unwrap()}),
        ),
        _ => {
            let found = store.query(&Query::text(&body)).unwrap();
            let keys: Vec<&str> = found.iter().map(|found| &*found.key).collect();
            (
                json!({"op": "query", "text": body}),
                json!({ "matches": keys }),
            )
        }
    }
}

/// Several of them write to one store. One is killed at some moment: what it answered is there.
#[cfg(unix)]
#[test]
fn what_was_answered_is_there_after_a_kill() {
    let sandbox = Sandbox::new();
    sandbox.run(&["init"]).expect(0);
    for round in 0..6 {
        let mut killed = Client::start(&sandbox, &[]);
        let mut other = Client::start(&sandbox, &[]);
        let key = |name: &str, number: u64| format!("{round} {name} {number}");
        let mut body = (0..).map(|number| text(10_000 * (round + 1) + number, 40));
        for number in 0..60 {
            killed.send(&insert(&key("killed", number), &body.next().unwrap()));
            other.send(&insert(&key("other", number), &body.next().unwrap()));
        }
        let mut answered = Vec::new();
        for number in 0..=round * 10 {
            assert_eq!(killed.answer().unwrap()["verdict"], "added");
            answered.push(key("killed", number));
        }
        killed.child.kill().unwrap();
        killed.child.wait().unwrap();
        for number in 0..60 {
            assert_eq!(other.answer().unwrap()["verdict"], "added");
            answered.push(key("other", number));
        }
        assert_eq!(other.end(), Some(0));
        let keys = sandbox.keys();
        let lost = answered.iter().find(|answered| !keys.contains(answered));
        assert_eq!(lost, None);
    }
    sandbox.run(&["check"]).expect(0);
}

#[test]
fn a_busy_store_is_an_answer_and_queries_go_on() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", text(1, 40));
    sandbox.add(&["a.txt"], 0);
    let mut client = Client::start(&sandbox, &["--wait", "0"]);
    assert_eq!(client.ask(&insert("b", &text(2, 40)))["verdict"], "added");
    let holding = Options::new().exclusive(true);
    let holding = holding.open(sandbox.path(".dedupdb")).unwrap();
    let refused = client.ask(&insert("c", &text(3, 40)));
    assert_eq!(refused["error"]["kind"], "busy", "{refused}");
    let found = client.ask(&json!({"op": "query", "text": text(1, 40)}));
    assert_eq!(found["matches"][0]["key"], "a.txt");
    drop(holding);
    assert_eq!(client.ask(&insert("c", &text(3, 40)))["verdict"], "added");
    assert_eq!(client.end(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_between_two_answers() {
    let sandbox = Sandbox::new();
    let mut client = Client::start(&sandbox, &[]);
    assert_eq!(client.ask(&insert("a", &text(1, 40)))["verdict"], "added");
    let process = client.child.id().to_string();
    let sent = Command::new("kill").args(["-TERM", &process]).status();
    assert!(sent.unwrap().success());
    assert_eq!(client.child.wait().unwrap().code(), Some(143));
    assert_eq!(client.answer(), None);
    assert_eq!(sandbox.keys(), ["a"]);
}

/// The examples store the same pages as `add --unique`, where their tools are installed.
#[cfg(unix)]
#[test]
fn the_examples_store_what_add_stores() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/serve");
    let program = Path::new(env!("CARGO_BIN_EXE_dedupdb")).parent().unwrap();
    for (tool, example) in [
        ("python3", "crawl.py"),
        ("node", "crawl.mjs"),
        ("go", "run crawl.go"),
    ] {
        let sandbox = Sandbox::with_testdata();
        let line = format!(
            "command -v {tool} >/dev/null || exit 99; cp {examples}/* .; PATH={}:$PATH {tool} {example} pages.jsonl",
            program.display()
        );
        let ran = sandbox.shell(&line).output().unwrap();
        if ran.status.code() == Some(99) {
            continue;
        }
        let told = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{tool}: {told}");
        let printed = String::from_utf8(ran.stdout).unwrap();
        let counts: BTreeMap<&str, u64> = printed
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(verdict, count)| (verdict, count.parse().unwrap()))
            .collect();
        let added = sandbox.add(&["--store", "other", "--unique", "pages.jsonl"], 0);
        assert_eq!(json!(counts["added"]), added["added"], "{tool}: {printed}");
        let kept_out: u64 = counts.values().sum::<u64>() - counts["added"];
        assert_eq!(json!(kept_out), added["kept_out"], "{tool}: {printed}");
    }
}
