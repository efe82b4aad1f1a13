//! Reading lines sorted by bucket, bucket by bucket.

use std::io::BufRead;
use std::ops::Range;

use std::sync::Arc;

use super::bucket::{BucketId, BucketNames};
use super::error::{Error, Result};
use super::line::{self, TAB};
use super::parameters;
use super::recent_buckets::RecentBuckets;
use dedupdb::Schema;

/// The lines of a bucket, without its name.
#[derive(Debug)]
pub struct Group {
    /// The name of the stream.
    name: String,
    pub(super) bucket: BucketId,
    /// The number of the first line, from 1.
    pub(super) first: u64,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Group {
    /// Returns the number of lines, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "a bucket has a line")]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The location of a line for messages. Lines are numbered from 1.
    pub(super) fn place(&self, number: u64) -> String {
        format!("{}:{number}", self.name)
    }

    /// The lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends);
        ranges.map(|(start, &end)| &self.text[start..end])
    }
}

/// Reads lines that are sorted by bucket, one bucket at a time.
#[derive(Debug)]
pub struct Groups<R> {
    reader: R,
    names: BucketNames,
    mark: String,
    parameters: String,
    recent: RecentBuckets,
    /// The line that was read last and has no group yet, the range of its bucket's name, and its number.
    line: Vec<u8>,
    name: Range<usize>,
    number: u64,
    group: Group,
}

impl<R: BufRead> Groups<R> {
    /// Reads lines of a schema from a stream. Messages use the `name`.
    pub fn new(reader: R, name: impl Into<String>, schema: &Schema) -> Groups<R> {
        Groups {
            reader,
            names: BucketNames::new(schema.bands().bands()),
            mark: parameters::mark(schema),
            parameters: schema.to_string(),
            recent: RecentBuckets::new(),
            line: Vec::new(),
            name: 0..0,
            number: 0,
            group: Group {
                name: name.into(),
                bucket: BucketId::Copies(0),
                first: 0,
                text: Vec::new(),
                ends: Vec::new(),
            },
        }
    }

    /// Returns the number of lines read so far.
    pub fn lines(&self) -> u64 {
        self.number
    }

    /// Returns the next group, if there is one.
    ///
    /// # Errors
    ///
    /// Those of reading, or one for a line with other parameters or for a bucket that had an earlier group.
    pub fn next_group(&mut self) -> Result<Option<&Group>, Error> {
        self.group.text.clear();
        self.group.ends.clear();
        if self.number == 0 {
            self.read()?;
        }
        if self.line.is_empty() {
            return Ok(None);
        }
        self.group.first = self.number;
        self.group.bucket = self.bucket()?;
        let name = self.line[self.name.clone()].to_vec();
        while self.line.get(self.name.clone()) == Some(name.as_slice()) {
            self.group.text.extend(&self.line[self.name.end + 1..]);
            self.group.ends.push(self.group.text.len());
            self.read()?;
        }
        Ok(Some(&self.group))
    }

    /// The location of the line.
    fn place(&self) -> String {
        self.group.place(self.number)
    }

    /// The bucket of the line, which must begin a group.
    fn bucket(&mut self) -> Result<BucketId> {
        let name = &self.line[self.name.clone()];
        let Some(bucket) = self.names.bucket(name) else {
            return Err(Error::NoLine {
                place: self.place(),
            });
        };
        if self.recent.again(bucket) {
            return Err(Error::NotSorted {
                place: self.place(),
                bucket: self.names.name(bucket),
            });
        }
        Ok(bucket)
    }

    /// Reads a line. It is empty at the end of the stream.
    fn read(&mut self) -> Result<()> {
        self.line.clear();
        self.name = 0..0;
        let read = self.reader.read_until(b'\n', &mut self.line);
        let read = read.map_err(|source| Error::Read {
            name: self.group.name.clone(),
            source: Arc::new(source),
        })?;
        if read == 0 {
            return Ok(());
        }
        self.number += 1;
        if self.line.pop_if(|&mut last| last == b'\n').is_none() {
            return Err(Error::NoEnd {
                place: self.place(),
                name: self.group.name.clone(),
            });
        }
        let tab = self.line.iter().position(|&byte| byte == TAB);
        let mark = tab.and_then(|tab| line::mark(&self.line[tab + 1..]));
        let (Some(tab), Some(mark)) = (tab, mark) else {
            return Err(Error::NoLine {
                place: self.place(),
            });
        };
        if mark != self.mark.as_bytes() {
            return Err(Error::OtherParameters {
                place: self.place(),
                expected: self.parameters.clone(),
            });
        }
        self.name = 0..tab;
        Ok(())
    }
}
