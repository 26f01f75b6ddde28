# Lists that are indexed by a key before they are asked.
package catalogues

by_id := {item.id: item | some item in data.items}

by_kind := {kind: ids |
	some kind in {item.kind | some item in data.items}
	ids := [item.id | some item in data.items; item.kind == kind]
}

names := {item.name: item.id | some item in data.items}

answer := {
	"found": count([line | some line in data.orders; by_id[line.item].price < 500]),
	"kinds": {kind: count(ids) | some kind, ids in by_kind},
	"names": count(names),
}

prices := {item.id: {"price": item.price, "kind": item.kind} | some item in data.items; item.price > 10}

dear := count([id | some id, entry in prices; entry.price > 900])
