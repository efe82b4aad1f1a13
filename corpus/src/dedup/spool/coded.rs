//! Encodes numbers, texts, times and files as bytes of a spool.

use std::io::{self, Read, Write};
use std::time::SystemTime;

use crate::number::times;
use crate::{FileIdentity, Nth, ReadFile, TextPlace};

pub(super) fn put(writer: &mut impl Write, number: u64) -> io::Result<u64> {
    writer.write_all(&number.to_le_bytes())?;
    Ok(size_of::<u64>() as u64)
}

pub(super) fn put_bytes(writer: &mut impl Write, bytes: &[u8]) -> io::Result<u64> {
    let length = bytes.len() as u64;
    let head = put(writer, length)?;
    writer.write_all(bytes)?;
    Ok(head + length)
}

pub(super) fn put_line(writer: &mut impl Write, line: Option<Nth>) -> io::Result<u64> {
    let (kind, number) = match line {
        None => (0, 0),
        Some(Nth::Line(number)) => (1, number),
        Some(Nth::Record(number)) => (2, number),
    };
    Ok(put(writer, kind)? + put(writer, number)?)
}

pub(super) fn put_time(writer: &mut impl Write, time: Option<SystemTime>) -> io::Result<u64> {
    let time = time.and_then(times::nanoseconds);
    let head = put(writer, time.is_some().into())?;
    Ok(head + put(writer, time.unwrap_or(0).cast_unsigned())?)
}

pub(super) fn put_read_file(writer: &mut impl Write, file: &ReadFile) -> io::Result<u64> {
    let size = put(writer, file.size)?;
    let time = put_time(writer, file.modified)?;
    writer.write_all(file.identity.bytes())?;
    writer.write_all(file.moment.bytes())?;
    let hash = put_bytes(writer, file.hash.as_ref().map_or(&[], |hash| hash))?;
    Ok(size + time + 2 * FileIdentity::BYTES as u64 + hash)
}

/// Writes a file that may be unknown.
pub(super) fn put_known(writer: &mut impl Write, file: Option<&ReadFile>) -> io::Result<u64> {
    let head = put(writer, file.is_some().into())?;
    let rest = file.map_or(Ok(0), |file| put_read_file(writer, file))?;
    Ok(head + rest)
}

pub(super) fn get_known(reader: &mut impl Read) -> io::Result<Option<ReadFile>> {
    let is_known = get(reader)? == 1;
    is_known.then(|| get_read_file(reader)).transpose()
}

/// Writes where records have their text.
pub(super) fn put_place(writer: &mut impl Write, place: &TextPlace) -> io::Result<u64> {
    let (kind, index, name) = match place {
        TextPlace::None => (0, 0, ""),
        TextPlace::BehindTab => (1, 0, ""),
        TextPlace::Cell(index) => (2, *index as u64, ""),
        TextPlace::Field(name) => (3, 0, &**name),
    };
    Ok(put(writer, kind)? + put(writer, index)? + put_bytes(writer, name.as_bytes())?)
}

pub(super) fn get_place(reader: &mut impl Read) -> io::Result<TextPlace> {
    let (kind, index, name) = (get(reader)?, get(reader)?, get_text(reader)?);
    Ok(match kind {
        0 => TextPlace::None,
        1 => TextPlace::BehindTab,
        2 => TextPlace::Cell(usize::try_from(index).map_err(io::Error::other)?),
        _ => TextPlace::Field(name),
    })
}

pub(super) fn get(reader: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; size_of::<u64>()];
    reader.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

pub(super) fn get_bytes(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let length = get(reader)?;
    let mut bytes = Vec::new();
    if reader.take(length).read_to_end(&mut bytes)? as u64 == length {
        return Ok(bytes);
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

pub(super) fn get_text(reader: &mut impl Read) -> io::Result<String> {
    String::from_utf8(get_bytes(reader)?).map_err(io::Error::other)
}

pub(super) fn get_time(reader: &mut impl Read) -> io::Result<Option<SystemTime>> {
    let is_known = get(reader)? == 1;
    let time = times::at_nanoseconds(get(reader)?.cast_signed());
    Ok(is_known.then_some(time))
}

pub(super) fn get_line(reader: &mut impl Read) -> io::Result<Option<Nth>> {
    let (kind, number) = (get(reader)?, get(reader)?);
    Ok(match kind {
        0 => None,
        1 => Some(Nth::Line(number)),
        _ => Some(Nth::Record(number)),
    })
}

pub(super) fn get_read_file(reader: &mut impl Read) -> io::Result<ReadFile> {
    Ok(ReadFile {
        size: get(reader)?,
        modified: get_time(reader)?,
        identity: FileIdentity::read(reader)?,
        moment: FileIdentity::read(reader)?,
        hash: get_bytes(reader)?.try_into().ok(),
    })
}
