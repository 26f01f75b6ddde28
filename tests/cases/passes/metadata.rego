# METADATA
# title: the package
# scope: package
package a

# METADATA
# title: a rule
# custom:
#   level: 3
p := x if {
	x := rego.metadata.rule().custom.level
	rego.metadata.chain()[0].path == ["a", "p"]
}

q := rego.metadata.rule()

# METADATA
# scope: document
# title: a document
r contains y if {
	some link in rego.metadata.chain()
	y := link.annotations.title
}
