//! The output of `--json` follows the schema in the reference, in its order, and the page beside it says the same.

use std::fs;
use std::path::Path;

use crate::ordered::Json;
use crate::sandbox::Sandbox;

fn read(name: &str) -> String {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("docs/reference");
    fs::read_to_string(folder.join(name)).unwrap()
}

/// The definitions of the schema.
struct Schema(Json);

impl Schema {
    fn read() -> Schema {
        let schema = Json::read(&read("json.schema.json"));
        Schema(schema.get("$defs").unwrap().clone())
    }

    fn definition(&self, name: &str) -> &Json {
        self.0.get(name).unwrap()
    }

    /// Why a value does not follow a schema, if it does not.
    fn complaint(&self, schema: &Json, value: &Json, place: &str) -> Option<String> {
        if let Some(name) = schema.get("$ref").and_then(Json::text) {
            let name = name.strip_prefix("#/$defs/").unwrap();
            return self.complaint(self.definition(name), value, place);
        }
        if let Some(choices) = schema.get("anyOf") {
            let complaints = choices
                .items()
                .iter()
                .map(|choice| self.complaint(choice, value, place));
            let complaints: Option<Vec<String>> = complaints.collect();
            return complaints.map(|complaints| complaints.join(", "));
        }
        let types = schema.get("type").unwrap();
        let fits = |name: &Json| match name.text().unwrap() {
            "null" => matches!(value, Json::Null),
            "boolean" => matches!(value, Json::Bool),
            "integer" => matches!(value, Json::Integer),
            "number" => matches!(value, Json::Integer | Json::Real),
            "string" => matches!(value, Json::Text(_)),
            "array" => matches!(value, Json::Array(_)),
            "object" => matches!(value, Json::Object(_)),
            name => panic!("{place}: type {name}"),
        };
        if !types.items().iter().any(fits) {
            return Some(format!("{place}: {value:?} is not of type {types:?}"));
        }
        match value {
            Json::Array(items) => items
                .iter()
                .find_map(|item| self.complaint(schema.get("items").unwrap(), item, place)),
            Json::Object(_) => self.complaint_of_fields(schema, value, place),
            _ => None,
        }
    }

    fn complaint_of_fields(&self, schema: &Json, object: &Json, place: &str) -> Option<String> {
        let required = schema.get("required").map_or(&[][..], Json::items);
        let mut required = required.iter().map(|name| name.text().unwrap());
        if let Some(name) = required.find(|name| object.get(name).is_none()) {
            return Some(format!("{place}: there is no {name}"));
        }
        let properties = schema.get("properties");
        let of_all = schema.get("additionalProperties");
        for (name, value) in object.fields() {
            let place = format!("{place}.{name}");
            let complaint = match properties.and_then(|schemas| schemas.get(name)) {
                Some(schema) => self.complaint(schema, value, &place),
                None => match of_all {
                    Some(schema @ Json::Object(_)) => self.complaint(schema, value, &place),
                    _ => Some(format!("{place} is not in the schema")),
                },
            };
            if complaint.is_some() {
                return complaint;
            }
        }
        let mut ordered = properties.map_or(Vec::new(), Json::names);
        ordered.retain(|name| object.get(name).is_some());
        let is_ordered = properties.is_none() || ordered == object.names();
        (!is_ordered).then(|| format!("{place}: the order is {ordered:?}"))
    }

    /// Checks lines against a definition, and the last one against another, if that is given.
    fn check(&self, lines: &str, all: &str, last: Option<&str>) {
        let count = lines.lines().count();
        assert!(count > usize::from(last.is_some()), "{all}: {lines}");
        for (index, line) in lines.lines().enumerate() {
            let name = last.filter(|_| index + 1 == count).unwrap_or(all);
            let complaint = self.complaint(self.definition(name), &Json::read(line), name);
            assert_eq!(complaint, None, "{line}");
        }
    }
}

#[cfg(unix)]
#[test]
fn objects_are_as_the_schema_says() {
    let (schema, sandbox) = (Schema::read(), Sandbox::with_testdata());
    sandbox.run(&["add", "-q", "folder"]).expect(0);
    let other = ["--store", "other", "add", "-q", "pages.jsonl"];
    sandbox.run(&other).expect(0);
    let clean = "decontaminate folder --against pages.jsonl -o clean --common 0";
    let would = "remove --prefix page-1 --dry-run";
    let sources = "report --sources query.txt -o query.html";
    for (line, all, last) in [
        ("add --matches pages.jsonl", "add-match", Some("add")),
        ("add --dry-run pages.jsonl", "add", None),
        ("query query.txt", "query", None),
        ("pairs", "pairs", None),
        ("pairs --passages --from folder", "pairs-passages", None),
        ("clusters", "clusters", None),
        (
            "explain query.txt folder/news/library-night.txt",
            "explain",
            None,
        ),
        ("explain page-03 page-02", "explain", None),
        ("jaccard query.txt folder/docs/tally.rs", "jaccard", None),
        ("matrix folder -o rows.csv", "matrix", None),
        ("list", "list", None),
        ("show page-01", "show", None),
        ("stats --scan --clusters", "stats", None),
        ("tune", "tune", None),
        ("tune --store none --permutations 64", "tune", None),
        ("init --store new", "init", None),
        ("eval recall", "eval-recall", None),
        ("eval bands folder", "eval-bands", None),
        ("eval shingles folder --k 1..2", "eval-shingles", None),
        ("eval time folder", "eval-time", None),
        ("eval accuracy folder --runs 2", "eval-accuracy", None),
        ("merge other", "merge", None),
        ("report -o report.html", "report", None),
        (sources, "report-sources", None),
        (would, "list", Some("would-remove")),
        ("rename page-02 page-2", "rename", None),
        ("remove page-01", "remove", None),
        ("backup copy", "backup", None),
        ("check", "check", None),
        ("salvage copy saved", "salvage", None),
        ("reindex --permutations 256", "reindex", None),
        ("compact", "compact", None),
        (
            "dedup pages.jsonl -o new.jsonl --removed removed.jsonl",
            "dedup",
            None,
        ),
        (clean, "decontaminate", None),
        ("decontaminate folder --against pages.jsonl", "hit", None),
        ("move folder aside", "move-line", Some("move")),
        (
            "move --undo aside/.dedupdb-moved",
            "move-line",
            Some("move"),
        ),
    ] {
        let arguments: Vec<&str> = ["--json"].into_iter().chain(line.split(' ')).collect();
        let ran = sandbox.run(&arguments).expect(0);
        schema.check(&ran.stdout, all, last);
    }
    let written = |name: &str| fs::read_to_string(sandbox.path(name)).unwrap();
    schema.check(&written("removed.jsonl"), "removed", None);
    sandbox.write("broken.jsonl", "{\"id\":\"a\"");
    let broken = ["add", "-q", "broken.jsonl", "--skipped", "skipped.jsonl"];
    sandbox.run(&broken).expect(2);
    schema.check(&written("skipped.jsonl"), "skipped", None);
}

#[test]
fn passages_that_are_cut_are_as_the_schema_says() {
    let (schema, sandbox) = (Schema::read(), Sandbox::with_testdata());
    let line = "--json dedup notices.jsonl -o new.jsonl --cut-passages 12 --removed cut";
    let ran = sandbox.run(&line.split(' ').collect::<Vec<_>>()).expect(0);
    schema.check(&ran.stdout, "dedup", None);
    let cut = fs::read_to_string(sandbox.path("cut")).unwrap();
    schema.check(&cut, "removed-passage", None);
}

#[cfg(unix)]
#[test]
fn objects_beside_lines_are_as_the_schema_says() {
    let (schema, sandbox) = (Schema::read(), Sandbox::with_testdata());
    let mapped = sandbox.run(&["--json", "map", "folder/news"]).expect(0);
    schema.check(&mapped.stderr, "map", None);
    let mut lines: Vec<&str> = mapped.stdout.lines().collect();
    lines.sort_unstable();
    let lines = lines.join("\n") + "\n";
    let reduced = sandbox
        .run_with(&["--json", "reduce"], lines.as_bytes())
        .expect(0);
    schema.check(&reduced.stdout, "reduce-pair", None);
    schema.check(&reduced.stderr, "reduce", None);
}

#[test]
fn errors_are_as_the_schema_says() {
    let (schema, sandbox) = (Schema::read(), Sandbox::with_testdata());
    sandbox.run(&["init"]).expect(0);
    sandbox.write("full", "a file");
    for (line, kind, path) in [
        ("--store none stats", "no_store", Some("none")),
        ("--store full/store init", "system", Some("full")),
        ("stats --no-such", "usage", None),
        ("add - --key", "usage", None),
        ("reindex --bands 1x1000", "failed", None),
    ] {
        let arguments: Vec<&str> = ["--json"].into_iter().chain(line.split(' ')).collect();
        let ran = sandbox.run(&arguments).expect(2);
        schema.check(&ran.stderr, "error", None);
        let error: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
        let error = &error["error"];
        assert_eq!(error["kind"], kind, "{error}");
        let named = error["path"].as_str();
        let is_named = path.map_or(named.is_none(), |path| {
            named.is_some_and(|named| named.starts_with(path))
        });
        assert!(is_named, "{error}");
        assert!(!error["message"].as_str().unwrap().is_empty());
    }
}

/// The sections of the page, each with the fields of its table.
#[test]
fn the_page_has_the_fields_of_the_schema() {
    let schema = Schema::read();
    let page = read("json.md");
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in page.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            sections.push((name, Vec::new()));
        } else if let Some((field, _)) = line.strip_prefix("| `").and_then(|l| l.split_once('`')) {
            sections.last_mut().unwrap().1.push(field);
        }
    }
    assert_eq!(sections.len(), schema.0.names().len());
    for (name, fields) in sections {
        let properties = schema.definition(name).get("properties").unwrap();
        assert_eq!(properties.names(), fields, "{name}");
    }
}

#[test]
fn a_wrong_object_is_noticed() {
    let schema = Schema::read();
    let complaint =
        |line: &str| schema.complaint(schema.definition("compact"), &Json::read(line), "compact");
    assert_eq!(complaint(r#"{"bytes_before":2,"bytes":1}"#), None);
    for wrong in [
        r#"{"bytes":1,"bytes_before":2}"#,
        r#"{"bytes_before":2,"bytes":1.5}"#,
        r#"{"bytes_before":2,"bytes":1,"more":2}"#,
        r#"{"bytes_before":2}"#,
        "{}",
        "[]",
    ] {
        assert!(complaint(wrong).is_some(), "{wrong}");
    }
}
