//! Encoding pixels as a PNG file.

/// Averages squares of `by` times `by` pixels of three bytes each, and encodes the result.
///
/// Width and height must be multiples of `by`.
///
/// # Errors
///
/// Those of the encoder.
pub(super) fn encode(
    pixels: &[u8],
    (width, height): (u32, u32),
    by: u32,
) -> Result<Vec<u8>, png::EncodingError> {
    let shrunk = shrink(pixels, width as usize, by as usize);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width / by, height / by);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(&shrunk)?;
    Ok(bytes)
}

fn shrink(pixels: &[u8], width: usize, by: usize) -> Vec<u8> {
    let mut shrunk = Vec::with_capacity(pixels.len() / (by * by));
    let mut sums = vec![0_usize; 3 * width / by];
    for rows in pixels.chunks_exact(3 * width * by) {
        sums.fill(0);
        for row in rows.chunks_exact(3 * width) {
            for (at, byte) in row.iter().enumerate() {
                sums[at / (3 * by) * 3 + at % 3] += usize::from(*byte);
            }
        }
        let average = |sum: &usize| u8::try_from(sum / (by * by)).unwrap_or(u8::MAX);
        shrunk.extend(sums.iter().map(average));
    }
    shrunk
}

#[cfg(test)]
mod tests {
    use super::shrink;

    #[test]
    fn squares_are_averaged() {
        // Two rows of four pixels.
        let pixels: Vec<u8> = (0..24).map(|at| at * 10).collect();
        assert_eq!(shrink(&pixels, 4, 2), [75, 85, 95, 135, 145, 155]);
        assert_eq!(shrink(&pixels, 4, 1), pixels);
    }
}
