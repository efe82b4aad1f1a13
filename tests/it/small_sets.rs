//! Signatures of sets of few shingles, compared with theory.

use dedupdb::sketching::{Bands, Estimate, Family, Signature, Signer, SlotWidth, agreeing};

use crate::sketch::Shingles;

const WIDTHS: [SlotWidth; 3] = [SlotWidth::Bits8, SlotWidth::Bits16, SlotWidth::Bits32];
const SLOTS: u32 = 128;

/// The bits in which shingles may differ while the others agree: the hardest case for slots cut from low bits.
const HIGH: u32 = 0xFFFF_0000;

/// What pairs of signatures have in common.
#[derive(Debug, Default)]
struct Found {
    pairs: f64,
    /// The number of slots that agree, and of its square, summed over all pairs.
    slots: f64,
    squares: f64,
    /// Pairs that share a band.
    candidates: f64,
}

impl Found {
    fn of<'a>(
        pairs: impl Iterator<Item = (&'a Signature, &'a Signature)>,
        width: SlotWidth,
        bands: Bands,
    ) -> Found {
        let mut found = Found::default();
        for (a, b) in pairs {
            let (a, b) = (a.as_bytes(), b.as_bytes());
            let slots = f64::from(agreeing(a, b, width));
            found.pairs += 1.0;
            found.slots += slots;
            found.squares += slots * slots;
            found.candidates += f64::from(u32::from(bands.shared(a, b, width) > Some(0)));
        }
        found
    }

    /// The share of slots that agree.
    fn agreement(&self) -> f64 {
        self.slots / self.pairs / f64::from(SLOTS)
    }

    /// The variance of the number of slots that agree, around its expected value at a probability `p` of each, relative
    /// to the binomial variance.
    fn variance(&self, p: f64) -> f64 {
        let mean = f64::from(SLOTS) * p;
        let squares = self.squares - 2.0 * mean * self.slots + mean * mean * self.pairs;
        squares / self.pairs / (mean * (1.0 - p))
    }
}

/// Signatures of sets of `size` shingles that have nothing in common. If `is_hard`, each shingle agrees with many
/// others in its low bits.
fn unlike(signer: &Signer, size: u32, count: u32, is_hard: bool) -> Vec<Signature> {
    let mut shingles = Shingles(u64::from(size) << 32 | u64::from(count));
    let low = shingles.next() & !HIGH;
    let mut sets = (0..count).map(|_| {
        let shingles = (0..size).map(|_| match shingles.next() {
            shingle if is_hard => shingle & HIGH | low,
            shingle => shingle,
        });
        signer.sign(&shingles.collect::<Vec<u32>>())
    });
    sets.by_ref().collect()
}

fn all_pairs(signatures: &[Signature]) -> impl Iterator<Item = (&Signature, &Signature)> {
    let numbered = signatures.iter().enumerate();
    numbered.flat_map(|(at, one)| signatures[at + 1..].iter().map(move |other| (one, other)))
}

/// Slots of unlike sets agree by chance and independently, even if shingles agree in their low bits.
#[test]
fn slots_of_unlike_small_sets_agree_by_chance_alone() {
    let bands = Bands::new(64, 2, SLOTS).unwrap();
    for family in Family::ALL {
        for width in [SlotWidth::Bits8, SlotWidth::Bits16] {
            let signer = Signer::new(family, 1, SLOTS, width).unwrap();
            // There are 2^16 hard shingles. With more of them in a set, two sets would share some.
            for (size, is_hard) in [(1, true), (1, false), (2, false), (3, false), (10, false)] {
                let signatures = unlike(&signer, size, 160, is_hard);
                let found = Found::of(all_pairs(&signatures), width, bands);
                let chance = width.chance();
                let of = format!("{family}, {size} shingles, {width} bits: {found:?}");
                // Pairs that share a set are practically independent.
                let expected = found.pairs * f64::from(SLOTS) * chance;
                let off = (found.slots - expected).abs() / expected.sqrt();
                assert!(off < 5.0, "{off}: {of}");
                let variance = found.variance(chance);
                let allowed = 0.2_f64.max(5.0 / expected.sqrt());
                assert!((variance - 1.0).abs() < allowed, "{variance}: {of}");
                let shared = 1.0 - (1.0 - chance * chance).powi(64);
                let expected = found.pairs * shared;
                let allowed = expected + 5.0 * expected.sqrt() + 2.0;
                assert!(found.candidates <= allowed, "{allowed}: {of}");
            }
        }
    }
}

/// A pair of sets with `shared` shingles in both and `own` in each alone, under many draws.
fn alike(
    family: Family,
    width: SlotWidth,
    shared: u32,
    own: u32,
    pairs: u64,
) -> Vec<[Signature; 2]> {
    let mut shingles = Shingles(u64::from(shared) << 20 | u64::from(own));
    let mut signatures = Vec::new();
    for seed in 0..pairs {
        let signer = Signer::new(family, seed, SLOTS, width).unwrap();
        signatures.push(shingles.pair(shared, own).map(|set| signer.sign(&set)));
    }
    signatures
}

/// Figures of small sets, compared with theory as in docs/experiments.md.
#[test]
#[ignore = "it prints a table, in about a minute"]
fn table() {
    let bands = Bands::new(17, 7, SLOTS).unwrap();
    println!(
        "| shingles of each | in both | J | bits | mean of estimates | variance / binomial | candidates at 17x7 | theory | slots of unlike pairs that agree, to chance | variance / binomial |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (shared, own) in [(0, 1), (1, 1), (2, 1), (3, 2), (6, 4), (200, 100)] {
        for width in WIDTHS {
            let pairs = alike(Family::Affine32, width, shared, own, 4000);
            let jaccard = f64::from(shared) / f64::from(shared + 2 * own);
            let p = jaccard + (1.0 - jaccard) * width.chance();
            let found = Found::of(pairs.iter().map(|[a, b]| (a, b)), width, bands);
            let estimates = pairs.iter().map(|[a, b]| {
                let equal = agreeing(a.as_bytes(), b.as_bytes(), width);
                Estimate::new(equal, SLOTS, width).jaccard
            });
            let mean = estimates.sum::<f64>() / found.pairs;
            let signer = Signer::new(Family::Affine32, 1, SLOTS, width).unwrap();
            let unlike = unlike(&signer, shared + own, 1500, false);
            let unlike = Found::of(all_pairs(&unlike), width, bands);
            println!(
                "| {} | {shared} | {jaccard:.3} | {width} | {mean:.4} | {:.3} | {:.4} | {:.4} | {:.3} | {:.3} |",
                shared + own,
                found.variance(p),
                found.candidates / found.pairs,
                bands.probability(jaccard, width),
                unlike.agreement() / width.chance(),
                unlike.variance(width.chance()),
            );
        }
    }
}
