# without: FoldConstants
package a

sizes := {"s": [1, 2], "m": {3, {"k": null}}, "l": [input.x, [4]]}

allow if input.roles == ["admin", "owner"]
