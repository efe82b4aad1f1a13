//! Files of `NumPy` arrays, in format 1.0 (see the documentation of `numpy.lib.format`).

use std::io::{Result, Seek, SeekFrom, Write};

/// The size of a header in bytes: enough for any number of rows, and a multiple of 64 as the format requires.
const HEADER: usize = 128;

/// Magic, version, and the length of the rest of the header.
const PREFIX: [u8; 10] = *b"\x93NUMPY\x01\x00\x76\x00";

/// The header of an array of `rows` rows and `columns` columns of little-endian 32-bit numbers.
pub(super) fn header(rows: u64, columns: u32) -> [u8; HEADER] {
    let shape = format!("({rows}, {columns})");
    let text = format!("{{'descr': '<u4', 'fortran_order': False, 'shape': {shape}, }}");
    let mut header = [b' '; HEADER];
    header[..PREFIX.len()].copy_from_slice(&PREFIX);
    // The text has at most 90 bytes.
    for (byte, &character) in header[PREFIX.len()..HEADER - 1]
        .iter_mut()
        .zip(text.as_bytes())
    {
        *byte = character;
    }
    header[HEADER - 1] = b'\n';
    header
}

/// Replaces the header at the beginning of a file.
pub(super) fn rewrite(file: &mut (impl Write + Seek), rows: u64, columns: u32) -> Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&header(rows, columns))?;
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::{HEADER, PREFIX, header};

    #[test]
    fn a_header_is_a_line_of_128_bytes_for_any_number_of_rows() {
        for (rows, columns) in [(0, 1), (1001, 600), (u64::MAX, u32::MAX)] {
            let header = header(rows, columns);
            let length = u16::from_le_bytes([PREFIX[8], PREFIX[9]]);
            assert_eq!(PREFIX.len() + usize::from(length), HEADER);
            let text = std::str::from_utf8(&header[PREFIX.len()..]).unwrap();
            let shape = format!("'shape': ({rows}, {columns}), }} ");
            assert!(
                text.starts_with("{'descr': '<u4', ") && text.contains(&shape),
                "{text}"
            );
            assert!(text.ends_with(" \n") && text.is_ascii());
        }
    }
}
