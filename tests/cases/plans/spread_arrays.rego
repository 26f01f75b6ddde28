# without: SpreadArrays
package t

deny contains msg if {
	some c in input.containers
	msg := sprintf("%s runs %s", [c.name, c.image])
}

# an array from elsewhere, a wrong number of values, and a format that is no constant
values := sprintf("%s runs %s", input.values)

extra := sprintf("%s", [input.a, input.b])

formatted := sprintf(input.format, [input.a])
