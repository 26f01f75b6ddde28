# without: FuseAggregates
# query: count([x | some x in input.xs]) > 2
package a

total := sum([item.price | some item in input.items])

owners := count({item.owner | some item in input.items})

# the array is asked for twice, so it is made
spread := max(xs) - min(xs) if xs := [x | some x in input.xs]

# equal members count once, so the set is made
distinct := sum({x | some x in input.xs})
