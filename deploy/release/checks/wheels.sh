# shellcheck shell=bash
# The wheel installs without a network on each CPython from 3.10 on that is found in the path or by pyenv; the source distribution is whole.

wheel=$(find "$out" -maxdepth 1 -name "solon-$version-*.whl")
unzip -l "$wheel" | grep --quiet 'dist-info/licenses/THIRD-PARTY.txt' || fail "the wheel has no licences of others"
tar -tf "$out/solon-$version.tar.gz" >"$scratch/sdist"
for file in Cargo.lock pyproject.toml python/Cargo.toml engine/Cargo.toml LICENSE PKG-INFO; do
  grep --quiet --line-regexp "solon-$version/$file" "$scratch/sdist" || fail "the source distribution has no $file"
done

pythons=$(ls -d "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[0-9]*/bin/python3 2>/dev/null || true)
[ -n "$pythons" ] || pythons=$(command -v python3)
for python in $pythons; do
  environment=$scratch/$("$python" -c 'import sys; print("python-%d.%d" % sys.version_info[:2])')
  "$python" -m venv "$environment"
  "$environment/bin/pip" install --quiet --no-index "$wheel"
  result=$("$environment/bin/python" - <<'END'
import solon

engine = solon.Engine()
engine.set_module("authz.rego", 'package authz\nallow if input.user == "alice"')
print(engine.prepare("data.authz.allow").allow({"user": "alice"}))
END
  )
  [ "$result" = True ] || fail "$environment decides $result"
  [ "$("$environment/bin/pip" list --format freeze | grep '^solon==')" = "solon==$version" ] || fail "the wheel has another version"
  echo "verify: wheel on $("$python" --version)"
done
