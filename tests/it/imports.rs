//! What the modules of a crate import from each other, according to their sources.
//!
//! This follows `use` trees and paths that begin with `crate`, `self`, `super` or a child module, through every `use`
//! that re-exports a name. Code only for tests is left out. Macros and names from a glob are not followed; the crate
//! has neither between its modules.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The segments of a path. Those of the crate itself are empty.
pub(crate) type Segments = Vec<String>;

/// The modules of a crate by their paths.
#[derive(Debug, Default)]
pub(crate) struct Modules(BTreeMap<Segments, Module>);

#[derive(Debug, Default)]
struct Module {
    /// The paths that it imports, with their names in the module.
    imports: Vec<(String, Segments)>,
    /// The other paths in its code.
    mentions: Vec<Segments>,
    /// Its modules that are only for tests.
    for_tests: Vec<String>,
}

impl Modules {
    /// Reads the crate whose sources are in a folder.
    pub(crate) fn read(src: &Path) -> Modules {
        let mut modules = Modules::default();
        modules.read_folder(src, &mut Vec::new());
        modules
    }

    fn read_folder(&mut self, folder: &Path, path: &mut Segments) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap().path();
            let name = entry.file_stem().unwrap().to_str().unwrap().to_owned();
            if entry.is_dir() {
                path.push(name);
                self.read_folder(&entry, path);
                path.pop();
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                let source = fs::read_to_string(&entry).unwrap();
                if name == "mod" || name == "lib" {
                    self.add(path, &source);
                } else {
                    self.add(&[&path[..], &[name]].concat(), &source);
                }
            }
        }
    }

    /// Adds a module with its source.
    pub(crate) fn add(&mut self, path: &[String], source: &str) {
        let tokens = tokens(source);
        let mut module = Module::default();
        Reader {
            tokens: &tokens,
            at: 0,
        }
        .items(&mut module);
        self.0.insert(path.to_vec(), module);
    }

    /// The paths of all modules that are not only for tests.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Segments> {
        self.0.keys().filter(|path| !self.is_for_tests(path))
    }

    fn is_for_tests(&self, path: &[String]) -> bool {
        (0..path.len()).any(|depth| {
            let parent = self.0.get(&path[..depth]);
            parent.is_some_and(|parent| parent.for_tests.contains(&path[depth]))
        })
    }

    /// The modules whose items a module uses, each with the path that names the item.
    pub(crate) fn used_by(&self, path: &[String]) -> Vec<(Segments, String)> {
        let module = &self.0[path];
        let imports = module.imports.iter().map(|(_, import)| import);
        let mut used = Vec::new();
        for written in imports.chain(&module.mentions) {
            if let Some(whole) = self.absolute(path, written) {
                used.push((self.home(whole), written.join("::")));
            }
        }
        used
    }

    /// A path from the root of the crate, if it is one of this crate.
    fn absolute(&self, module: &[String], written: &[String]) -> Option<Segments> {
        let mut at = module.to_vec();
        let mut rest = written;
        match rest.first()?.as_str() {
            "crate" => {
                at.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {}
            first => {
                at.push(first.to_owned());
                if !self.0.contains_key(&at) {
                    return None;
                }
                at.pop();
            }
        }
        while rest.first().is_some_and(|first| first == "super") {
            at.pop();
            rest = &rest[1..];
        }
        at.extend_from_slice(rest);
        Some(at)
    }

    /// The module that has the item of a path, or that the path names. Re-exports on the way are followed.
    fn home(&self, mut path: Segments) -> Segments {
        // A name that leads back to itself would not compile.
        for _ in 0..100 {
            let mut depth = path.len();
            while !self.0.contains_key(&path[..depth]) {
                depth -= 1;
            }
            let module = &path[..depth];
            let Some(name) = path.get(depth) else {
                return path;
            };
            let import = self.0[module]
                .imports
                .iter()
                .find(|(given, _)| given == name);
            let target = import.and_then(|(_, import)| self.absolute(module, import));
            let Some(target) = target.filter(|target| target[..] != path[..=depth]) else {
                return module.to_vec();
            };
            path = [&target[..], &path[depth + 1..]].concat();
        }
        path
    }
}

/// Words, `::` and single other characters, without comments, strings and characters.
fn tokens(source: &str) -> Vec<String> {
    let chars: Vec<char> = source.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let start = at;
        let next = chars.get(at + 1).copied();
        match chars[at] {
            '/' if next == Some('/') => at = line_end(&chars, at),
            '/' if next == Some('*') => at = comment_end(&chars, at),
            '"' => at = string_end(&chars, at + 1),
            'r' if matches!(next, Some('"' | '#')) && raw_end(&chars, at).is_some() => {
                at = raw_end(&chars, at).unwrap();
            }
            '\'' if next == Some('\\') => at = quote_end(&chars, at + 3),
            '\'' if chars.get(at + 2) == Some(&'\'') => at += 3,
            ':' if next == Some(':') => {
                at += 2;
                tokens.push("::".to_owned());
            }
            c if c.is_alphanumeric() || c == '_' => {
                while chars
                    .get(at)
                    .is_some_and(|c| c.is_alphanumeric() || *c == '_')
                {
                    at += 1;
                }
                tokens.push(chars[start..at].iter().collect());
            }
            c => {
                at += 1;
                if !c.is_whitespace() {
                    tokens.push(c.to_string());
                }
            }
        }
    }
    tokens
}

fn line_end(chars: &[char], from: usize) -> usize {
    let line = chars[from..].iter().position(|c| *c == '\n');
    line.map_or(chars.len(), |length| from + length)
}

fn comment_end(chars: &[char], from: usize) -> usize {
    let (mut at, mut depth) = (from + 2, 1);
    while depth > 0 && at < chars.len() {
        match chars[at..] {
            ['*', '/', ..] => (at, depth) = (at + 2, depth - 1),
            ['/', '*', ..] => (at, depth) = (at + 2, depth + 1),
            _ => at += 1,
        }
    }
    at
}

fn string_end(chars: &[char], from: usize) -> usize {
    let mut at = from;
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// The end of the raw string that begins here, if one does.
fn raw_end(chars: &[char], from: usize) -> Option<usize> {
    let hashes = chars[from + 1..].iter().take_while(|c| **c == '#').count();
    let open = from + 1 + hashes;
    if chars.get(open) != Some(&'"') {
        return None;
    }
    let ends = |at: &usize| {
        let behind = chars[at + 1..].iter().take(hashes);
        chars[*at] == '"' && behind.filter(|c| **c == '#').count() == hashes
    };
    let end = (open + 1..chars.len()).find(ends);
    Some(end.map_or(chars.len(), |end| end + 1 + hashes))
}

fn quote_end(chars: &[char], from: usize) -> usize {
    let quote = chars[from..].iter().position(|c| *c == '\'');
    quote.map_or(chars.len(), |length| from + length + 1)
}

/// Goes through the tokens of a file.
struct Reader<'a> {
    tokens: &'a [String],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).map(String::as_str)
    }

    fn take(&mut self) -> Option<&str> {
        self.at += 1;
        self.tokens.get(self.at - 1).map(String::as_str)
    }

    fn items(&mut self, module: &mut Module) {
        let mut is_for_tests = false;
        while let Some(token) = self.peek() {
            match token {
                "#" => {
                    is_for_tests |= self.attribute();
                    continue;
                }
                // What may stand between an attribute and its item.
                "pub" => {
                    self.at += 1;
                    if self.peek() == Some("(") {
                        self.skip_group("(", ")");
                    }
                    continue;
                }
                // The captures of an opaque type.
                "use" if self.tokens.get(self.at + 1).is_some_and(|next| next == "<") => {
                    self.at += 1;
                }
                "use" => {
                    self.at += 1;
                    let mut imports = Vec::new();
                    self.tree(&[], &mut imports);
                    if !is_for_tests {
                        module.imports.extend(imports);
                    }
                }
                "mod" if is_for_tests => {
                    self.at += 1;
                    let name = self.take().unwrap_or_default().to_owned();
                    if self.peek() == Some("{") {
                        self.skip_group("{", "}");
                    } else {
                        module.for_tests.push(name);
                    }
                }
                _ if is_for_tests => self.skip_item(),
                "crate" | "self" | "super" => {
                    let path = self.path();
                    if path.len() > 1 {
                        module.mentions.push(path);
                    }
                }
                _ => self.at += 1,
            }
            is_for_tests = false;
        }
    }

    /// Reads an attribute. Returns whether it keeps an item for tests and fuzzers only.
    fn attribute(&mut self) -> bool {
        let start = self.at;
        self.at += 1;
        if self.peek() == Some("!") {
            self.at += 1;
        }
        self.skip_group("[", "]");
        let words = &self.tokens[start..self.at];
        let has = |word: &str| words.iter().any(|token| token == word);
        has("cfg") && (has("test") || has("fuzzing")) && !has("not")
    }

    fn skip_group(&mut self, open: &str, close: &str) {
        let mut depth = 0;
        while let Some(token) = self.take() {
            if token == open {
                depth += 1;
            } else if token == close {
                depth -= 1;
                if depth == 0 {
                    return;
                }
            }
        }
    }

    /// Moves past an item, a statement or a field.
    fn skip_item(&mut self) {
        let mut depth = 0;
        while let Some(token) = self.peek() {
            match token {
                "{" if depth == 0 => return self.skip_group("{", "}"),
                "(" | "[" => depth += 1,
                ")" | "]" => depth -= 1,
                ";" | "," if depth == 0 => break,
                _ => {}
            }
            self.at += 1;
        }
        self.at += 1;
    }

    fn path(&mut self) -> Segments {
        let mut path = vec![self.take().unwrap_or_default().to_owned()];
        while self.peek() == Some("::") {
            let next = self.tokens.get(self.at + 1).map_or("", String::as_str);
            if !next.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
                break;
            }
            path.push(next.to_owned());
            self.at += 2;
        }
        path
    }

    /// Reads a `use` tree that comes after `before`.
    fn tree(&mut self, before: &[String], imports: &mut Vec<(String, Segments)>) {
        let mut path = before.to_vec();
        loop {
            match self.peek() {
                Some("::") => self.at += 1,
                Some("{") => {
                    self.at += 1;
                    while self.peek() != Some("}") {
                        assert!(!matches!(self.peek(), Some(";") | None), "{path:?} {{");
                        self.tree(&path, imports);
                        if self.peek() == Some(",") {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    return;
                }
                Some("as") => {
                    self.at += 1;
                    let name = self.take().unwrap_or_default().to_owned();
                    path.retain(|segment| segment != "self");
                    imports.push((name, path));
                    return;
                }
                Some("," | "}" | ";") | None => {
                    if path.len() > 1 {
                        path.retain(|segment| segment != "self");
                    }
                    let name = path.last().cloned().unwrap_or_default();
                    imports.push((name, path));
                    return;
                }
                Some("*") => {
                    self.at += 1;
                    imports.push(("*".to_owned(), path));
                    return;
                }
                Some(word) => {
                    path.push(word.to_owned());
                    self.at += 1;
                }
            }
        }
    }
}
