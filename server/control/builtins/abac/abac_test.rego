package solon.abac_test

import data.solon.abac

same_department := {"effect": "permit", "conditions": [{"attribute": "subject.department", "operator": "eq", "other": "resource.department"}]}

not_secret := {"effect": "deny", "conditions": [{"attribute": "resource.level", "operator": "gt", "value": 3}]}

policies := [same_department, not_secret]

request(department, level) := {
	"subject": {"department": "sales", "groups": ["a", "b"]},
	"resource": {"department": department, "level": level},
}

test_equal_attributes if abac.allow(request("sales", 1), policies)

test_other_attributes if not abac.allow(request("hr", 1), policies)

test_deny_wins if not abac.allow(request("sales", 4), policies)

test_missing_attribute_of_permit if not abac.allow({"subject": {}, "resource": {"level": 1}}, policies)

test_missing_attribute_of_deny if not abac.allow(
	{"subject": {"department": "x"}, "resource": {"department": "x"}},
	policies,
)

test_no_policies if not abac.allow(request("sales", 1), [])

test_unknown_operator_of_permit if {
	not abac.allow(request("sales", 1), [{"effect": "permit", "conditions": [{"attribute": "resource.level", "operator": "x", "value": 1}]}])
}

test_unknown_operator_of_deny if {
	not abac.allow(request("sales", 1), [same_department, {"effect": "deny", "conditions": [{"attribute": "resource.level", "operator": "x", "value": 1}]}])
}

test_unknown_effect_denies if {
	not abac.allow(request("sales", 1), [same_department, {"effect": "permitt", "conditions": []}])
}

test_operators if {
	cases := [
		["neq", "subject.department", "hr"],
		["in", "subject.department", ["sales", "hr"]],
		["contains", "subject.groups", "a"],
		["lt", "resource.level", 2],
		["lte", "resource.level", 1],
		["gt", "resource.level", 0],
		["gte", "resource.level", 1],
		["prefix", "subject.department", "sa"],
	]
	every c in cases {
		abac.is_met({"operator": c[0], "attribute": c[1], "value": c[2]}, request("sales", 1))
	}
}

test_order_needs_one_type if not abac.is_met(
	{"operator": "lt", "attribute": "resource.level", "value": "2"},
	request("sales", 1),
)
