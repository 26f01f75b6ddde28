# Addresses and networks in lists.
package blocks

# one address in one of many networks
default listed := false

listed if {
	some network in data.networks
	net.cidr_contains(network, input.address)
}

# many addresses, a few constant networks
private := count([address |
	some address in data.addresses
	some network in ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fd00::/8"]
	net.cidr_contains(network, address)
])

# rules of a firewall
open_to(address) if {
	some rule in data.rules
	rule.action == "allow"
	net.cidr_contains(rule.source, address)
}

reached := count([address | some address in data.addresses; open_to(address)])

public := count([rule.id |
	some rule in data.rules
	not net.cidr_contains("10.0.0.0/8", rule.source)
	not net.cidr_intersects(rule.source, "192.168.0.0/16")
])
