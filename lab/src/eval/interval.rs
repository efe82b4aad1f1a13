//! Confidence intervals of shares.

/// The 97.5% quantile of the normal distribution: 95% lie within this number of standard deviations.
pub(super) const Z: f64 = 1.959_963_984_540_054;

/// Returns the lower and upper bound of a share at 95% confidence.
///
/// `hits` of `trials` were seen. The bounds are 0 and 1 without trials. More hits than trials count as all.
///
/// This is the score interval of E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference",
/// Journal of the American Statistical Association 22, 1927. Unlike the normal approximation, it holds for shares near
/// 0 and 1.
///
/// ```
/// let (low, high) = dedupdb_lab::eval::wilson(98, 100);
/// assert!(low > 0.92 && low < 0.98 && high > 0.98 && high < 1.0);
/// ```
pub fn wilson(hits: u64, trials: u64) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let n = trials as f64;
    wilson_of(hits.min(trials) as f64 / n, n)
}

/// Returns the bounds of a `share` of trials that say as much as `n` independent ones; 0 and 1 without trials.
pub(super) fn wilson_of(share: f64, n: f64) -> (f64, f64) {
    if n <= 0.0 {
        return (0.0, 1.0);
    }
    let z2 = Z * Z;
    let middle = share + z2 / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z2 / n;
    let low = ((middle - half) / scale).clamp(0.0, share);
    let high = ((middle + half) / scale).clamp(share, 1.0);
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::wilson;

    #[test]
    fn bounds_are_the_known_ones() {
        for (hits, trials, low, high) in [
            (0, 10, 0.0, 0.277_53),
            (10, 10, 0.722_47, 1.0),
            (8, 10, 0.490_16, 0.943_32),
            (50, 100, 0.403_83, 0.596_17),
            (0, 0, 0.0, 1.0),
        ] {
            let bounds = wilson(hits, trials);
            assert!(
                (bounds.0 - low).abs() < 1e-5,
                "{hits} of {trials}: {bounds:?}"
            );
            assert!(
                (bounds.1 - high).abs() < 1e-5,
                "{hits} of {trials}: {bounds:?}"
            );
        }
    }
}
