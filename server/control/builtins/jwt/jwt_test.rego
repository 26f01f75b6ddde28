package solon.jwt_test

import data.solon.jwt

options := {"secret": "s3cret", "algorithms": ["HS256"], "issuer": "https://issuer", "audience": "api"}

now := time.now_ns() / 1000000000

valid := {"iss": "https://issuer", "aud": "api", "exp": now + 3600, "sub": "ann"}

token(payload) := io.jwt.encode_sign({"alg": "HS256", "typ": "JWT"}, payload, {
	"kty": "oct",
	"k": base64url.encode_no_pad("s3cret"),
})

test_valid if jwt.claims(token(valid), options).sub == "ann"

test_expired if not jwt.claims(token(object.union(valid, {"exp": 1})), options)

test_without_end if not jwt.claims(token(object.remove(valid, ["exp"])), options)

test_other_issuer if not jwt.claims(token(object.union(valid, {"iss": "x"})), options)

test_other_audience if not jwt.claims(token(object.union(valid, {"aud": "x"})), options)

test_without_audience if not jwt.claims(token(object.remove(valid, ["aud"])), options)

test_other_secret if not jwt.claims(token(valid), object.union(options, {"secret": "x"}))

test_other_algorithm if not jwt.claims(token(valid), object.union(options, {"algorithms": ["RS256"]}))

test_public_key_is_no_secret if {
	not jwt.claims(token(valid), object.union(object.remove(options, ["secret"]), {"keys": "s3cret"}))
}

test_each_option_is_required if {
	every name in ["secret", "algorithms", "issuer", "audience"] {
		not jwt.claims(token(valid), object.remove(options, [name]))
	}
}

test_changed_token if not jwt.claims(concat("", [token(valid), "x"]), options)

test_text if not jwt.claims("x", options)

test_bearer if {
	jwt.bearer("Bearer abc") == "abc"
	jwt.bearer("bearer abc") == "abc"
	not jwt.bearer("Basic abc")
	not jwt.bearer("Bearer ")
	not jwt.bearer("Bearer a b")
}

test_scopes if {
	jwt.has_scope({"scope": "read write"}, "write")
	jwt.has_scope({"scope": ["read"]}, "read")
	not jwt.has_scope({"scope": "readwrite"}, "read")
	not jwt.has_scope({}, "read")
}
