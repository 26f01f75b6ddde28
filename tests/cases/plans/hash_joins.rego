# without: HashJoins
package t

# two lists joined by a key
late contains order.id if {
	some customer in data.customers
	some order in data.orders
	order.days > 30
	order.customer.id == customer.id
}

# by the key of an object, and by a part of a pattern
named contains name if {
	some user in input.users
	some name, grants in data.grants
	name == user
	[user, _] = data.pairs[_]
}

# the value that changes most often is asked for
ranked contains user if {
	some user in input.users
	some level in data.levels
	level.kind == "open"
	level.user == input.user
	level.user == user
}

# functions are called again and again
owner(id) := item.owner if {
	some item in data.items
	item.id == id
}

# so is what a known key is asked for
owners[id] := item.owner if some id, item in data.items

# memberships
allowed if {
	every user in input.users {
		user in data.users
		not user in data.blocked
		user in ["a", "b"]
	}
}

# a loop that is entered once, one over a collection that changes, one whose test comes behind something that is seen
others contains id if {
	some item in data.items
	item.id == input.id
	some part in item.parts
	part.id == input.id
	some other in data.items
	print(other)
	id := other.id
	id == part.id
}

# what is asked for is found behind a comparison
cheap contains item.id if {
	some user in input.users
	some item in data.items
	item.price < 10
	item.owner == user.name
	some other in data.items
	other.price < item.price
	other.owner == input.owner
}

# what is asked for is made by built-ins from what is known before
adjacent if { some i; data.xs[i] == data.xs[i + 1] }

rising if { some i; data.xs[i] > data.xs[i + 1] }

lowered contains x.id if { some x in data.as; some y in data.bs; y.name == lower(x.name) }

tested contains x.id if { some x in data.as; some y in data.bs; y.kind == "a"; startswith(y.t, "b"); y.n == x.n + 1 }

# a number below a base document is the key of its text
numbered contains [i, j] if { some i, j; data.rows[i][0] == data.others[j][0] }
