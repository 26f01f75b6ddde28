# shellcheck shell=bash
# The static binary with its manual pages, completions and licences.

python_tool cargo-zigbuild "$zigbuild" "ziglang==$zig"
(
  cd "$source"
  PATH=$tools/cargo-zigbuild-$zigbuild/bin:$PATH "$cargo" zigbuild --quiet --locked --profile dist --target "$static_target" \
    --package solon-server --bin solon
)
binary=$CARGO_TARGET_DIR/$static_target/dist/solon

mkdir -p "$documents/man" "$documents/completions"
"$binary" man "$documents/man"
for shell in bash zsh fish powershell; do
  "$binary" completion "$shell" >"$documents/completions/solon.$shell"
done
describe solon server "$static_target"

name=solon-$version-x86_64-linux
stage=$build/stage/$name
rm -rf "$stage"
mkdir -p "$stage/$name"
install -m 755 "$binary" "$stage/$name/solon"
install -m 644 "$source/LICENSE" "$source/README.md" "$documents/CHANGELOG.md" "$documents/solon.cdx.json" "$stage/$name"
install -m 644 "$documents/THIRD-PARTY-solon.txt" "$stage/$name/THIRD-PARTY.txt"
cp -r "$documents/man" "$documents/completions" "$source/deploy/systemd" "$stage/$name"
pack "$out/$name.tar.gz" "$stage"
