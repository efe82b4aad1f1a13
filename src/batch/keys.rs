//! The band keys of texts.

/// The number of bits of a band key.
///
/// Texts that share no band can have the same key by chance, and are then compared unnecessarily. With n texts and b
/// bands, each text has n b / 2^bits such candidates. For 10^9 texts and 17 bands, a text has 4 of them with keys of 32
/// bits; with 64 bits, one text in 10^9 has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyWidth {
    /// The hashes of stores, [`Bands::hash`](crate::sketching::Bands::hash): below 2^32. Keys of different bands may
    /// be equal, so a bucket is identified by band and key.
    Bits32,
    /// The hashes of [`Bands::keys`](crate::sketching::Bands::keys), whose upper halves are the 32-bit keys. A key also
    /// identifies its band.
    #[default]
    Bits64,
}

impl KeyWidth {
    /// Cuts a 64-bit key to this width.
    pub(super) fn cut(self, key: u64) -> u64 {
        match self {
            KeyWidth::Bits32 => key >> 32,
            KeyWidth::Bits64 => key,
        }
    }
}
