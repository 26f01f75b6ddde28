package functions.versions

newer := count([v | some v in data.versions; semver.compare(v, "5.10.0") > 0])

valid := count([v | some v in data.versions; semver.is_valid(v)])

bytes := sum([n | some u in data.units; n := units.parse_bytes(u)])

numbers_sum := sum([n | some v in data.versions; n := to_number(split(v, ".")[1])])

sorted := count(sort(data.versions))

ranges := sum(numbers.range(1, 1000))
