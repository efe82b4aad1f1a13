//! Laws of map and reduce combined.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::error::Error;
use super::groups::Groups;
use super::mapper::Mapper;
use super::reducer::Reducer;
use dedupdb::Schema;
use dedupdb::sketching::{ShingleSet, Shingler, Shingling, Signer};

fn schema() -> Schema {
    let builder = Schema::builder().shingling(Shingling::Ids);
    let builder = builder.permutations(24).bands(8, 3).threshold(0.5);
    builder.build().unwrap()
}

/// The sorted lines of documents. The ids are the indices of the texts.
fn mapped(texts: &[String]) -> Vec<String> {
    let mapper = Mapper::new(&schema()).unwrap();
    let mut lines = Vec::new();
    for (id, text) in texts.iter().enumerate() {
        let document = mapper.lines(&id.to_string(), text).unwrap();
        lines.extend(document.parts().map(|(bucket, columns)| bucket + columns));
    }
    lines.sort_unstable();
    lines
}

type Pairs = BTreeMap<(String, String), f64>;

/// Reduces lines.
fn reduce(lines: &[u8], mut take: impl FnMut(&str, &str, f64)) -> Result<(), Error> {
    let mut groups = Groups::new(lines, "standard input", &schema());
    let mut reducer = Reducer::new(schema());
    while let Some(group) = groups.next_group()? {
        reducer.pairs(group, |a, b, jaccard| {
            take(a, b, jaccard);
            Ok::<(), Error>(())
        })?;
    }
    Ok(())
}

/// The pairs found by reducing lines, each of which must be found once.
fn reduced(lines: &[u8]) -> Pairs {
    let mut pairs = Pairs::new();
    let take = |a: &str, b: &str, jaccard| {
        assert!(a < b);
        let again = pairs.insert((a.to_owned(), b.to_owned()), jaccard);
        assert_eq!(again, None, "{a} and {b}");
    };
    reduce(lines, take).unwrap();
    pairs
}

/// The pairs that share a band and reach the threshold, and copies.
fn expected(texts: &[String]) -> Pairs {
    let schema = schema();
    let shingler = Shingler::new(Shingling::Ids, false, false).unwrap();
    let width = schema.slot_width();
    let signer = Signer::new(schema.family(), schema.seed(), 24, width).unwrap();
    let sets: Vec<ShingleSet> = texts
        .iter()
        .map(|t| shingler.shingles(t).unwrap())
        .collect();
    let mut pairs = Pairs::new();
    for (a, one) in sets.iter().enumerate() {
        for (b, other) in sets.iter().enumerate().skip(a + 1) {
            let (x, y) = (signer.sign(one.as_slice()), signer.sign(other.as_slice()));
            let shared = schema.bands().shared(x.as_bytes(), y.as_bytes(), width) > Some(0);
            let jaccard = if texts[a] == texts[b] {
                1.0
            } else {
                one.jaccard(other)
            };
            if jaccard >= 0.5 && shared {
                let (a, b) = (a.to_string(), b.to_string());
                let ids = if a < b { (a, b) } else { (b, a) };
                pairs.insert(ids, jaccard);
            }
        }
    }
    pairs
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    let set = prop::collection::btree_set(0_u32..24, 0..20);
    let text = set.prop_map(|set| {
        let integers: Vec<String> = set.iter().map(u32::to_string).collect();
        integers.join(" ")
    });
    prop::collection::vec(text, 0..24)
}

proptest! {
    #[test]
    fn pairs_are_those_that_share_a_band_and_match(texts in texts()) {
        let lines = mapped(&texts).concat();
        prop_assert_eq!(reduced(lines.as_bytes()), expected(&texts));
    }

    #[test]
    fn keys_may_be_anywhere_and_their_lines_in_any_order(
        texts in texts(),
        shuffle in any::<u64>(),
    ) {
        let mut lines = mapped(&texts);
        let mix = |text: &str| blake3::hash(format!("{shuffle}{text}").as_bytes());
        lines.sort_by_key(|line| {
            let (bucket, columns) = line.split_once('\t').unwrap();
            (*mix(bucket).as_bytes(), *mix(columns).as_bytes())
        });
        prop_assert_eq!(reduced(lines.concat().as_bytes()), expected(&texts));
    }
}

#[test]
fn damage_behind_the_bucket_is_an_error() {
    let text = (0..12).map(|i| i.to_string()).collect::<Vec<_>>().join(" ");
    let lines = mapped(&[text.clone(), text]).concat().into_bytes();
    let mut is_bucket = true;
    for at in 0..lines.len() {
        is_bucket &= lines[at] != b'\t';
        for byte in [b'A', b'b', b'9', b'\t', b'\n', 0xff] {
            let mut damaged = lines.clone();
            damaged[at] = byte;
            let reduced = reduce(&damaged, |_, _, jaccard| assert!(jaccard >= 0.5));
            assert!(reduced.is_err() || is_bucket || damaged == lines, "{at}");
        }
        is_bucket |= lines[at] == b'\n';
    }
}

#[test]
fn lines_of_another_bucket_are_an_error() {
    let text = (0..12).map(|i| i.to_string()).collect::<Vec<_>>().join(" ");
    let lines = mapped(&[text.clone(), text]).concat();
    let (bucket, _) = lines.split_once('\t').unwrap();
    let digit = if bucket.ends_with('0') { "1" } else { "0" };
    let other = format!("{}{digit}", &bucket[..bucket.len() - 1]);
    let moved = lines.replace(bucket, &other);
    let error = reduce(moved.as_bytes(), |_, _, _| {}).unwrap_err();
    let told = error.to_string();
    assert!(told.contains("do not belong to this bucket"), "{told}");
}
