# Texts put together from values.
package letters

letters contains $"Dear {person.name}, order {person.order} of {person.amount} Euro is {person.state}." if {
	some person in data.people
}

lines contains line if {
	some i, person in data.people
	line := sprintf("%05d %-20s|%8.2f|%v", [i, person.name, person.amount, person.state])
}

answer := {"letters": count(letters), "lines": count(lines), "longest": max([count(text) | some text in letters | lines])}
