//! The HTML of the pages. Every text is escaped by the templates.

use std::sync::OnceLock;
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::content::{BuildSummary, BundleRow, BundleView, SourceRow};
use crate::db::{Attempt, now};
use crate::model::timestamp;

/// The style of all pages. It is part of each page, so that a browser without a session requests nothing else.
const STYLE: &str = include_str!("style.css");

/// Characters of a name that are escaped in a path.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// The parts of a page with a session.
pub struct PageLayout<'l> {
    /// The prefix of each path.
    pub prefix: &'l str,
    /// The token of forms, which protects against forged requests.
    pub token: &'l str,
    /// The name of the session's token.
    pub user: &'l str,
    /// The notice about the last action. Empty if there is none.
    pub notice: &'static str,
}

/// Returns a name as one segment of a path. A name such as `..` remains a segment.
pub fn escaped(name: &str) -> String {
    match name {
        "." => "%2E".to_owned(),
        ".." => "%2E%2E".to_owned(),
        _ => utf8_percent_encode(name, ESCAPED).to_string(),
    }
}

/// Returns the content security policy: no scripts, no frames, and only the style of the page itself.
pub fn content_policy() -> &'static str {
    static POLICY: OnceLock<String> = OnceLock::new();
    POLICY.get_or_init(|| {
        let hash = STANDARD.encode(digest(&SHA256, STYLE.as_bytes()));
        format!(
            "default-src 'none'; style-src 'sha256-{hash}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
        )
    })
}

/// Returns a whole page. `title` is escaped.
fn document(title: &str, header: &Markup, main: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " – Solon control plane" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                (header)
                main #main tabindex="-1" { (main) }
            }
        }
    };
    page.into_string()
}

fn with_session(layout: &PageLayout<'_>, title: &str, here: &str, main: &Markup) -> String {
    let prefix = layout.prefix;
    let header = html! {
        header {
            p.brand { "Solon control plane" }
            nav aria-label="Pages" {
                ul {
                    @for (path, text) in [("", "Bundles"), ("/sources", "Sources")] {
                        li {
                            a href={ (prefix) "/ui" (path) } aria-current=[(text == here).then_some("page")] { (text) }
                        }
                    }
                }
            }
            form method="post" action={ (prefix) "/ui/logout" } {
                (token(layout))
                span { "Signed in as " strong { (layout.user) } }
                button type="submit" { "Sign out" }
            }
        }
    };
    let main = html! {
        @if !layout.notice.is_empty() { p.notice role="status" { (layout.notice) } }
        (main)
    };
    document(title, &header, &main)
}

fn token(layout: &PageLayout<'_>) -> Markup {
    html! { input type="hidden" name="csrf" value=(layout.token); }
}

/// Returns the login form. An `error` is shown unless it is empty.
pub fn login(prefix: &str, token: &str, error: &str) -> String {
    let header = html! { header { p.brand { "Solon control plane" } } };
    let main = html! {
        h1 { "Sign in" }
        @if !error.is_empty() { p.error #error role="alert" { (error) } }
        form.login method="post" action={ (prefix) "/ui/login" } {
            input type="hidden" name="csrf" value=(token);
            label for="key" { "API key" }
            input #key type="password" name="key" required autocomplete="current-password" spellcheck="false"
                aria-invalid=[(!error.is_empty()).then_some("true")]
                aria-describedby=[(!error.is_empty()).then_some("error")];
            button type="submit" { "Sign in" }
        }
    };
    document("Sign in", &header, &main)
}

pub fn error(prefix: &str, status: StatusCode, message: &str) -> String {
    let header = html! { header { p.brand { "Solon control plane" } } };
    let reason = status.canonical_reason().unwrap_or("Error");
    let main = html! {
        h1 { (reason) }
        p.error role="alert" { (message) }
        p { a href={ (prefix) "/ui" } { "All bundles" } }
    };
    document(reason, &header, &main)
}

pub fn bundles(layout: &PageLayout<'_>, rows: &[BundleRow], next: Option<&str>) -> String {
    let main = html! {
        h1 { "Bundles" }
        @if rows.is_empty() { p { "There are no bundles that you may see." } }
        @else {
            div.scroll role="region" aria-label="Bundles" tabindex="0" {
                table {
                    caption { "State of each bundle" }
                    thead { tr {
                        @for name in ["Bundle", "State", "Last success", "Revision", "Size", "Last error"] {
                            th scope="col" { (name) }
                        }
                    } }
                    tbody { @for row in rows { tr {
                        th scope="row" {
                            a href={ (layout.prefix) "/ui/bundles/" (escaped(&row.name)) } { (row.name) }
                        }
                        @match &row.builds {
                            Some(builds) => {
                                td { (state(builds)) }
                                td { (age(builds.succeeded_at)) }
                                td.text { (or_none(&builds.revision)) }
                                td.number { @match builds.size { Some(size) => (bytes(size)), None => "–" } }
                                td.text { (or_none(&builds.error)) }
                            }
                            None => { td colspan="5" { "no permission" } }
                        }
                    } } }
                }
            }
        }
        (more(layout, "", next))
    };
    with_session(layout, "Bundles", "Bundles", &main)
}

pub fn bundle(layout: &PageLayout<'_>, view: &BundleView) -> String {
    let name = &view.row.name;
    let path = format!("{}/ui/bundles/{}", layout.prefix, escaped(name));
    let main = html! {
        h1 { "Bundle " (name) }
        @match &view.row.builds {
            None => { p { "You may not see the builds of this bundle." } }
            Some(builds) => {
                dl {
                    dt { "State" } dd { (state(builds)) }
                    dt { "Last success" } dd { (age(builds.succeeded_at)) }
                    dt { "Revision" } dd.text { (or_none(&builds.revision)) }
                    dt { "Size" } dd { @match builds.size { Some(size) => (bytes(size)), None => "–" } }
                    @if !builds.error.is_empty() { dt { "Last error" } dd.text { (builds.error) } }
                }
            }
        }
        @if view.can_build {
            form method="post" action={ (path) "/build" } {
                (token(layout))
                button type="submit" { "Request a build" }
            }
        }
        @if view.row.builds.is_some() {
            h2 { "Builds" }
            (attempts(&view.attempts))
        }
        @if !view.revisions.is_empty() {
            h2 { "Stored revisions" }
            (revisions(layout, view, &path))
        }
    };
    with_session(layout, &format!("Bundle {name}"), "", &main)
}

fn attempts(attempts: &[Attempt]) -> Markup {
    html! {
        @if attempts.is_empty() { p { "There are no finished builds." } }
        @else {
            div.scroll role="region" aria-label="Builds" tabindex="0" {
                table {
                    caption { "Finished builds, the newest first" }
                    thead { tr {
                        @for name in ["Ended", "Result", "Revision", "Fetching", "Building", "Publishing", "Message"] {
                            th scope="col" { (name) }
                        }
                    } }
                    tbody { @for attempt in attempts { tr {
                        th scope="row" { (time(attempt.ended_at)) }
                        td { (attempt.phase) " " (attempt.status) }
                        td.text { (or_none(&attempt.revision)) }
                        @for duration in attempt.durations {
                            td.number { @match duration { Some(duration) => (seconds(duration)), None => "–" } }
                        }
                        td.text { (or_none(&attempt.error_message)) }
                    } } }
                }
            }
        }
    }
}

fn revisions(layout: &PageLayout<'_>, view: &BundleView, path: &str) -> Markup {
    html! {
        div.scroll role="region" aria-label="Stored revisions" tabindex="0" {
            table {
                caption { "Stored revisions, the newest first" }
                thead { tr {
                    th scope="col" { "Built" }
                    th scope="col" { "Revision" }
                    th scope="col" { "Size" }
                    th scope="col" { "Active" }
                    @if view.can_roll_back { th scope="col" { "Action" } }
                } }
                tbody { @for revision in &view.revisions {
                    @let is_active = view.active == Some(revision.id);
                    tr {
                        th scope="row" { (time(revision.created_at)) }
                        td.text { (or_none(&revision.revision)) }
                        td.number { (bytes(revision.size)) }
                        td { @if is_active { "active" } @else { "–" } }
                        @if view.can_roll_back { td { @if is_active { "–" } @else {
                            form method="post" action={ (path) "/rollback" } {
                                (token(layout))
                                input type="hidden" name="id" value=(revision.id);
                                button type="submit" aria-label={ "Activate revision " (revision.revision) " of " (plain_time(revision.created_at)) } { "Activate" }
                            }
                        } } }
                    }
                } }
            }
        }
    }
}

/// Returns the list of sources. Of bundles and stacks that use a source and that the caller may not see, only
/// the number is shown.
pub fn sources(layout: &PageLayout<'_>, rows: &[SourceRow], next: Option<&str>) -> String {
    let main = html! {
        h1 { "Sources" }
        @if rows.is_empty() { p { "There are no sources that you may see." } }
        @else {
            div.scroll role="region" aria-label="Sources" tabindex="0" {
                table {
                    caption { "Sources and what uses them" }
                    thead { tr {
                        @for name in ["Source", "Origins", "Used by"] { th scope="col" { (name) } }
                    } }
                    tbody { @for row in rows { tr {
                        th scope="row" { (row.name) }
                        td { (row.origins) }
                        td { (users(layout, row)) }
                    } } }
                }
            }
        }
        (more(layout, "/sources", next))
    };
    with_session(layout, "Sources", "Sources", &main)
}

fn users(layout: &PageLayout<'_>, row: &SourceRow) -> Markup {
    html! {
        @if row.users.is_empty() && row.hidden == 0 { "–" }
        @else {
            ul {
                @for (kind, name) in &row.users {
                    li {
                        (kind.singular()) " "
                        @if *kind == crate::model::Kind::Bundle {
                            a href={ (layout.prefix) "/ui/bundles/" (escaped(name)) } { (name) }
                        } @else { (name) }
                    }
                }
                @if row.hidden > 0 { li { (row.hidden) " more that you may not see" } }
            }
        }
    }
}

fn more(layout: &PageLayout<'_>, path: &str, next: Option<&str>) -> Markup {
    html! {
        @if let Some(next) = next {
            p { a href={ (layout.prefix) "/ui" (path) "?cursor=" (next) } { "Next page" } }
        }
    }
}

fn state(builds: &BuildSummary) -> Markup {
    html! { span.failed[builds.is_failed] { (builds.state) } }
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "–" } else { text }
}

/// Returns the age of a time, such as `3 minutes ago`.
fn age(at: Option<i64>) -> Markup {
    let Some(at) = at else {
        return html! { "never" };
    };
    let seconds = now().saturating_sub(at).max(0) / 1_000_000;
    let (count, unit) = match seconds {
        ..120 => (seconds, "seconds"),
        120..7200 => (seconds / 60, "minutes"),
        7200..172_800 => (seconds / 3600, "hours"),
        _ => (seconds / 86400, "days"),
    };
    html! { time datetime=(plain_time(at)) { (count) " " (unit) " ago" } }
}

fn time(at: i64) -> Markup {
    let text = plain_time(at);
    html! { time datetime=(text) { (text) } }
}

/// Returns a time without fractions of a second. `at` is in microseconds since 1970.
fn plain_time(at: i64) -> String {
    let at = at - at.rem_euclid(1_000_000);
    timestamp::write(at).unwrap_or_default()
}

fn seconds(duration: Duration) -> String {
    format!("{:.2} s", duration.as_secs_f64())
}

fn bytes(size: u64) -> String {
    match size {
        ..1024 => format!("{size} B"),
        1024..1_048_576 => format!("{} KiB", size / 1024),
        _ => format!("{} MiB", size / 1_048_576),
    }
}
