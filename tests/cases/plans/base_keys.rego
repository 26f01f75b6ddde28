package a

blocked if data.blocked[input.id]

fraction := data.limits[1.5]

entry := data.list["0"]

scoped contains name if { some name; data.scopes[name][input.id].open }

anywhere if data.scopes[_][7] == input.id

field := data.users[_].name

local := found if {
	all := data.blocked
	found := all[input.id]
}
