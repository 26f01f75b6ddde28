package functions.encodings

base64s := count([t | some t in data.hex; base64.decode(base64.encode(t)) == t])

base64urls := count([t | some t in data.hex; base64url.decode(base64url.encode_no_pad(t)) == t])

hexes := count([t | some t in data.hex; hex.encode(hex.decode(t)) == t])

jsons := sum([o.amount | some t in data.json; o := json.unmarshal(t)])

queries := count([t | some t in data.json; urlquery.decode(urlquery.encode(t)) == t])

sha256s := sum([n | some t in data.hex; n := count(crypto.sha256(t))])

hmacs := sum([n | some t in data.hex; n := count(crypto.hmac.sha256(t, "key"))])
