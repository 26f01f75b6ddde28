# shellcheck shell=bash
# Licences, bills of materials and the section of the changelog, which other parts pack.

rust_tool cargo-bundle-licenses "$bundle_licenses"
rust_tool cargo-cyclonedx "$cyclonedx"

# inside the sources, where cargo-deb and maturin find them
documents=$source/target/documents
rm -rf "$documents"
mkdir -p "$documents"

# the section of this version; before its heading is written, the section of what is not released
python3 "$root/deploy/release/changelog.py" "$source/CHANGELOG.md" "$version" >"$documents/CHANGELOG.md"

# the licences of all crates of the workspace; `describe` selects those of an artefact, and fails if one has no text
(
  cd "$source"
  PATH=$tools/cargo-bundle-licenses-$bundle_licenses/bin:$PATH RUST_LOG=error \
    cargo bundle-licenses --format json --output "$documents/licenses.json"
)

# describe NAME FOLDER TARGET: the components and licences of the crate in a folder, built for a target
describe() {
  local name=$1 folder=$source/$2 target=$3 notices=$build/notices
  (
    cd "$folder"
    PATH=$tools/cargo-cyclonedx-$cyclonedx/bin:$PATH cargo cyclonedx --quiet --format json --spec-version 1.5 \
      --target "$target" --no-build-deps --override-filename "$name"
  )
  python3 "$root/deploy/release/components.py" "$folder/$name.json" "$documents/$name.cdx.json" "$source"
  find "$source" -name "$name.json" -not -path "$source/target/*" -delete

  # what is linked and no crate
  rm -rf "$notices"
  mkdir -p "$notices"
  cp "$sysroot/share/doc/rust/COPYRIGHT-library.html" "$notices/Rust standard library.html"
  case $target in
  *-musl) cp "$tools/cargo-zigbuild-$zigbuild"/lib/python3*/site-packages/ziglang/lib/libc/musl/COPYRIGHT "$notices/musl.txt" ;;
  esac
  python3 "$root/deploy/release/licenses.py" "$documents/$name.cdx.json" "$documents/licenses.json" "$notices" \
    "$sysroot/share/doc/rust/licenses" >"$documents/THIRD-PARTY-$name.txt"
}
