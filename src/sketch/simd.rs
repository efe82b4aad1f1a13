//! Choosing the instruction set that runs the kernel.
//!
//! The loop is that of `kernel`, compiled once for each family and instruction set. On aarch64 the portable build
//! already uses NEON, which every such machine has.
#![allow(
    unsafe_code,
    reason = "calls functions compiled for instructions found at run time"
)]

use super::kernel::{self, BLOCK, PermutationBlock};
use super::mixing;

/// An instruction set that this machine has.
///
/// Only [`SimdLevel::all`] creates one, and only for sets that the machine has. The calls below rely on this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SimdLevel(Instructions);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instructions {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl SimdLevel {
    /// Returns the widest instruction set of this machine.
    pub(super) fn best() -> SimdLevel {
        SimdLevel::all()
            .next()
            .unwrap_or(SimdLevel(Instructions::Portable))
    }

    /// Returns every instruction set of this machine, widest first.
    pub(super) fn all() -> impl Iterator<Item = SimdLevel> {
        [
            #[cfg(target_arch = "x86_64")]
            (
                Instructions::Avx512,
                std::arch::is_x86_feature_detected!("avx512f"),
            ),
            #[cfg(target_arch = "x86_64")]
            (
                Instructions::Avx2,
                std::arch::is_x86_feature_detected!("avx2"),
            ),
            (Instructions::Portable, true),
        ]
        .into_iter()
        .filter_map(|(instructions, present)| present.then_some(SimdLevel(instructions)))
    }

    /// Lowers each minimum to the least permuted shingle; see [`kernel::lower`].
    pub(super) fn lower<B: PermutationBlock>(
        self,
        shingles: &[u32],
        blocks: &[B],
        minima: &mut [[u32; BLOCK]],
    ) {
        match self.0 {
            Instructions::Portable => kernel::lower(shingles, blocks, minima),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => {
                // SAFETY: a `SimdLevel` of these instructions is only created after they were detected on this machine, and
                // the instruction set of a machine does not change while it runs. The function is otherwise safe.
                unsafe { lower_avx2(shingles, blocks, minima) }
            }
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => {
                // SAFETY: as above, for AVX-512 F.
                unsafe { lower_avx512(shingles, blocks, minima) }
            }
        }
    }

    /// Mixes the minima of the slots from number `first` on; see [`mixing::mix`].
    pub(super) fn mix(self, first: u32, minima: &mut [u32]) {
        match self.0 {
            Instructions::Portable => mixing::mix(first, minima),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => {
                // SAFETY: as above, for AVX2.
                unsafe { mix_avx2(first, minima) }
            }
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => {
                // SAFETY: as above, for AVX-512 F.
                unsafe { mix_avx512(first, minima) }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn lower_avx2<B: PermutationBlock>(shingles: &[u32], blocks: &[B], minima: &mut [[u32; BLOCK]]) {
    kernel::lower(shingles, blocks, minima);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn lower_avx512<B: PermutationBlock>(shingles: &[u32], blocks: &[B], minima: &mut [[u32; BLOCK]]) {
    kernel::lower(shingles, blocks, minima);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn mix_avx2(first: u32, minima: &mut [u32]) {
    mixing::mix(first, minima);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn mix_avx512(first: u32, minima: &mut [u32]) {
    mixing::mix(first, minima);
}
