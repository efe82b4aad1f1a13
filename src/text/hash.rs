//! The frozen hash functions: token to 64 bits, run of tokens to a 32-bit shingle and its tail.
//!
//! Stored shingles depend on them, so not one bit of their results may change.
//!
//! **Token.** The token's UTF-8 bytes are cut into blocks of 16, the last one padded with zeros,
//! each read as two little-endian words `(a, b)`. From `state = S0`, every block but the last does
//! `state = fold(state ^ a, S1 ^ b)`; the last gives the token's hash,
//! `fold(state ^ a, S1 ^ b ^ length)`, where `fold(x, y)` is the exclusive or of the two halves of
//! the 128-bit product (the mixing step of wyhash, whose constants `S0` and `S1` are).
//!
//! **Shingle.** Tokens `t1 .. tn` make the polynomial `t1 M^(n-1) + ... + tn` modulo 2^64, which
//! rolls along a text at one multiplication a token. `M` is 3 modulo 8: powers of such a number go
//! through 2^62 values, so tokens that change places change the sum.
//!
//! **Finish.** The polynomial goes through the 64-bit finalizer of `MurmurHash3`. The upper half is the shingle; the
//! lower half is its tail, which small sets keep beside it. An integer id takes only this last step.
//!
//! | input | shingle | tail |
//! |---|---|---|
//! | tokens `a` | `a2ddc30a` | `b71136db` |
//! | tokens `the quick brown fox jumps` | `14522591` | `f8005ca9` |
//! | token `antidisestablishmentarianism` | `fffba529` | `36338afb` |
//! | id 0 | `00000000` | `00000000` |
//! | id 1 | `b456bcfc` | `34c2cb2c` |

const S0: u64 = 0xA076_1D64_78BD_642F;
const S1: u64 = 0xE703_7ED1_A0B4_28DB;
const M: u64 = 0x5899_65CC_7537_4CC3;

/// The size of a token block in bytes, which [`short_token`] reads at once.
pub(super) const BLOCK: usize = 16;

/// The 64-bit hash of a token.
pub(super) fn token(bytes: &[u8]) -> u64 {
    let (mut state, mut rest) = (S0, bytes);
    while let Some((block, more)) = rest.split_first_chunk::<BLOCK>()
        && !more.is_empty()
    {
        let (a, b) = words(block);
        state = fold(state ^ a, S1 ^ b);
        rest = more;
    }
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    let (a, b) = words(&last);
    fold(state ^ a, S1 ^ b ^ bytes.len() as u64)
}

/// The hash of the token that is the first `length` (at most 16) bytes of `block`. The other bytes do not matter.
#[inline]
pub(super) fn short_token(block: &[u8; BLOCK], length: usize) -> u64 {
    let (a, b) = words(block);
    let [mask_a, mask_b] = MASKS[length];
    fold(S0 ^ (a & mask_a), S1 ^ (b & mask_b) ^ length as u64)
}

/// The hash of the token that is one character.
#[inline]
pub(super) fn char_token(c: char) -> u64 {
    let mut block = [0; BLOCK];
    let length = c.encode_utf8(&mut block).len();
    short_token(&block, length)
}

/// The shingle of a polynomial, or of an integer id.
#[inline]
pub(super) fn finish(x: u64) -> u32 {
    // The finalizer's last step does not change the upper half.
    upper_half(mixed(x))
}

/// The shingle and its tail, together a bijection of the polynomial or the integer id.
#[inline]
pub(super) fn finish_with_tail(x: u64) -> (u32, u32) {
    let x = mixed(x);
    let x = x ^ (x >> 33);
    (upper_half(x), upper_half(x << 32))
}

/// All steps of the finalizer but the last, `x ^= x >> 33`.
#[inline]
fn mixed(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    x ^= x >> 33;
    x.wrapping_mul(0xC4CE_B9FE_1A85_EC53)
}

/// The polynomial of value `sum`, with one more token.
#[inline]
pub(super) fn append(sum: u64, token: u64) -> u64 {
    sum.wrapping_mul(M).wrapping_add(token)
}

/// `M^k`: the factor of a token, `k` tokens later.
pub(super) fn power(k: u8) -> u64 {
    M.wrapping_pow(k.into())
}

#[inline]
fn fold(x: u64, y: u64) -> u64 {
    let product = u128::from(x) * u128::from(y);
    lower_half(product) ^ lower_half(product >> 64)
}

#[inline]
fn words(block: &[u8; BLOCK]) -> (u64, u64) {
    let both = u128::from_le_bytes(*block);
    (lower_half(both), lower_half(both >> 64))
}

#[expect(clippy::cast_possible_truncation, reason = "the point of it")]
#[inline]
fn lower_half(x: u128) -> u64 {
    x as u64
}

#[inline]
fn upper_half(x: u64) -> u32 {
    (x >> 32) as u32
}

/// For each length, the bits of a block's two words that belong to the token.
const MASKS: [[u64; 2]; BLOCK + 1] = {
    let mut masks = [[0; 2]; BLOCK + 1];
    let mut length = 0;
    while length <= BLOCK {
        let mut byte = 0;
        while byte < length {
            masks[length][byte / 8] |= 0xFF << (8 * (byte % 8));
            byte += 1;
        }
        length += 1;
    }
    masks
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// The shingle of three tokens of four bytes each.
    fn shingle_of(bytes: [u8; 12]) -> u32 {
        let (tokens, _) = bytes.as_chunks::<4>();
        finish(
            tokens
                .iter()
                .fold(0, |sum, bytes| append(sum, token(bytes))),
        )
    }

    /// `count` inputs that differ in few bits.
    fn inputs(count: u64) -> impl Iterator<Item = [u8; 12]> {
        (0..count).map(|i| {
            let mut bytes = *b"abcdefghijkl";
            for (byte, digit) in bytes.iter_mut().zip(i.to_le_bytes().into_iter().take(3)) {
                *byte ^= digit;
            }
            bytes
        })
    }

    #[test]
    fn short_tokens_hash_as_any() {
        let bytes: Vec<u8> = (1..=40).collect();
        for start in 0..24 {
            let block = bytes[start..].first_chunk().unwrap();
            for length in 0..=BLOCK {
                assert_eq!(
                    short_token(block, length),
                    token(&bytes[start..start + length])
                );
            }
        }
        assert_eq!(char_token('漢'), token("漢".as_bytes()));
    }

    #[test]
    fn tails_are_frozen_beside_their_shingles() {
        let text = |text: &str| {
            let tokens = text.split(' ').map(|word| token(word.as_bytes()));
            finish_with_tail(tokens.fold(0, append))
        };
        assert_eq!(text("a"), (0xa2dd_c30a, 0xb711_36db));
        assert_eq!(
            text("the quick brown fox jumps"),
            (0x1452_2591, 0xf800_5ca9)
        );
        assert_eq!(
            text("antidisestablishmentarianism"),
            (0xfffb_a529, 0x3633_8afb)
        );
        assert_eq!(text("141176"), (0x8cd1_82e1, 0x1c81_964f));
        assert_eq!(text("44790"), (0x8cd1_82e1, 0x500a_39fc));
        assert_eq!(finish_with_tail(0), (0, 0));
        assert_eq!(finish_with_tail(1), (0xb456_bcfc, 0x34c2_cb2c));
        for id in 0..1000 {
            assert_eq!(finish_with_tail(id).0, finish(id));
        }
    }

    #[test]
    fn lengths_and_places_tell_tokens_apart() {
        let zeros = [0; 100];
        let mut hashes: HashSet<u64> = (0..=100).map(|length| token(&zeros[..length])).collect();
        for place in 0..100 {
            let mut bytes = zeros;
            bytes[place] = 1;
            hashes.insert(token(&bytes));
        }
        assert_eq!(hashes.len(), 201);
        let [a, b] = [token(b"a"), token(b"b")];
        assert_ne!(append(append(0, a), b), append(append(0, b), a));
        assert_eq!(power(3), append(0, M).wrapping_mul(M).wrapping_mul(M));
    }

    #[test]
    fn one_bit_of_a_token_flips_half_the_shingle() {
        const ROUNDS: u64 = 4096;
        for bit in 0..96 {
            let mut flips = [0; 32];
            for bytes in inputs(ROUNDS) {
                let mut other = bytes;
                other[bit / 8] ^= 1 << (bit % 8);
                let changed = shingle_of(bytes) ^ shingle_of(other);
                for (i, flips) in flips.iter_mut().enumerate() {
                    *flips += changed >> i & 1;
                }
            }
            for flips in flips {
                // Six standard deviations of a fair coin: 6 * sqrt(4096) / 2.
                assert!(
                    (2048 - 192..2048 + 192).contains(&flips),
                    "input bit {bit}: {flips}"
                );
            }
        }
    }

    #[test]
    fn collisions_are_as_rare_as_chance_has_them() {
        let count = 1 << 20;
        let distinct = inputs(count)
            .map(shingle_of)
            .collect::<HashSet<u32>>()
            .len();
        // 2^20 random values of 32 bits: 128 expected, give or take six times its root.
        let collisions = count - distinct as u64;
        assert!((60..196).contains(&collisions), "{collisions}");
    }

    #[test]
    fn ids_in_a_row_are_mixed() {
        let distinct = (0..1 << 20).map(finish).collect::<HashSet<u32>>().len();
        assert!((60..196).contains(&((1 << 20) - distinct)), "{distinct}");
        assert_eq!(finish(0), 0);
    }
}
