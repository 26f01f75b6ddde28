package functions.graphqls

default valid := false

valid if graphql.is_valid(input.query, data.schema)

# the schema comes with the request
default valid_beside := false

valid_beside if graphql.is_valid(input.query, input.schema)

fields := count(graphql.parse_query(input.query).Operations)
