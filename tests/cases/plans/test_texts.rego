# without: TestTexts
package t

allow if {
	startswith(input.path, "/public/")
	not endswith(input.path, data.suffix)
	contains("a, b", input.part)
}

# the answer itself is asked for
answer := startswith(input.path, "/")

is_hidden(name) if startswith(name, ".")
