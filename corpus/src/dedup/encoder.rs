//! Writes bytes to a file, compressed as its name says.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use bzip2::write::BzEncoder;
use flate2::Compression;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};

use crate::publish::durable::DurableFile;

/// The destination of bytes.
pub(crate) enum Outlet {
    File(DurableFile),
    Stream(Box<dyn Write + Send>),
}

impl Outlet {
    /// Returns the outlet of a file.
    pub(crate) fn file(file: File) -> Outlet {
        Outlet::File(DurableFile::new(file))
    }

    /// Finishes writing. A file is durable then.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Outlet::File(file) => file.finish(),
            Outlet::Stream(mut stream) => stream.flush(),
        }
    }
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Outlet::File(file) => file.write(bytes),
            Outlet::Stream(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Outlet::File(file) => file.flush(),
            Outlet::Stream(stream) => stream.flush(),
        }
    }
}

type BufferedOutlet = BufWriter<Outlet>;

/// Writes records, compressed or not.
pub(crate) enum Encoder {
    Plain(BufferedOutlet),
    Gzip(GzEncoder<BufferedOutlet>),
    /// Each record is its own gzip member, so that it can be read alone.
    GzipMembers(BufferedOutlet),
    Zstd(zstd::Encoder<'static, BufferedOutlet>),
    Xz(Box<XzWriter<BufferedOutlet>>),
    Bzip2(BzEncoder<BufferedOutlet>),
}

/// The number of bytes to write at a time.
const BUFFER: usize = 1 << 18;

/// The preset that `xz` has by default.
const XZ_PRESET: u32 = 6;

impl Encoder {
    /// Returns an encoder into `place` that compresses as `name` says, with a gzip member per record if `has_members`.
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
            Some("xz") => {
                let options = XzOptions::with_preset(XZ_PRESET);
                Encoder::Xz(Box::new(XzWriter::new(buffered, options)?))
            }
            Some("bz2") => Encoder::Bzip2(BzEncoder::new(buffered, bzip2::Compression::best())),
            Some("zst") => Encoder::Zstd(zstd::Encoder::new(buffered, 0)?),
            _ => Encoder::Plain(buffered),
        })
    }

    /// Writes the bytes of whole records.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Encoder::Plain(writer) => writer.write_all(bytes),
            Encoder::Gzip(writer) => writer.write_all(bytes),
            Encoder::Zstd(writer) => writer.write_all(bytes),
            Encoder::Xz(writer) => writer.write_all(bytes),
            Encoder::Bzip2(writer) => writer.write_all(bytes),
            Encoder::GzipMembers(writer) => {
                let mut member = GzEncoder::new(Vec::new(), Compression::default());
                member.write_all(bytes)?;
                writer.write_all(&member.finish()?)
            }
        }
    }

    /// Finishes the stream. A file is durable then.
    ///
    /// # Errors
    ///
    /// Those of writing.
    pub(crate) fn finish(self) -> io::Result<()> {
        let buffered = match self {
            Encoder::Plain(buffered) | Encoder::GzipMembers(buffered) => buffered,
            Encoder::Gzip(encoder) => encoder.finish()?,
            Encoder::Zstd(encoder) => encoder.finish()?,
            Encoder::Xz(encoder) => encoder.finish()?,
            Encoder::Bzip2(encoder) => encoder.finish()?,
        };
        buffered.into_inner()?.finish()
    }
}
