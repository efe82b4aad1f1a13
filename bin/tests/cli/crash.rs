//! Killing the program at any moment of an `add`.
#![cfg(unix)]

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::sandbox::{Sandbox, text};

const FILES: u64 = 3000;
const ROUNDS: u64 = 8;

fn filled() -> Sandbox {
    let sandbox = Sandbox::new();
    for seed in 0..FILES {
        // Every third text has a near-duplicate, every seventh a copy.
        let mut words = text(seed - u64::from(seed % 3 == 1), 80);
        if seed % 7 == 0 {
            words = text(seed / 7, 80);
        }
        words.push_str(if seed % 2 == 0 { "" } else { " more" });
        sandbox.write(format!("in/{}/{seed}.txt", seed % 10), words);
    }
    sandbox
}

fn answers(sandbox: &Sandbox) -> (Vec<String>, String) {
    let answers = sandbox.run(&["query", "in"]).expect(0).stdout;
    (sandbox.keys(), answers)
}

#[test]
fn a_killed_add_leaves_a_sound_store_that_can_be_added_to() {
    let sandbox = filled();
    sandbox.add(&["--store", "whole", "in"], 0);
    let list = |store: &str| sandbox.run(&["--store", store, "list"]).expect(0).stdout;
    let query = |store: &str| {
        sandbox
            .run(&["--store", store, "query", "in"])
            .expect(0)
            .stdout
    };
    sandbox.run(&["init"]).expect(0);
    let mut delay = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..ROUNDS {
        let mut child = sandbox
            .command(&["--threads", "1", "add", "in"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        delay ^= delay << 13;
        delay ^= delay >> 7;
        delay ^= delay << 17;
        // Up to a little more than a whole run takes. Later rounds find more of the work done.
        thread::sleep(Duration::from_millis(delay % (200 + 300 * round)));
        child.kill().unwrap();
        child.wait().unwrap();
        sandbox.run(&["check"]).expect(0);
    }
    sandbox.add(&["in"], 0);
    sandbox.run(&["check"]).expect(0);
    let (keys, answers) = answers(&sandbox);
    assert_eq!(keys.len() as u64, FILES);
    assert_eq!(list(".dedupdb"), list("whole"));
    assert!(!answers.is_empty());
    assert_eq!(answers, query("whole"));
}
