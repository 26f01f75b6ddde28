# shellcheck shell=bash
# One wheel for every CPython from 3.10 on, and the source distribution.

python_tool maturin "$maturin" "ziglang==$zig"
describe solon-python python "$shared_target"

# the package declares the licences of what is compiled into it
stage=$build/stage/wheels
rm -rf "$stage"
mkdir -p "$stage"
install -m 644 "$documents/THIRD-PARTY-solon-python.txt" "$source/THIRD-PARTY.txt"
sed -i 's/^license-files = .*/license-files = ["LICENSE", "THIRD-PARTY.txt"]/' "$source/pyproject.toml"
(
  cd "$source"
  export PATH=$tools/maturin-$maturin/bin:$PATH CARGO=$cargo
  maturin build --quiet --locked --profile dist --zig --target "$shared_target" --compatibility "manylinux_${glibc/./_}" \
    --out "$stage"
  maturin sdist --out "$stage"
)
# so that the next checkout finds no changes
rm "$source/THIRD-PARTY.txt"
git -C "$root" show HEAD:pyproject.toml >"$source/pyproject.toml"
install -m 644 "$stage"/* "$out"
