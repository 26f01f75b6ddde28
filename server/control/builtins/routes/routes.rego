# METADATA
# title: HTTP route matching
# description: >-
#   Matches methods and paths with routes. A pattern consists of steps: a text, `:name` for one step that is a parameter, and
#   `*` at the end for any number of steps. A route is an object with `pattern`, `methods` (an array, where `*` means any)
#   and any other members.
package solon.routes

# Returns the steps of a path without its query. Undefined for paths that a server may understand differently: with empty
# steps, `.`, `..`, and encoded separators.
steps(path) := parts if {
	clean := split(path, "?")[0]
	startswith(clean, "/")
	parts := split(trim_suffix(substring(clean, 1, -1), "/"), "/")
	every part in parts {
		not _is_unsafe(lower(part), parts)
	}
}

_is_unsafe("", parts) if count(parts) > 1

_is_unsafe(part, _) if part in {".", ".."}

_is_unsafe(part, _) if regex.match(`%2e|%2f|%5c|\\|%00|%25`, part)

# Returns the parameters of a path that matches the pattern.
parameters(pattern, path) := found if {
	wanted := split(trim_suffix(trim_prefix(pattern, "/"), "/"), "/")
	given := steps(path)
	_has_length(wanted, given)
	fixed := [step | some step in wanted; step != "*"]
	every i, step in fixed {
		_matches(step, given[i])
	}
	found := {trim_prefix(step, ":"): given[i] |
		some i, step in fixed
		startswith(step, ":")
	}
}

_has_length(wanted, given) if {
	wanted[count(wanted) - 1] == "*"
	count(given) >= count(wanted) - 1
}

_has_length(wanted, given) if {
	not "*" in wanted
	count(wanted) == count(given)
}

_matches(step, given) if {
	startswith(step, ":")
	given != ""
}

_matches(step, given) if {
	not startswith(step, ":")
	step == given
}

# Returns the routes that match a method and a path, each with its `parameters`.
matching(method, path, routes) := [object.union(route, {"parameters": found}) |
	some route in routes
	_permits(route.methods, method)
	found := parameters(route.pattern, path)
]

_permits(methods, _) if "*" in methods

_permits(methods, method) if upper(method) in methods
