# Which service answers a path, by a list of patterns.
package gateway

default service := "none"

service := matches[0].service if count(matches) > 0

matches := [route |
	some route in data.routes
	route.method == input.method
	glob.match(route.pattern, ["/"], input.path)
]
