//! The page for operators: sessions, forms, permissions, headers and markup.

mod markup;

use std::collections::BTreeMap;
use std::time::Duration;

use solon_control::db::Mode;
use solon_control::model::Kind;

use crate::databases::On;
use crate::plane::Plane;
use crate::storage::{Built, publish};

use markup::{headers_are_safe, markup_is_accessible};

/// A browser: its cookies, and the last page.
struct Browser<'p> {
    plane: &'p Plane,
    cookies: BTreeMap<String, String>,
    text: String,
}

/// The parts of an answer that tests compare.
struct Reply {
    status: u16,
    location: String,
    cookies: Vec<String>,
}

impl<'p> Browser<'p> {
    fn new(plane: &'p Plane) -> Self {
        Self {
            plane,
            cookies: BTreeMap::new(),
            text: String::new(),
        }
    }

    async fn send(&mut self, ask: &str, body: &str, headers: &[(&str, &str)]) -> Reply {
        let mut all: BTreeMap<String, String> = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let cookies = self.cookies.iter();
        let cookies: Vec<String> = cookies
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        if !cookies.is_empty() {
            all.insert("cookie".to_owned(), cookies.join("; "));
        }
        let response = self.plane.send_with("", ask, body.to_owned(), &all).await;
        headers_are_safe(ask, &response);
        self.text = String::from_utf8(response.body().to_vec()).unwrap();
        let header = |name: &str| {
            let values = response.headers().get_all(name).iter();
            let values = values.map(|value| value.to_str().unwrap().to_owned());
            values.collect::<Vec<String>>()
        };
        let set = header("set-cookie");
        for cookie in &set {
            for part in ["; Path=/", "; HttpOnly", "; Secure", "; SameSite=Strict"] {
                assert!(cookie.contains(part), "{cookie}");
            }
            let (name, rest) = cookie.split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            if value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        Reply {
            status: response.status().as_u16(),
            location: header("location").first().cloned().unwrap_or_default(),
            cookies: set,
        }
    }

    async fn get(&mut self, path: &str) -> Reply {
        self.send(&format!("GET {path}"), "", &[]).await
    }

    /// Returns the token of the first form of the last page.
    fn token(&self) -> String {
        let (_, rest) = self.text.split_once("name=\"csrf\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    async fn log_in(&mut self, key: &str) -> Reply {
        self.get("/ui/login").await;
        let body = form(&[("csrf", &self.token()), ("key", key)]);
        self.send("POST /ui/login", &body, &[]).await
    }

    async fn signed_in(plane: &'p Plane, who: &str) -> Self {
        let mut browser = Self::new(plane);
        let answer = browser.log_in(&plane.keys[who]).await;
        assert_eq!((answer.status, answer.location.as_str()), (303, "/ui"));
        assert_eq!(browser.get("/ui").await.status, 200);
        browser
    }

    /// Sends a form with the token of the last page.
    async fn act(&mut self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let token = self.token();
        let mut all = vec![("csrf", token.as_str())];
        all.extend(fields);
        self.send(&format!("POST {path}"), &form(&all), &[]).await
    }
}

fn form(fields: &[(&str, &str)]) -> String {
    let mut body = form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(fields);
    body.finish()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_exchanged_for_a_session() {
    for on in On::ALL {
        let Some(plane) = Plane::new(on).await else {
            continue;
        };
        let mut browser = Browser::new(&plane);
        for path in ["/ui", "/ui/sources", "/ui/bundles/b", "/ui?cursor=x"] {
            let answer = browser.get(path).await;
            let found = (
                answer.status,
                answer.location.as_str(),
                browser.text.as_str(),
            );
            assert_eq!(found, (303, "/ui/login", ""), "{path}");
        }
        for path in [
            "/ui/bundles/b/build",
            "/ui/bundles/b/rollback",
            "/ui/logout",
        ] {
            let answer = browser
                .send(&format!("POST {path}"), "csrf=x&id=1", &[])
                .await;
            assert_eq!(
                (answer.status, answer.location.as_str()),
                (303, "/ui/login")
            );
            assert_eq!(browser.get(path).await.status, 405, "{path}");
        }
        // keys that are wrong, absent or of no token
        for key in ["", "wrong", &plane.keys["viewer"][1..]] {
            let answer = browser.log_in(key).await;
            assert_eq!(answer.status, 403, "{key}");
            assert!(browser.text.contains("The key is unknown or has expired."));
            assert!(!browser.cookies.contains_key("__Host-solon-session"));
            assert!(key.is_empty() || !browser.text.contains(key));
        }
        let answer = browser.log_in(&plane.keys["viewer"]).await;
        assert_eq!((answer.status, answer.location.as_str()), (303, "/ui"));
        let session = &browser.cookies["__Host-solon-session"].clone();
        assert!(
            answer.cookies[0].contains("Max-Age=28800"),
            "{:?}",
            answer.cookies
        );
        assert!(!browser.cookies.contains_key("__Host-solon-login"));
        assert!(session.len() >= 43 && !plane.keys["viewer"].contains(session));
        assert_eq!(browser.get("/ui").await.status, 200);
        assert!(
            browser
                .text
                .contains("Signed in as <strong>viewer</strong>")
        );
        assert_eq!(browser.get("/ui/login").await.location, "/ui");
        // the API does not accept the cookie, and the page does not accept a key
        let bearer = format!("Bearer {session}");
        let api = [("authorization".to_owned(), bearer)].into();
        let api = plane.send_with("", "GET /v1/bundles", "", &api).await;
        assert_eq!(api.status(), 401);
        let mut other = Browser::new(&plane);
        let bearer = format!("Bearer {}", plane.keys["viewer"]);
        let answer = other
            .send("GET /ui", "", &[("authorization", bearer.as_str())])
            .await;
        assert_eq!(answer.location, "/ui/login");
        let key = plane.keys["viewer"].clone();
        other.cookies.insert("__Host-solon-session".to_owned(), key);
        assert_eq!(other.get("/ui").await.location, "/ui/login");
        // the end of the session is that of its cookie, too
        browser.get("/ui").await;
        let answer = browser.act("/ui/logout", &[]).await;
        assert_eq!(answer.location, "/ui/login");
        assert!(answer.cookies[0].contains("Max-Age=0"));
        browser
            .cookies
            .insert("__Host-solon-session".to_owned(), session.clone());
        assert_eq!(browser.get("/ui").await.location, "/ui/login", "{on:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_end_with_their_tokens() {
    for on in On::ALL {
        let Some(plane) = Plane::new(on).await else {
            continue;
        };
        for (who, method, path) in [
            ("owner1", "POST", "/v1/tokens/owner1/rotate"),
            ("owner2", "DELETE", "/v1/tokens/owner2"),
        ] {
            let mut browser = Browser::signed_in(&plane, who).await;
            plane.done("admin", &format!("{method} {path}"), "").await;
            assert_eq!(
                browser.get("/ui").await.location,
                "/ui/login",
                "{on:?} {who}"
            );
        }
        // a token that expires, and the end of the eight hours
        let soon = jiff::Timestamp::now() + Duration::from_secs(2);
        let token =
            serde_json::json!({"name": "t", "role": "viewer", "expires_at": soon.to_string()});
        let (status, made) = plane
            .send_json("admin", "POST /v1/tokens", &token.to_string())
            .await;
        assert_eq!(status, 200, "{made}");
        let mut browser = Browser::new(&plane);
        browser
            .log_in(made["result"]["key"].as_str().unwrap())
            .await;
        let waiting = crate::waiting::Waiting::until("the token expires");
        while browser.get("/ui").await.status == 200 {
            crate::plane::pause(&waiting).await;
        }
        // at most 32 sessions of a token: the oldest ends
        let mut first = Browser::signed_in(&plane, "viewer").await;
        for _ in 0..32 {
            Browser::signed_in(&plane, "viewer").await;
        }
        assert_eq!(first.get("/ui").await.location, "/ui/login", "{on:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_need_their_tokens() {
    let plane = Plane::new(On::Memory).await.unwrap();
    plane.done("owner1", "PUT /v1/bundles/b", "{}").await;
    let mut browser = Browser::signed_in(&plane, "owner1").await;
    let token = browser.token();
    let mut other = Browser::signed_in(&plane, "owner1").await;
    let of_other = other.token();
    assert_ne!(token, of_other);
    let upper = token.to_uppercase();
    let path = "POST /ui/bundles/b/build";
    for body in [
        String::new(),
        form(&[("csrf", "")]),
        form(&[("csrf", &of_other)]),
        form(&[("csrf", &token[1..])]),
        form(&[("csrf", "zz")]),
        form(&[("csrf", &of_other), ("csrf", &token)]),
        format!("{{\"csrf\":\"{upper}\"}}"),
    ] {
        assert_eq!(browser.send(path, &body, &[]).await.status, 403, "{body}");
        assert!(browser.text.contains("comes from another site"));
    }
    let body = form(&[("csrf", &token)]);
    for headers in [
        [
            ("host", "c.example.com"),
            ("origin", "https://evil.example.com"),
        ],
        [("host", "c.example.com"), ("origin", "null")],
        [("host", "c.example.com"), ("sec-fetch-site", "cross-site")],
        [("host", "c.example.com"), ("sec-fetch-site", "same-site")],
    ] {
        assert_eq!(browser.send(path, &body, &headers).await.status, 403);
        // a login from another site does not begin a session
        assert_eq!(
            other.send("POST /ui/login", "key=x", &headers).await.status,
            403
        );
    }
    let (_, builds) = plane.send_json("admin", "GET /v1/audit?limit=1", "").await;
    assert_eq!(builds["result"][0]["action"], "create", "{builds}");
    let same = [("host", "c.example.com"), ("sec-fetch-site", "same-origin")];
    let answer = browser.send(path, &body, &same).await;
    assert_eq!(answer.location, "/ui/bundles/b?notice=build");
    // the token of a login form belongs to the cookie of that form
    let mut first = Browser::new(&plane);
    first.get("/ui/login").await;
    let of_first = first.token();
    let mut second = Browser::new(&plane);
    second.get("/ui/login").await;
    let body = form(&[("csrf", &of_first), ("key", &plane.keys["viewer"])]);
    assert_eq!(second.send("POST /ui/login", &body, &[]).await.status, 403);
    assert!(!second.cookies.contains_key("__Host-solon-session"));
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_show_what_the_token_may_see() {
    for on in On::ALL {
        let Some(plane) = Plane::new(on).await else {
            continue;
        };
        let hostile = "<script>alert(1)</script>&\"' / ü";
        let escaped =
            percent_encoding::utf8_percent_encode(hostile, percent_encoding::NON_ALPHANUMERIC);
        plane
            .done("owner1", "PUT /v1/sources/lib", r#"{"directory":"x"}"#)
            .await;
        let body = r#"{"requirements":[{"source":"lib"}]}"#;
        plane
            .done("owner1", &format!("PUT /v1/bundles/{escaped}"), body)
            .await;
        plane.done("owner1", "PUT /v1/bundles/b", body).await;
        plane.done("owner2", "PUT /v1/bundles/secluded", "{}").await;
        for (number, revision) in ["one", "two<b>"].into_iter().enumerate() {
            let built = Built::new(revision, revision);
            let stored = publish(&plane, "b", &built, number as u64 + 1).await;
            assert_eq!(stored, "stored");
        }
        let failure = solon_control::model::StatusRecord {
            revision: "two<b>".to_owned(),
            phase: solon_control::model::Phase::Build,
            status: solon_control::model::Status::BuildFailed,
            error_message: "<img src=x>".to_owned(),
        };
        plane.plane.record_status("b", &failure).await.unwrap();

        let mut owner = Browser::signed_in(&plane, "owner1").await;
        let list = owner.text.clone();
        assert!(
            list.contains(">b</a>") && !list.contains("secluded"),
            "{list}"
        );
        assert!(list.contains("BUILD_FAILED: &lt;img src=x&gt;"), "{list}");
        assert!(
            list.contains("&lt;script&gt;") && !list.contains("<script"),
            "{list}"
        );
        assert!(!list.contains("<img"), "{list}");
        markup_is_accessible(&list);
        owner.get("/ui/sources").await;
        assert!(owner.text.contains(">lib<") && owner.text.contains("folder"));
        assert!(
            owner
                .text
                .contains("bundle <a href=\"/ui/bundles/b\">b</a>"),
            "{}",
            owner.text
        );
        markup_is_accessible(&owner.text);
        let link = list.split("href=\"").find(|part| part.contains("script"));
        let link = link.unwrap().split('"').next().unwrap().to_owned();
        assert_eq!(owner.get(&link).await.status, 200, "{link}");
        assert_eq!(owner.get("/ui/bundles/secluded").await.status, 403);
        assert_eq!(owner.get("/ui/bundles/absent").await.status, 404);
        markup_is_accessible(&owner.text);

        owner.get("/ui/bundles/b").await;
        assert!(owner.text.contains("Request a build"), "{}", owner.text);
        assert!(owner.text.contains("two&lt;b&gt;") && owner.text.contains("Activate"));
        markup_is_accessible(&owner.text);
        let mut transaction = plane.plane.database().begin(Mode::Read).await.unwrap();
        let head = transaction.head(Kind::Bundle, "b").await.unwrap().unwrap();
        let oldest = transaction
            .artifact_of_revision(head.id, "one")
            .await
            .unwrap();
        transaction.roll_back().await;
        let id = oldest.unwrap().id.to_string();
        let answer = owner.act("/ui/bundles/b/rollback", &[("id", &id)]).await;
        assert_eq!(
            answer.location, "/ui/bundles/b?notice=rollback",
            "{}",
            owner.text
        );
        let (_, revisions) = plane
            .send_json("owner1", "GET /v1/bundles/b/revisions", "")
            .await;
        assert_eq!(revisions["result"][1]["active"], true, "{on:?} {revisions}");
        owner.get("/ui/bundles/b?notice=rollback").await;
        assert!(owner.text.contains("role=\"status\""));
        for id in ["", "x", "-1", "99999"] {
            let answer = owner.act("/ui/bundles/b/rollback", &[("id", id)]).await;
            assert!(
                [400, 404].contains(&answer.status),
                "{id}: {}",
                answer.status
            );
            owner.get("/ui/bundles/b").await;
        }
        owner
            .act("/ui/bundles/b/rollback", &[("id", "newest")])
            .await;
        owner.get("/ui/bundles/b").await;
        owner.act("/ui/bundles/b/build", &[]).await;
        let (_, entry) = plane.send_json("admin", "GET /v1/audit?limit=1", "").await;
        assert_eq!(entry["result"][0]["action"], "build");
        assert_eq!(entry["result"][0]["principal"], "owner1");

        // a viewer sees everything, and has no forms for actions
        let mut viewer = Browser::signed_in(&plane, "viewer").await;
        assert!(viewer.text.contains(">secluded</a>"));
        viewer.get("/ui/bundles/b").await;
        assert!(!viewer.text.contains("Request a build") && !viewer.text.contains("Activate"));
        for path in ["/ui/bundles/b/build", "/ui/bundles/b/rollback"] {
            assert_eq!(
                viewer.act(path, &[("id", &id)]).await.status,
                403,
                "{on:?} {path}"
            );
            viewer.get("/ui").await;
        }
        // without the permission to see builds, nothing about them is shown
        let body = r#"{"permissions":["bundles.view"]}"#;
        plane
            .done("admin", "PUT /v1/bundles/b/grants/owner2", body)
            .await;
        let mut granted = Browser::signed_in(&plane, "owner2").await;
        assert!(granted.text.contains("no permission") && !granted.text.contains("BUILD_FAILED"));
        granted.get("/ui/bundles/b").await;
        assert!(!granted.text.contains("two&lt;b&gt;"), "{}", granted.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_below_the_prefix_and_are_divided() {
    let change = |options: &mut solon_control::Options| {
        options.api_prefix = "/control".to_owned();
    };
    let plane = Plane::with(On::Memory, change).await.unwrap();
    let mut browser = Browser::new(&plane);
    assert_eq!(
        browser.get("/control/ui").await.location,
        "/control/ui/login"
    );
    browser.get("/control/ui/login").await;
    assert!(browser.text.contains("action=\"/control/ui/login\""));
    markup_is_accessible(&browser.text);
    let body = form(&[("csrf", &browser.token()), ("key", &plane.keys["admin"])]);
    let answer = browser.send("POST /control/ui/login", &body, &[]).await;
    assert_eq!(answer.location, "/control/ui");
    for number in 0..51 {
        let ask = format!("PUT /control/v1/bundles/b{number}");
        plane.done("admin", &ask, "{}").await;
    }
    browser.get("/control/ui").await;
    assert!(browser.text.contains(">b49</a>") && !browser.text.contains(">b50</a>"));
    let next = browser
        .text
        .split("href=\"")
        .find(|part| part.contains("cursor="));
    let next = next.unwrap().split('"').next().unwrap().to_owned();
    browser.get(&next).await;
    assert!(browser.text.contains(">b50</a>") && !browser.text.contains(">b49</a>"));
    assert_eq!(browser.send("HEAD /control/ui", "", &[]).await.status, 200);
    assert_eq!(browser.text, "");
}
