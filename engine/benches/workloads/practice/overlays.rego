# Settings of services: defaults, those of their environment, their own.
package overlays

effective[name] := settings if {
	some name, service in data.services
	environment := data.environments[service.environment]
	settings := object.union(object.union(data.defaults, environment), service.settings)
}

answer := {
	"replicas": sum([settings.scaling.replicas | some settings in effective]),
	"debug": count([name | some name, settings in effective; settings.logging.level == "debug"]),
	"labels": count({label | some settings in effective; some label, _ in settings.labels}),
}

# all layers at once
layered := sum([count(merged.labels) |
	some service in data.services
	merged := object.union_n([data.defaults, data.environments[service.environment], service.settings])
])

# one large document and a small change
raised := object.union(data.services, {"service-7": {"settings": {"scaling": {"replicas": 9}}}})

changed := [count(raised), raised["service-7"].settings.scaling.replicas]
