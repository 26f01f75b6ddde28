#!/usr/bin/env python3
"""Makes keys.json: the keys, signatures and chains that tests/certificates cannot make anew and alike each time.

Signatures by curves and with PSS are random, and some keys are of kinds that the tests' own signer does not know. Run it
(it takes the package `cryptography`) only for another kind of key: all recorded verdicts depend on the file.
"""

import base64
import datetime
import json
import pathlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed448, ed25519, padding, rsa, utils, x25519
from cryptography.x509.oid import NameOID

DER = serialization.Encoding.DER
PRIVATE = serialization.PrivateFormat
START = datetime.datetime(2000, 1, 1)
END = datetime.datetime(2090, 1, 1)

keys = {
    "rsa": rsa.generate_private_key(65537, 2048),
    "rsa_other": rsa.generate_private_key(65537, 2048),
    "rsa_odd": rsa.generate_private_key(3, 2056),
    "rsa_short": rsa.generate_private_key(65537, 1024),
    "p224": ec.generate_private_key(ec.SECP224R1()),
    "p256": ec.generate_private_key(ec.SECP256R1()),
    "p384": ec.generate_private_key(ec.SECP384R1()),
    "p521": ec.generate_private_key(ec.SECP521R1()),
    "k256": ec.generate_private_key(ec.SECP256K1()),
    "ed25519": ed25519.Ed25519PrivateKey.generate(),
    "ed25519_other": ed25519.Ed25519PrivateKey.generate(),
    "ed448": ed448.Ed448PrivateKey.generate(),
    "x25519": x25519.X25519PrivateKey.generate(),
    "dsa": dsa.generate_private_key(1024),
}


def text(data):
    return base64.b64encode(data).decode()


def forms(key):
    plain = serialization.NoEncryption()
    found = {
        "public": text(key.public_key().public_bytes(DER, serialization.PublicFormat.SubjectPublicKeyInfo)),
        "pkcs8": text(key.private_bytes(DER, PRIVATE.PKCS8, plain)),
    }
    if isinstance(key, (rsa.RSAPrivateKey, ec.EllipticCurvePrivateKey, dsa.DSAPrivateKey)):
        found["own"] = text(key.private_bytes(DER, PRIVATE.TraditionalOpenSSL, plain))
    return found


def chain(signers, algorithm, pss=False):
    """A chain from a root to a leaf: each key certifies the next one."""
    made, above = [], None
    for place, name in enumerate(signers):
        key = keys[name]
        issuer, signer = above or (f"{name} {place}", key)
        last = place == len(signers) - 1
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"{name} {place}")]))
            .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
            .not_valid_before(START)
            .not_valid_after(END)
            .serial_number(1000 + place)
            .public_key(key.public_key())
            .add_extension(x509.BasicConstraints(not last, None), True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), False)
        )
        if last:
            names = [x509.DNSName("host.example.com"), x509.RFC822Name("someone@example.com")]
            builder = builder.add_extension(x509.SubjectAlternativeName(names), False)
        options = {}
        if pss:
            options["rsa_padding"] = padding.PSS(padding.MGF1(algorithm), algorithm.digest_size)
        made.append(text(builder.sign(signer, algorithm, **options).public_bytes(DER)))
        above = (f"{name} {place}", key)
    return made


def url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(algorithm):
    message = url(json.dumps({"alg": algorithm}).encode()) + "." + url(b'{"sub":"someone"}')
    data = message.encode()
    if algorithm == "EdDSA":
        return message + "." + url(keys["ed25519"].sign(data))
    kind, bits = algorithm[:2], algorithm[2:]
    digest = {"256": hashes.SHA256(), "384": hashes.SHA384(), "512": hashes.SHA512()}[bits]
    if kind == "ES":
        name, length = {"256": ("p256", 32), "384": ("p384", 48), "512": ("p521", 66)}[bits]
        numbers = utils.decode_dss_signature(keys[name].sign(data, ec.ECDSA(digest)))
        return message + "." + url(b"".join(number.to_bytes(length, "big") for number in numbers))
    pad = padding.PKCS1v15() if kind == "RS" else padding.PSS(padding.MGF1(digest), digest.digest_size)
    return message + "." + url(keys["rsa"].sign(data, pad, digest))


made = {
    "keys": {name: forms(key) for name, key in keys.items()},
    "chains": {
        "curves": chain(["p256", "p384", "p521"], hashes.SHA384()),
        "curves_256": chain(["p521", "p256", "ed25519"], hashes.SHA256()),
        "curves_512": chain(["p384", "p256", "rsa"], hashes.SHA512()),
        "pss_256": chain(["rsa", "rsa_other", "p256"], hashes.SHA256(), True),
        "pss_384": chain(["rsa_odd", "rsa", "ed25519"], hashes.SHA384(), True),
        "pss_512": chain(["rsa", "rsa_odd", "x25519"], hashes.SHA512(), True),
        "rsa_odd": chain(["rsa_odd", "rsa_odd", "rsa"], hashes.SHA512()),
        "rsa_short": chain(["rsa_short", "rsa_short", "rsa"], hashes.SHA256()),
        "rsa_sha224": chain(["rsa", "rsa_other", "rsa_short"], hashes.SHA224()),
        "dsa": chain(["dsa", "dsa", "rsa"], hashes.SHA256()),
    },
    "tokens": {
        name: token(name)
        for name in ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
    },
}
pathlib.Path(__file__).with_name("keys.json").write_text(json.dumps(made, indent=1) + "\n")
