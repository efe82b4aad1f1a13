//! The frame of every page: its head, and the policy that allows nothing but its own style and script.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The start of every report.
pub(super) const MARK: &str = "<!DOCTYPE html><html lang=\"en\" data-dedupdb=\"report\">";

/// The style of all pages, and the script of a page of clusters.
const STYLE: &str = include_str!("page.css");
pub(super) const SCRIPT: &str = include_str!("page.js");

/// Their SHA-256 hashes in base64. A page allows only these two.
const STYLE_HASH: &str = "Uco+uKlh2Iv3hen4rWWlfD0Qm5Enym9kq+6etHIwkJo=";
const SCRIPT_HASH: &str = "bGTTRvmLWWpEQz3i84B/FgLHytWQURM5XJ0LJrs8eug=";

/// The maximum number of characters of a heading.
const MOST_TITLE: usize = 300;

/// Returns a page. `heading` says what kind of page it is, and `title` what it is about. The link `skip` leads to the part
/// that most readers look for. `with` are other parts of the header.
pub(super) fn page(
    [heading, title]: [&str; 2],
    [skip, skips]: [&str; 2],
    with: &Markup,
    body: &Markup,
    has_script: bool,
) -> String {
    let title: String = title.chars().take(MOST_TITLE).collect();
    let script = if has_script {
        format!("'sha256-{SCRIPT_HASH}'")
    } else {
        "'none'".to_owned()
    };
    let policy = format!(
        "default-src 'none'; script-src {script}; style-src 'sha256-{STYLE_HASH}'; img-src data:; base-uri 'none'; \
         form-action 'none'"
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" data-dedupdb="report" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                link rel="icon" href="data:,";
                title { (heading) @if !title.is_empty() { ": " (title) } }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href=(skip) { (skips) }
                header {
                    h1 { (heading) @if !title.is_empty() { ": " bdi { (title) } } }
                    (with)
                }
                (body)
            }
        }
    };
    page.into_string()
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest, Sha256};

    use super::{SCRIPT, SCRIPT_HASH, STYLE, STYLE_HASH};

    /// Hashes the text as a browser sees it, with normalized line endings.
    fn hash(text: &str) -> String {
        STANDARD.encode(Sha256::digest(text.replace('\r', "")))
    }

    #[test]
    fn the_policy_allows_the_script_and_the_style_as_they_are() {
        assert_eq!(hash(SCRIPT), SCRIPT_HASH);
        assert_eq!(hash(STYLE), STYLE_HASH);
        for text in [SCRIPT, STYLE] {
            assert!(!text.contains("</") && !text.contains("<!--"));
        }
    }

    #[test]
    fn the_script_puts_nothing_there_as_html() {
        for way in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
        ] {
            assert!(!SCRIPT.contains(way), "{way}");
        }
    }
}
