package solon.rbac_test

import data.solon.rbac

config := {
	"roles": {
		"viewer": [{"action": "read", "resource": "*"}],
		"editor": [{"action": "write", "resource": "pages"}],
		"admin": [{"action": "*", "resource": "*"}],
	},
	"inherits": {"editor": ["viewer"], "owner": ["editor"]},
	"bindings": {"ann": ["admin"], "bob": ["owner"], "eve": ["viewer"], "tom": ["unknown"]},
}

test_roles_include_inherited_roles if rbac.roles_of("bob", config) == {"owner", "editor", "viewer"}

test_unknown_users_have_no_roles if rbac.roles_of("nobody", config) == set()

test_admin_may_do_everything if rbac.allow("ann", "delete", "users", config)

test_inherited_permission if rbac.allow("bob", "read", "users", config)

test_permission_for_one_resource if {
	rbac.allow("bob", "write", "pages", config)
	not rbac.allow("bob", "write", "users", config)
}

test_viewer_may_only_read if {
	rbac.allow("eve", "read", "pages", config)
	not rbac.allow("eve", "write", "pages", config)
}

test_unknown_role_permits_nothing if not rbac.allow("tom", "read", "pages", config)

test_unknown_user_is_denied if not rbac.allow("nobody", "read", "pages", config)

test_inheritance_is_optional if {
	plain := object.remove(config, ["inherits"])
	not rbac.allow("bob", "read", "pages", plain)
	rbac.allow("eve", "read", "pages", plain)
}
