//! Lines that are sorted by bucket, one bucket after the other.

use std::io::BufRead;
use std::ops::Range;

use anyhow::{Context, Result, anyhow, bail};
use dedupdb::Schema;

use super::bucket::{Bucket, Names};
use super::line::{self, TAB};
use super::met::Met;
use super::parameters;

/// Says where something is, in messages.
pub(super) fn place(number: u64) -> String {
    format!("standard input:{number}")
}

/// Says that a line is none that map wrote.
pub(super) fn no_line(number: u64) -> anyhow::Error {
    let place = place(number);
    anyhow!("{place}: this is no line of dedupdb map; give reduce what map writes, sorted")
}

/// The lines of a bucket, without its name.
#[derive(Debug)]
pub(crate) struct Group {
    pub(super) bucket: Bucket,
    /// Number of the first line, from 1.
    pub(super) first: u64,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Group {
    /// Number of lines.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends);
        ranges.map(|(start, &end)| &self.text[start..end])
    }
}

/// Reads groups.
#[derive(Debug)]
pub(crate) struct Groups<R> {
    reader: R,
    names: Names,
    mark: String,
    parameters: String,
    met: Met,
    /// The line that was read last, which has no group yet, and where its bucket's name is; its
    /// number.
    line: Vec<u8>,
    name: Range<usize>,
    number: u64,
    group: Group,
}

impl<R: BufRead> Groups<R> {
    /// Reads lines that were made with the parameters of a schema.
    pub(crate) fn new(reader: R, schema: &Schema) -> Groups<R> {
        Groups {
            reader,
            names: Names::new(schema.bands().bands()),
            mark: parameters::mark(schema),
            parameters: schema.to_string(),
            met: Met::new(),
            line: Vec::new(),
            name: 0..0,
            number: 0,
            group: Group {
                bucket: Bucket::Copies(0),
                first: 0,
                text: Vec::new(),
                ends: Vec::new(),
            },
        }
    }

    /// Number of lines that were read.
    pub(crate) fn lines(&self) -> u64 {
        self.number
    }

    /// The next group, if there is one.
    ///
    /// # Errors
    ///
    /// Those of reading, or a line is not one that was made with these parameters, or its bucket
    /// had a group before.
    pub(crate) fn next(&mut self) -> Result<Option<&Group>> {
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

    /// The bucket of the line, which begins a group.
    fn bucket(&mut self) -> Result<Bucket> {
        let name = &self.line[self.name.clone()];
        let Some(bucket) = self.names.bucket(name) else {
            return Err(no_line(self.number));
        };
        if self.met.again(bucket) {
            bail!(
                "{}: the key {} came before, and others since: the input is not sorted by key; pipe \
                 it through sort",
                place(self.number),
                self.names.name(bucket)
            );
        }
        Ok(bucket)
    }

    /// Reads a line, which is empty at the end.
    fn read(&mut self) -> Result<()> {
        self.line.clear();
        self.name = 0..0;
        let read = self.reader.read_until(b'\n', &mut self.line);
        if read.context("standard input cannot be read")? == 0 {
            return Ok(());
        }
        self.number += 1;
        if self.line.pop_if(|&mut last| last == b'\n').is_none() {
            bail!(
                "{}: the line has no end: what writes to standard input broke off",
                place(self.number)
            );
        }
        let tab = self.line.iter().position(|&byte| byte == TAB);
        let mark = tab.and_then(|tab| line::mark(&self.line[tab + 1..]));
        let (Some(tab), Some(mark)) = (tab, mark) else {
            return Err(no_line(self.number));
        };
        if mark != self.mark.as_bytes() {
            bail!(
                "{}: map had other parameters than these, {}; give map and reduce the same options",
                place(self.number),
                self.parameters
            );
        }
        self.name = 0..tab;
        Ok(())
    }
}
