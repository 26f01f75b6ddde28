//! Rules for the headers and the text of every page.

use bytes::Bytes;
use http::Response;

/// Checks the headers that protect a page.
pub fn headers_are_safe(ask: &str, response: &Response<Bytes>) {
    let header = |name: &str| {
        let value = response.headers().get(name);
        let value = value.unwrap_or_else(|| panic!("{ask}: no {name}"));
        value.to_str().unwrap().to_owned()
    };
    let policy = header("content-security-policy");
    for part in [
        "default-src 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
    ] {
        assert!(policy.contains(part), "{ask}: {policy}");
    }
    assert!(
        !policy.contains("script") && !policy.contains("unsafe"),
        "{policy}"
    );
    assert_eq!(header("cache-control"), "no-store");
    assert_eq!(header("x-frame-options"), "DENY");
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert_eq!(header("referrer-policy"), "same-origin");
}

/// Checks the rules of WCAG 2.2 that the text of a page shows: language, title, landmarks, headings, labels, headers of tables,
/// and names of controls. A page has neither scripts, styles of elements, nor anything from elsewhere.
pub fn markup_is_accessible(page: &str) {
    assert!(
        page.starts_with("<!DOCTYPE html><html lang=\"en\">"),
        "{page}"
    );
    assert_eq!(page.matches("<h1>").count(), 1);
    assert_eq!(page.matches("<main ").count(), 1);
    assert_eq!(page.matches("<header>").count(), 1);
    let title = page.split("<title>").nth(1).unwrap();
    assert!(title.split("</title>").next().unwrap().len() > 10);
    assert!(page.contains("<a class=\"skip\" href=\"#main\">"));
    for part in [
        "<script", " style=", " onclick", " onload", "<img", "<link", "http://", "https://",
    ] {
        assert!(!page.contains(part), "{part} in {page}");
    }
    for table in page.split("<table>").skip(1) {
        let table = table.split("</table>").next().unwrap();
        assert!(table.starts_with("<caption>"), "{table}");
        let head = table.split("</thead>").next().unwrap();
        assert_eq!(
            head.matches("<th ").count(),
            head.matches("scope=\"col\"").count()
        );
        let rows = table.split("<tbody>").nth(1).unwrap();
        assert_eq!(
            rows.matches("<tr>").count(),
            rows.matches("<th scope=\"row\">").count()
        );
    }
    for input in page.split("<input").skip(1) {
        let input = input.split('>').next().unwrap();
        let id = input
            .split("id=\"")
            .nth(1)
            .map(|id| id.split('"').next().unwrap());
        let is_hidden = input.contains("type=\"hidden\"");
        let is_labelled = id.is_some_and(|id| page.contains(&format!("<label for=\"{id}\">")));
        assert!(is_hidden || is_labelled, "{input}");
    }
    for button in page.split("<button").skip(1) {
        let text = button.split_once('>').unwrap().1;
        assert!(!text.split("</button>").next().unwrap().is_empty());
    }
    // regions that scroll are reached by the keyboard, and nothing is before others in the order
    assert_eq!(
        page.matches("role=\"region\"").count(),
        page.matches("tabindex=\"0\"").count()
    );
    assert!(!page.contains("tabindex=\"1\""));
}
