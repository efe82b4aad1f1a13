//! The steps from text to band hashes, one by one, on the texts in `testdata`.
//!
//! ```sh
//! cargo bench --bench micro
//! ```
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on has failed"
)]

use std::fs;
use std::path::{Path, PathBuf};

use dedupdb::{
    Query, Schema, Store,
    sketching::{Bands, Family, ShingleSet, Shingler, Shingling, Signer, SlotWidth},
};
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};

fn main() {
    divan::main();
}

/// All texts of a folder of `testdata`, concatenated and repeated up to 64 KiB.
fn text(folder: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/folder");
    let mut paths: Vec<PathBuf> = fs::read_dir(root.join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    let texts = paths.iter().map(|path| fs::read_to_string(path).unwrap());
    let once: String = texts.collect();
    once.repeat((64 << 10) / once.len() + 1)
}

/// Distinct hashes like those of a text.
fn hashes(count: u64) -> Vec<u32> {
    let mix = |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5555).wrapping_mul(i | 1) >> 32;
    let mut hashes: Vec<u32> = (1..=count)
        .map(|i| u32::try_from(mix(i)).unwrap())
        .collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

#[divan::bench(args = ["word:5", "char:24", "byte:8", "term"], consts = [false, true])]
fn shingles<const ASCII: bool>(bencher: Bencher<'_, '_>, shingling: &str) {
    let shingling: Shingling = shingling.parse().unwrap();
    let folds = shingling.folds();
    let shingler = Shingler::new(shingling, folds, folds).unwrap();
    let text = text(if ASCII { "news" } else { "languages" });
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| shingler.shingles(&text).unwrap());
}

#[divan::bench(args = [64, 128, 256, 512, 1024])]
fn sign_250_shingles(bencher: Bencher<'_, '_>, permutations: u32) {
    let signer = Signer::new(Family::Affine32, 1, permutations, SlotWidth::Bits16).unwrap();
    let shingles = hashes(250);
    let (mut scratch, mut out) = (Vec::new(), Vec::new());
    bencher
        .counter(ItemsCount::new(shingles.len()))
        .bench_local(|| {
            out.clear();
            signer.sign_into(&shingles, &mut scratch, &mut out);
            out.len()
        });
}

#[divan::bench]
fn agreement_of_128_slots(bencher: Bencher<'_, '_>) {
    let signer = Signer::new(Family::Affine32, 1, 128, SlotWidth::Bits16).unwrap();
    let (a, b) = (signer.sign(&hashes(250)), signer.sign(&hashes(230)));
    bencher.bench(|| dedupdb::sketching::agreeing(a.as_bytes(), b.as_bytes(), SlotWidth::Bits16));
}

#[divan::bench]
fn hashes_of_17_bands(bencher: Bencher<'_, '_>) {
    let signer = Signer::new(Family::Affine32, 1, 128, SlotWidth::Bits16).unwrap();
    let signature = signer.sign(&hashes(250));
    let bands = Bands::new(17, 7, 128).unwrap();
    let mut out = Vec::new();
    bencher.bench_local(|| {
        out.clear();
        bands
            .hashes(signature.as_bytes(), SlotWidth::Bits16, &mut out)
            .unwrap();
        out.len()
    });
}

#[divan::bench(args = [20, 300, 5000])]
fn intersection(bencher: Bencher<'_, '_>, size: u64) {
    let [a, b] = [size, size * 9 / 8].map(|size| ShingleSet::from_hashes(hashes(size)));
    bencher.bench(|| a.intersection_len(&b));
}

/// A store of 20,000 documents, every eighth a near-copy of its neighbour.
fn store(folder: &Path) -> Store {
    let store = Store::create(folder, &Schema::default()).unwrap();
    let mut writer = store.writer().unwrap();
    for start in (0..20_000).step_by(2000) {
        let documents = (start..start + 2000).map(|n| dedupdb::Input::new(n.to_string(), page(n)));
        writer.add_all(documents.collect()).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    store
}

fn page(number: usize) -> String {
    let of = if number % 8 == 7 { number - 1 } else { number };
    let words = (0..200).map(|word| format!("w{}", of * 1000 + word));
    let words = words.collect::<Vec<_>>().join(" ");
    if of == number {
        words
    } else {
        format!("{words} and a footer")
    }
}

#[divan::bench(args = ["novel", "near-copy"])]
fn query(bencher: Bencher<'_, '_>, of: &str) {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder.path().join("store"));
    let text = page(if of == "novel" { 1_000_000 } else { 8007 });
    bencher.bench(|| store.query(&Query::text(&text)).unwrap());
}

#[divan::bench]
fn open_and_ask(bencher: Bencher<'_, '_>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    drop(store(&path));
    let text = page(8007);
    bencher.bench(|| {
        let store = dedupdb::Options::new().read_only(true).open(&path).unwrap();
        store.query(&Query::text(&text)).unwrap()
    });
}
