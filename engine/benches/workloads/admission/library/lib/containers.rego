# What constraints ask of a container.
package lib.containers

import data.lib.core

security(container) := object.get(container, "securityContext", {})

limits(container) := object.get(object.get(container, "resources", {}), "limits", {})

requests(container) := object.get(object.get(container, "resources", {}), "requests", {})

is_exempt(container, parameters) if {
	some image in object.get(parameters, "exempt_images", [])
	matches(container.image, image)
}

matches(image, pattern) if {
	endswith(pattern, "*")
	startswith(image, trim_suffix(pattern, "*"))
}

matches(image, pattern) if {
	not endswith(pattern, "*")
	image == pattern
}

drops(container, capability) if {
	some dropped in security(container).capabilities.drop
	lower(dropped) == lower(capability)
}

drops(container, _) if {
	some dropped in security(container).capabilities.drop
	dropped == "ALL"
}

tag(image) := tag if {
	not contains(image, "@")
	parts := split(image, ":")
	count(parts) > 1
	tag := parts[count(parts) - 1]
	not contains(tag, "/")
}

default run_as_user(_) := null

run_as_user(container) := user if {
	core.has_field(security(container), "runAsUser")
	user := security(container).runAsUser
}

mounts(container, volume) if {
	some mount in container.volumeMounts
	mount.name == volume.name
}
