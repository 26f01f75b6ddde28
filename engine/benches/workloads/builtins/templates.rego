package functions.templates

templates := sum([n | some o in data.orders; n := count($"order {o.id} of {o.owner} ({o.kind}) costs {o.price}")])
