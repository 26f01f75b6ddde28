//! Archives in files.

use std::collections::BTreeMap;
use std::path::Path;

use solon_control::model::{Bundle, Storage};
use solon_control::storage::{Published, StorageOptions, StorageTarget};

use super::Built;
use crate::databases::On;
use crate::plane::Plane;

/// Publishes to a file. Returns `stored`, `unchanged`, or the status and the message of the failure.
async fn publish(options: &StorageOptions, path: &str, built: &Built, fence: u64) -> String {
    let bundle = Bundle {
        name: "b".to_owned(),
        object_storage: Some(Storage::Filesystem {
            path: path.to_owned(),
        }),
        ..Bundle::default()
    };
    let published = match StorageTarget::open(&bundle, &BTreeMap::new(), options) {
        Ok(target) => {
            assert!(target.has_one_publisher());
            target.publish(&built.artefact(), fence).await
        }
        Err(failure) => Err(failure),
    };
    match published {
        Ok(Published::Stored) => "stored".to_owned(),
        Ok(Published::Unchanged) => "unchanged".to_owned(),
        Err(failure) => format!("{} {}", failure.status.as_str(), failure.message),
    }
}

/// A change of the folder before an archive is published.
type Change = fn(&Path);

#[tokio::test(flavor = "multi_thread")]
async fn files_are_replaced_only_if_they_differ() {
    let plane = Plane::new(On::Memory).await.unwrap();
    let folder = plane.folder.0.join("out");
    let private = plane.folder.0.join("data");
    std::fs::create_dir_all(&private).unwrap();
    let options = StorageOptions {
        folder: folder.clone(),
        private,
        ..plane.plane.storage_options()
    };
    let gzip = |text: &str| [&[0x1f, 0x8b], text.as_bytes()].concat();
    let (one, two) = (Built::new("1", gzip("one")), Built::new("2", gzip("two")));
    let renamed = Built::new("renamed", gzip("two"));
    let nothing: Change = |_| {};
    let steps: [(Change, &str, &Built, u64, &str); 19] = [
        (nothing, "x/b.tar.gz", &one, 1, "stored"),
        (nothing, "x/b.tar.gz", &one, 1, "unchanged"),
        (nothing, "x/b.tar.gz", &two, 1, "stored"),
        (nothing, "x/b.tar.gz", &renamed, 2, "unchanged"),
        // the unchanged upload has raised the token
        (
            nothing,
            "x/b.tar.gz",
            &one,
            1,
            "PUSH_FAILED another instance",
        ),
        (
            |out| std::fs::remove_file(out.join("x/b.tar.gz")).unwrap(),
            "x/b.tar.gz",
            &two,
            2,
            "stored",
        ),
        (
            |out| std::fs::write(out.join("x/b.tar.gz"), "torn").unwrap(),
            "x/b.tar.gz",
            &two,
            2,
            "stored",
        ),
        (
            |out| std::fs::write(out.join("x/b.tar.gz"), "").unwrap(),
            "x/b.tar.gz",
            &two,
            2,
            "stored",
        ),
        (
            |out| std::fs::write(out.join("x/.b.tar.gz.solon"), "{").unwrap(),
            "x/b.tar.gz",
            &two,
            1,
            "unchanged",
        ),
        (nothing, "x/b.tar.gz", &one, 1, "stored"),
        // files of others are not replaced, but archives are
        (
            |out| std::fs::write(out.join("notes"), "text").unwrap(),
            "notes",
            &one,
            1,
            "PUSH_FAILED the file exists and is not an archive",
        ),
        (
            |out| std::fs::write(out.join("old.gz"), [0x1f, 0x8b, 1]).unwrap(),
            "old.gz",
            &one,
            1,
            "stored",
        ),
        (
            |out| std::fs::create_dir(out.join("folder")).unwrap(),
            "folder",
            &one,
            1,
            "PUSH_FAILED cannot write the file",
        ),
        (
            nothing,
            "x/b.tar.gz/below",
            &one,
            1,
            "PUSH_FAILED cannot write the file",
        ),
        // files of the service are never replaced
        (
            nothing,
            "../data/sqlite.db",
            &one,
            1,
            "CONFIG_ERROR object storage: filesystem path is in the folder",
        ),
        (
            nothing,
            "../data/deep/b",
            &one,
            1,
            "CONFIG_ERROR object storage: filesystem path is in the folder",
        ),
        (
            |out| std::os::unix::fs::symlink(out.join("../data"), out.join("link")).unwrap(),
            "link/b",
            &one,
            1,
            "CONFIG_ERROR object storage: filesystem path is in the folder",
        ),
        (
            nothing,
            "x/.b.tar.gz.solon",
            &one,
            1,
            "CONFIG_ERROR object storage: filesystem path is the name",
        ),
        (
            nothing,
            "..",
            &one,
            1,
            "CONFIG_ERROR object storage: filesystem path has no file name",
        ),
    ];
    for (at, (change, path, built, fence, wanted)) in steps.iter().enumerate() {
        change(&folder);
        let result = publish(&options, path, built, *fence).await;
        assert!(result.starts_with(wanted), "step {at}: {result}");
        if ["stored", "unchanged"].contains(wanted) {
            assert!(
                std::fs::read(folder.join(path)).unwrap() == built.archive,
                "step {at}"
            );
        }
    }
    assert_eq!(std::fs::read(folder.join("notes")).unwrap(), b"text");
    assert!(!plane.folder.0.join("data/sqlite.db").exists());
    // no temporary file is left
    let names = std::fs::read_dir(folder.join("x")).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [".b.tar.gz.solon", "b.tar.gz"]);
}

/// Readers poll a file while it is replaced: each of them reads a whole archive.
#[tokio::test(flavor = "multi_thread")]
async fn readers_see_whole_archives() {
    let plane = Plane::new(On::Memory).await.unwrap();
    let options = StorageOptions {
        folder: plane.folder.0.join("out"),
        private: plane.folder.0.join("data"),
        ..plane.plane.storage_options()
    };
    let archives: Vec<Built> = (0..2_u8)
        .map(|seed| {
            let body = vec![seed; 1 << 20];
            Built::new(&seed.to_string(), [vec![0x1f, 0x8b], body].concat())
        })
        .collect();
    assert_eq!(publish(&options, "b", &archives[0], 1).await, "stored");
    let path = options.folder.join("b");
    let known: Vec<String> = archives.iter().map(|built| built.digest.clone()).collect();
    let reading = std::thread::spawn(move || {
        for _ in 0..100 {
            let read = Built::new("", std::fs::read(&path).unwrap());
            assert!(known.contains(&read.digest), "a torn archive");
        }
    });
    for round in 1..30 {
        let built = &archives[round % 2];
        assert_eq!(publish(&options, "b", built, 1).await, "stored");
    }
    reading.join().unwrap();
}

/// Publishers of one machine compare tokens and write under a lock: the largest token prevails, whatever the order.
#[tokio::test(flavor = "multi_thread")]
async fn the_newest_of_concurrent_publishers_prevails() {
    let plane = Plane::new(On::Memory).await.unwrap();
    let options = StorageOptions {
        folder: plane.folder.0.join("out"),
        private: plane.folder.0.join("data"),
        ..plane.plane.storage_options()
    };
    let archive = |fence: u64| {
        let body = format!("archive {fence}").into_bytes();
        Built::new(&fence.to_string(), [vec![0x1f, 0x8b], body].concat())
    };
    for round in 0..20 {
        let path = format!("b{round}");
        let publishing: Vec<_> = (1..=8)
            .map(|fence| {
                let (options, path) = (options.clone(), path.clone());
                tokio::spawn(async move { publish(&options, &path, &archive(fence), fence).await })
            })
            .collect();
        let mut stored = 0;
        for publisher in publishing {
            stored += usize::from(publisher.await.unwrap() == "stored");
        }
        assert!(stored >= 1);
        let text = std::fs::read(options.folder.join(&path)).unwrap();
        assert_eq!(Built::new("8", text).digest, archive(8).digest, "{path}");
    }
}
