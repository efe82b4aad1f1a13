//! The bytes of a file or stream, decompressed.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use encoding_rs::{Encoding, UTF_8};
use flate2::bufread::MultiGzDecoder;

use crate::corpus::decode::Mark;
use crate::corpus::decode::transcode::{Coding, Transcoded};
use crate::corpus::source::guard::{Counted, Guard};

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 18;

/// Bytes that tell how a file is compressed or encoded.
const HEAD: usize = 4;

/// A stream of bytes.
pub(crate) type Bytes = Box<dyn BufRead>;

/// What is read where it is given, and has no place in the file system.
pub(crate) struct Stream {
    pub(crate) name: PathBuf,
    /// Nothing once it was opened.
    reader: Mutex<Option<Box<dyn Read + Send>>>,
}

impl Stream {
    /// A stream that is not opened.
    pub(crate) fn new(name: PathBuf, reader: Box<dyn Read + Send>) -> Stream {
        Stream {
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

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stream").field(&self.name).finish()
    }
}

/// Where the bytes of one file come from.
#[derive(Debug)]
pub(crate) enum Feed {
    File(PathBuf),
    /// It can be opened once.
    Pipe(PathBuf),
    /// It can be opened once.
    Stream(Stream),
}

impl Feed {
    /// The name for messages.
    pub(crate) fn name(&self) -> &Path {
        match self {
            Feed::File(path) | Feed::Pipe(path) => path,
            Feed::Stream(stream) => &stream.name,
        }
    }

    /// The bytes, decompressed if they are compressed.
    ///
    /// # Errors
    ///
    /// Those of opening and reading; later ones are those of the stream.
    pub(crate) fn open(&self) -> io::Result<Bytes> {
        match self {
            Feed::File(path) => decompressed(buffered(open_file(path)?)),
            Feed::Pipe(path) => decompressed(buffered(File::open(path)?)),
            Feed::Stream(stream) => decompressed(buffered(stream.open()?)),
        }
    }

    /// The bytes of a file of text, and the name of the encoding that they were in if that is not UTF-8 in most
    /// parts: the one that a byte order mark tells, or the one `given`.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Feed::open).
    pub(crate) fn open_text(
        &self,
        given: Option<&'static Encoding>,
    ) -> io::Result<(Bytes, Option<&'static str>)> {
        let (head, bytes) = peek(self.open()?)?;
        let coding = match Mark::of(&head) {
            Some(Mark::Utf32(order)) => Some(Coding::Utf32(order)),
            Some(Mark::Utf16(encoding)) => Some(Coding::Standard(encoding)),
            Some(Mark::Utf8) => None,
            None => given.filter(|&given| given != UTF_8).map(Coding::Standard),
        };
        let bytes: Bytes = match coding {
            Some(coding) => Box::new(buffered(Transcoded::new(bytes, coding)?)),
            None => Box::new(bytes),
        };
        Ok((bytes, coding.map(Coding::name)))
    }

    /// The bytes, decompressed, as a file that can be read from its end. What is none is copied to
    /// one without a name, in the folder for temporary files. Says whether it was.
    ///
    /// # Errors
    ///
    /// Those of opening, reading and copying.
    pub(crate) fn open_file(&self) -> io::Result<(File, bool)> {
        if let Feed::File(path) = self {
            let (magic, _) = peek(buffered(open_file(path)?))?;
            if Compression::of(&magic).is_none() {
                return Ok((open_file(path)?, false));
            }
        }
        let mut copy = tempfile::tempfile()?;
        io::copy(&mut self.open()?, &mut copy)?;
        Ok((copy, true))
    }

    /// The bytes as they are.
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

/// Opens a file that had content when it was looked at. A pipe that took its name is not waited for.
fn open_file(path: &Path) -> io::Result<File> {
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
        assert_eq!(feed.open().err().unwrap().to_string(), said);
        assert_eq!(feed.open_file().err().unwrap().to_string(), said);
    }
}
