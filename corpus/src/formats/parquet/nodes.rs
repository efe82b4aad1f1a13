//! Rows of nested columns, assembled from their levels, as JSON.

use std::io;

use encoding_rs::Encoding;
use parquet::basic::{ConvertedType, LogicalType, Repetition};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use crate::formats::column_type::ColumnType;
use crate::formats::fields::FieldRelation;
use crate::formats::id::IdType;
use crate::formats::parquet::triplets::Triplets;
use crate::formats::parquet::values::{Scalar, ValueKind, scalar_type, write_string};

/// A field of a schema, with its nested fields.
#[derive(Debug)]
struct SchemaNode {
    /// Its name and a colon, as written in an object.
    name: String,
    /// Below this definition level, it is null.
    definition: i16,
    /// Its first column, and the number of its columns.
    first: usize,
    columns: usize,
    shape: NodeShape,
}

#[derive(Debug)]
enum NodeShape {
    Value,
    Object(Vec<SchemaNode>),
    /// Below the definition level, it is empty; the repetition level continues it.
    List(RepetitionLevels, Box<SchemaNode>),
    /// Like a list. A map whose keys are not strings is written as a list of objects.
    Map(RepetitionLevels, Box<SchemaNode>, Box<SchemaNode>),
}

#[derive(Clone, Copy, Debug)]
struct RepetitionLevels {
    definition: i16,
    repetition: i16,
}

/// The fields of a row.
#[derive(Debug)]
pub(crate) struct SchemaTree {
    fields: Vec<SchemaNode>,
    kinds: Vec<ValueKind>,
    given: Option<&'static Encoding>,
}

/// A column of some rows, and how far it has been written.
#[derive(Debug)]
pub(crate) struct LeafCursor {
    pub(crate) triplets: Triplets<Scalar>,
    level: usize,
    value: usize,
}

impl LeafCursor {
    pub(crate) fn new(triplets: Triplets<Scalar>) -> LeafCursor {
        LeafCursor {
            triplets,
            level: 0,
            value: 0,
        }
    }

    /// Returns the next definition level.
    fn definition(&self) -> i16 {
        let levels = &self.triplets.definition;
        levels.get(self.level).copied().unwrap_or(0)
    }

    /// Returns the next repetition level, or 0 after the last row.
    fn repetition(&self) -> i16 {
        let levels = &self.triplets.repetition;
        levels.get(self.level).copied().unwrap_or(0)
    }

    /// Advances. Returns the value if it is not null.
    fn next(&mut self) -> Option<Scalar> {
        let is_there = self.definition() == self.triplets.highest.definition;
        self.level += 1;
        if !is_there {
            return None;
        }
        self.value += 1;
        self.triplets.values.get(self.value - 1).cloned()
    }

    fn is_at_row(&self) -> bool {
        self.repetition() == 0
    }
}

impl SchemaTree {
    /// Returns the fields of a schema or, if `only` some fields are wanted, those that are or contain one of these. The
    /// columns of texts and keys, by their numbers, are in the encoding `given`. Keys are written as `add` takes them.
    pub(crate) fn of(
        schema: &SchemaDescriptor,
        (texts, id): (&[usize], Option<(usize, IdType)>),
        given: Option<&'static Encoding>,
        only: Option<&[String]>,
    ) -> SchemaTree {
        let kind = |at: usize| {
            let column = schema.column(at);
            let kind = ValueKind::of(&column);
            match id {
                _ if texts.contains(&at) => ValueKind::Id(IdType::Text),
                Some((id, kind)) if at == id && kind != IdType::Integer => ValueKind::Id(kind),
                _ => kind,
            }
        };
        let kinds: Vec<ValueKind> = (0..schema.num_columns()).map(kind).collect();
        let mut first = 0;
        let top = EnclosingLevels::default();
        let fields = schema.root_schema().get_fields().iter();
        let is_wanted = |name: &str| {
            let is_in = |path: &String| FieldRelation::leads_to(path, name);
            only.is_none_or(|only| only.iter().any(is_in))
        };
        let fields = fields.filter_map(|field| {
            let node = node(field, top, &kinds, &mut first);
            is_wanted(field.name()).then_some(node)
        });
        SchemaTree {
            fields: fields.collect(),
            kinds,
            given,
        }
    }

    /// Whether a column, by its number, is written.
    pub(crate) fn has_column(&self, column: usize) -> bool {
        let has = |node: &SchemaNode| (node.first..node.first + node.columns).contains(&column);
        self.fields.iter().any(has)
    }

    /// Returns the next row of all columns as a line.
    ///
    /// # Errors
    ///
    /// The columns do not fit together.
    pub(crate) fn line(&self, leaves: &mut [LeafCursor]) -> io::Result<Vec<u8>> {
        let mut json = String::new();
        self.object(&self.fields, leaves, &mut json);
        if !leaves.iter().all(LeafCursor::is_at_row) {
            return Err(io::Error::other("damaged: its columns do not fit together"));
        }
        json.push('\n');
        Ok(json.into_bytes())
    }

    fn object(&self, fields: &[SchemaNode], leaves: &mut [LeafCursor], json: &mut String) {
        json.push('{');
        for (at, field) in fields.iter().enumerate() {
            if at > 0 {
                json.push(',');
            }
            json.push_str(&field.name);
            self.write(field, leaves, json);
        }
        json.push('}');
    }

    fn write(&self, node: &SchemaNode, leaves: &mut [LeafCursor], json: &mut String) {
        if node.next(leaves).0 < node.definition {
            node.pass(leaves);
            return json.push_str("null");
        }
        match &node.shape {
            NodeShape::Value => {
                let value = leaves.get_mut(node.first).and_then(LeafCursor::next);
                match (value, self.kinds.get(node.first)) {
                    (Some(value), Some(kind)) => kind.write(&value, self.given, json),
                    _ => json.push_str("null"),
                }
            }
            NodeShape::Object(fields) => {
                self.object(fields, leaves, json);
                if fields.is_empty() {
                    node.pass(leaves);
                }
            }
            NodeShape::List(repeated, element) => {
                json.push('[');
                node.each(*repeated, leaves, |leaves, at| {
                    json.push_str(if at > 0 { "," } else { "" });
                    self.write(element, leaves, json);
                });
                json.push(']');
            }
            NodeShape::Map(repeated, key, value) => {
                json.push('{');
                node.each(*repeated, leaves, |leaves, at| {
                    json.push_str(if at > 0 { "," } else { "" });
                    let before = json.len();
                    self.write(key, leaves, json);
                    if !json[before..].starts_with('"') {
                        json.truncate(before);
                        json.push_str("\"\"");
                    }
                    json.push(':');
                    self.write(value, leaves, json);
                });
                json.push('}');
            }
        }
    }
}

impl SchemaNode {
    /// Returns the next levels of definition and repetition.
    fn next(&self, leaves: &[LeafCursor]) -> (i16, i16) {
        let leaf = leaves.get(self.first);
        leaf.map_or((0, 0), |leaf| (leaf.definition(), leaf.repetition()))
    }

    fn named_type(&self, schema: &SchemaDescriptor) -> (String, ColumnType) {
        let name = self.name.strip_suffix(':').map(serde_json::from_str);
        let name = name.and_then(Result::ok).unwrap_or_default();
        (name, self.column_type(schema))
    }

    /// Returns the type of its values, as they are written.
    fn column_type(&self, schema: &SchemaDescriptor) -> ColumnType {
        match &self.shape {
            NodeShape::Value => ColumnType::Scalar(scalar_type(&schema.column(self.first))),
            NodeShape::Object(fields) => {
                let fields = fields.iter().map(|field| field.named_type(schema));
                ColumnType::Object(fields.collect())
            }
            NodeShape::List(_, element) => ColumnType::List(Box::new(element.column_type(schema))),
            NodeShape::Map(_, _, value) => ColumnType::Map(Box::new(value.column_type(schema))),
        }
    }

    /// Skips a null or empty value in all columns.
    fn pass(&self, leaves: &mut [LeafCursor]) {
        for leaf in leaves.iter_mut().skip(self.first).take(self.columns) {
            leaf.next();
        }
    }

    /// Writes the elements one by one.
    fn each(
        &self,
        repeated: RepetitionLevels,
        leaves: &mut [LeafCursor],
        mut write: impl FnMut(&mut [LeafCursor], usize),
    ) {
        if self.next(leaves).0 < repeated.definition {
            return self.pass(leaves);
        }
        for at in 0.. {
            write(leaves, at);
            if self.next(leaves).1 != repeated.repetition {
                return;
            }
        }
    }
}

/// Returns the names and types of the fields of a schema.
pub(crate) fn column_types(schema: TypePtr) -> Vec<(String, ColumnType)> {
    let schema = SchemaDescriptor::new(schema);
    let tree = SchemaTree::of(&schema, (&[], None), None, None);
    let fields = tree.fields.iter();
    fields.map(|field| field.named_type(&schema)).collect()
}

/// The levels that enclose a field.
#[derive(Clone, Copy, Debug, Default)]
struct EnclosingLevels {
    definition: i16,
    repetition: i16,
}

/// Returns the node of a field whose first column is the next one.
fn node(
    field: &Type,
    mut levels: EnclosingLevels,
    kinds: &[ValueKind],
    first: &mut usize,
) -> SchemaNode {
    let begins = *first;
    let repetition = field.get_basic_info().repetition();
    if repetition == Repetition::REPEATED {
        // A bare repeated field is a list that is never null, of elements that are never null.
        let outer = levels.definition;
        let (repeated, inner) = levels.repeated();
        let element = contents(field, inner, kinds, first);
        return SchemaNode {
            name: name(field),
            definition: outer,
            first: begins,
            columns: *first - begins,
            shape: NodeShape::List(repeated, Box::new(element)),
        };
    }
    levels.definition += i16::from(repetition == Repetition::OPTIONAL);
    contents(field, levels, kinds, first)
}

impl EnclosingLevels {
    /// Returns the levels of a repeated field, and those inside it.
    fn repeated(self) -> (RepetitionLevels, EnclosingLevels) {
        let inner = EnclosingLevels {
            definition: self.definition + 1,
            repetition: self.repetition + 1,
        };
        let repeated = RepetitionLevels {
            definition: inner.definition,
            repetition: inner.repetition,
        };
        (repeated, inner)
    }
}

/// Returns the node of a field inside its own levels.
fn contents(
    field: &Type,
    levels: EnclosingLevels,
    kinds: &[ValueKind],
    first: &mut usize,
) -> SchemaNode {
    let begins = *first;
    let shape = if field.is_primitive() {
        *first += 1;
        NodeShape::Value
    } else {
        group(field, levels, kinds, first)
    };
    SchemaNode {
        name: name(field),
        definition: levels.definition,
        first: begins,
        columns: *first - begins,
        shape,
    }
}

fn group(
    field: &Type,
    levels: EnclosingLevels,
    kinds: &[ValueKind],
    first: &mut usize,
) -> NodeShape {
    let info = field.get_basic_info();
    let is_list = matches!(info.logical_type_ref(), Some(LogicalType::List))
        || info.converted_type() == ConvertedType::LIST;
    let is_map = matches!(info.logical_type_ref(), Some(LogicalType::Map))
        || matches!(
            info.converted_type(),
            ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE
        );
    if let [only] = field.get_fields()
        && only.get_basic_info().repetition() == Repetition::REPEATED
    {
        let (repeated, inner) = levels.repeated();
        if is_map
            && !only.is_primitive()
            && let [key, value] = only.get_fields()
            && key.is_primitive()
            && key.get_basic_info().repetition() != Repetition::REPEATED
            && kinds
                .get(*first)
                .is_some_and(|kind| kind.is_name(key.get_physical_type()))
        {
            let key = node(key, inner, kinds, first);
            let value = node(value, inner, kinds, first);
            return NodeShape::Map(repeated, Box::new(key), Box::new(value));
        }
        if is_list || is_map {
            let element = match only_element(field, only) {
                Some(element) => node(element, inner, kinds, first),
                None => contents(only, inner, kinds, first),
            };
            return NodeShape::List(repeated, Box::new(element));
        }
    }
    let fields = field.get_fields().iter();
    NodeShape::Object(
        fields
            .map(|field| node(field, levels, kinds, first))
            .collect(),
    )
}

/// Returns the element of a list in its repeated group, or `None` if the group is the element, as in lists of old
/// writers.
fn only_element<'a>(list: &Type, repeated: &'a Type) -> Option<&'a Type> {
    if repeated.is_primitive() {
        return None;
    }
    let is_old = repeated.name() == "array" || repeated.name() == format!("{}_tuple", list.name());
    match repeated.get_fields() {
        [element] if !is_old => Some(element),
        _ => None,
    }
}

fn name(field: &Type) -> String {
    let mut name = String::new();
    write_string(field.name(), &mut name);
    name + ":"
}
