//! Removes near-duplicates from a folder of Parquet and JSONL files.
//!
//! Writes the texts that it keeps to one JSONL file. Prints what it dropped, with the text that it resembles, and what
//! it could not read.
//!
//! ```sh
//! cargo run --release --example corpus -- crawl/ kept.jsonl
//! ```

use std::error::Error;
use std::io::{Write, stdout};
use std::path::Path;

use dedupdb::Progress;
use dedupdb_corpus::dedup::{Dedup, DedupEvent};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(folder), Some(output)) = (arguments.next(), arguments.next()) else {
        return Err("give a folder to read, and a file to write that is called .jsonl".into());
    };
    run(folder.as_ref(), output.as_ref(), &mut stdout())
}

fn run(folder: &Path, output: &Path, report: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let (mut failed, progress) = (None, Progress::new());
    let done = Dedup::new([folder]).output(output).progress(&progress);
    let done = done.run(|event| {
        let told = match event {
            DedupEvent::Dropped(it) => writeln!(report, "{} is like {}", it.key, it.earlier.key),
            DedupEvent::Skipped(skipped) => writeln!(report, "left out: {skipped}"),
            _ => Ok(()),
        };
        progress.stop_on(told, &mut failed);
    });
    if let Some(error) = failed {
        return Err(error.into());
    }
    let done = done?;
    writeln!(report, "{} of {} kept", done.kept, done.documents)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use dedupdb_corpus::Corpus;
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    const TRAM: &str = "The night tram runs again from Friday on, every half hour until four";
    const CRANE: &str = "Nobody knows who painted the harbour crane in the colours of a parrot";

    /// A Parquet file of texts.
    fn rows(texts: &[&str]) -> Vec<u8> {
        let schema = parse_message_type("message m { required binary text (UTF8); }");
        let schema = Arc::new(schema.unwrap());
        let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
        let mut group = file.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let cells: Vec<ByteArray> = texts.iter().map(|&text| text.into()).collect();
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&cells, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        file.into_inner().unwrap()
    }

    #[test]
    fn a_folder_of_parquet_and_jsonl_is_rid_of_near_duplicates() {
        let folder = tempfile::tempdir().unwrap();
        let (crawl, kept) = (
            folder.path().join("crawl"),
            folder.path().join("kept.jsonl"),
        );
        fs::create_dir(&crawl).unwrap();
        let lines = format!("{{\"id\": \"a\", \"text\": \"{TRAM}.\"}}\n{{\"id\": \"b\"}}\n");
        fs::write(crawl.join("1.jsonl"), lines).unwrap();
        let near = TRAM.to_uppercase();
        fs::write(crawl.join("2.parquet"), rows(&[&near, CRANE])).unwrap();
        let mut report = Vec::new();
        super::run(&crawl, &kept, &mut report).unwrap();
        let report = String::from_utf8(report).unwrap();
        assert!(report.contains("2.parquet#1 is like a\n"), "{report}");
        assert!(report.contains("1.jsonl:2: no field \"text\""), "{report}");
        assert!(report.ends_with("2 of 4 kept\n"), "{report}");
        let texts = Corpus::open([&kept])
            .unwrap()
            .map(|document| document.unwrap().into_text());
        assert_eq!(
            texts.collect::<Vec<_>>(),
            [format!("{TRAM}."), CRANE.to_owned()]
        );
    }
}
