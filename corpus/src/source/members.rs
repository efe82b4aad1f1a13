//! The members of a gzip file.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// Decompresses all members, one after another. Zeros behind a member are padding, as `gzip` takes them.
#[derive(Debug)]
pub(crate) struct GzipMembers<R> {
    /// The current member; `None` at the end.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> GzipMembers<R> {
    /// Starts with the first member.
    pub(crate) fn new(reader: R) -> GzipMembers<R> {
        GzipMembers {
            member: Some(GzDecoder::new(reader)),
        }
    }
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(mut member) = self.member.take() {
            let read = member.read(buffer);
            if !matches!(read, Ok(0)) || buffer.is_empty() {
                self.member = Some(member);
                return read;
            }
            self.member = next(member.into_inner())?;
        }
        Ok(0)
    }
}

/// Begins the next member, if there is one.
fn next<R: BufRead>(mut reader: R) -> io::Result<Option<GzDecoder<R>>> {
    loop {
        let bytes = reader.fill_buf()?;
        let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
        match bytes.get(zeros) {
            Some(0x1f) => {
                reader.consume(zeros);
                return Ok(Some(GzDecoder::new(reader)));
            }
            Some(_) => return Err(io::Error::other("other bytes follow its end")),
            None if zeros == 0 => return Ok(None),
            None => reader.consume(zeros),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader, Read, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::GzipMembers;

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn text(bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        let reader = BufReader::with_capacity(7, bytes);
        GzipMembers::new(reader).read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn members_and_zeros_follow_one_another() {
        let zeros = vec![0; 512];
        let members = [gzip("one, "), gzip(""), zeros.clone(), gzip("two"), zeros].concat();
        assert_eq!(text(&members).unwrap(), "one, two");
        assert_eq!(text(&gzip("")).unwrap(), "");
    }

    #[test]
    fn other_bytes_behind_the_end_are_an_error() {
        for other in [&b"text\n"[..], b"\0\0text"] {
            let error = text(&[&gzip("one"), other].concat()).unwrap_err();
            assert_eq!(error.to_string(), "other bytes follow its end");
        }
        let cut = [gzip("one"), gzip("two")[..12].to_vec()].concat();
        assert_eq!(text(&cut).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
