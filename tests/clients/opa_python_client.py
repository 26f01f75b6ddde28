"""PyPI `OPA-python-client`: every call that it has."""

from server import serving, skip_without

skip_without("opa_client")

from opa_client.opa import OpaClient  # noqa: E402

POLICY = """package play

default hello := false

hello if input.message == data.testapi.msg
"""


def check(port):
    client = OpaClient(host="127.0.0.1", port=port)
    client.check_connection()
    assert client.check_health({"bundles": True, "plugins": True}) is True
    assert client.update_policy_from_string(POLICY, "testpolicy") is True
    assert client.get_policies_list() == ["testpolicy"]
    assert "testpolicy" in client.get_policies_info()
    assert client.update_or_create_data({"msg": "hi"}, "testapi") is True
    assert client.patch_data("testapi", [{"op": "add", "path": "/b", "value": 1}]) is True
    assert client.get_data("testapi", {"pretty": "true"})["result"] == {"msg": "hi", "b": 1}
    answer = client.query_rule({"message": "hi"}, "play", "hello", {"metrics": "true", "explain": "full"})
    assert answer["result"] is True and answer["metrics"] and answer["explanation"], answer
    answer = client.ad_hoc_query("x := data.testapi.msg", {"a": 1})
    assert answer["result"] == [{"x": "hi"}], answer
    answer = client.bulk_query_rule([{"message": "hi"}, {"message": "no"}], "play", "hello")
    assert answer, answer
    options = {"disableInlining": ["data.play"]}
    answer = client.compile_query("data.play.hello == true", {"x": 1}, ["input.message"], options)
    assert answer["result"]["support"], answer
    assert client.get_config()["result"]["default_decision"] == "/system/main"
    assert "# HELP" in str(client.get_metrics())
    # older policies are lifted by what the refusal says of them
    old = "package old\n\nallow { input.x }\n\nnames[n] { n := input.names[_] }\n"
    assert client.update_policy_from_string(old, "old") is True
    assert client.delete_data("testapi") is True
    assert client.delete_policy("testpolicy") is True
    return client


with serving({}, "--compat", "opa") as port:
    check(port)
with serving() as port:
    check(port)
print("passed: OPA-python-client")
