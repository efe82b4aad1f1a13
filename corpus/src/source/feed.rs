//! The bytes of a file or stream, decompressed.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use bzip2::bufread::MultiBzDecoder;
use encoding_rs::{Encoding, UTF_8};

use crate::decode::transcode::{ForeignEncoding, Transcoded};
use crate::decode::{ByteOrderMark, unmarked};
use crate::formats::format::is_compressed;
use crate::skipped::HintedError;
use crate::source::frames::ZstdFrames;
use crate::source::guard::{CUT_SHORT, CountingReader, GrowthGuard};
use crate::source::members::GzipMembers;
use crate::source::xz::XzStreams;

/// The number of bytes to read at a time.
const BUFFER: usize = 1 << 18;

/// The number of bytes that identify a file's compression or encoding.
const HEAD: usize = 10;

/// A stream of bytes.
pub(crate) type ByteStream = Box<dyn BufRead>;

/// A stream that the caller passes, without a place in the file system.
pub(crate) struct CallerStream {
    pub(crate) name: PathBuf,
    /// `None` once it has been opened.
    reader: Mutex<Option<Box<dyn Read + Send>>>,
}

impl CallerStream {
    /// Returns a stream that has not been opened.
    pub(crate) fn new(name: PathBuf, reader: Box<dyn Read + Send>) -> CallerStream {
        CallerStream {
            name,
            reader: Mutex::new(Some(reader)),
        }
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = io::Error::other("it can be read once, and was read");
        reader.take().ok_or(opened)
    }
}

impl fmt::Debug for CallerStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallerStream").field(&self.name).finish()
    }
}

/// The source of one file's bytes.
#[derive(Debug)]
pub(crate) enum Feed {
    File(PathBuf),
    /// A named pipe, which can be opened once.
    Pipe(PathBuf),
    /// A stream, which can be opened once.
    Stream(CallerStream),
}

impl Feed {
    /// Returns the name for messages.
    pub(crate) fn name(&self) -> &Path {
        match self {
            Feed::File(path) | Feed::Pipe(path) => path,
            Feed::Stream(stream) => &stream.name,
        }
    }

    /// Opens the bytes, decompressed if they are compressed, in at most `memory` bytes.
    ///
    /// # Errors
    ///
    /// Those of opening and reading. The stream reports later errors.
    pub(crate) fn open(&self, memory: u64) -> io::Result<ByteStream> {
        match self {
            Feed::File(path) => {
                decompressed(buffered(open_file(path)?), is_compressed(path), memory)
            }
            Feed::Pipe(path) => decompressed(buffered(File::open(path)?), false, memory),
            Feed::Stream(stream) => decompressed(buffered(stream.open()?), false, memory),
        }
    }

    /// Opens a text file as UTF-8. Also returns the name of its encoding if that is not UTF-8 for the most part: the
    /// one of the byte order mark, or the one `given`.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Feed::open).
    pub(crate) fn open_text(
        &self,
        given: Option<&'static Encoding>,
        memory: u64,
    ) -> io::Result<(ByteStream, Option<&'static str>)> {
        let (head, bytes) = peek(self.open(memory)?)?;
        let mark = ByteOrderMark::of(&head);
        if let (None, None, Some(hint)) = (mark, given, unmarked(&head)) {
            let detail = "it has NUL bytes".to_owned();
            return Err(io::Error::other(HintedError { detail, hint }));
        }
        let coding = match mark {
            Some(ByteOrderMark::Utf32(order)) => Some(ForeignEncoding::Utf32(order)),
            Some(ByteOrderMark::Utf16(encoding)) => Some(ForeignEncoding::Standard(encoding)),
            Some(ByteOrderMark::Utf8) => None,
            None => given
                .filter(|&given| given != UTF_8)
                .map(ForeignEncoding::Standard),
        };
        let bytes: ByteStream = match coding {
            Some(coding) => Box::new(buffered(Transcoded::new(bytes, coding)?)),
            None => Box::new(bytes),
        };
        Ok((bytes, coding.map(ForeignEncoding::name)))
    }

    /// Opens the bytes, decompressed, as a file that can be read from its end. Bytes that are not such a file are
    /// copied to an unnamed one in the folder for temporary files. Also returns whether they were copied.
    ///
    /// # Errors
    ///
    /// Those of opening, reading and copying.
    pub(crate) fn open_file(&self, memory: u64) -> io::Result<(File, bool)> {
        if let Feed::File(path) = self {
            let (magic, _) = peek(buffered(open_file(path)?))?;
            if Compression::of(&magic).is_none() {
                return Ok((open_file(path)?, false));
            }
        }
        let mut copy = tempfile::tempfile()?;
        io::copy(&mut self.open(memory)?, &mut copy)?;
        Ok((copy, true))
    }

    /// Opens the bytes as they are.
    ///
    /// # Errors
    ///
    /// Those of opening.
    pub(crate) fn open_as_is(&self) -> io::Result<Box<dyn Read>> {
        Ok(match self {
            Feed::File(path) => Box::new(open_file(path)?),
            Feed::Pipe(path) => Box::new(File::open(path)?),
            Feed::Stream(stream) => Box::new(stream.open()?),
        })
    }
}

/// Opens a file that was a regular file when it was examined. If a pipe has taken its name, this does not block.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.read(true).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::other("it was replaced by what is no file"))
}

fn buffered<R: Read>(reader: R) -> BufReader<R> {
    BufReader::with_capacity(BUFFER, reader)
}

/// Decompresses the bytes of `reader` if the first ones identify a compression, in at most `memory` bytes: all members
/// of gzip, frames of Zstandard, streams of xz and bzip2. If there are none and the name says that there are, the file
/// is cut short.
fn decompressed(
    reader: impl BufRead + 'static,
    is_named_so: bool,
    memory: u64,
) -> io::Result<ByteStream> {
    let (magic, reader) = peek(reader)?;
    if is_named_so && Compression::begins(&magic) {
        return Err(io::Error::other(CUT_SHORT));
    }
    let compression = Compression::of(&magic);
    let Some(compression) = compression else {
        return Ok(Box::new(reader));
    };
    let reader = CountingReader::new(reader);
    let count = reader.count();
    let decoder: Box<dyn Read> = match compression {
        Compression::Gzip => Box::new(GzipMembers::new(reader)),
        Compression::Zstd => Box::new(ZstdFrames::new(reader, memory)?),
        Compression::Xz => Box::new(XzStreams::new(reader, memory)),
        Compression::Bzip2 => Box::new(MultiBzDecoder::new(reader)),
    };
    let guard = GrowthGuard::new(decoder, count);
    Ok(Box::new(buffered(guard)))
}

/// Returns the first bytes of `reader`, and a reader of all bytes.
fn peek(mut reader: impl BufRead) -> io::Result<(Vec<u8>, impl BufRead)> {
    let mut head = Vec::with_capacity(HEAD);
    reader.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(reader)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstd,
    Xz,
    Bzip2,
}

/// The first bytes of compressed files. A question mark stands for the bytes 0x50 to 0x5f, or behind others for a digit.
const MAGIC: [(&[u8], Compression); 6] = [
    (b"\x1f\x8b", Compression::Gzip),
    (b"\x28\xb5\x2f\xfd", Compression::Zstd),
    // One of the sixteen beginnings of a skippable frame, with which parallel compressors begin.
    (b"?\x2a\x4d\x18", Compression::Zstd),
    (b"\xfd7zXZ\0", Compression::Xz),
    (b"BZh?1AY&SY", Compression::Bzip2),
    // Nothing, compressed.
    (b"BZh?\x17\x72\x45\x38\x50\x90", Compression::Bzip2),
];

impl Compression {
    /// Whether these are all bytes of a file that was cut short within the first bytes of its compression.
    fn begins(bytes: &[u8]) -> bool {
        let is_start = |magic: &[u8]| magic.len() > bytes.len() && is_alike(magic, bytes);
        MAGIC.iter().any(|(magic, _)| is_start(magic))
    }

    fn of(bytes: &[u8]) -> Option<Compression> {
        let is_start = |magic: &[u8]| magic.len() <= bytes.len() && is_alike(magic, bytes);
        let found = MAGIC.iter().find(|(magic, _)| is_start(magic));
        found.map(|(_, compression)| *compression)
    }
}

/// Whether two beginnings agree, as far as both go.
fn is_alike(magic: &[u8], bytes: &[u8]) -> bool {
    let mut pairs = magic.iter().zip(bytes).enumerate();
    pairs.all(|(at, (&magic, &byte))| match (at, magic) {
        (0, b'?') => (0x50..=0x5f).contains(&byte),
        (_, b'?') => byte.is_ascii_digit(),
        _ => magic == byte,
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_that_took_the_name_of_a_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let feed = Feed::File(path);
        let said = "it was replaced by what is no file";
        assert_eq!(feed.open_as_is().err().unwrap().to_string(), said);
        assert_eq!(feed.open(0).err().unwrap().to_string(), said);
        assert_eq!(feed.open_file(0).err().unwrap().to_string(), said);
    }
}
