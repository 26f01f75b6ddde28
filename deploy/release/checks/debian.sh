# shellcheck shell=bash
# The package keeps to Debian's rules, and installs, upgrades, keeps configuration and is removed without a trace on a fresh system.

package=$out/solon_$version-1_amd64.deb
lintian --allow-root --fail-on error,warning "$package"

base=$build/bookworm.tar
[ -f "$base" ] || mmdebstrap --quiet --variant=minbase bookworm "$base"
system=$scratch/debian
mkdir -p "$system"
tar -xf "$base" -C "$system"

# what is installed, without logs and the database of dpkg
state() {
  (cd "$system" && find . \( -path ./var/log -o -path ./var/lib/dpkg -o -path ./var/cache -o -path ./dev \) -prune -o -print | sort)
}
in_system() { chroot "$system" env DEBIAN_FRONTEND=noninteractive "$@"; }

state >"$scratch/before"

# an earlier version is the same package with another number
mkdir "$scratch/earlier"
dpkg-deb --raw-extract "$package" "$scratch/earlier"
sed -i 's/^Version: .*/Version: 0.0.1-1/' "$scratch/earlier/DEBIAN/control"
dpkg-deb --root-owner-group -Znone --build "$scratch/earlier" "$system/earlier.deb" >/dev/null
cp "$package" "$system/current.deb"

in_system dpkg --install /earlier.deb >/dev/null
echo "# changed by an administrator" >>"$system/etc/solon/config.yaml"
in_system dpkg --install /current.deb >/dev/null
[ "$(in_system dpkg-query --show --showformat '${Version} ${Status}' solon)" = "$version-1 install ok installed" ] ||
  fail "the package is not installed"
grep --quiet "changed by an administrator" "$system/etc/solon/config.yaml" || fail "the upgrade lost a change of the configuration"

for name in solon solon-control; do
  unit=$(find "$system/usr/lib/systemd" "$system/lib/systemd" -name "$name.service" 2>/dev/null | head -n 1)
  [ -n "$unit" ] || fail "the package has no unit $name"
  [ "$(systemctl --root="$system" is-enabled "$name" || true)" = disabled ] || fail "$name is enabled by the installation"
  systemd-analyze security --offline=true --threshold=29 "$unit" >"$scratch/security" || {
    cat "$scratch/security" >&2
    fail "$name is exposed"
  }
  echo "verify: $(tail -n 1 "$scratch/security")"
done

# the command of the unit, as a user without rights
command=$(sed -n 's/^ExecStart=//p' "$(find "$system" -path '*/systemd/system/solon.service' | head -n 1)")
# shellcheck disable=SC2086
alone bash -c 'serves "$@"' serves chroot --userspec=65534:65534 "$system" $command

in_system dpkg --remove solon >/dev/null
[ ! -e "$system/usr/bin/solon" ] || fail "the removal left the binary"
[ -f "$system/etc/solon/config.yaml" ] || fail "the removal took the configuration"
in_system dpkg --purge solon >/dev/null
rm "$system/earlier.deb" "$system/current.deb"
state | diff "$scratch/before" - || fail "the purge left files"
