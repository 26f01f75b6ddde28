# without: IndexRules
package a

allow if {
	input.method == "GET"
	input.path[0] == "public"
}

allow if input.method == "PUT"

allow if {
	m := input.method
	m == "GET"
	input.user == "bob"
}

allow if input.admin

price("s") := 1

price("m") := 2

price(size) := input.sizes[size]
