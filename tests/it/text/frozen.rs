//! Hashes that stores consist of. If a test here fails, the change breaks every existing store.

use dedupdb::sketching::{Shingler, Shingling};

fn hashes(shingling: Shingling, folds: bool, text: &str) -> Vec<u32> {
    Shingler::new(shingling, folds, folds)
        .unwrap()
        .shingles(text)
        .unwrap()
        .as_slice()
        .to_vec()
}

#[test]
fn published_vectors() {
    let vectors: [(Shingling, &str, &[u32]); 8] = [
        (Shingling::Word(1), "a", &[0xA2DD_C30A]),
        (
            Shingling::Word(5),
            "The quick brown fox jumps over",
            &[0x1452_2591, 0x89E7_01FE],
        ),
        (
            Shingling::Word(1),
            "antidisestablishmentarianism",
            &[0xFFFB_A529],
        ),
        (Shingling::Word(2), "漢字", &[0xCD0D_B6BA]),
        (Shingling::Char(3), " a\n b ", &[0x1BFC_8EBE]),
        (Shingling::Byte(2), "abc", &[0x0BB6_A59A, 0xD32A_2214]),
        (Shingling::Term, "The don't", &[0x5790_DEF7]),
        (
            Shingling::Ids,
            "0 1 18446744073709551615",
            &[0, 0x64B5_720B, 0xB456_BCFC],
        ),
    ];
    for (shingling, text, expected) in vectors {
        assert_eq!(
            hashes(shingling, shingling.folds(), text),
            expected,
            "{shingling} {text}"
        );
    }
}

/// One number for the hashes of every character, alone and before a mark or a jamo.
#[test]
fn every_character_is_frozen() {
    for (folds, expected) in [
        (true, 0x72AB_90F2_3A85_C4FEu64),
        (false, 0x83B2_4A05_BB0C_C9B0),
    ] {
        let mut digest = 0u64;
        for plane in 0..17u32 {
            let chars = (plane << 16..(plane + 1) << 16).filter_map(char::from_u32);
            let text: String = chars
                .flat_map(|c| ['a', c, 'b', ' ', c, '\u{301}', ' ', c, '\u{1161}', ' '])
                .collect();
            for shingling in [Shingling::Word(1), Shingling::Char(2)] {
                for hash in hashes(shingling, folds, &text) {
                    digest = digest
                        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                        .wrapping_add(hash.into());
                }
            }
        }
        assert_eq!(digest, expected, "{digest:#018X}");
    }
}
