# without: SpecialiseCalls
# query: regex.match(`^a+$`, input.name); regex.match(input.pattern, "b")
package a

short if regex.match(`^[a-z]{1,8}$`, input.name)

old if semver.compare(input.version, "1.10.0") < 0

late if time.parse_rfc3339_ns(input.time) > time.parse_rfc3339_ns("2026-01-01T00:00:00Z") + time.parse_duration_ns("36h")
