# without: SpecialiseCalls
# query: regex.match(`^a+$`, input.name); regex.match(input.pattern, "b")
package a

short if regex.match(`^[a-z]{1,8}$`, input.name)
