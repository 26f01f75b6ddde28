# shellcheck shell=bash
# The image: the static binary and certificate authorities, without a distribution. It needs the part `binary`.

if [ -z "${binary:-}" ]; then
  . "$root/deploy/release/binary.sh"
fi

# certificate authorities of Mozilla, for requests over TLS
authorities=$tools/certifi-$certifi
if [ ! -f "$authorities/certifi/cacert.pem" ]; then
  python3 -m pip install --quiet --no-deps --target "$authorities" "certifi==$certifi"
fi

stage=$build/stage/image
rm -rf "$stage"
mkdir -p "$stage/etc/ssl/certs" "$stage/licenses" "$stage/tmp" "$stage/var/lib/solon"
install -m 755 "$binary" "$stage/solon"
install -m 644 "$authorities/certifi/cacert.pem" "$stage/etc/ssl/certs/ca-certificates.crt"
install -m 644 "$source/LICENSE" "$documents/solon.cdx.json" "$stage/licenses"
install -m 644 "$documents/THIRD-PARTY-solon.txt" "$stage/licenses/THIRD-PARTY.txt"
install -m 644 "$authorities/certifi-$certifi.dist-info/licenses/LICENSE" "$stage/licenses/ca-certificates.txt"
echo "solon:x:65532:65532:solon:/var/lib/solon:/solon" >"$stage/etc/passwd"
echo "solon:x:65532:" >"$stage/etc/group"

python3 "$root/deploy/release/image.py" "$stage" "$out/solon-$version-x86_64-linux.oci.tar" "$version" "$repository"
