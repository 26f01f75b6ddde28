package solon.routes_test

import data.solon.routes

test_fixed_path if routes.parameters("/users", "/users") == {}

test_root if routes.parameters("/", "/") == {}

test_parameter if routes.parameters("/users/:id/keys/:key", "/users/7/keys/a") == {"id": "7", "key": "a"}

test_query_is_ignored if routes.parameters("/users/:id", "/users/7?x=1/2") == {"id": "7"}

test_slash_at_the_end if routes.parameters("/users", "/users/") == {}

test_other_path if not routes.parameters("/users/:id", "/groups/7")

test_other_length if {
	not routes.parameters("/users/:id", "/users")
	not routes.parameters("/users/:id", "/users/7/keys")
}

test_rest if {
	routes.parameters("/files/*", "/files/a/b") == {}
	routes.parameters("/files/*", "/files") == {}
	not routes.parameters("/files/*", "/other/a")
}

test_unsafe_paths if {
	every path in ["/users//7", "/users/../7", "/users/.", "/users/%2e%2e", "/users/a%2Fb", "/users/a\\b", "users/7", "/users/%252e", "//users/7"] {
		not routes.steps(path)
	}
}

all := [
	{"pattern": "/users/:id", "methods": ["GET"], "name": "read"},
	{"pattern": "/users/*", "methods": ["*"], "name": "any"},
]

test_routes if {
	[route.name | some route in routes.matching("get", "/users/7", all)] == ["read", "any"]
	[route.name | some route in routes.matching("DELETE", "/users/7", all)] == ["any"]
	routes.matching("GET", "/users/7", all)[0].parameters == {"id": "7"}
	routes.matching("GET", "/x", all) == []
}
