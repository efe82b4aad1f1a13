//! Checks that the schema in the footer of a Parquet file is plausible.
//!
//! The library reserves memory for as many fields as a group claims to have before it looks for them, and descends into
//! groups by recursion. So this module reads the schema first. Each field must have the type that the library assumes,
//! or the two would continue at different positions.
//!
//! A footer is a struct of Thrift's compact protocol. Its second field is the list of the schema's elements, each
//! before its children.

use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};

use crate::formats::parquet::pages::{BoundedFile, damaged, variable};

/// The maximum nesting of groups. Real tables nest a few levels.
const MAX_DEPTH: usize = 64;

/// The maximum number of columns and groups in a file. Tables with more than a few thousand are rare.
const MAX_ELEMENTS: u64 = 1 << 18;

/// The maximum nesting of values that are skipped.
const SKIP_DEPTH: u32 = 32;

// Types of fields and of list elements. The first one ends a struct.
const END: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;
const UUID: u8 = 13;

/// The schema has too many columns, or they are not where it says.
const DAMAGED: &str = "its schema cannot be true";

/// Refuses a file whose schema claims more than it has. The library refuses what is not a footer.
pub(crate) fn check(file: &BoundedFile) -> Result<()> {
    const TAIL: u64 = 8;
    let size = file.len();
    let Some(end) = size.checked_sub(TAIL) else {
        return Ok(());
    };
    let tail = file.get_bytes(end, 8)?;
    let length = match tail.split_first_chunk() {
        Some((length, b"PAR1")) => u32::from_le_bytes(*length),
        _ => return Ok(()),
    };
    let Some(start) = end.checked_sub(length.into()) else {
        return Ok(());
    };
    let footer = file.get_bytes(start, usize::try_from(length)?)?;
    check_schema(&footer).map_err(damaged)
}

/// Refuses a footer whose schema claims more than it has.
fn check_schema(footer: &[u8]) -> std::result::Result<(), &'static str> {
    let mut values = ThriftReader { bytes: footer };
    let mut field = 0;
    loop {
        match values.field(&mut field).ok_or(DAMAGED)? {
            END => return Ok(()),
            I32 if field == 1 => values.skip(I32, 1).ok_or(DAMAGED)?,
            LIST if field == 2 => return values.schema(),
            _ => return Err(DAMAGED),
        }
    }
}

/// The open groups: for each, the number of elements still missing.
#[derive(Default)]
struct OpenGroups {
    open: Vec<u64>,
}

impl OpenGroups {
    /// Takes the next element, which has `children` children. Returns false if elements are nested too deeply.
    fn take(&mut self, children: u64) -> bool {
        if let Some(lacking) = self.open.last_mut() {
            *lacking -= 1;
        }
        if children > 0 {
            self.open.push(children);
        }
        while self.open.last() == Some(&0) {
            self.open.pop();
        }
        self.open.len() <= MAX_DEPTH
    }
}

/// The remaining bytes. Reads never go past their end.
struct ThriftReader<'a> {
    bytes: &'a [u8],
}

impl ThriftReader<'_> {
    /// Reads the list of elements.
    fn schema(&mut self) -> std::result::Result<(), &'static str> {
        let (STRUCT, elements) = self.list().ok_or(DAMAGED)? else {
            return Err(DAMAGED);
        };
        if elements > MAX_ELEMENTS {
            return Err("it has more than 262,144 columns and groups");
        }
        let (mut groups, mut claimed) = (OpenGroups::default(), 0);
        for _ in 0..elements {
            let children = self.element().ok_or(DAMAGED)?;
            claimed += children;
            // Each element but the first is the child of exactly one other.
            if claimed >= elements.max(1) {
                return Err(DAMAGED);
            }
            if !groups.take(children) {
                return Err("its columns are in more than 64 groups within groups");
            }
        }
        Ok(())
    }

    /// Reads an element. Returns the number of its children.
    fn element(&mut self) -> Option<u64> {
        let (mut field, mut children) = (0, 0);
        loop {
            let kind = self.field(&mut field)?;
            if kind == END {
                break;
            }
            match (field, kind) {
                (5, I32) => {
                    children = self.natural()?;
                }
                (1..=3 | 6..=9, I32) | (4, BINARY) => self.skip(kind, 1)?,
                (10, STRUCT) => self.logical_type()?,
                (1..=10, _) => return None,
                _ => self.skip(kind, SKIP_DEPTH)?,
            }
        }
        Some(children)
    }

    /// Skips the logical type of a column: a struct with one field.
    fn logical_type(&mut self) -> Option<()> {
        let mut variant = 0;
        loop {
            let kind = self.field(&mut variant)?;
            if kind == END {
                break;
            }
            if kind != STRUCT {
                return None;
            }
            let mut field = 0;
            loop {
                let kind = self.field(&mut field)?;
                if kind == END {
                    break;
                }
                let is_right = match (variant, field) {
                    (5, 1 | 2) | (18, 2) => kind == I32,
                    (7 | 8, 1) | (10, 2) => kind == TRUE || kind == FALSE,
                    (7 | 8, 2) => kind == STRUCT,
                    (10 | 16, 1) => kind == BYTE,
                    (17 | 18, 1) => kind == BINARY,
                    _ => true,
                };
                if !is_right {
                    return None;
                }
                self.skip(kind, SKIP_DEPTH)?;
            }
        }
        Some(())
    }

    /// Returns the type of a struct's next field, or `END` after the last one. Updates `last`, the field number, to
    /// which the encoding is relative.
    fn field(&mut self, last: &mut u64) -> Option<u8> {
        let byte = self.byte()?;
        let kind = byte & 0xf;
        if kind == END {
            return Some(END);
        }
        *last = match byte >> 4 {
            0 => self.natural().filter(|&number| number < 1 << 15)?,
            more => *last + u64::from(more),
        };
        Some(kind)
    }

    /// Reads an integer that is not negative. The sign is in the lowest bit.
    fn natural(&mut self) -> Option<u64> {
        let number = variable(&mut self.bytes)?;
        (number & 1 == 0).then_some(number >> 1)
    }

    /// Returns the type and the number of a list's elements.
    fn list(&mut self) -> Option<(u8, u64)> {
        let byte = self.byte()?;
        let elements = match byte >> 4 {
            15 => variable(&mut self.bytes)?,
            few => u64::from(few),
        };
        // Each element takes at least one byte.
        (elements <= self.bytes.len() as u64).then_some((byte & 0xf, elements))
    }

    /// Skips a value.
    fn skip(&mut self, kind: u8, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            TRUE | FALSE => {}
            BYTE => drop(self.byte()?),
            I16 | I32 | I64 => drop(variable(&mut self.bytes)?),
            DOUBLE => self.pass(8)?,
            UUID => self.pass(16)?,
            BINARY => {
                let length = variable(&mut self.bytes)?;
                self.pass(length)?;
            }
            STRUCT => {
                let mut field = 0;
                loop {
                    let kind = self.field(&mut field)?;
                    if kind == END {
                        break;
                    }
                    self.skip(kind, depth)?;
                }
            }
            LIST | SET => {
                let (kind, elements) = self.list()?;
                self.skip_all(&[kind], elements, depth)?;
            }
            MAP => {
                let pairs = variable(&mut self.bytes)?;
                if pairs > 0 {
                    let kinds = self.byte()?;
                    self.skip_all(&[kinds >> 4, kinds & 0xf], pairs, depth)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Skips the elements of a list or a map. Booleans are refused: they take a byte here, but not in the library.
    fn skip_all(&mut self, kinds: &[u8], elements: u64, depth: u32) -> Option<()> {
        for _ in 0..elements {
            for &kind in kinds {
                if kind == TRUE || kind == FALSE {
                    return None;
                }
                self.skip(kind, depth)?;
            }
        }
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(byte)
    }

    fn pass(&mut self, bytes: u64) -> Option<()> {
        self.bytes = self.bytes.get(usize::try_from(bytes).ok()?..)?;
        Some(())
    }
}
