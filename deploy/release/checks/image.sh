# shellcheck shell=bash
# The image runs as its user with a root that nobody can write to, without rights and without files of a distribution.

archive=$out/solon-$version-x86_64-linux.oci.tar
runtime=()
# where cgroups are those of version 1, crun does not start
if command -v runc >/dev/null; then runtime=(--runtime runc --cgroup-manager cgroupfs); fi
podman() { command podman --root "$scratch/podman" --runroot "$scratch/podman-run" "${runtime[@]}" "$@"; }

image=$(podman load --quiet --input "$archive" | sed 's/^Loaded image[^:]*: *//')
[ "$(podman image inspect --format '{{.Config.User}}' "$image")" = 65532:65532 ] || fail "the image runs as root"
limits=(--ulimit nofile=1024:1024 --ulimit nproc=1000:1000)
podman run --detach --name solon --read-only --cap-drop all --security-opt no-new-privileges --network none "${limits[@]}" "$image" >/dev/null
mapfile -t health < <(python3 -c '
import json, sys, tarfile
archive = tarfile.open(sys.argv[1])
blob = lambda descriptor: json.load(archive.extractfile("blobs/" + descriptor["digest"].replace(":", "/")))
index = json.load(archive.extractfile("index.json"))
print("\n".join(blob(blob(index["manifests"][0])["config"])["config"]["Healthcheck"]["Test"][1:]))' "$archive")
healthy=
for _ in $(seq 100); do
  if podman exec solon "${health[@]}" >/dev/null 2>&1; then healthy=1 && break; fi
  sleep 0.1
done
[ -n "$healthy" ] || {
  podman logs solon >&2
  fail "the health check fails"
}
podman exec solon /solon version | grep --quiet --line-regexp "Version: $version" || fail "the image has another version"
podman stop --time 10 solon >/dev/null
[ "$(podman inspect --format '{{.State.ExitCode}}' solon)" = 0 ] || fail "the container ended by an error"
podman rm --force solon >/dev/null
podman system reset --force >/dev/null 2>&1 || true
