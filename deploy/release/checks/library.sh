# shellcheck shell=bash
# Programs in C and C++ are built against the archive by pkg-config and by CMake, with the shared and the static library.

tar -xf "$out/solon-c-$version-x86_64-linux-gnu.tar.gz" -C "$scratch"
prefix=$scratch/solon-c-$version-x86_64-linux-gnu
for file in LICENSE CHANGELOG.md THIRD-PARTY.txt solon-c.cdx.json; do
  [ -s "$prefix/share/doc/solon/$file" ] || fail "the archive has no $file"
done
for path in "$root" "$cargo_home" "$sysroot"; do
  if grep --quiet --fixed-strings "$path" "$prefix/lib/libsolon.so" "$prefix/lib/libsolon.a"; then
    fail "the library contains $path"
  fi
done
newest=$(objdump --dynamic-syms "$prefix/lib/libsolon.so" | grep -oP 'GLIBC_\K[0-9.]+' | sort --version-sort | tail -n 1)
[ "$(printf '%s\n' "$newest" "$glibc" | sort --version-sort | tail -n 1)" = "$glibc" ] || fail "the library needs glibc $newest"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
program=$root/deploy/release/checks/program
[ "$(pkg-config --modversion solon)" = "$version" ] || fail "pkg-config names another version"
# shellcheck disable=SC2046
cc -Wall -Werror -o "$scratch/shared" "$program/main.c" $(pkg-config --cflags --libs solon)
# shellcheck disable=SC2046
cc -Wall -Werror -o "$scratch/static" "$program/main.c" $(pkg-config --cflags solon) "$prefix/lib/libsolon.a" \
  $(pkg-config --static --libs-only-l solon | sed 's/-lsolon//')
cmake -S "$program" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$scratch/cmake" >/dev/null
for binary in "$scratch/shared" "$scratch/static" "$scratch/cmake/with_shared" "$scratch/cmake/with_static"; do
  [ "$("$binary")" = "allowed: 1" ] || fail "$binary decides otherwise"
done
