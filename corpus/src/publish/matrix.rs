//! Files of rows of numbers.

use std::ffi::OsStr;
use std::path::Path;

use super::atomic_file::AtomicFile;
use super::error::{Error, Result};
use super::escape::csv_field;
use super::npy;

/// The format of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MatrixFormat {
    Csv,
    Npy,
}

/// A file with a table of signatures, with one row for each document.
///
/// The name selects the format: CSV with a header and a first column of keys, or a `NumPy` array (format 1.0,
/// little-endian 32-bit numbers). If it is dropped before it is finished, it leaves nothing.
///
/// ```
/// use dedupdb_corpus::publish::MatrixFile;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("signatures.csv");
/// let mut signatures = MatrixFile::create(&path, 2)?;
/// signatures.push("one, two", &[7, 9])?;
/// signatures.finish()?;
/// assert_eq!(std::fs::read_to_string(&path)?, "document,0,1\n\"one, two\",7,9\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "the file appears when it is finished"]
pub struct MatrixFile {
    form: MatrixFormat,
    file: AtomicFile,
    columns: u32,
    rows: u64,
}

impl MatrixFile {
    /// Checks that the name of a file has the extension of a matrix.
    ///
    /// # Errors
    ///
    /// [`Error::NoForm`].
    pub fn check_name(path: &Path) -> Result<()> {
        form(path).map(drop)
    }

    /// Starts a matrix with `columns` numbers in each row.
    ///
    /// # Errors
    ///
    /// [`Error::NoForm`], and those of [`AtomicFile::create`].
    pub fn create(path: &Path, columns: u32) -> Result<MatrixFile> {
        let form = form(path)?;
        let mut file = AtomicFile::create(path)?;
        match form {
            MatrixFormat::Csv => {
                let numbers = (0..columns).map(|column| format!(",{column}"));
                file.write(format!("document{}\n", numbers.collect::<String>()).as_bytes())?;
            }
            // This header has the same size as the final one, which has the number of rows.
            MatrixFormat::Npy => file.write(&npy::header(0, columns))?,
        }
        Ok(MatrixFile {
            form,
            file,
            columns,
            rows: 0,
        })
    }

    /// Writes the row of a document, truncated or padded with zeros to the number of columns.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn push(&mut self, key: &str, row: &[u32]) -> Result<()> {
        self.rows += 1;
        let slots = row.iter().copied().chain(std::iter::repeat(0));
        let slots = slots.take(self.columns as usize);
        let bytes = match self.form {
            MatrixFormat::Csv => {
                let slots = slots.map(|slot| format!(",{slot}"));
                format!("{}{}\n", csv_field(key), slots.collect::<String>()).into_bytes()
            }
            MatrixFormat::Npy => slots.flat_map(u32::to_le_bytes).collect(),
        };
        self.file.write(&bytes)
    }

    /// Returns the number of rows written.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Publishes the file under its name, and returns its size in bytes.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn finish(mut self) -> Result<u64> {
        if self.form == MatrixFormat::Npy {
            let (rows, columns) = (self.rows, self.columns);
            self.file.edit(|file| npy::rewrite(file, rows, columns))?;
        }
        self.file.finish()
    }
}

fn form(path: &Path) -> Result<MatrixFormat> {
    match path.extension().and_then(OsStr::to_str) {
        Some("csv") => Ok(MatrixFormat::Csv),
        Some("npy") => Ok(MatrixFormat::Npy),
        _ => Err(Error::NoForm {
            path: path.to_owned(),
            reason:
                "a matrix is written as CSV or for NumPy; give it a name that ends in .csv or .npy"
                    .to_owned(),
        }),
    }
}
