//! Laws of the protocol, for lines of any bytes.

use std::io::{self, Read};

use dedupdb::{Progress, Schema, Store};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{RequestReader, Session};
use crate::json::{self, AnswerJson};

/// Input that comes in pieces of these sizes, again and again.
struct Pieces {
    bytes: Vec<u8>,
    sizes: Vec<usize>,
    taken: usize,
    turn: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.sizes[self.turn % self.sizes.len()];
        self.turn += 1;
        let rest = &self.bytes[self.taken..];
        let count = size.min(rest.len()).min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.taken += count;
        Ok(count)
    }
}

/// The answers of a new store, to requests together as they come, or to each of them alone.
fn answers(bytes: &[u8], sizes: &[usize], alone: bool) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let schema = Schema::builder().permutations(16).bands(4, 4).passage(6);
    let store = Store::create(folder.path().join("store"), &schema.build().unwrap()).unwrap();
    let mut session = Session::new(store);
    let input = Pieces {
        bytes: bytes.to_owned(),
        sizes: sizes.to_owned(),
        taken: 0,
        turn: 0,
    };
    let mut requests = RequestReader::begin(input).unwrap();
    let mut lines = Vec::new();
    while let Some(mut batch) = requests.next(&Progress::new()).unwrap() {
        let size = if alone { 1 } else { batch.len() };
        for together in batch.chunks_mut(size) {
            let answers = session.answers(together);
            assert_eq!(answers.len(), together.len());
            for (request, answer) in together.iter().zip(&answers) {
                let line = json::line(&AnswerJson::new(request, answer)).unwrap();
                assert!(!line.contains('\n'), "{line}");
                lines.push(serde_json::from_str(&line).unwrap());
            }
        }
    }
    lines
}

/// Some words: two texts of almost the same numbers resemble each other.
fn words(start: u8, count: u8) -> String {
    let words = (u16::from(start)..).take(count.into());
    let words: Vec<String> = words.map(|word| format!("w{word}")).collect();
    words.join(" ")
}

/// A request in which anything may be wrong that JSON can say.
fn request() -> impl Strategy<Value = Value> {
    let op = prop::sample::select(vec![
        "insert", "insert", "insert", "replace", "remove", "rename", "touch", "commit", "query",
        "passages", "dance",
    ]);
    let key = prop::sample::select(vec!["a", "b", "c", "d", "", "\0", "é\n"]);
    let text = (0_u8..6, 0_u8..40).prop_map(|(start, count)| words(start, count));
    let number = prop::sample::select(vec![json!(0.3), json!(1), json!(-1), json!(1e300)]);
    let odd = prop::collection::vec(
        (
            prop::sample::select(vec![
                "key",
                "text",
                "threshold",
                "containment",
                "nearest",
                "exhaustive",
                "limit",
                "x",
            ]),
            prop_oneof![Just(Value::Null), number.clone(), Just(json!(["a"]))],
        ),
        0..2,
    );
    let odd = prop_oneof![3 => Just(Vec::new()), 1 => odd];
    (op, key.clone(), key, text, number, odd).prop_map(|(op, key, to, text, number, odd)| {
        let mut request = match op {
            "insert" | "replace" => json!({"op": op, "key": key, "text": text}),
            "rename" => json!({"op": op, "key": key, "to": to}),
            "remove" | "touch" => json!({"op": op, "key": key}),
            "query" if text.len() % 3 == 0 => json!({"op": op, "key": key, "limit": number}),
            "query" => json!({"op": op, "text": text, "threshold": number}),
            "passages" => json!({"op": op, "text": text}),
            op => json!({"op": op}),
        };
        for (field, value) in odd {
            request[field] = value;
        }
        request
    })
}

/// A line and whether it is a request as it was made, or bytes of which some were changed.
fn line() -> impl Strategy<Value = (Vec<u8>, bool)> {
    let change = (any::<prop::sample::Index>(), any::<u8>());
    let changed = (request(), prop::collection::vec(change, 1..4));
    let changed = changed.prop_map(|(request, changes)| {
        let mut line = request.to_string().into_bytes();
        for (at, byte) in changes {
            let at = at.index(line.len());
            line[at] = byte;
        }
        line
    });
    prop_oneof![
        4 => request().prop_map(|request| (request.to_string().into_bytes(), true)),
        1 => changed.prop_map(|line| (line, false)),
        1 => prop::collection::vec(any::<u8>(), 0..30).prop_map(|line| (line, false)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn each_line_has_one_answer_in_order_however_lines_come(
        lines in prop::collection::vec(line(), 0..24),
        sizes in prop::collection::vec(1_usize..400, 1..5),
        has_end: bool,
    ) {
        let (mut bytes, mut ids) = (Vec::new(), Vec::new());
        for (line, is_request) in lines {
            // Bytes of a line may end it, and begin another one.
            let first = bytes.split(|byte| *byte == b'\n').count() - 1;
            if is_request {
                ids.push(first);
                bytes.extend(format!("{{\"id\": {first}, ").bytes());
                bytes.extend(&line[1..]);
            } else {
                bytes.extend(line);
            }
            bytes.push(b'\n');
        }
        if !has_end {
            bytes.pop();
        }
        let count = bytes.split_inclusive(|byte| *byte == b'\n').count();
        let together = answers(&bytes, &sizes, false);
        prop_assert_eq!(together.len(), count);
        for id in ids {
            prop_assert_eq!(&together[id]["id"], id);
        }
        prop_assert_eq!(answers(&bytes, &sizes, true), together);
    }
}
