#!/usr/bin/env python3
"""Writes a folder as an image of one layer, in an archive of the OCI image layout: image.py FOLDER ARCHIVE VERSION REPOSITORY"""

import gzip
import hashlib
import io
import json
import os
import sys
import tarfile
from datetime import datetime, timezone
from pathlib import Path

USER = 65532
# folders that the user of the image may write to
WRITABLE = {"tmp", "var/lib/solon"}
HEALTH = 'http.send({"method": "GET", "url": "http://127.0.0.1:8181/health"}).status_code = 200'
SECOND = 1_000_000_000

folder, archive, version, repository = sys.argv[1:]
epoch = int(os.environ["SOURCE_DATE_EPOCH"])
commit = os.environ["SOLON_BUILD_COMMIT"]
created = datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def member(name: str, mode: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.mtime = epoch
    info.mode = mode
    return info


def pack(root: Path) -> bytes:
    """Returns a layer with the files below a folder, in order of their names and owned by root."""
    contents = io.BytesIO()
    with tarfile.open(fileobj=contents, mode="w", format=tarfile.USTAR_FORMAT) as layer:
        for path in sorted(root.rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.is_dir():
                info = member(name, 0o755)
                info.type = tarfile.DIRTYPE
                if name in WRITABLE:
                    info.uid = info.gid = USER
                layer.addfile(info)
            else:
                data = path.read_bytes()
                info = member(name, 0o755 if os.access(path, os.X_OK) and path.stat().st_mode & 0o100 else 0o644)
                info.size = len(data)
                layer.addfile(info, io.BytesIO(data))
    return contents.getvalue()


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


blobs: dict[str, bytes] = {}


def descriptor(media_type: str, data: bytes, **more: object) -> dict[str, object]:
    """Stores a blob and returns its descriptor."""
    blobs[digest(data)] = data
    return {"mediaType": media_type, "digest": digest(data), "size": len(data), **more}


def encode(document: object) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


labels = {
    "org.opencontainers.image.created": created,
    "org.opencontainers.image.description": "A policy engine for the Rego language",
    "org.opencontainers.image.licenses": "Apache-2.0",
    "org.opencontainers.image.revision": commit,
    "org.opencontainers.image.source": repository,
    "org.opencontainers.image.title": "solon",
    "org.opencontainers.image.version": version,
}
platform = {"architecture": "amd64", "os": "linux"}
unpacked = pack(Path(folder))
config = {
    **platform,
    "created": created,
    "config": {
        "User": f"{USER}:{USER}",
        "Entrypoint": ["/solon"],
        "Cmd": ["run", "--server", "--addr", ":8181"],
        "Env": ["PATH=/", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"],
        "WorkingDir": "/var/lib/solon",
        "ExposedPorts": {"8181/tcp": {}},
        "Labels": labels,
        # an extension of Docker, which other runtimes pass over
        "Healthcheck": {
            "Test": ["CMD", "/solon", "eval", "--fail", "--format", "raw", HEALTH],
            "Interval": 10 * SECOND,
            "Timeout": 3 * SECOND,
            "StartPeriod": 5 * SECOND,
        },
    },
    "rootfs": {"type": "layers", "diff_ids": [digest(unpacked)]},
    "history": [{"created": created, "created_by": "deploy/release/image.py"}],
}
manifest = {
    "schemaVersion": 2,
    "mediaType": "application/vnd.oci.image.manifest.v1+json",
    "config": descriptor("application/vnd.oci.image.config.v1+json", encode(config)),
    "layers": [descriptor("application/vnd.oci.image.layer.v1.tar+gzip", gzip.compress(unpacked, mtime=0))],
    "annotations": labels,
}
name = {"org.opencontainers.image.ref.name": version, "io.containerd.image.name": f"docker.io/library/solon:{version}"}
index = {
    "schemaVersion": 2,
    "mediaType": "application/vnd.oci.image.index.v1+json",
    "manifests": [descriptor(manifest["mediaType"], encode(manifest), platform=platform, annotations=name)],
}
files = {f"blobs/sha256/{key.removeprefix('sha256:')}": data for key, data in blobs.items()}
files["index.json"] = encode(index)
files["oci-layout"] = encode({"imageLayoutVersion": "1.0.0"})
with tarfile.open(archive, "w", format=tarfile.USTAR_FORMAT) as layout:
    for path in ("blobs", "blobs/sha256"):
        info = member(path, 0o755)
        info.type = tarfile.DIRTYPE
        layout.addfile(info)
    for path, data in sorted(files.items()):
        info = member(path, 0o644)
        info.size = len(data)
        layout.addfile(info, io.BytesIO(data))
