# shellcheck shell=bash
# The Debian package of the static binary, with units, manual pages and completions. It needs the part `binary`.

rust_tool cargo-deb "$deb"
if [ -z "${binary:-}" ]; then
  . "$root/deploy/release/binary.sh"
fi

# Debian's form of a changelog, with the latest version alone
author=$(git -C "$root" log -1 --format='%an <%ae>')
cat >"$documents/changelog" <<END
solon ($version-1) stable; urgency=medium

  * Version $version. Changes:
    $repository/blob/main/CHANGELOG.md

 -- $author  $(date --rfc-email --date="@$SOURCE_DATE_EPOCH")
END

package=$out/solon_$version-1_amd64.deb
(
  cd "$source/server"
  PATH=$tools/cargo-deb-$deb/bin:$PATH cargo deb --quiet --no-build --no-strip --profile dist --target "$static_target" \
    --maintainer "$author" --output "$package"
)
