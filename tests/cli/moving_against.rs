//! Files that are moved because they resemble files elsewhere, which are only read.
#![cfg(unix)]

use std::fs;
use std::ops::ControlFlow::Continue;
use std::thread;
use std::time::Duration;

use dedupdb::corpus::{Format, Source};
use dedupdb::dedup::{Dedup, Event, MoveEvent};

use crate::moving::{pairs, tree};
use crate::sandbox::{Sandbox, text};

#[test]
fn what_resembles_a_file_elsewhere_that_changed_meanwhile_stays() {
    let sandbox = Sandbox::new();
    for number in 0..4 {
        let words = text(number, 40);
        sandbox.write(format!("in/{number}.txt"), format!("{words} end"));
        sandbox.write(format!("arch/{number}.txt"), words);
    }
    fs::rename(sandbox.path("arch/3.txt"), sandbox.path("alone.txt")).unwrap();
    // Clocks of file systems tick slowly.
    thread::sleep(Duration::from_millis(30));
    let mut told = Vec::new();
    let moved = Dedup::new([sandbox.path("in")])
        .against_corpus([sandbox.path("arch"), sandbox.path("alone.txt")])
        .move_to(sandbox.path("aside"))
        .run(|event| {
            match event {
                MoveEvent::Judging(Event::Publishing) => {
                    thread::sleep(Duration::from_millis(30));
                    sandbox.write("arch/0.txt", "words of somebody");
                    fs::remove_file(sandbox.path("arch/1.txt")).unwrap();
                    sandbox.write("alone.txt", "words of somebody");
                }
                MoveEvent::Left { why, .. } => told.push(why.to_owned()),
                _ => {}
            }
            Continue(())
        });
    let moved = moved.unwrap();
    assert_eq!(
        (moved.files, moved.left, moved.failed),
        (1, 3, 0),
        "{told:?}"
    );
    for (told, other) in told.iter().zip(["arch/0.txt", "arch/1.txt", "alone.txt"]) {
        let why = format!("{other} changed since the run began; it stays there");
        assert!(told.ends_with(&why), "{told}");
    }
    assert_eq!(tree(&sandbox, "in").len(), 3);
    assert!(sandbox.path("aside/2.txt").exists());
}

#[test]
fn a_stream_has_no_file_that_could_change() {
    let sandbox = Sandbox::new();
    pairs(&sandbox, 1);
    let stream = Source::stream("elsewhere", std::io::Cursor::new(text(0, 40)));
    let moved = Dedup::new([sandbox.path("in")])
        .against_corpus([stream.format(Format::Text)])
        .move_to(sandbox.path("aside"))
        .run(|_| Continue(()));
    assert_eq!(moved.unwrap().files, 2);
}
