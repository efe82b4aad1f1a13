//! The data of the page.

use serde_json::json;

use super::row::{PageCluster, PageText, inert};
use super::shared::SharedPassages;
use super::texts::PageTexts;

/// Returns the clusters, the texts and what pairs of them share. Without `texts`, no texts are wanted. Similarities are estimates, or
/// without what is ignored.
pub(super) fn data(
    groups: &[PageCluster],
    texts: Option<&PageTexts>,
    shared: &SharedPassages,
    (is_estimated, is_ignoring): (bool, bool),
) -> String {
    let listed = groups.iter().map(|group| {
        inert(&group.to_json(|row| texts.map_or(PageText::Unwanted, |texts| texts.text(row))))
    });
    let listed: Vec<String> = listed.collect();
    let shown = texts.into_iter().flat_map(PageTexts::shown);
    let shown: Vec<&str> = shown.map(|(json, _)| json).collect();
    format!(
        "{{\"estimated\":{},\"ignoring\":{},\"unit\":{},\"least\":{},\"clusters\":[{}],\"texts\":[{}],\"shared\":[{}]}}",
        json!(is_estimated),
        json!(is_ignoring),
        json!(shared.unit),
        shared.least,
        listed.join(","),
        shown.join(","),
        shared.pairs.join(",")
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::inert;

    #[test]
    fn what_is_inert_is_the_same_value() {
        let hostile = json!([
            "</script><script>alert(1)</script>",
            "<!--",
            "&lt;\u{2028}\u{2029}\0\"\\\n"
        ]);
        let inert = inert(&hostile);
        for c in ['<', '>', '&', '\u{2028}', '\u{2029}', '\0', '\n'] {
            assert!(!inert.contains(c), "{inert}");
        }
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&inert).unwrap(),
            hostile
        );
    }
}
