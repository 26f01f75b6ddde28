# without: EndSearches
package t

deny contains "no tag" if {
	some item in input.items
	not item.tag
	item.size > 3
}

# another member for each item
named contains item.name if {
	some item in input.items
	item.size > 3
}

# what is called may fail for a later item
checked contains "bad" if {
	some item in input.items
	is_bad(item)
}

is_bad(item) := x if {
	some x in item.marks
}

# no loop
plain contains "large" if input.size > 3
