# without: IndexRules
package a

default allow := false

allow if {
	input.method == "GET"
	input.path = ["users", id]
	input.user == id
}

allow if {
	input.method == "GET"
	input.path = ["items", _]
}

allow if {
	input.method == "POST"
	input.path = ["items"]
}

allow if startswith(input.url, "/a/b")

allow if {
	startswith(input.url, "/a/c")
	input.n > 3
}

allow if glob.match("/x/*/y", ["/"], input.url)
allow if glob.match("/x/*/z", ["/"], input.url)
allow if regex.match(`^/re/\d+$`, input.url)
allow if net.cidr_contains("10.1.0.0/16", input.ip)

allow if {
	net.cidr_contains("10.0.0.0/8", input.ip)
	input.n == 2
}

allow if {
	input.role in {"admin", "root"}
	input.action == "del"
}

allow if "x" in input.roles

allow if {
	some r in input.roles
	r == "y"
}

f("t1", x) := 1 if x.a == "b"
f("t2", x) := 2 if x.a == "c"
f("t3", x) := 3

f(t, x) := 4 if {
	t == "t4"
	x.a == "b"
}

f(t, x) := 5 if {
	t == "t5"
	startswith(x.a, "b")
}

g(x) := 1 if x.k == "a"

else := 2 if x.k == "b"

else := 3 if x.k == "c"

else := 4

h(p) := 1 if {
	["users", id] = split(p, "/")
	id != ""
}

h(p) := 2 if {
	parts := split(p, "/")
	parts[0] == "items"
	count(parts) == 2
}

h(p) := 3 if ["carts", _, "x"] = split(p, "/")

kind := "image" if endswith(input.file, ".png")

kind := "text" if endswith(input.file, ".txt")

kind := "packed" if endswith(input.file, ".tar.gz")
