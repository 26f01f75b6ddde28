# without: InlineCalls
package t

allow if {
	some document in data.documents
	may_read(input.user, document)
}

may_read(user, _) if is_admin(user)

may_read(user, document) if {
	same_team(user, document)
	not is_locked(user)
}

is_admin(user) if user.role == "admin"

same_team(user, document) if user.team == document.team

is_locked(user) if user.failures > limit(user.plan)

limit(plan) := data.limits[plan]

# the first member that holds
level(score) := "high" if score > 7

else := "middle" if score > 3

else := "low"

levels := [level(score) | some score in input.scores]

sized := {name: size("x") | some name in input.names}

size(name) := count(name) + count(input.name)

# several values may clash
rank(user) := 1 if user.role == "admin"

rank(user) := 2 if user.team == "core"

ranked if rank(input.user) == 1

# a loop may find several solutions
tag(item) := item.tags[_]

tagged if tag(input.item) == "a"

# what prints is seen
shown(x) := x if print(x)

all_shown if shown(input.x) == 1

# functions that `with` replaces
mocked if allow with is_admin as true with limit as 3
