# shellcheck shell=bash
# The static binary runs, needs no library, and contains no path of the machine that built it.

tar -xf "$out/solon-$version-x86_64-linux.tar.gz" -C "$scratch"
folder=$scratch/solon-$version-x86_64-linux
for file in solon LICENSE README.md CHANGELOG.md THIRD-PARTY.txt solon.cdx.json man/solon-run.1 completions/solon.bash; do
  [ -s "$folder/$file" ] || fail "the archive has no $file"
done

[ "$(readelf --dynamic "$folder/solon" | grep -c NEEDED)" = 0 ] || fail "the binary needs libraries"
for path in "$root" "$cargo_home" "$sysroot"; do
  if grep --quiet --fixed-strings "$path" "$folder/solon"; then fail "the binary contains $path"; fi
done
"$folder/solon" version | grep --quiet --line-regexp "Version: $version" || fail "the binary has another version"
"$folder/solon" version | grep --quiet --line-regexp "Build Commit: $SOLON_BUILD_COMMIT" || fail "the binary has another commit"
[ "$("$folder/solon" eval --format raw 'time.weekday([0, "Europe/Berlin"])')" = Thursday ] || fail "the binary decides otherwise"
alone bash -c 'serves "$1" run --server' serves "$folder/solon"
