//! Checks the laws of the fuzz targets on a few arbitrary inputs.
//!
//! This is for Miri, which is too slow to search for failures. It maps no files, so it leaves out operations on a
//! store.

use dedupdb::fuzzing;

fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 32
}

/// Returns `length` bytes. About one in `zeros` is not zero.
fn bytes(seed: u64, length: usize, zeros: u64) -> Vec<u8> {
    let byte = |at| {
        let drawn = mix(seed << 32 | at);
        let [byte, ..] = (drawn >> 16).to_le_bytes();
        if drawn.is_multiple_of(zeros) { byte } else { 0 }
    };
    (0..).map(byte).take(length).collect()
}

fn main() {
    let rounds = std::env::args().nth(1);
    let rounds: u64 = rounds.map_or(24, |rounds| rounds.parse().expect("a number of rounds"));
    for round in 0..rounds {
        let length = usize::try_from(mix(round) % 160).expect("less than 160");
        let bytes = bytes(round, length, 1 + round % 3);
        fuzzing::headers(&bytes);
        fuzzing::leaf(&bytes);
        fuzzing::shingle_blocks(&bytes);
        // With a signature of a few slots.
        let mut few = bytes;
        if let Some(permutations) = few.get_mut(8..10) {
            permutations.copy_from_slice(&[u8::try_from(round % 70).unwrap_or(0), 0]);
        }
        fuzzing::kernels(&few);
    }
    println!("{rounds} rounds");
}
