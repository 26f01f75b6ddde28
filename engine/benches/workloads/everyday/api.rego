# Who may call which part of an HTTP API, by the claims of a signed token.
package http.authz

default allow := false

allow if {
	token.valid
	some scope in needed
	scope in granted
}

token := {"valid": valid, "claims": claims} if {
	[valid, _, claims] := io.jwt.decode_verify(bearer, {
		"secret": data.keys[header.kid],
		"alg": "HS256",
		"iss": "https://login.example.com",
		"aud": "api",
		"time": 1760000000000000000,
	})
}

header := io.jwt.decode(bearer)[0]

bearer := substring(input.headers.authorization, 7, -1) if startswith(input.headers.authorization, "Bearer ")

granted contains scope if some scope in token.claims.scopes

path := split(trim(input.path, "/"), "/")

actions := {"GET": "read", "HEAD": "read", "POST": "write", "PUT": "write", "DELETE": "delete"}

needed contains sprintf("%s:%s", [path[1], actions[input.method]])

needed contains sprintf("%s:own", [path[1]]) if path[2] == token.claims.sub

needed contains "admin" if actions[input.method] != "delete"
