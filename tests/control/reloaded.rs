//! Reloaded files with other content.

use solon_control::ControlPlane;

use crate::config::{described, send, write};
use crate::databases::{Folder, On};

/// Tokens of files may exchange their keys, or one may take the key of another that gets a new one.
#[tokio::test(flavor = "multi_thread")]
async fn tokens_exchange_keys() {
    for on in [On::Sqlite, On::Postgres, On::Mariadb] {
        let folder = Folder::new();
        let Some(database) = on.fresh(&folder.0).await else {
            continue;
        };
        let tokens = |a: &str, b: &str| {
            let scopes = |role: &str| format!("scopes: [{{role: {role}}}]");
            let (admin, viewer) = (scopes("administrator"), scopes("viewer"));
            format!("tokens: {{a: {{api_key: {a}, {admin}}}, b: {{api_key: {b}, {viewer}}}}}")
        };
        let mut options = described(
            &folder,
            &[(
                "a.yaml",
                &tokens(
                    "one-0123456789abcdef0123456789abcdef",
                    "two-0123456789abcdef0123456789abcdef",
                ),
            )],
        );
        options.database = Some(database);
        let plane = ControlPlane::open(&options).await.unwrap();
        let may_write = async |key: &str| send(&plane, key, "PUT /v1/sources/s", "{}").await.0;
        assert_eq!(
            (
                may_write("one-0123456789abcdef0123456789abcdef").await,
                may_write("two-0123456789abcdef0123456789abcdef").await
            ),
            (200, 403)
        );
        write(
            &folder.0,
            &[(
                "a.yaml",
                &tokens(
                    "two-0123456789abcdef0123456789abcdef",
                    "one-0123456789abcdef0123456789abcdef",
                ),
            )],
        );
        plane.reload().await.unwrap();
        assert_eq!(
            (
                may_write("one-0123456789abcdef0123456789abcdef").await,
                may_write("two-0123456789abcdef0123456789abcdef").await
            ),
            (403, 200)
        );
        write(
            &folder.0,
            &[(
                "a.yaml",
                &tokens(
                    "one-0123456789abcdef0123456789abcdef",
                    "three-0123456789abcdef0123456789abcdef",
                ),
            )],
        );
        plane.reload().await.unwrap();
        assert_eq!(
            (
                may_write("one-0123456789abcdef0123456789abcdef").await,
                may_write("two-0123456789abcdef0123456789abcdef").await
            ),
            (200, 401)
        );
        assert_eq!(
            may_write("three-0123456789abcdef0123456789abcdef").await,
            403
        );
    }
}

/// Items of files do not use items that the files no longer describe.
#[tokio::test(flavor = "multi_thread")]
async fn what_files_use_stays_described() {
    let folder = Folder::new();
    let bundle = "bundles: {b: {requirements: [{source: lib}]}}";
    let both = format!("{bundle}\nsources: {{lib: {{}}}}");
    let options = described(&folder, &[("a.yaml", &both)]);
    let plane = ControlPlane::open(&options).await.unwrap();
    write(&folder.0, &[("a.yaml", bundle)]);
    let refused = plane.reload().await.unwrap_err().to_string();
    assert!(
        refused.contains("no file describes it any more, and bundle \"b\" uses it"),
        "{refused}"
    );
    write(&folder.0, &[("a.yaml", &both)]);
    plane.reload().await.unwrap();
}
