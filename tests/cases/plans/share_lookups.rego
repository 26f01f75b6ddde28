# without: ShareLookups
package t

import data.roles

# the lookups of a loop that the loop does not change
allow if {
	some role in roles[input.user]
	some grant in data.grants[role]
	grant.action == input.action
	grant.resource == input.resource
}

# the same place twice
both if {
	input.request.method == "GET"
	startswith(input.request.path, "/a")
	endswith(input.request.path, "/b")
}

# a replaced input is another one
replaced if {
	input.user == "a"
	f(input.user) with input.user as "b"
	not input.user == "b"
}

f(user) if user == "a"

# prints keep their turn
shown if {
	some x in input.items
	print(x)
	input.last == x
}

# what is called again with the same operands is called once
within if {
	some window in input.windows
	time.parse_rfc3339_ns(window.from) <= input.now
	input.now < time.parse_rfc3339_ns(window.from) + window.length
}

# what may answer otherwise is not
drawn if rand.intn("a", 6) == rand.intn("a", 6)
