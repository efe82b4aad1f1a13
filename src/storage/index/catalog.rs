//! The tables of the index other than the bucket tables: documents, names, sources, removed contents, checksums and the
//! schema.

use std::collections::BTreeSet;
use std::ops::Range;

use redb::{
    OwnedAccessGuard, ReadOnlyTable, ReadTransaction, ReadableTable, ReadableTableMetadata,
    TableDefinition, WriteTransaction,
};

use super::append::{Appender, append, copy};
use super::document::{DocumentChange, DocumentRow};
use super::open::page_bytes;
use super::sources::{FOLDER_END, SourceFile};
use crate::error::Result;
use crate::storage::format::ColumnKind;
use crate::storage::parallel::both;

const SCHEMA: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("schema");
const DOCUMENTS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("documents");
const NAMES: TableDefinition<'_, (u32, &[u8]), ()> = TableDefinition::new("names");
const REMOVED: TableDefinition<'_, u32, ()> = TableDefinition::new("removed");
const SOURCES: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("sources");
const SUMS: TableDefinition<'_, (u8, u64), u64> = TableDefinition::new("sums");

/// Converts stored bytes to a string.
///
/// The tables have keys of bytes because redb panics at a string that is not valid UTF-8.
pub(super) fn text(bytes: impl Into<Vec<u8>>) -> Result<String, redb::Error> {
    let text = String::from_utf8(bytes.into());
    text.map_err(|_| redb::Error::Corrupted("a key is not UTF-8".into()))
}

/// Writes the schema's parameters.
pub(crate) fn write_schema(
    transaction: &WriteTransaction,
    parameters: &[(&'static str, String)],
) -> Result<(), redb::Error> {
    let mut table = transaction.open_table(SCHEMA)?;
    for (name, value) in parameters {
        table.insert(name.as_bytes(), value.as_bytes())?;
    }
    Ok(())
}

/// Reads the schema's parameters.
pub(crate) fn read_schema(
    transaction: &ReadTransaction,
) -> Result<Vec<(String, String)>, redb::Error> {
    let table = transaction.open_table(SCHEMA)?;
    let mut parameters = Vec::new();
    for entry in table.iter()? {
        let (name, value) = entry?;
        parameters.push((text(name.value())?, text(value.value())?));
    }
    Ok(parameters)
}

/// Applies the changes, which must be sorted by key.
pub(crate) fn write_documents(
    transaction: &WriteTransaction,
    changes: &[DocumentChange],
) -> Result<(), redb::Error> {
    let mut documents = transaction.open_table(DOCUMENTS)?;
    // Keys after the last one are appended, which is several times faster than finding the place of each.
    let last = documents.last()?.map(|(key, _)| key.value().to_vec());
    let inside = changes.partition_point(|change| Some(change.key.as_bytes()) <= last.as_deref());
    let (inside, behind) = changes.split_at(inside);
    for change in inside {
        let key = change.key.as_bytes();
        match change.new {
            Some(row) => documents.insert(key, row.to_value().as_bytes())?,
            None => documents.remove(key)?,
        };
    }
    let mut appender = Appender::new(&mut documents)?;
    for change in behind {
        if let Some(row) = change.new {
            appender.push(change.key.as_bytes(), row.to_value().as_bytes())?;
        }
    }
    appender.close()
}

/// The contents that documents name, including changes of this transaction.
pub(crate) fn content_of(
    transaction: &WriteTransaction,
    keys: &[String],
) -> Result<Vec<Option<u32>>, redb::Error> {
    let documents = transaction.open_table(DOCUMENTS)?;
    let content = |key: &String| Ok(row_of(&documents, key)?.map(|row| row.content));
    keys.iter().map(content).collect()
}

/// The row of the document `key`.
fn row_of(
    documents: &impl ReadableTable<&'static [u8], &'static [u8]>,
    key: &str,
) -> Result<Option<DocumentRow>, redb::Error> {
    let value = documents.get(key.as_bytes())?;
    let row = value.map(|value| DocumentRow::from_value(value.value()));
    row.transpose()
}

/// Records files that documents came from.
pub(crate) fn write_sources(
    transaction: &WriteTransaction,
    files: &[SourceFile],
) -> Result<(), redb::Error> {
    let mut sources = transaction.open_table(SOURCES)?;
    for file in files {
        if sources.get(file.number)?.is_none() {
            sources.insert(file.number, file.path.as_bytes())?;
        }
    }
    Ok(())
}

/// Deletes all documents, names, sources and removed contents.
pub(crate) fn clear(transaction: &WriteTransaction) -> Result<(), redb::Error> {
    transaction.delete_table(DOCUMENTS)?;
    transaction.delete_table(NAMES)?;
    transaction.delete_table(REMOVED)?;
    transaction.delete_table(SOURCES)?;
    Ok(())
}

/// Applies the changes to the names, and returns which of `contents` have none left.
pub(crate) fn write_names(
    transaction: &WriteTransaction,
    changes: &[DocumentChange],
    contents: &[u32],
) -> Result<Vec<u32>, redb::Error> {
    // Names of documents that changed or went. A name that stays is not touched.
    let mut names = transaction.open_table(NAMES)?;
    for change in changes {
        let new = change.new.map(|row| row.content);
        if let Some(old) = change.old.filter(|&old| Some(old) != new) {
            names.remove((old, change.key.as_bytes()))?;
        }
    }
    // New names, by content: contents of new documents come after all others, so most names are appended.
    let mut added: Vec<(u32, &[u8])> = changes
        .iter()
        .filter_map(|change| Some((change.new?.content, change)))
        .filter(|(content, change)| change.old != Some(*content))
        .map(|(content, change)| (content, change.key.as_bytes()))
        .collect();
    added.sort_unstable();
    let last = names.last()?.map(|(name, _)| {
        let (content, key) = name.value();
        (content, key.to_vec())
    });
    let inside = added.partition_point(|(content, key)| {
        let last = last
            .as_ref()
            .map(|(content, key)| (*content, key.as_slice()));
        Some((*content, *key)) <= last
    });
    let (inside, behind) = added.split_at(inside);
    for name in inside {
        names.insert(name, ())?;
    }
    append(&mut names, behind.iter().map(|name| (*name, ())))?;
    // Now the table has only names in use: a content without any lost its last one.
    let mut unnamed = Vec::new();
    for &content in contents {
        if names
            .range((content, &b""[..])..)?
            .next()
            .transpose()?
            .is_none_or(|(name, _)| name.value().0 != content)
        {
            unnamed.push(content);
        }
    }
    Ok(unnamed)
}

/// Records contents that no document names any more.
pub(crate) fn write_removed(
    transaction: &WriteTransaction,
    contents: &[u32],
) -> Result<(), redb::Error> {
    let mut removed = transaction.open_table(REMOVED)?;
    for &content in contents {
        removed.insert(content, ())?;
    }
    Ok(())
}

/// The removed contents within `contents`, ascending, including those of this transaction.
pub(crate) fn removed_within(
    transaction: &WriteTransaction,
    contents: Range<u32>,
) -> Result<Vec<u32>, redb::Error> {
    let removed = transaction.open_table(REMOVED)?;
    let entries = removed.range(contents)?;
    entries.map(|entry| Ok(entry?.0.value())).collect()
}

/// Replaces the checksums of blocks of a column.
pub(crate) fn write_sums(
    transaction: &WriteTransaction,
    kind: ColumnKind,
    sums: &[(u64, u64)],
) -> Result<(), redb::Error> {
    let mut table = transaction.open_table(SUMS)?;
    for &(block, sum) in sums {
        table.insert((kind as u8, block), sum)?;
    }
    Ok(())
}

/// The bytes of a document's key, and its row.
type DocumentEntry = Result<(Vec<u8>, DocumentRow), redb::Error>;

/// An entry of the table of names.
type NameEntry = (OwnedAccessGuard<(u32, &'static [u8])>, OwnedAccessGuard<()>);

/// The bytes of the key in an entry, if it names `content`.
fn key_of(
    content: u32,
    name: Result<NameEntry, redb::StorageError>,
) -> Option<Result<Vec<u8>, redb::Error>> {
    match name {
        Ok((name, _)) => {
            let (id, key) = name.value();
            (id == content).then(|| Ok(key.to_vec()))
        }
        Err(error) => Some(Err(error.into())),
    }
}

/// The tables as seen by one transaction.
#[derive(Debug)]
pub(crate) struct Catalog {
    documents: ReadOnlyTable<&'static [u8], &'static [u8]>,
    names: ReadOnlyTable<(u32, &'static [u8]), ()>,
    removed: ReadOnlyTable<u32, ()>,
    sources: ReadOnlyTable<u64, &'static [u8]>,
    sums: ReadOnlyTable<(u8, u64), u64>,
}

impl Catalog {
    /// Creates the tables, empty.
    pub(crate) fn create(transaction: &WriteTransaction) -> Result<(), redb::Error> {
        transaction.open_table(DOCUMENTS)?;
        transaction.open_table(NAMES)?;
        transaction.open_table(REMOVED)?;
        transaction.open_table(SOURCES)?;
        transaction.open_table(SUMS)?;
        Ok(())
    }

    /// Opens the tables.
    pub(crate) fn open(transaction: &ReadTransaction) -> Result<Catalog, redb::Error> {
        Ok(Catalog {
            documents: transaction.open_table(DOCUMENTS)?,
            names: transaction.open_table(NAMES)?,
            removed: transaction.open_table(REMOVED)?,
            sources: transaction.open_table(SOURCES)?,
            sums: transaction.open_table(SUMS)?,
        })
    }

    /// The number of bytes in the pages of the tables.
    pub(crate) fn page_bytes(&self) -> Result<u64, redb::Error> {
        let documents = page_bytes(&self.documents)? + page_bytes(&self.names)?;
        let rest = page_bytes(&self.removed)? + page_bytes(&self.sources)?;
        Ok(documents + rest + page_bytes(&self.sums)?)
    }

    /// Copies the tables into an index that has none.
    pub(crate) fn copy_to(&self, transaction: &WriteTransaction) -> Result<(), redb::Error> {
        copy(&self.documents, &mut transaction.open_table(DOCUMENTS)?)?;
        copy(&self.names, &mut transaction.open_table(NAMES)?)?;
        copy(&self.removed, &mut transaction.open_table(REMOVED)?)?;
        copy(&self.sources, &mut transaction.open_table(SOURCES)?)?;
        copy(&self.sums, &mut transaction.open_table(SUMS)?)
    }

    /// Copies documents, names and the sources of these documents into an index that has none, under new content ids.
    ///
    /// `new_id` must keep the order of the ids.
    pub(crate) fn copy_renumbered(
        &self,
        transaction: &WriteTransaction,
        threads: usize,
        new_id: impl Fn(u32) -> u32 + Sync,
    ) -> Result<(), redb::Error> {
        let (sources, ()) = both(
            threads,
            || self.copy_documents(transaction, &new_id),
            || self.copy_names(transaction, &new_id),
        )?;
        let mut table = transaction.open_table(SOURCES)?;
        for number in sources {
            if let Some(path) = self.sources.get(number)? {
                table.insert(number, path.value())?;
            }
        }
        Ok(())
    }

    /// Copies the documents. Returns the numbers of the files that they came from.
    fn copy_documents(
        &self,
        transaction: &WriteTransaction,
        new_id: impl Fn(u32) -> u32,
    ) -> Result<BTreeSet<u64>, redb::Error> {
        let mut sources = BTreeSet::new();
        let mut last = 0;
        let mut documents = transaction.open_table(DOCUMENTS)?;
        let mut appender = Appender::new(&mut documents)?;
        for entry in self.documents.iter()? {
            let (key, value) = entry?;
            let row = DocumentRow::from_value(value.value())?;
            let row = DocumentRow {
                content: new_id(row.content),
                ..row
            };
            // Documents of a file stand side by side, so the set is seldom asked.
            if row.source != last {
                last = row.source;
                sources.insert(last);
            }
            appender.push(key.value(), row.to_value().as_bytes())?;
        }
        appender.close()?;
        sources.remove(&0);
        Ok(sources)
    }

    fn copy_names(
        &self,
        transaction: &WriteTransaction,
        new_id: impl Fn(u32) -> u32,
    ) -> Result<(), redb::Error> {
        let mut names = transaction.open_table(NAMES)?;
        let mut appender = Appender::new(&mut names)?;
        for entry in self.names.iter()? {
            let (name, _) = entry?;
            let (content, key) = name.value();
            appender.push((new_id(content), key), ())?;
        }
        appender.close()
    }

    /// Copies the checksums of a column's blocks from `first` on.
    pub(crate) fn copy_sums(
        &self,
        transaction: &WriteTransaction,
        kind: ColumnKind,
        first: u64,
    ) -> Result<(), redb::Error> {
        let mut table = transaction.open_table(SUMS)?;
        for entry in self
            .sums
            .range((kind as u8, first)..=(kind as u8, u64::MAX))?
        {
            let (key, sum) = entry?;
            table.insert(key.value(), sum.value())?;
        }
        Ok(())
    }

    /// The number of documents.
    pub(crate) fn documents(&self) -> Result<u64, redb::Error> {
        Ok(self.documents.len()?)
    }

    /// The number of removed contents.
    pub(crate) fn removed(&self) -> Result<u64, redb::Error> {
        Ok(self.removed.len()?)
    }

    /// The removed contents, ascending.
    pub(crate) fn removed_contents(&self) -> Result<Vec<u32>, redb::Error> {
        let entries = self.removed.iter()?;
        entries.map(|entry| Ok(entry?.0.value())).collect()
    }

    /// The document `key`.
    pub(crate) fn document(&self, key: &str) -> Result<Option<DocumentRow>, redb::Error> {
        row_of(&self.documents, key)
    }

    /// The path of the file with this number.
    pub(crate) fn source(&self, number: u64) -> Result<Option<String>, redb::Error> {
        let path = self.sources.get(number)?;
        path.map(|path| text(path.value())).transpose()
    }

    /// The folders from which keys lead to files.
    pub(crate) fn folders(&self) -> Result<Vec<String>, redb::Error> {
        let paths = self.sources.iter()?.map(|entry| text(entry?.1.value()));
        let is_folder = |path: &Result<String, redb::Error>| {
            path.as_ref()
                .map_or(true, |path| path.ends_with(FOLDER_END))
        };
        paths.filter(is_folder).collect()
    }

    /// The documents whose keys begin with `prefix`, ordered by key.
    pub(crate) fn documents_with_prefix(
        &self,
        prefix: &str,
    ) -> Result<impl Iterator<Item = Result<(String, DocumentRow), redb::Error>> + use<>, redb::Error>
    {
        let prefix = prefix.to_owned();
        let range = self.documents.range_owned(prefix.as_bytes()..)?;
        let entries = range.map(|entry| {
            let (key, value) = entry?;
            let row = DocumentRow::from_value(value.value())?;
            Ok((text(key.value())?, row))
        });
        Ok(
            entries.take_while(move |entry: &Result<(String, DocumentRow), redb::Error>| {
                entry
                    .as_ref()
                    .map_or(true, |(key, _)| key.starts_with(&prefix))
            }),
        )
    }

    /// The key bytes and rows of all documents, in order.
    pub(crate) fn entries(
        &self,
    ) -> Result<impl DoubleEndedIterator<Item = DocumentEntry> + use<>, redb::Error> {
        let range = self.documents.range_owned::<&[u8]>(..)?;
        Ok(range.map(|entry| {
            let (key, value) = entry?;
            Ok((
                key.value().to_vec(),
                DocumentRow::from_value(value.value())?,
            ))
        }))
    }

    /// Whether `key` names `content`.
    pub(crate) fn has_name(&self, content: u32, key: &str) -> Result<bool, redb::Error> {
        Ok(self.names.get((content, key.as_bytes()))?.is_some())
    }

    /// The keys that name `content`, in order.
    pub(crate) fn names(
        &self,
        content: u32,
    ) -> Result<impl Iterator<Item = Result<String, redb::Error>> + use<>, redb::Error> {
        let names = self.name_bytes(content)?;
        Ok(names.map(|key| text(key?)))
    }

    /// The bytes of the keys that name `content`, in order.
    pub(crate) fn name_bytes(
        &self,
        content: u32,
    ) -> Result<impl Iterator<Item = Result<Vec<u8>, redb::Error>> + use<>, redb::Error> {
        let range = self.names.range_owned((content, &b""[..])..)?;
        Ok(range.map_while(move |entry| key_of(content, entry)))
    }

    /// The bytes of the keys that name `content`, in reverse order.
    pub(crate) fn name_bytes_backwards(
        &self,
        content: u32,
    ) -> Result<impl Iterator<Item = Result<Vec<u8>, redb::Error>> + use<>, redb::Error> {
        let next = content.saturating_add(1);
        let range = self.names.range_owned(..(next, &b""[..]))?;
        Ok(range.rev().map_while(move |entry| key_of(content, entry)))
    }

    /// Every pair of content and key from the content `first` on, in order.
    pub(crate) fn names_from(
        &self,
        first: u32,
    ) -> Result<impl Iterator<Item = Result<(u32, String), redb::Error>> + use<>, redb::Error> {
        let range = self.names.range_owned((first, &b""[..])..)?;
        Ok(range.map(|entry| {
            let (name, _) = entry?;
            let (id, key) = name.value();
            Ok((id, text(key)?))
        }))
    }

    /// The checksum of a block of a column.
    pub(crate) fn sum(&self, kind: ColumnKind, block: u64) -> Result<Option<u64>, redb::Error> {
        let value = self.sums.get((kind as u8, block))?;
        Ok(value.map(|value| value.value()))
    }
}
