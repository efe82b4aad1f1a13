//! Runs the crate gaoya or txtfp on a corpus, for `compare.py`.
//!
//! It inserts every document, then queries every document once.
//!
//! Standard input has a JSON object with the fields `row` (`gaoya, Rust` or `txtfp, Rust`), `corpus`, `permutations`,
//! `bands`, `rows`, `threshold`, `pairs` and `result`. The pairs go to the file `pairs`, two numbers per line, and the
//! seconds of each stage to the file `result`.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::iter;
use std::time::Instant;

use gaoya::minhash::{MinHashIndex, MinHasher, MinHasher32, SmallVecContainer};
use rayon::prelude::*;
use serde_json::{Value, json};
use txtfp::classical::minhash::MinHashSig;
use txtfp::{
    Canonicalizer, Fingerprinter, LshIndex, MinHashFingerprinter, ShingleTokenizer, WordTokenizer,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The number of documents per call, as in `compare.py`.
const CHUNK: usize = 2048;
/// The number of words in a shingle.
const WORDS: usize = 5;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The object on standard input.
struct Order {
    row: String,
    corpus: String,
    pairs: String,
    result: String,
    permutations: usize,
    bands: usize,
    rows: usize,
    threshold: f64,
}

/// Seconds by stage.
#[derive(Default)]
struct Clock(BTreeMap<&'static str, f64>);

impl Clock {
    fn time<R>(&mut self, stage: &'static str, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let done = work();
        *self.0.entry(stage).or_default() += start.elapsed().as_secs_f64();
        done
    }
}

fn main() -> Result<()> {
    let order = Order::read()?;
    let mut clock = Clock::default();
    let answers = match order.row.as_str() {
        "gaoya, Rust" => gaoya(&order, &mut clock)?,
        "txtfp, Rust" => match order.permutations {
            64 => txtfp::<64>(&order, &mut clock)?,
            128 => txtfp::<128>(&order, &mut clock)?,
            256 => txtfp::<256>(&order, &mut clock)?,
            _ => return Err("txtfp is compiled for 64, 128 and 256 permutations".into()),
        },
        other => return Err(format!("no such row: {other}").into()),
    };
    let mut pairs = BufWriter::new(File::create(&order.pairs)?);
    for (query, keys) in (0..).zip(answers) {
        for key in keys.into_iter().filter(|&key| key != query) {
            writeln!(pairs, "{}\t{}", query.min(key), query.max(key))?;
        }
    }
    pairs.flush()?;
    serde_json::to_writer(File::create(&order.result)?, &json!({ "stages": clock.0 }))?;
    Ok(())
}

impl Order {
    fn read() -> Result<Order> {
        let order: Value = serde_json::from_reader(io::stdin())?;
        let string = |name: &str| {
            order[name]
                .as_str()
                .map(str::to_owned)
                .ok_or(format!("no {name}"))
        };
        let number = |name: &str| order[name].as_u64().ok_or(format!("no {name}"));
        Ok(Order {
            row: string("row")?,
            corpus: string("corpus")?,
            pairs: string("pairs")?,
            result: string("result")?,
            permutations: usize::try_from(number("permutations")?)?,
            bands: usize::try_from(number("bands")?)?,
            rows: usize::try_from(number("rows")?)?,
            threshold: order["threshold"].as_f64().ok_or("no threshold")?,
        })
    }
}

/// Calls `take` with the texts of the corpus, [`CHUNK`] at a time, and the number of the first one.
fn for_each_chunk(
    order: &Order,
    clock: &mut Clock,
    mut take: impl FnMut(&mut Clock, usize, Vec<String>) -> Result<()>,
) -> Result<()> {
    let mut lines = BufReader::new(File::open(&order.corpus)?).lines();
    let mut first = 0;
    loop {
        let texts = clock.time("read", || -> Result<Vec<String>> {
            let lines = lines
                .by_ref()
                .filter(|line| !line.as_ref().is_ok_and(|line| line.trim().is_empty()));
            let text = |line: io::Result<String>| -> Result<String> {
                let mut record: Value = serde_json::from_str(&line?)?;
                match record["text"].take() {
                    Value::String(text) => Ok(text),
                    _ => Err("a line has no text".into()),
                }
            };
            lines.take(CHUNK).map(text).collect()
        })?;
        if texts.is_empty() {
            return Ok(());
        }
        let many = texts.len();
        take(clock, first, texts)?;
        first += many;
    }
}

/// A 32-bit signature of the runs of five words. A text of fewer words is one run. Words are lowercase runs of letters,
/// digits and `_`.
fn signature(hasher: &MinHasher32<impl std::hash::BuildHasher>, text: &str) -> Vec<u32> {
    let text = text.to_lowercase();
    let is_between = |letter: char| !letter.is_alphanumeric() && letter != '_';
    let words: Vec<&str> = text
        .split(is_between)
        .filter(|word| !word.is_empty())
        .collect();
    if words.len() < WORDS {
        return hasher.create_signature(iter::once(&words[..]));
    }
    hasher.create_signature(words.windows(WORDS))
}

/// `MinHasher32::create_signature`, `MinHashIndex::par_bulk_insert` and `par_bulk_query`.
fn gaoya(order: &Order, clock: &mut Clock) -> Result<Vec<Vec<usize>>> {
    let hasher = MinHasher32::new(order.permutations);
    let mut index: MinHashIndex<u32, usize, SmallVecContainer<usize, 4>> =
        MinHashIndex::new_index(order.bands, order.rows, order.threshold);
    let mut signatures: Vec<Vec<u32>> = Vec::new();
    for_each_chunk(order, clock, |clock, first, texts| {
        let new: Vec<Vec<u32>> = clock.time("sign", || {
            texts
                .par_iter()
                .map(|text| signature(&hasher, text))
                .collect()
        });
        signatures.extend(new.iter().cloned());
        clock.time("insert", || {
            index.par_bulk_insert((first..first + new.len()).collect(), new)
        });
        Ok(())
    })?;
    let found = clock.time("query", || index.par_bulk_query(&signatures));
    Ok(found
        .into_iter()
        .map(|keys| keys.into_iter().collect())
        .collect())
}

/// `MinHashFingerprinter::fingerprint` of runs of five words, `LshIndex::extend_par` and `query`. A text without a run
/// is not indexed.
fn txtfp<const H: usize>(order: &Order, clock: &mut Clock) -> Result<Vec<Vec<usize>>> {
    let tokenizer = ShingleTokenizer {
        k: WORDS,
        inner: WordTokenizer,
    };
    let fingerprinter = MinHashFingerprinter::<_, H>::new(Canonicalizer::default(), tokenizer);
    let mut index = LshIndex::<H>::with_bands_rows(order.bands, order.rows)?;
    let mut signatures: Vec<Option<MinHashSig<H>>> = Vec::new();
    for_each_chunk(order, clock, |clock, first, texts| {
        let new: Vec<Option<MinHashSig<H>>> = clock.time("sign", || {
            texts
                .par_iter()
                .map(|text| fingerprinter.fingerprint(text).ok())
                .collect()
        });
        let numbered = (first as u64..)
            .zip(&new)
            .filter_map(|(key, signature)| Some((key, (*signature)?)));
        clock.time("insert", || index.extend_par(numbered));
        signatures.extend(new);
        Ok(())
    })?;
    let found = clock.time("query", || {
        let query = |signature: &Option<MinHashSig<H>>| {
            signature
                .as_ref()
                .map(|it| index.query(it))
                .unwrap_or_default()
        };
        signatures.par_iter().map(query).collect::<Vec<_>>()
    });
    let keys = |keys: Vec<u64>| {
        keys.into_iter()
            .map(usize::try_from)
            .collect::<std::result::Result<_, _>>()
    };
    Ok(found
        .into_iter()
        .map(keys)
        .collect::<std::result::Result<_, _>>()?)
}
