# METADATA
# title: JSON Web Tokens
# description: >-
#   Verifies tokens. `options` has `keys` (a JWKS or certificate as text) or `secret`, `algorithms` (an array), `issuer` and
#   `audience`. Each of them is required, so that a forgotten option rejects all tokens.
package solon.jwt

# Returns the claims of a valid token: signature, algorithm, issuer, audience and times are verified.
claims(token, options) := payload if {
	count(options.algorithms) > 0
	options.issuer != ""
	options.audience != ""
	header := io.jwt.decode(token)[0]
	header.alg in options.algorithms
	lower(header.alg) != "none"
	[true, _, payload] = io.jwt.decode_verify(token, object.union(_key(header.alg, options), {
		"alg": header.alg,
		"iss": options.issuer,
		"aud": options.audience,
	}))

	# a token without an end would be valid for ever
	is_number(payload.exp)
}

# a secret never verifies a signature of a public key, and the other way round
_key(algorithm, options) := {"secret": options.secret} if startswith(algorithm, "HS")

_key(algorithm, options) := {"cert": options.keys} if not startswith(algorithm, "HS")

# Returns the token of an `Authorization` header.
bearer(header) := token if {
	parts := split(header, " ")
	count(parts) == 2
	lower(parts[0]) == "bearer"
	token := parts[1]
	token != ""
}

# Is true if the claims have a scope, as a text separated by spaces or as an array.
has_scope(payload, scope) if scope in split(payload.scope, " ")

has_scope(payload, scope) if {
	is_array(payload.scope)
	scope in payload.scope
}
