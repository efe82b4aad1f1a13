//! Reading little-endian integers from bytes.

/// The little-endian u32 at `offset`, which must be inside `bytes`.
pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    let mut le = [0; 4];
    le.copy_from_slice(&bytes[offset..offset + 4]);
    u32::from_le_bytes(le)
}

/// The little-endian u64 at `offset`, which must be inside `bytes`.
pub(crate) fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    let mut le = [0; 8];
    le.copy_from_slice(&bytes[offset..offset + 8]);
    u64::from_le_bytes(le)
}

/// The little-endian integers of `bytes`; an incomplete last one is left out.
pub(crate) fn words(bytes: &[u8]) -> impl ExactSizeIterator<Item = u32> + Clone + '_ {
    let words = bytes.as_chunks().0.iter();
    words.map(|word| u32::from_le_bytes(*word))
}
