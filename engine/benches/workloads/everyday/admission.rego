# Checks of the pods that a cluster admits.
package kubernetes.admission

default response := {"allowed": false, "problems": 0, "first": ["no pod"]}

response := {
	"allowed": count(deny) == 0,
	"problems": count(deny),
	"first": array.slice(sort(deny), 0, 5),
} if {
	input.request.kind.kind == "Pod"
}

pod := input.request.object

registries := {"registry.example.com", "mirror.example.com"}

containers contains container if some container in pod.spec.containers

containers contains container if some container in pod.spec.initContainers

deny contains msg if {
	some container in containers
	not split(container.image, "/")[0] in registries
	msg := sprintf("%s: image %s comes from an unknown registry", [container.name, container.image])
}

deny contains msg if {
	some container in containers
	endswith(container.image, ":latest")
	msg := sprintf("%s: image %s has no fixed version", [container.name, container.image])
}

deny contains msg if {
	some container in containers
	container.securityContext.privileged
	msg := sprintf("%s: runs privileged", [container.name])
}

deny contains msg if {
	some container in containers
	not container.securityContext.runAsNonRoot
	msg := sprintf("%s: may run as root", [container.name])
}

deny contains msg if {
	some container in containers
	some capability in container.securityContext.capabilities.add
	not capability in {"NET_BIND_SERVICE", "CHOWN"}
	msg := sprintf("%s: capability %s", [container.name, capability])
}

deny contains msg if {
	some container in containers
	some resource in ["cpu", "memory"]
	not container.resources.limits[resource]
	msg := sprintf("%s: no limit of %s", [container.name, resource])
}

deny contains msg if {
	some container in containers
	some variable in container.env
	regex.match(`(?i)(password|secret|token)$`, variable.name)
	variable.value
	msg := sprintf("%s: %s holds a secret in plain text", [container.name, variable.name])
}

deny contains msg if {
	some container in containers
	some mount in container.volumeMounts
	some volume in pod.spec.volumes
	volume.name == mount.name
	volume.hostPath
	not mount.readOnly
	msg := sprintf("%s: writes to %s on the host", [container.name, volume.hostPath.path])
}

deny contains msg if {
	some label in ["app", "owner", "tier"]
	not pod.metadata.labels[label]
	msg := sprintf("label %s is missing", [label])
}

deny contains "uses the host's network" if pod.spec.hostNetwork
