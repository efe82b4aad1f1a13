//! How texts become signatures without a store.

use anyhow::Result;
use dedupdb::{
    Schema,
    sketching::{Family, Shingling, SlotWidth},
};

use crate::parse;

/// How texts become signatures.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SigningArgs {
    /// Kind of shingle: word:K, code:K, char:K, char-nospace:K, byte:K, term or ids
    #[arg(long, value_name = "KIND", value_parser = parse::parameter::<Shingling>, default_value_t)]
    pub(crate) shingling: Shingling,

    /// Number of slots of a signature, up to 16384
    #[arg(long, alias = "num-perm", value_name = "N", default_value = "128")]
    pub(crate) permutations: u32,

    /// Family of the permutations: affine32, linear-prime, xor, modular, jenkins or murmur
    #[arg(long, value_name = "NAME", default_value_t)]
    pub(crate) family: Family,

    /// Seed of the permutations, or random
    #[arg(long, value_name = "N|random", value_parser = parse::seed, default_value = "1")]
    pub(crate) seed: u64,
}

impl SigningArgs {
    /// The parameters, with slots that hold whole minima.
    pub(crate) fn schema(&self) -> Result<Schema> {
        let builder = Schema::builder()
            .shingling(self.shingling)
            .permutations(self.permutations)
            .family(self.family)
            .seed(self.seed)
            .slot_width(SlotWidth::Bits32)
            // Nothing is looked up, so any number of permutations will do.
            .bands(1, 1);
        Ok(builder.build()?)
    }
}
