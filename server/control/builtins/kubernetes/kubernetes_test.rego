package solon.kubernetes_test

import data.solon.kubernetes

pod := {
	"kind": "Pod",
	"metadata": {"labels": {"app": "x", "team": ""}},
	"spec": {
		"containers": [{"name": "a", "image": "ghcr.io/team/a:1", "securityContext": {"privileged": true}}],
		"initContainers": [{"name": "b", "image": "nginx"}],
	},
}

deployment := {"kind": "Deployment", "spec": {"template": {"spec": pod.spec}}}

cron_job := {"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": {"spec": pod.spec}}}}}

test_containers if {
	every object_ in [pod, deployment, cron_job] {
		[container.name | some container in kubernetes.containers(object_)] == ["a", "b"]
	}
}

test_other_kinds_have_no_pods if not kubernetes.pod_spec({"kind": "Service", "spec": {}})

test_images if {
	kubernetes.image("nginx") == {"registry": "docker.io", "repository": "nginx", "tag": "", "digest": ""}
	kubernetes.image("team/a:1") == {"registry": "docker.io", "repository": "team/a", "tag": "1", "digest": ""}
	kubernetes.image("ghcr.io/team/a:1") == {"registry": "ghcr.io", "repository": "team/a", "tag": "1", "digest": ""}
	kubernetes.image("localhost/a") == {"registry": "localhost", "repository": "a", "tag": "", "digest": ""}
	kubernetes.image("r:5000/a:2@sha256:ab") == {"registry": "r:5000", "repository": "a", "tag": "2", "digest": "sha256:ab"}
}

test_foreign_images if {
	kubernetes.foreign_images(pod, ["ghcr.io/team/"]) == {"nginx"}
	kubernetes.foreign_images(pod, ["ghcr.io/team/", "docker.io/"]) == set()
	kubernetes.foreign_images(pod, []) == {"nginx", "ghcr.io/team/a:1"}
}

test_prefixes_end_with_a_slash if kubernetes.foreign_images(pod, ["ghcr.io", "docker.io/"]) == {"ghcr.io/team/a:1"}

test_privileged if kubernetes.privileged(pod) == {"a"}

test_missing_labels if kubernetes.missing_labels(pod, ["app", "team", "env"]) == {"team", "env"}

review := {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "7"}}

test_allowed if kubernetes.response(review, set()).response == {"uid": "7", "allowed": true}

test_rejected if kubernetes.response(review, {"b", "a"}).response == {
	"uid": "7",
	"allowed": false,
	"status": {"message": "a; b"},
}
