//! Paths into lists: `messages[].content`, or `messages[role=user].content` for some of the elements.

use std::borrow::Cow;

use serde_json::Value;

use crate::formats::record::JoinedText;

/// A value that may be a list or an object: of JSON, of Python, or of Arrow.
pub trait NestedValue: Sized {
    /// Whether it is a null.
    fn is_null(&self) -> bool;

    /// Returns the elements, if it is a list.
    fn elements(&self) -> Option<Vec<Self>>;

    /// Returns the value of the field of this name, if it is an object that has one. A field of a null is a null.
    fn field(&self, name: &str) -> Option<Self>;

    /// Returns the string, if it is one.
    fn string(&self) -> Option<Cow<'_, str>>;
}

/// Why there is no text at the end of a path, or in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoText {
    /// There is no such field.
    Missing,
    /// It is null.
    Null,
    /// It is neither a string nor a list of strings.
    Other,
}

/// Adds the text of the field to which a path leads: dots lead into nested objects, and brackets into the elements of a
/// list, as [`strings_in`] says.
///
/// # Errors
///
/// There is no text.
pub fn add_text<V: NestedValue>(
    record: &V,
    path: &str,
    text: &mut JoinedText,
) -> Result<(), NoText> {
    let (field, steps) = path.split_at(path.find('[').unwrap_or(path.len()));
    let whole = at(record, path).map(|value| (value, ""));
    let value = whole.or_else(|| at(record, field).map(|value| (value, steps)));
    match value.ok_or(NoText::Missing)? {
        (value, _) if value.is_null() => return Err(NoText::Null),
        (value, steps) => match value.string() {
            Some(string) if steps.is_empty() => text.add(string.into_owned()),
            _ => text.add_list(strings_in(&value, steps)?),
        },
    }
    Ok(())
}

/// Checks that a path can lead to a text.
///
/// ```
/// use dedupdb_corpus::check_path;
///
/// assert!(check_path("messages[role=user].content").is_ok());
/// assert!(check_path("messages[0].content").is_err());
/// ```
///
/// # Errors
///
/// It cannot; the error says what paths look like.
pub fn check_path(path: &str) -> Result<(), String> {
    let (field, steps) = path.split_at(path.find('[').unwrap_or(path.len()));
    if is_field(field) && are_steps(steps) {
        return Ok(());
    }
    Err(format!(
        "{path:?} is not the path of a text; paths are like text, meta.text, messages[].content and \
         messages[role=user].content"
    ))
}

/// Whether these are names between dots.
fn is_field(path: &str) -> bool {
    path.split('.').all(|name| !name.is_empty())
}

fn are_steps(steps: &str) -> bool {
    if steps.is_empty() {
        return true;
    }
    ListStep::first(steps).is_some_and(|step| {
        let is_condition = |(name, value): (&str, &str)| is_field(name) && !value.is_empty();
        let leads_on = step.field.is_empty() || is_field(step.field);
        leads_on && step.only.is_none_or(is_condition) && are_steps(step.rest)
    })
}

/// A step into the elements of a list.
struct ListStep<'p> {
    /// Only the elements in which this field is this string.
    only: Option<(&'p str, &'p str)>,
    /// The field of each element; empty for the element itself.
    field: &'p str,
    /// The steps into the list that this is.
    rest: &'p str,
}

impl<'p> ListStep<'p> {
    /// Returns the first step of a path. An empty path leads to the elements themselves.
    fn first(path: &'p str) -> Option<ListStep<'p>> {
        let (inside, behind) = match path {
            "" => ("", ""),
            path => path.strip_prefix('[')?.split_once(']')?,
        };
        let only = match inside {
            "" => None,
            condition => Some(condition.split_once('=')?),
        };
        let (field, rest) = behind.split_at(behind.find('[').unwrap_or(behind.len()));
        let field = match field {
            "" => "",
            field => field.strip_prefix('.').filter(|field| !field.is_empty())?,
        };
        Some(ListStep { only, field, rest })
    }
}

/// Returns the strings in a list. An element without the field, or in which it is null, gives an empty string.
///
/// ```
/// use dedupdb_corpus::{NoText, strings_in};
///
/// let chat = &serde_json::json!([
///     {"role": "user", "content": "Where does the tram go?"},
///     {"role": "assistant", "content": "To the harbour."},
/// ]);
/// let user = strings_in(&chat, "[role=user].content");
/// assert_eq!(user.unwrap(), ["Where does the tram go?"]);
/// assert_eq!(strings_in(&chat, "[].content").unwrap().len(), 2);
/// assert_eq!(strings_in(&chat, "[]"), Err(NoText::Other));
/// assert_eq!(strings_in(&chat, "[].text"), Err(NoText::Missing));
/// ```
///
/// # Errors
///
/// There are elements, and none has a field of the path; something else than a string is there; it is no list, or the
/// path is none.
pub fn strings_in<V: NestedValue>(list: &V, path: &str) -> Result<Vec<String>, NoText> {
    let step = ListStep::first(path).ok_or(NoText::Other)?;
    if list.is_null() {
        return Ok(Vec::new());
    }
    let mut elements = list.elements().ok_or(NoText::Other)?;
    if let Some((name, value)) = step.only {
        let named = elements.iter().map(|element| at(element, name));
        let named: Vec<Option<V>> = named.collect();
        if !elements.is_empty() && named.iter().all(Option::is_none) {
            return Err(NoText::Missing);
        }
        let is_value =
            |found: Option<V>| found.is_some_and(|it| it.string().is_some_and(|it| it == value));
        let mut wanted = named.into_iter().map(is_value);
        elements.retain(|_| wanted.next() == Some(true));
    }
    let (mut strings, mut has_field) = (Vec::new(), elements.is_empty());
    for element in elements {
        let found = match step.field {
            "" => Some(element),
            field => at(&element, field),
        };
        let of_element = match found {
            None => Err(NoText::Missing),
            Some(found) if found.is_null() => Ok(vec![String::new()]),
            Some(found) if step.rest.is_empty() => {
                let string = found.string().ok_or(NoText::Other)?;
                Ok(vec![string.into_owned()])
            }
            Some(found) => strings_in(&found, step.rest),
        };
        match of_element {
            Ok(more) => {
                has_field = true;
                strings.extend(more);
            }
            Err(NoText::Missing) => strings.push(String::new()),
            Err(other) => return Err(other),
        }
    }
    if has_field {
        Ok(strings)
    } else {
        Err(NoText::Missing)
    }
}

/// Returns the value of a field; dots lead into nested objects.
fn at<V: NestedValue>(value: &V, path: &str) -> Option<V> {
    let nested = |(dot, _): (usize, &str)| at(&value.field(&path[..dot])?, &path[dot + 1..]);
    let whole = value.field(path);
    whole.or_else(|| path.match_indices('.').find_map(nested))
}

impl NestedValue for &Value {
    fn is_null(&self) -> bool {
        Value::is_null(self)
    }

    fn elements(&self) -> Option<Vec<Self>> {
        self.as_array().map(|elements| elements.iter().collect())
    }

    fn field(&self, name: &str) -> Option<Self> {
        match self {
            Value::Null => Some(self),
            value => value.as_object()?.get(name),
        }
    }

    fn string(&self) -> Option<Cow<'_, str>> {
        self.as_str().map(Cow::from)
    }
}
