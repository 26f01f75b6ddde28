# Amounts of CPU and memory.
package lib.quantities

cpu(text) := to_number(text) * 1000 if {
	is_string(text)
	regex.match(`^[0-9]+(\.[0-9]+)?$`, text)
}

cpu(text) := to_number(trim_suffix(text, "m")) if {
	is_string(text)
	endswith(text, "m")
}

cpu(number) := number * 1000 if is_number(number)

memory(text) := units.parse_bytes(text) if is_string(text)

memory(number) := number if is_number(number)
