# The algebra of sets.
package sets

held := {permission | some permission in data.held}

needed := {permission | some permission in data.needed}

answer := {
	"both": count(held & needed),
	"either": count(held | needed),
	"missing": count(needed - held),
	"enough": needed - held == set(),
	"all": count(union({held, needed, {"root"}})),
}
