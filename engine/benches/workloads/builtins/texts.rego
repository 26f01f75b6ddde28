package functions.texts

printed := sum([n |
	some o in data.orders
	n := count(sprintf("order %d of %s (%v) costs %.2f%%, %05d, %x %q", [o.id, o.owner, o.tags, o.price, o.id, o.id, o.kind]))
])

joined := sum([n | some o in data.orders; n := count(concat("/", [o.owner, o.kind, format_int(o.id, 10)]))])

kinds := count({k | some o in data.orders; k := concat(":", [o.owner, o.kind])})

written := sum([n | some o in data.orders; n := count(json.marshal(o))])
