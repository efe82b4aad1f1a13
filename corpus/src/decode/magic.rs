//! Recognizes kinds of binary files by their first bytes.
//!
//! The crates that know hundreds of kinds take a text that begins with `BM` for a picture and one that begins with `MZ`
//! for a program. Here, such bytes only name a file that is already known to be binary.

use super::without_mark;

/// The first bytes of files of a kind.
struct MagicNumber {
    magic: &'static [u8],
    name: &'static str,
    /// Whether no text begins like this, even without a NUL byte.
    is_sure: bool,
}

const fn sure(magic: &'static [u8], name: &'static str) -> MagicNumber {
    MagicNumber {
        magic,
        name,
        is_sure: true,
    }
}

/// A kind whose first bytes a text could begin with. Its files contain NUL bytes anyway.
const fn likely(magic: &'static [u8], name: &'static str) -> MagicNumber {
    MagicNumber {
        magic,
        name,
        is_sure: false,
    }
}

const KINDS: &[MagicNumber] = &[
    sure(b"\x89PNG\r\n\x1a\n", "PNG image"),
    sure(b"\x1f\x8b\x08", "gzip archive"),
    sure(b"\x1f\x9d\x90", "compressed by compress"),
    sure(b"\x28\xb5\x2f\xfd", "Zstandard archive"),
    sure(b"\x04\x22\x4d\x18", "LZ4 archive"),
    sure(b"\xfd7zXZ\x00", "xz archive"),
    sure(b"PK\x03\x04", "ZIP archive, or an office document"),
    sure(b"PK\x05\x06", "ZIP archive"),
    sure(b"7z\xbc\xaf\x27\x1c", "7z archive"),
    sure(b"Rar!\x1a\x07", "RAR archive"),
    sure(b"\x7fELF", "ELF program"),
    sure(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old office document"),
    sure(b"\x89HDF\r\n\x1a\n", "HDF5 file"),
    sure(b"\x93NUMPY", "NumPy array"),
    sure(
        b"{\\rtf",
        "RTF document; --pre takes a program that reads it",
    ),
    sure(b"age-encryption.org/v1\n-> ", "encrypted by age"),
    likely(b"\xff\xd8\xff", "JPEG image"),
    likely(b"GIF87a", "GIF image"),
    likely(b"GIF89a", "GIF image"),
    likely(b"II*\x00", "TIFF image"),
    likely(b"MM\x00*", "TIFF image"),
    likely(b"BM", "BMP image"),
    likely(b"MZ", "Windows program"),
    likely(b"\x00asm", "WebAssembly"),
    likely(b"\xca\xfe\xba\xbe", "Java class, or macOS program"),
    likely(b"\xcf\xfa\xed\xfe", "macOS program"),
    likely(b"SQLite format 3\x00", "SQLite database"),
    likely(b"PAR1", "Parquet file"),
    likely(b"ARROW1", "Arrow file; write it as Parquet"),
    likely(b"\xff\xff\xff\xff", "Arrow stream; write it as Parquet"),
    likely(b"ORC", "ORC file; write it as Parquet"),
    likely(b"ID3", "MP3 audio"),
    likely(b"OggS", "Ogg media"),
    likely(b"fLaC", "FLAC audio"),
    likely(b"wOFF", "font"),
    likely(b"wOF2", "font"),
    likely(b"\x00\x01\x00\x00", "font"),
    likely(b"OTTO", "font"),
    likely(b"!<arch>\n", "library archive"),
];

/// The first and last lines of what is encrypted and written in ASCII.
const ARMOUR: [(&[u8], &[u8], &str); 2] = [
    (
        b"-----BEGIN PGP MESSAGE-----",
        b"-----END PGP MESSAGE-----",
        "encrypted by PGP",
    ),
    (
        b"-----BEGIN AGE ENCRYPTED FILE-----",
        b"-----END AGE ENCRYPTED FILE-----",
        "encrypted by age",
    ),
];

/// Returns the kind of a file that cannot be text, whatever follows.
pub(crate) fn surely(bytes: &[u8]) -> Option<&'static str> {
    if is_pdf(bytes) {
        return Some("PDF document");
    }
    if is_bzip2(bytes) {
        return Some("bzip2 archive");
    }
    if let Some((_, _, name)) = ARMOUR.iter().find(|armour| is_armoured(bytes, armour)) {
        return Some(name);
    }
    let kind = KINDS.iter().find(|kind| bytes.starts_with(kind.magic));
    kind.filter(|kind| kind.is_sure).map(|kind| kind.name)
}

/// Returns the kind of a file known not to be text, if the kind is recognized.
pub(crate) fn kind(bytes: &[u8]) -> Option<&'static str> {
    let riff = || match bytes {
        [b'R', b'I', b'F', b'F', _, _, _, _, rest @ ..] if rest.starts_with(b"WEBP") => {
            Some("WebP image")
        }
        [b'R', b'I', b'F', b'F', ..] => Some("audio or video"),
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => Some("MP4 media"),
        _ => bytes
            .get(257..)
            .filter(|rest| rest.starts_with(b"ustar"))
            .map(|_| "tar archive"),
    };
    let likely = || KINDS.iter().find(|kind| bytes.starts_with(kind.magic));
    let likely = || likely().map(|kind| kind.name);
    surely(bytes).or_else(likely).or_else(riff)
}

/// Whether the bytes are one encrypted message, and no text stands around it.
fn is_armoured(bytes: &[u8], (first, last, _): &(&[u8], &[u8], &str)) -> bool {
    let start = without_mark(bytes).trim_ascii_start();
    let inside = start.strip_prefix(*first);
    let inside = inside.and_then(|rest| rest.trim_ascii_end().strip_suffix(*last));
    inside.is_some_and(|inside| !inside.windows(last.len()).any(|line| line == *last))
}

/// Whether the bytes begin like `%PDF-1.7`, possibly after whitespace, which PDF readers skip.
fn is_pdf(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start().strip_prefix(b"%PDF-");
    matches!(start, Some([b'0'..=b'9', b'.', b'0'..=b'9', ..]))
}

/// Whether the bytes begin like bzip2: the block size as a digit, then the digits of pi.
fn is_bzip2(bytes: &[u8]) -> bool {
    matches!(bytes.strip_prefix(b"BZh"), Some([b'1'..=b'9', rest @ ..]) if rest.starts_with(b"1AY&SY"))
}

#[cfg(test)]
mod tests {
    use super::{kind, surely};

    #[test]
    fn binary_files_are_known_without_a_nul() {
        for (bytes, name) in [
            (&b"%PDF-1.4\n%\xe2\xe3"[..], "PDF document"),
            (b"\r\n%PDF-2.0\n", "PDF document"),
            (b"BZh91AY&SY\x01", "bzip2 archive"),
            (
                b"{\\rtf1\\ansi Text}",
                "RTF document; --pre takes a program that reads it",
            ),
            (b"PK\x03\x04\x14", "ZIP archive, or an office document"),
            (
                b"\xef\xbb\xbf-----BEGIN PGP MESSAGE-----\r\n\r\nhQEMA+o=\r\n-----END PGP MESSAGE-----\r\n",
                "encrypted by PGP",
            ),
            (
                b"-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n-----END AGE ENCRYPTED FILE-----\n",
                "encrypted by age",
            ),
        ] {
            assert_eq!(surely(bytes), Some(name));
            assert_eq!(kind(bytes), Some(name));
        }
        assert_eq!(kind(b"RIFF\x01\x01\x01\x01WEBPVP8"), Some("WebP image"));
        let tar = [&[0; 257][..], b"ustar\x0000"].concat();
        assert_eq!(kind(&tar), Some("tar archive"));
        assert_eq!(kind(b"ARROW1\0\0"), Some("Arrow file; write it as Parquet"));
    }

    #[test]
    fn texts_are_texts_however_they_begin() {
        for text in [
            "BMW builds cars",
            "MZ is a prefix",
            "GIF89a was the second version",
            "PDF-1.4 is old",
            "%PDF- begins a PDF",
            "BZh9 is no word",
            "ID3 tags",
            "PAR1",
            "Rar!",
            "PK",
            "",
            "RIFF and RAFF",
            "%!PS-Adobe-3.0",
            "{\\rt",
            "-----BEGIN PGP MESSAGE----- is the first line",
            "-----BEGIN PGP MESSAGE-----\nhQ\n-----END PGP MESSAGE-----\nCan you read this?",
            "-----BEGIN PGP MESSAGE-----\nhQ\n-----END PGP MESSAGE-----\nand\n-----END PGP MESSAGE-----",
            "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nDear all\n-----END PGP SIGNATURE-----",
            "-----BEGIN PGP PUBLIC KEY BLOCK-----\nmQ\n-----END PGP PUBLIC KEY BLOCK-----",
        ] {
            assert_eq!(surely(text.as_bytes()), None, "{text}");
        }
    }
}
