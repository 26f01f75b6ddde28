"""Tokens of another library verify here, and tokens signed here verify there, for each algorithm."""

import base64
import datetime
import json

import pytest

import solon

jwt = pytest.importorskip("jwt")
x509 = pytest.importorskip("cryptography.x509")

from cryptography.hazmat.primitives import hashes, serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa  # noqa: E402

CLAIMS = {"sub": "alice", "aud": ["a", "b"], "iss": "tests", "exp": 4102444800, "n": {"é": [1, None]}}
SECRET = b"a secret of more than sixty-four bytes, so that no algorithm finds it to be too short"
ALGORITHMS = [
    *(f"{family}{bits}" for family in ("HS", "RS", "PS", "ES") for bits in (256, 384, 512)),
    "EdDSA",
]

POLICY = """
package tokens

signed := io.jwt.encode_sign(input.headers, input.claims, input.key)

raw := io.jwt.encode_sign_raw(json.marshal(input.headers), json.marshal(input.claims), json.marshal(input.key))

verified := io.jwt.decode_verify(input.token, input.constraints)

decoded := io.jwt.decode(input.token)

by_function.HS256 := io.jwt.verify_hs256(input.token, input.key)
by_function.HS384 := io.jwt.verify_hs384(input.token, input.key)
by_function.HS512 := io.jwt.verify_hs512(input.token, input.key)
by_function.RS256 := io.jwt.verify_rs256(input.token, input.key)
by_function.RS384 := io.jwt.verify_rs384(input.token, input.key)
by_function.RS512 := io.jwt.verify_rs512(input.token, input.key)
by_function.PS256 := io.jwt.verify_ps256(input.token, input.key)
by_function.PS384 := io.jwt.verify_ps384(input.token, input.key)
by_function.PS512 := io.jwt.verify_ps512(input.token, input.key)
by_function.ES256 := io.jwt.verify_es256(input.token, input.key)
by_function.ES384 := io.jwt.verify_es384(input.token, input.key)
by_function.ES512 := io.jwt.verify_es512(input.token, input.key)
by_function.EdDSA := io.jwt.verify_eddsa(input.token, input.key)

certificates := crypto.x509.parse_certificates(input.text)

jwk := crypto.x509.parse_rsa_private_key(input.text)
"""


@pytest.fixture(scope="module")
def engine():
    engine = solon.Engine()
    engine.set_module("tokens.rego", POLICY)
    return engine


def generate():
    """Returns a private key for each algorithm."""
    rsa_key = rsa.generate_private_key(65537, 2048)
    curves = {"256": ec.SECP256R1(), "384": ec.SECP384R1(), "512": ec.SECP521R1()}
    keys = {"EdDSA": ed25519.Ed25519PrivateKey.generate()}
    for bits, curve in curves.items():
        keys[f"HS{bits}"] = SECRET
        keys[f"RS{bits}"] = keys[f"PS{bits}"] = rsa_key
        keys[f"ES{bits}"] = ec.generate_private_key(curve)
    return keys


@pytest.fixture(scope="module")
def keys():
    return generate()


@pytest.fixture(scope="module")
def strangers():
    return generate()


def pem(key):
    info = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(serialization.Encoding.PEM, info).decode()


def private_pem(key):
    form = serialization.PrivateFormat.PKCS8
    plain = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, form, plain).decode()


def certificate(key):
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "tests")])
    builder = x509.CertificateBuilder(
        issuer_name=name,
        subject_name=name,
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=datetime.datetime(2020, 1, 1),
        not_valid_after=datetime.datetime(2040, 1, 1),
    )
    digest = None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    return builder.sign(key, digest)


def jwk(algorithm, key, private):
    if algorithm.startswith("HS"):
        return {"kty": "oct", "k": base64.urlsafe_b64encode(key).rstrip(b"=").decode()}
    own = key if private else key.public_key()
    written = jwt.get_algorithm_by_name(algorithm).to_jwk(own)
    return json.loads(written) if isinstance(written, str) else written


def tampered(token):
    header, payload, signature = token.split(".")
    other = "A" if payload[0] != "A" else "B"
    return ".".join([header, other + payload[1:], signature])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_tokens_signed_elsewhere_verify_here(engine, keys, strangers, algorithm):
    key = keys[algorithm]
    token = jwt.encode(CLAIMS, key, algorithm=algorithm, headers={"kid": "one"})
    if algorithm.startswith("HS"):
        forms, constraint = [SECRET.decode()], "secret"
    else:
        public = jwk(algorithm, key, private=False)
        encoded = certificate(key).public_bytes(serialization.Encoding.PEM).decode()
        stranger = jwk(algorithm, strangers[algorithm], private=False)
        several = {"keys": [{**stranger, "kid": "two"}, {**public, "kid": "one"}]}
        forms, constraint = [pem(key), encoded, json.dumps(public), json.dumps(several)], "cert"
    for form in forms:
        asked = {"token": token, "key": form}
        assert engine.evaluate(f"tokens/by_function/{algorithm}", asked) is True
        asked["token"] = tampered(token)
        assert engine.evaluate(f"tokens/by_function/{algorithm}", asked) is False
        constraints = {constraint: form, "alg": algorithm, "iss": "tests", "aud": "b"}
        asked = {"token": token, "constraints": constraints}
        valid, header, claims = engine.evaluate("tokens/verified", asked)
        assert valid is True
        assert header == jwt.get_unverified_header(token)
        assert claims == CLAIMS
    assert engine.evaluate("tokens/decoded", {"token": token})[1] == CLAIMS


@pytest.mark.parametrize("rule", ["signed", "raw"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_tokens_signed_here_verify_elsewhere(engine, keys, algorithm, rule):
    key = keys[algorithm]
    asked = {
        "headers": {"alg": algorithm, "typ": "JWT", "kid": "one"},
        "claims": CLAIMS,
        "key": jwk(algorithm, key, private=True),
    }
    token = engine.evaluate(f"tokens/{rule}", asked)
    public = key if algorithm.startswith("HS") else key.public_key()
    assert jwt.decode(token, public, algorithms=[algorithm], audience="a", issuer="tests") == CLAIMS
    assert jwt.get_unverified_header(token) == asked["headers"]
    with pytest.raises(jwt.InvalidTokenError):
        jwt.decode(tampered(token), public, algorithms=[algorithm], audience="a")


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "ES384", "ES512", "EdDSA"])
def test_keys_and_certificates_read_alike(engine, keys, algorithm):
    key = keys[algorithm]
    ours = engine.evaluate("tokens/jwk", {"text": private_pem(key)})
    theirs = jwk(algorithm, key, private=True)
    assert {name: theirs[name] for name in ours} == ours
    theirs = certificate(key)
    text = theirs.public_bytes(serialization.Encoding.PEM).decode()
    (ours,) = engine.evaluate("tokens/certificates", {"text": text})
    assert ours["SerialNumber"] == theirs.serial_number
    assert ours["Subject"]["CommonName"] == "tests"
    assert base64.b64decode(ours["Signature"]) == theirs.signature
    assert base64.b64decode(ours["Raw"]) == theirs.public_bytes(serialization.Encoding.DER)
