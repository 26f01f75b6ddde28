package functions.patterns

default allow := false

allow if regex.match(`^/[a-z]+/[0-9]+/items/[a-z0-9-]+$`, input.path)

default route := false

route if glob.match("/*/*/items/*", ["/"], input.path)

regexes := count([p | some p in data.regexes; regex.match(p, input.path)])

globs := count([p | some p in data.globs; glob.match(p, ["/"], input.path)])
