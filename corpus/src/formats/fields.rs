//! The fields of a record that are read: its key and its texts. Other fields are skipped and take no memory.

use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::Value;

use crate::formats::nested::{NoText, strings_in};

/// The names of the fields. Dots lead into nested objects, and brackets into lists of texts. A field whose own name contains
/// these is found too, and comes before nested ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldPaths<'a> {
    pub(crate) id: &'a str,
    pub(crate) texts: &'a [&'a str],
}

/// The fields of a JSON object. Of several that a name leads to, one in the fewest objects counts, and of those the last.
#[derive(Debug)]
pub(crate) struct Fields {
    pub(crate) id: Option<Field>,
    /// Each of the texts, in the order of their names.
    pub(crate) texts: Vec<Option<Field>>,
}

/// The names of an object's fields, in order.
#[derive(Debug)]
pub(crate) struct FieldNames(pub(crate) Vec<String>);

impl<'de> Deserialize<'de> for FieldNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FieldNames, D::Error> {
        deserializer.deserialize_map(FieldNames(Vec::new()))
    }
}

impl<'de> Visitor<'de> for FieldNames {
    type Value = FieldNames;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<FieldNames, A::Error> {
        while let Some((name, IgnoredAny)) = map.next_entry()? {
            self.0.push(name);
        }
        Ok(self)
    }
}

/// The value of a field.
#[derive(Clone, Debug)]
pub(crate) enum Field {
    String(String),
    /// An integer, in decimal.
    Integer(String),
    Null,
    /// The strings of a list.
    Strings(Vec<String>),
    /// A list of something else.
    OtherList,
    Other,
}

impl Fields {
    /// Reads the fields of an object.
    ///
    /// # Errors
    ///
    /// Those of the deserializer; a data error if the value is not an object.
    pub(crate) fn read<'de, D: Deserializer<'de>>(
        deserializer: D,
        names: FieldPaths<'_>,
    ) -> Result<Fields, D::Error> {
        let names = [names.id].into_iter().chain(names.texts.iter().copied());
        let relations: Vec<_> = names.map(FieldRelation::Below).collect();
        let mut found = vec![FoundField::default(); relations.len()];
        let whole = FieldValueSeed {
            found: &mut found,
            relations: Some(relations),
            depth: 0,
        };
        if whole.deserialize(deserializer)? {
            let mut found = found.into_iter().map(|found| found.field);
            let id = found.next().flatten();
            let texts = found.collect();
            Ok(Fields { id, texts })
        } else {
            Err(D::Error::invalid_type(
                serde::de::Unexpected::Other("another value"),
                &"an object",
            ))
        }
    }
}

/// The relation of a value to a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FieldRelation<'a> {
    No,
    /// The value is the field.
    This,
    /// The value contains the field of this name.
    Below(&'a str),
    /// The value is a list, and this path leads into its elements.
    List(&'a str),
}

impl<'a> FieldRelation<'a> {
    /// Returns the relation of the value of `name` to the field, in an object whose relation is `self`.
    pub(crate) fn of(self, name: &str) -> FieldRelation<'a> {
        let FieldRelation::Below(wanted) = self else {
            return FieldRelation::No;
        };
        match wanted.strip_prefix(name) {
            Some("") => FieldRelation::This,
            Some(rest) if rest.starts_with('[') => FieldRelation::List(rest),
            Some(rest) => rest
                .strip_prefix('.')
                .map_or(FieldRelation::No, FieldRelation::Below),
            None => FieldRelation::No,
        }
    }

    /// Whether the value of `name` is the field of this path, or leads to it.
    pub(crate) fn leads_to(path: &str, name: &str) -> bool {
        !matches!(FieldRelation::Below(path).of(name), FieldRelation::No)
    }

    /// Returns the path to texts in a list that has this relation.
    fn path_into_list(self) -> Option<&'a str> {
        match self {
            FieldRelation::This => Some(""),
            FieldRelation::List(path) => Some(path),
            FieldRelation::Below(_) | FieldRelation::No => None,
        }
    }
}

/// The relations of a value to the fields, in their order. `None` if it has none to any.
type Relations<'a> = Option<Vec<FieldRelation<'a>>>;

/// What was found so far.
#[derive(Clone, Debug, Default)]
struct FoundField {
    field: Option<Field>,
    depth: usize,
}

impl FoundField {
    fn set(&mut self, field: Option<Field>, depth: usize) {
        if self.field.is_none() || depth <= self.depth {
            *self = FoundField { field, depth };
        }
    }
}

/// A value that is one of the fields or contains one. Returns whether it is an object.
struct FieldValueSeed<'a, 'f> {
    found: &'f mut [FoundField],
    relations: Relations<'a>,
    /// The number of objects that it is in.
    depth: usize,
}

impl FieldValueSeed<'_, '_> {
    fn is(self, field: Field) -> bool {
        let relations = self.relations.iter().flatten();
        let all = self.found.iter_mut().zip(relations);
        let mut wanting = all.filter_map(|(found, relation)| {
            matches!(relation, FieldRelation::This).then_some(found)
        });
        if let Some(first) = wanting.next() {
            for other in wanting {
                other.set(Some(field.clone()), self.depth);
            }
            first.set(Some(field), self.depth);
        }
        false
    }

    /// Sets each field that a list has to what is at the end of the path into it. A null may stand for a list.
    fn set_list(self, field: impl Fn(&str) -> Option<Field>) {
        let relations = self.relations.iter().flatten();
        for (found, relation) in self.found.iter_mut().zip(relations) {
            if let Some(path) = relation.path_into_list() {
                found.set(field(path), self.depth);
            }
        }
    }
}

impl<'de> DeserializeSeed<'de> for FieldValueSeed<'_, '_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        if self.relations.is_none() {
            return deserializer
                .deserialize_ignored_any(IgnoredAny)
                .map(|_| false);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FieldValueSeed<'_, '_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E>(self, value: &str) -> Result<bool, E> {
        Ok(self.is(Field::String(value.to_owned())))
    }

    fn visit_string<E>(self, value: String) -> Result<bool, E> {
        Ok(self.is(Field::String(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<bool, E> {
        Ok(self.is(Field::Integer(value.to_string())))
    }

    fn visit_i64<E>(self, value: i64) -> Result<bool, E> {
        Ok(self.is(Field::Integer(value.to_string())))
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(self.is(Field::Other))
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(self.is(Field::Other))
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        self.set_list(|_| Some(Field::Null));
        Ok(false)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<bool, A::Error> {
        let relations = self.relations.as_deref().unwrap_or_default();
        if !relations.iter().any(|it| it.path_into_list().is_some()) {
            while values.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(false);
        }
        let mut list = Vec::new();
        while let Some(value) = values.next_element::<Value>()? {
            list.push(value);
        }
        let list = Value::Array(list);
        self.set_list(|path| match strings_in(&&list, path) {
            Ok(strings) => Some(Field::Strings(strings)),
            Err(NoText::Missing) => None,
            Err(_) => Some(Field::OtherList),
        });
        Ok(false)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let outer = self.relations.as_deref().unwrap_or_default();
        while let Some(relations) = map.next_key_seed(FieldNameSeed(outer))? {
            map.next_value_seed(FieldValueSeed {
                found: &mut *self.found,
                relations,
                depth: self.depth + 1,
            })?;
        }
        self.is(Field::Other);
        Ok(true)
    }
}

/// The name of a value in an object with these relations. Returns those of the value.
struct FieldNameSeed<'a, 'o>(&'o [FieldRelation<'a>]);

impl<'de, 'a> DeserializeSeed<'de> for FieldNameSeed<'a, '_> {
    type Value = Relations<'a>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'a> Visitor<'_> for FieldNameSeed<'a, '_> {
    type Value = Relations<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        let relations = || self.0.iter().map(|outer| outer.of(name));
        let is_read = relations().any(|relation| !matches!(relation, FieldRelation::No));
        Ok(is_read.then(|| relations().collect()))
    }
}
