# shellcheck shell=bash
# The crates that are published, in an order in which each comes after those that it needs.

crates=(solon-syntax solon solon-outbound solon-host solon-tower)
arguments=(--quiet --locked)
for crate in "${crates[@]}"; do
  arguments+=(--package "$crate")
done
[ -z "$quick" ] || arguments+=(--no-verify)
(
  cd "$source"
  # the packed crates are built for this machine, by default flags
  unset RUSTFLAGS CFLAGS CXXFLAGS
  CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=$build/crates "$cargo" package "${arguments[@]}"
)
mkdir -p "$out/crates"
for crate in "${crates[@]}"; do
  install -m 644 "$build/crates/package/$crate-$version.crate" "$out/crates"
done
