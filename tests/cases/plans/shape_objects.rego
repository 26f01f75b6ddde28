# without: ShapeObjects
package t

decision := {"reasons": reasons, "allow": input.allow, "id": 7}

reasons contains "one" if input.one

# a key that is only known later
by_user := {"user": input.user, input.user: true}

# equal keys: the last pair wins
twice := {1: input.a, 1.0: input.b}
