# Changes of lists.
package patches

# containers get a side car, a label and an environment variable
patched := [document |
	some pod in data.pods
	document := json.patch(pod, [
		{"op": "add", "path": "/spec/containers/-", "value": {"name": "proxy", "image": "proxy:1.2"}},
		{"op": "add", "path": "/spec/containers/0/env/0", "value": {"name": "PROXY", "value": "on"}},
		{"op": "replace", "path": "/metadata/labels/mesh", "value": "on"},
		{"op": "remove", "path": "/spec/volumes/1"},
	])
]

answer := sum([parts |
	some pod in patched
	parts := count(pod.spec.containers) + count(pod.spec.volumes)
])

# many operations on one long list
operations := array.concat(
	[{"op": "remove", "path": "/items/3"}, {"op": "add", "path": "/items/5", "value": {"id": -1, "state": "new"}}],
	[{"op": "replace", "path": sprintf("/items/%d/state", [at]), "value": "seen"} | some at, item in data.items; item.state == "open"; at > 9],
)

marked := count([item | some item in json.patch({"items": data.items}, operations).items; item.state == "seen"])
