//! Where the ids of records are unique.

/// The scope in which the id of a record identifies a document.
///
/// A store remembers the scope that was [chosen](crate::Writer::set_id_scope). As long as none was, ids are keys, and an
/// id that is stored from another file with another text is [refused](crate::write::Change::Refused), because nobody
/// said whether the two are the same document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdScope {
    /// Nobody said.
    #[default]
    Unset,
    /// All files: the id is the key, and names the same document in each file.
    All,
    /// Its file: the key is `PATH#ID`.
    File,
}

impl IdScope {
    /// Every scope, at its stored number.
    const STORED: [IdScope; 3] = [IdScope::Unset, IdScope::All, IdScope::File];

    pub(crate) fn number(self) -> u64 {
        self as u64
    }

    /// The scope with this number. A later release may have more.
    pub(crate) fn of(number: u64) -> IdScope {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        IdScope::STORED.get(at).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::IdScope;

    #[test]
    fn a_scope_is_found_by_its_number() {
        for scope in IdScope::STORED {
            assert_eq!(IdScope::of(scope.number()), scope);
        }
    }
}
