//! The parameters of other tools, as they published them.
#![expect(clippy::doc_markdown, reason = "they are names, and shown in help")]

use dedupdb::{
    Schema,
    sketching::{SchemaBuilder, Shingling},
};

/// A tool whose parameters are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Preset {
    /// FineWeb: five words, 14 bands of 8 rows, 0.75
    Fineweb,
    /// NeMo Curator: 24 characters as they are, 20 bands of 13 rows, 0.8
    Nemo,
    /// RefinedWeb: five words, 450 bands of 20 rows, 0.8; 18,000 bytes of signature a document
    Refinedweb,
    /// text-dedup: five words, 25 bands of 10 rows of 250 permutations, 0.7
    TextDedup,
}

impl Preset {
    /// The parameters, to be changed further.
    ///
    /// - FineWeb: Penedo et al., "The FineWeb Datasets", 2024, on deduplication: 112 hashes in 14
    ///   buckets of 8, for documents that are at least 75% alike; so, too, in the defaults and the
    ///   FineWeb example of its tool, datatrove.
    /// - NeMo Curator: the defaults of its fuzzy deduplication workflow (24 characters, 20 bands,
    ///   13 hashes a band), made for 0.8. It hashes the text as it is.
    /// - RefinedWeb: Penedo et al., "The RefinedWeb Dataset for Falcon LLM", 2023, appendix G.3.1:
    ///   9,000 hashes in 450 buckets of 20, as in Lee et al., "Deduplicating Training Data Makes
    ///   Language Models Better", 2022, section 4.2, whose threshold is 0.8. Its five tokens are
    ///   those of a language model.
    /// - text-dedup: the defaults of its MinHash script (5 words, 250 permutations, 0.7), and the
    ///   bands that its rule, equal weight for false positives and negatives, makes of them.
    pub(crate) fn builder(self) -> SchemaBuilder {
        let builder = Schema::builder();
        match self {
            Preset::Fineweb => builder.permutations(112).bands(14, 8).threshold(0.75),
            Preset::Nemo => builder
                .shingling(Shingling::Char(24))
                .lowercase(false)
                .nfkc(false)
                .permutations(260)
                .bands(20, 13)
                .threshold(0.8),
            Preset::Refinedweb => builder.permutations(9000).bands(450, 20).threshold(0.8),
            Preset::TextDedup => builder.permutations(250).bands(25, 10).threshold(0.7),
        }
    }
}
