# shellcheck shell=bash
# Versions, paths and flags that every part of a release shares. `./release` and `deploy/release/verify` read it.

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
abi=$(sed -n 's/^#define SOLON_ABI \([0-9]*\)$/\1/p' "$root/include/solon.h")
repository=$(sed -n 's/^repository = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)

# tools that are not part of Rust, installed once below target/tools
zigbuild=0.24.1
zig=0.17.1
maturin=1.16.0
deb=3.8.0
cyclonedx=0.5.9
bundle_licenses=5.0.0
certifi=2026.10.19.post1

static_target=x86_64-unknown-linux-musl
shared_target=x86_64-unknown-linux-gnu
# the oldest glibc that the C library and the wheels support
glibc=2.28

tools=$root/target/tools
# compiled code and intermediate files
build=${SOLON_RELEASE_BUILD:-$root/target/release-build}
# the files of the commit, and nothing else
source=$build/source
# what is handed out
out=${SOLON_RELEASE_OUT:-$root/target/release-artifacts}

# the time of each file in each artefact is the time of the commit
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
SOLON_BUILD_COMMIT=$(git -C "$root" rev-parse HEAD)
export SOURCE_DATE_EPOCH SOLON_BUILD_COMMIT
export LC_ALL=C TZ=UTC PYTHONHASHSEED=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
umask 022

# no artefact contains a path of the machine that built it; of several prefixes that match, rustc takes the last
cargo_home=${CARGO_HOME:-$HOME/.cargo}
sysroot=$(cd "$root" && rustc --print sysroot)
rust_commit=$(cd "$root" && rustc -vV | sed -n 's/^commit-hash: //p')
RUSTFLAGS=
CFLAGS=
for pair in "$cargo_home/registry/src=/cargo" "$sysroot/lib/rustlib/src/rust=/rustc/$rust_commit" "$build=/build" "$source=/solon"; do
  RUSTFLAGS+="--remap-path-prefix=$pair "
  CFLAGS+="-ffile-prefix-map=$pair "
done
CXXFLAGS=$CFLAGS
export RUSTFLAGS CFLAGS CXXFLAGS
export CARGO_TARGET_DIR=$build/target CARGO_TERM_COLOR=never

# CARGO may name a program that runs cargo, for example one that waits for a free machine
cargo=${CARGO:-cargo}
unset CARGO

# checkout: puts the files of the commit into $source; files that stay the same keep their time, so that cargo keeps their build
checkout() {
  mkdir -p "$source"
  GIT_INDEX_FILE=$build/index git -C "$root" --work-tree="$source" read-tree --reset -u HEAD
}

# python_tool NAME VERSION [PACKAGE…]: installs a tool of PyPI
python_tool() {
  local folder=$tools/$1-$2
  if [ ! -x "$folder/bin/$1" ]; then
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet "$1==$2" "${@:3}"
  fi
}

# rust_tool NAME VERSION: installs a tool of crates.io for this machine, without the flags of the release
rust_tool() {
  local folder=$tools/$1-$2
  if [ ! -x "$folder/bin/$1" ]; then
    (cd "$root" && env -u RUSTFLAGS -u CFLAGS -u CXXFLAGS CARGO_TARGET_DIR="$build/tools" \
      "$cargo" install --quiet --debug --locked --root "$folder" --version "$2" "$1")
  fi
}

# pack ARCHIVE FOLDER: packs the contents of a folder, always into the same bytes
pack() {
  tar --sort=name --format=posix --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime \
    --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r-w \
    --directory "$2" --create . | gzip --no-name --best >"$1"
}
