# The parts of a review.
package lib.core

default operation := "CREATE"

operation := input.request.operation

resource := input.request.object

kind := input.request.kind.kind

labels := object.get(input.request.object.metadata, "labels", {})

annotations := object.get(input.request.object.metadata, "annotations", {})

is_update if operation == "UPDATE"

is_delete if operation == "DELETE"

has_field(value, field) if _ = value[field]

missing(value, field) if not has_field(value, field)
