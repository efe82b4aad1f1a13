//! The bytes of a file or of standard input, decompressed.

pub(crate) mod guard;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use encoding_rs::{Encoding, UTF_8};
use flate2::bufread::MultiGzDecoder;

use crate::corpus::decode::Mark;
use crate::corpus::decode::transcode::Transcoded;
use crate::corpus::source::guard::{Counted, Guard};

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 18;

/// Bytes that tell how a file is compressed or encoded.
const HEAD: usize = 4;

/// A stream of bytes.
pub(crate) type Bytes = Box<dyn BufRead>;

/// Where bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    File(PathBuf),
    /// It can be opened once.
    Pipe(PathBuf),
    Stdin,
}

impl Source {
    /// The name for messages.
    pub(crate) fn name(&self) -> &Path {
        match self {
            Source::File(path) | Source::Pipe(path) => path,
            Source::Stdin => Path::new("standard input"),
        }
    }

    /// The bytes, decompressed if they are compressed.
    ///
    /// # Errors
    ///
    /// Those of opening and reading; later ones are those of the stream.
    pub(crate) fn open(&self) -> io::Result<Bytes> {
        match self {
            Source::File(path) | Source::Pipe(path) => decompressed(buffered(File::open(path)?)),
            Source::Stdin => decompressed(buffered(io::stdin().lock())),
        }
    }

    /// The bytes of a file of text, and the encoding that they were in if that is not UTF-8 in most
    /// parts: the one that a byte order mark tells, or the one `given`.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Source::open).
    pub(crate) fn open_text(
        &self,
        given: Option<&'static Encoding>,
    ) -> io::Result<(Bytes, Option<&'static Encoding>)> {
        let (head, bytes) = peek(self.open()?)?;
        let encoding = match Mark::of(&head) {
            Some(Mark::Utf16(encoding)) => Some(encoding),
            Some(Mark::Utf8) => None,
            Some(Mark::Utf32 { .. }) | None => given.filter(|&given| given != UTF_8),
        };
        let bytes: Bytes = match encoding {
            Some(encoding) => Box::new(buffered(Transcoded::new(bytes, encoding))),
            None => Box::new(bytes),
        };
        Ok((bytes, encoding))
    }

    /// The bytes, decompressed, as a file that can be read from its end. What is none is copied to
    /// one without a name, in the folder for temporary files.
    ///
    /// # Errors
    ///
    /// Those of opening, reading and copying.
    pub(crate) fn open_file(&self) -> io::Result<File> {
        if let Source::File(path) = self {
            let (magic, _) = peek(buffered(File::open(path)?))?;
            if Compression::of(&magic).is_none() {
                return File::open(path);
            }
        }
        let mut copy = tempfile::tempfile()?;
        io::copy(&mut self.open()?, &mut copy)?;
        Ok(copy)
    }

    /// The bytes as they are.
    ///
    /// # Errors
    ///
    /// Those of opening.
    pub(crate) fn open_as_is(&self) -> io::Result<Box<dyn Read>> {
        Ok(match self {
            Source::File(path) | Source::Pipe(path) => Box::new(File::open(path)?),
            Source::Stdin => Box::new(io::stdin().lock()),
        })
    }
}

fn buffered<R: Read>(reader: R) -> BufReader<R> {
    BufReader::with_capacity(BUFFER, reader)
}

/// The bytes of `reader`, decompressed if the first ones say that they are compressed: all members
/// of gzip, all frames of Zstandard.
fn decompressed(reader: impl BufRead + 'static) -> io::Result<Bytes> {
    let (magic, reader) = peek(reader)?;
    let compression = Compression::of(&magic);
    let Some(compression) = compression else {
        return Ok(Box::new(reader));
    };
    let reader = Counted::new(reader);
    let count = reader.count();
    let decoder: Box<dyn Read> = match compression {
        Compression::Gzip => Box::new(MultiGzDecoder::new(reader)),
        Compression::Zstd => Box::new(zstd::Decoder::with_buffer(reader)?),
    };
    let guard = Guard::new(decoder, count);
    Ok(Box::new(buffered(guard)))
}

/// The first bytes of `reader`, and all of them.
fn peek(mut reader: impl BufRead) -> io::Result<(Vec<u8>, impl BufRead)> {
    let mut head = Vec::with_capacity(HEAD);
    reader.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(reader)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    fn of(magic: &[u8]) -> Option<Compression> {
        match magic {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            // A frame, or one that is to be passed over, as parallel compressors begin with.
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Some(Compression::Zstd),
            _ => None,
        }
    }
}
