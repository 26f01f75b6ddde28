package functions.documents

schema := {
	"type": "object",
	"required": ["id", "name", "kind", "ports"],
	"properties": {
		"id": {"type": "integer", "minimum": 0},
		"name": {"type": "string", "pattern": "^[a-z]+-[0-9]+$", "maxLength": 40},
		"kind": {"enum": ["orders", "users", "invoices", "carts", "reports", "teams"]},
		"ports": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 65535}, "minItems": 1},
		"limits": {
			"type": "object",
			"properties": {"cpu": {"type": "string"}, "memory": {"type": "integer"}},
			"additionalProperties": false,
		},
		"labels": {"type": "object", "additionalProperties": {"type": "string"}},
	},
}

matching := count([d | some d in data.documents; json.match_schema(d, schema)[0]])

patched := sum([n |
	some d in data.documents
	p := json.patch(d, [{"op": "add", "path": "/labels/env", "value": "prod"}, {"op": "remove", "path": "/kind"}])
	n := count(p)
])

filtered := sum([n | some d in data.documents; n := count(json.filter(d, ["id", "limits/cpu", "labels/owner"]))])

removed := sum([n | some d in data.documents; n := count(json.remove(d, ["id", "limits/cpu"]))])

merged := sum([n | some d in data.documents; n := count(object.union(d, {"labels": {"env": "prod"}, "seen": true}))])

got := sum([n | some d in data.documents; n := object.get(d, ["limits", "memory"], 0)])
