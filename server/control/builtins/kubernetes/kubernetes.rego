# METADATA
# title: Kubernetes admission
# description: Helpers for requests of the admission webhook. `review` is an `AdmissionReview`.
package solon.kubernetes

# Returns the specification of the pod of an object: a pod, or a workload that creates pods. Undefined for other kinds.
pod_spec(object_) := object_.spec if object_.kind == "Pod"

pod_spec(object_) := object_.spec.template.spec if {
	object_.kind in {"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job"}
}

pod_spec(object_) := object_.spec.jobTemplate.spec.template.spec if object_.kind == "CronJob"

# Returns all containers of an object: containers, init containers and ephemeral containers.
containers(object_) := [container |
	some field in ["containers", "initContainers", "ephemeralContainers"]
	some container in object.get(pod_spec(object_), field, [])
]

# Returns the registry, repository, tag and digest of an image. The registry defaults to `docker.io`, tag and digest to an
# empty text.
image(reference) := {"registry": registry, "repository": repository, "tag": tag, "digest": digest} if {
	halves := split(reference, "@")
	digest := concat("", array.slice(halves, 1, 2))
	parts := split(halves[0], "/")
	registry := _registry(parts)
	path := concat("/", array.slice(parts, count(parts) - _path_length(parts), count(parts)))
	names := split(path, ":")
	repository := names[0]
	tag := concat(":", array.slice(names, 1, count(names)))
}

default _has_registry(_) := false

_has_registry(parts) if {
	count(parts) > 1
	regex.match(`[.:]|^localhost$`, parts[0])
}

_registry(parts) := parts[0] if _has_registry(parts)

_registry(parts) := "docker.io" if not _has_registry(parts)

_path_length(parts) := count(parts) - 1 if _has_registry(parts)

_path_length(parts) := count(parts) if not _has_registry(parts)

# Returns the containers whose images are not below one of the prefixes, such as `ghcr.io/team/`.
foreign_images(object_, prefixes) := {container.image |
	some container in containers(object_)
	not _is_below(container.image, prefixes)
}

_is_below(reference, prefixes) if {
	parsed := image(reference)
	some prefix in prefixes
	endswith(prefix, "/")
	startswith(concat("/", [parsed.registry, parsed.repository]), prefix)
}

# Returns the names of containers that can gain privileges.
privileged(object_) := {container.name |
	some container in containers(object_)
	some field in ["privileged", "allowPrivilegeEscalation"]
	object.get(container, ["securityContext", field], false) == true
}

# Returns the labels of a list that an object lacks or has without a value.
missing_labels(object_, labels) := {label |
	some label in labels
	object.get(object_, ["metadata", "labels", label], "") == ""
}

# Returns the response to a review: it is allowed if there are no messages.
response(review, messages) := {
	"apiVersion": review.apiVersion,
	"kind": "AdmissionReview",
	"response": {"uid": review.request.uid, "allowed": true},
} if {
	count(messages) == 0
}

response(review, messages) := {
	"apiVersion": review.apiVersion,
	"kind": "AdmissionReview",
	"response": {
		"uid": review.request.uid,
		"allowed": false,
		"status": {"message": concat("; ", sort(messages))},
	},
} if {
	count(messages) > 0
}
