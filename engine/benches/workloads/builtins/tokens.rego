package functions.tokens

default hs256 := false

hs256 if io.jwt.verify_hs256(input.hs256, "a secret of thirty-two characters")

default rs256 := false

rs256 if io.jwt.verify_rs256(input.rs256, data.certificate)

default es256 := false

es256 if io.jwt.verify_es256(input.es256, data.jwks)

default claims := false

# what most policies do: verify with constraints, then look at the claims
claims if {
	[valid, _, payload] := io.jwt.decode_verify(input.hs256, {
		"secret": "a secret of thirty-two characters",
		"alg": "HS256",
		"iss": "issuer",
		"aud": "api",
		"time": 1700000000000000000,
	})
	valid
	"admin" in payload.roles
}

default decoded := false

decoded if io.jwt.decode(input.rs256)[1].sub == "alice"
