//! Bytes on their way into a file, compressed as its name says.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::publish::durable::Durable;
use crate::publish::manifest::{Hashed, Listed};

/// Where bytes end up.
pub(crate) enum Outlet {
    File(Durable),
    /// A file of a folder whose manifest is to list it.
    Hashed(Hashed),
    Stream(Box<dyn Write + Send>),
}

impl Outlet {
    /// A file of its own.
    pub(crate) fn file(file: File) -> Outlet {
        Outlet::File(Durable::new(file))
    }

    /// A file of a folder whose manifest is to list it.
    pub(crate) fn hashed(file: File) -> Outlet {
        Outlet::Hashed(Hashed::new(file))
    }

    /// Ends what was written. A file is durable then; says what the manifest is to list.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn finish(self) -> io::Result<Option<Listed>> {
        match self {
            Outlet::File(file) => file.finish().map(|()| None),
            Outlet::Hashed(file) => file.finish().map(Some),
            Outlet::Stream(mut stream) => stream.flush().map(|()| None),
        }
    }
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Outlet::File(file) => file.write(bytes),
            Outlet::Hashed(file) => file.write(bytes),
            Outlet::Stream(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Outlet::File(file) => file.flush(),
            Outlet::Hashed(file) => file.flush(),
            Outlet::Stream(stream) => stream.flush(),
        }
    }
}

type Buffered = BufWriter<Outlet>;

/// Compresses records, or not.
pub(crate) enum Encoder {
    Plain(Buffered),
    Gzip(GzEncoder<Buffered>),
    /// Each record is a member of its own, so that it can be read alone.
    GzipMembers(Buffered),
    Zstd(zstd::Encoder<'static, Buffered>),
}

/// Bytes that are written at a time.
const BUFFER: usize = 1 << 18;

impl Encoder {
    /// Compresses into `place` as `name` says, with a member for each record if `has_members`.
    ///
    /// # Errors
    ///
    /// Those of the compressor.
    pub(crate) fn new(place: Outlet, name: &Path, has_members: bool) -> io::Result<Encoder> {
        let buffered = BufWriter::with_capacity(BUFFER, place);
        let extension = name.extension().unwrap_or_default().to_ascii_lowercase();
        Ok(match extension.to_str() {
            Some("gz") if has_members => Encoder::GzipMembers(buffered),
            Some("gz") => Encoder::Gzip(GzEncoder::new(buffered, Compression::default())),
            Some("zst") => Encoder::Zstd(zstd::Encoder::new(buffered, 0)?),
            _ => Encoder::Plain(buffered),
        })
    }

    /// Writes bytes that are whole in themselves.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Encoder::Plain(writer) => writer.write_all(bytes),
            Encoder::Gzip(writer) => writer.write_all(bytes),
            Encoder::Zstd(writer) => writer.write_all(bytes),
            Encoder::GzipMembers(writer) => {
                let mut member = GzEncoder::new(Vec::new(), Compression::default());
                member.write_all(bytes)?;
                writer.write_all(&member.finish()?)
            }
        }
    }

    /// Ends the stream. A file is durable then; says what the manifest is to list.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(crate) fn finish(self) -> io::Result<Option<Listed>> {
        let buffered = match self {
            Encoder::Plain(buffered) | Encoder::GzipMembers(buffered) => buffered,
            Encoder::Gzip(encoder) => encoder.finish()?,
            Encoder::Zstd(encoder) => encoder.finish()?,
        };
        buffered.into_inner()?.finish()
    }
}
