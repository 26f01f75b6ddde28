package functions.networks

hits := count([n | some n in data.networks; net.cidr_contains(n, input.address)])

matches := count(net.cidr_contains_matches(data.networks, input.address))

default private := false

private if net.cidr_contains("10.0.0.0/8", input.address)

private if net.cidr_contains("192.168.0.0/16", input.address)

private if net.cidr_contains("11.0.0.0/8", input.address)
