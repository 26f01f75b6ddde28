# shellcheck shell=bash
# The C library: headers, shared and static library, files for pkg-config and CMake that find them wherever they are unpacked.

python_tool cargo-zigbuild "$zigbuild" "ziglang==$zig"
(
  cd "$source"
  PATH=$tools/cargo-zigbuild-$zigbuild/bin:$PATH "$cargo" zigbuild --quiet --locked --profile dist --target "$shared_target.$glibc" \
    --package solon-ffi
)
describe solon-c ffi "$shared_target"

name=solon-c-$version-x86_64-linux-gnu
stage=$build/stage/$name
rm -rf "$stage"
DESTDIR=$stage "$source/ffi/install" "/$name" "$CARGO_TARGET_DIR/$shared_target/dist"
sed -i 's|^prefix=.*|prefix=${pcfiledir}/../..|' "$stage/$name/lib/pkgconfig/solon.pc"
mkdir -p "$stage/$name/share/doc/solon"
install -m 644 "$source/LICENSE" "$source/docs/c.md" "$documents/CHANGELOG.md" "$documents/solon-c.cdx.json" \
  "$stage/$name/share/doc/solon"
install -m 644 "$documents/THIRD-PARTY-solon-c.txt" "$stage/$name/share/doc/solon/THIRD-PARTY.txt"
pack "$out/$name.tar.gz" "$stage"
