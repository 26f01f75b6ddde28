# Packages with known faults.
package versions

vulnerable contains {"package": item.name, "advisory": advisory.id} if {
	some item in data.packages
	some advisory in data.advisories[item.name]
	semver.compare(item.version, advisory.introduced) >= 0
	semver.compare(item.version, advisory.fixed) < 0
}

answer := count(vulnerable)

outdated := count([item.name | some item in data.packages; semver.compare(item.version, "2.0.0") < 0])

newest := [version |
	some version in data.releases
	every other in data.releases {
		semver.compare(version, other) >= 0
	}
]
