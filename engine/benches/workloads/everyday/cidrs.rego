# Addresses against lists of networks.
package network

default allow := false

allow if {
	not blocked
	some network in data.allowed
	net.cidr_contains(network, input.address)
}

blocked if {
	some network in data.blocked
	net.cidr_contains(network, input.address)
}
