//! What `--json` prints is what the schema in the reference says, and the page beside it says the same.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use crate::sandbox::Sandbox;

fn read(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference");
    fs::read_to_string(folder.join(name)).unwrap()
}

struct Schema(Map<String, Value>);

impl Schema {
    fn read() -> Schema {
        let mut schema: Value = serde_json::from_str(&read("json.schema.json")).unwrap();
        let Value::Object(definitions) = schema["$defs"].take() else {
            panic!("definitions are an object");
        };
        Schema(definitions)
    }

    /// Why a value is not as a schema says, if it is not.
    fn complaint(&self, schema: &Value, value: &Value, place: &str) -> Option<String> {
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.strip_prefix("#/$defs/").unwrap();
            return self.complaint(&self.0[name], value, place);
        }
        if let Some(choices) = schema["anyOf"].as_array() {
            let complaints = choices
                .iter()
                .map(|choice| self.complaint(choice, value, place));
            let complaints: Option<Vec<String>> = complaints.collect();
            return complaints.map(|complaints| complaints.join(", "));
        }
        let types = &schema["type"];
        let fits = |name: &Value| match name.as_str().unwrap() {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            name => panic!("{place}: type {name}"),
        };
        if !types
            .as_array()
            .map_or_else(|| fits(types), |types| types.iter().any(fits))
        {
            return Some(format!("{place}: {value} is not of type {types}"));
        }
        match value {
            Value::Array(items) => items
                .iter()
                .find_map(|item| self.complaint(&schema["items"], item, place)),
            Value::Object(fields) => self.complaint_of_fields(schema, fields, place),
            _ => None,
        }
    }

    fn complaint_of_fields(
        &self,
        schema: &Value,
        fields: &Map<String, Value>,
        place: &str,
    ) -> Option<String> {
        let required = schema["required"].as_array().into_iter().flatten();
        let mut required = required.map(|name| name.as_str().unwrap());
        if let Some(name) = required.find(|name| !fields.contains_key(*name)) {
            return Some(format!("{place}: there is no {name}"));
        }
        fields.iter().find_map(|(name, value)| {
            let place = format!("{place}.{name}");
            let of_all = &schema["additionalProperties"];
            match schema["properties"].get(name) {
                Some(schema) => self.complaint(schema, value, &place),
                None if of_all.is_object() => self.complaint(of_all, value, &place),
                None => Some(format!("{place} is not in the schema")),
            }
        })
    }

    /// Holds lines against a definition; the last one against another, if that is given.
    fn check(&self, lines: &str, all: &str, last: Option<&str>) {
        let count = lines.lines().count();
        assert!(count > usize::from(last.is_some()), "{all}: {lines}");
        for (index, line) in lines.lines().enumerate() {
            let name = last.filter(|_| index + 1 == count).unwrap_or(all);
            let value: Value = serde_json::from_str(line).unwrap();
            let complaint = self.complaint(&self.0[name], &value, name);
            assert_eq!(complaint, None, "{line}");
            // A number may be read with another last digit.
            let form = |text: &str| text.replace(|letter: char| letter.is_ascii_digit(), "");
            let sorted = form(&value.to_string());
            assert_eq!(sorted, form(line), "fields are in alphabetical order");
        }
    }
}

#[cfg(unix)]
#[test]
fn objects_are_as_the_schema_says() {
    let (schema, sandbox) = (Schema::read(), Sandbox::with_testdata());
    sandbox.run(&["add", "-q", "folder"]).expect(0);
    sandbox
        .run(&["--store", "other", "add", "-q", "pages.jsonl"])
        .expect(0);
    for (line, all, last) in [
        ("add --matches pages.jsonl", "add-match", Some("add")),
        ("add --dry-run pages.jsonl", "add", None),
        ("query query.txt", "query", None),
        ("pairs", "pairs", None),
        ("clusters", "clusters", None),
        (
            "explain query.txt folder/news/library-night.txt",
            "explain",
            None,
        ),
        ("explain page-03 page-02", "explain", None),
        (
            "jaccard query.txt folder/news/library-night.txt",
            "jaccard",
            None,
        ),
        ("matrix folder -o rows.csv", "matrix", None),
        ("list", "list", None),
        ("show page-01", "show", None),
        ("stats --clusters", "stats", None),
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
        (
            "remove --prefix page-1 --dry-run",
            "list",
            Some("would-remove"),
        ),
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
        ("link folder --dry-run", "link-line", Some("link")),
        ("dedup folder --move-to aside", "move-line", Some("move")),
        (
            "dedup --undo aside/.dedupdb-moved",
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
    assert_eq!(sections.len(), schema.0.len());
    for (name, fields) in sections {
        let properties = schema.0[name]["properties"].as_object().unwrap();
        assert!(
            properties.keys().eq(fields.iter().copied()),
            "{name}: {fields:?}"
        );
    }
}

#[test]
fn a_wrong_object_is_noticed() {
    let schema = Schema::read();
    let complaint = |line: &str| {
        let value = serde_json::from_str(line).unwrap();
        schema.complaint(&schema.0["remove"], &value, "remove")
    };
    assert_eq!(complaint(r#"{"removed":1}"#), None);
    assert!(complaint(r#"{"removed":1.5}"#).is_some());
    assert!(complaint(r#"{"removed":1,"more":2}"#).is_some());
    assert!(complaint("{}").is_some());
    assert!(complaint("[]").is_some());
}
