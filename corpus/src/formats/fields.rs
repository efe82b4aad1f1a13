//! The two fields of a record that are read. Other fields are skipped and take no memory.

use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

/// The names of the two fields. Dots lead into nested objects. A field whose own name contains the dots is found too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldPaths<'a> {
    pub(crate) id: &'a str,
    pub(crate) text: &'a str,
    /// Whether the text may be a list of strings.
    pub(crate) lists: bool,
}

/// The fields of a JSON object. If a field occurs twice, the last one counts.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    pub(crate) id: Option<Field>,
    pub(crate) text: Option<Field>,
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
    /// A list of strings, if those are wanted.
    Strings(Vec<String>),
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
        let mut fields = Fields::default();
        let whole = FieldValueSeed {
            fields: &mut fields,
            id: FieldRelation::Below(names.id),
            text: FieldRelation::Below(names.text),
            lists: names.lists,
        };
        if whole.deserialize(deserializer)? {
            Ok(fields)
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
}

impl<'a> FieldRelation<'a> {
    /// Returns the relation of the value of `name` to the field, in an object whose relation is `self`.
    pub(crate) fn of(self, name: &str) -> FieldRelation<'a> {
        let FieldRelation::Below(wanted) = self else {
            return FieldRelation::No;
        };
        match wanted.strip_prefix(name) {
            Some("") => FieldRelation::This,
            Some(rest) => rest
                .strip_prefix('.')
                .map_or(FieldRelation::No, FieldRelation::Below),
            None => FieldRelation::No,
        }
    }
}

/// A value that is one of the fields or contains one. Returns whether it is an object.
struct FieldValueSeed<'a, 'f> {
    fields: &'f mut Fields,
    id: FieldRelation<'a>,
    text: FieldRelation<'a>,
    lists: bool,
}

impl FieldValueSeed<'_, '_> {
    fn is(self, field: Field) -> bool {
        match (self.id, self.text) {
            (FieldRelation::This, FieldRelation::This) => {
                self.fields.id = Some(field.clone());
                self.fields.text = Some(field);
            }
            (FieldRelation::This, _) => self.fields.id = Some(field),
            (_, FieldRelation::This) => self.fields.text = Some(field),
            _ => {}
        }
        false
    }
}

impl<'de> DeserializeSeed<'de> for FieldValueSeed<'_, '_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        if matches!((self.id, self.text), (FieldRelation::No, FieldRelation::No)) {
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
        Ok(self.is(Field::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<bool, A::Error> {
        let mut strings = Vec::new();
        let mut are_strings = self.lists && matches!(self.text, FieldRelation::This);
        while are_strings {
            match values.next_element::<serde_json::Value>()? {
                Some(serde_json::Value::String(string)) => strings.push(string),
                Some(_) => are_strings = false,
                None => return Ok(self.is(Field::Strings(strings))),
            }
        }
        while values.next_element::<IgnoredAny>()?.is_some() {}
        Ok(self.is(Field::Other))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let (id, text, lists) = (self.id, self.text, self.lists);
        while let Some((id, text)) = map.next_key_seed(FieldNameSeed { id, text })? {
            let fields = &mut *self.fields;
            let seed = FieldValueSeed {
                fields,
                id,
                text,
                lists,
            };
            map.next_value_seed(seed)?;
        }
        self.is(Field::Other);
        Ok(true)
    }
}

/// The name of a value in an object. Returns the relation of the value to each field.
struct FieldNameSeed<'a> {
    id: FieldRelation<'a>,
    text: FieldRelation<'a>,
}

impl<'de, 'a> DeserializeSeed<'de> for FieldNameSeed<'a> {
    type Value = (FieldRelation<'a>, FieldRelation<'a>);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'a> Visitor<'_> for FieldNameSeed<'a> {
    type Value = (FieldRelation<'a>, FieldRelation<'a>);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok((self.id.of(name), self.text.of(name)))
    }
}
