"""OPAL's client (PyPI `opal-client`): launches Solon as its inline engine, and keeps policies and documents in it."""

import asyncio
import os

from server import BINARY, free_port, skip_without

PORT = free_port()
os.environ |= {
    "OPAL_INLINE_OPA_EXEC_PATH": BINARY,
    "OPAL_POLICY_STORE_URL": f"http://127.0.0.1:{PORT}",
    "OPAL_LOG_LEVEL": "ERROR",
}
skip_without("opal_client")

# the package reads the environment when it is imported
from opal_client.config import EngineLogFormat  # noqa: E402
from opal_client.engine.options import OpaServerOptions  # noqa: E402
from opal_client.engine.runner import OpaRunner  # noqa: E402
from opal_client.policy_store.opa_client import OpaClient  # noqa: E402
from opal_common.schemas.policy import DataModule, PolicyBundle, RegoModule  # noqa: E402
from opal_common.schemas.store import JSONPatchAction  # noqa: E402
from pydantic import BaseModel  # noqa: E402


async def keeps(store):
    modules = [RegoModule(path="a.rego", package_name="a", rego="package a\n\nallow := data.users[input.name]\n")]
    documents = [DataModule(path="static", data='{"x": 1}')]
    bundle = PolicyBundle(hash="h1", manifest=["a.rego", "static"], policy_modules=modules, data_modules=documents)
    await store.set_policies(bundle)
    assert set(await store.get_policies()) == {"a.rego"}
    assert list(await store.get_policy_module_ids()) == ["a.rego"]
    assert await store.get_data("/static") == {"x": 1}
    await store.set_policy_data({"alice": True}, path="/users")
    await store.patch_policy_data([JSONPatchAction(op="add", path="/bob", value={"r": 1})], path="/users")
    assert await store.get_data("/users") == {"alice": True, "bob": {"r": 1}}
    answer = await store.get_data_with_input("/a/allow", PolicyInput(name="alice"))
    assert (answer.status_code, answer.body.strip()) == (200, b'{"result":true}'), answer.body
    await store.delete_policy_data("/users")
    assert await store.get_data("/users") == {}
    # what a later bundle has not is removed
    modules = [RegoModule(path="b.rego", package_name="b", rego="package b\n\nx := 1\n")]
    await store.set_policies(PolicyBundle(hash="h2", manifest=["b.rego"], policy_modules=modules, data_modules=[]))
    assert set(await store.get_policies()) == {"b.rego"}
    await store.delete_policy("b.rego")
    assert await store.get_policies() == {}
    await store.set_policy_data({"all": "new"}, path="")
    assert await store.get_data("") == {"all": "new"}


class PolicyInput(BaseModel):
    """An input as the client takes it."""

    name: str


async def main():
    with open("opal-config.yaml", "w") as file:
        file.write("labels:\n  app: opal\ndefault_decision: /a/allow\n")
    try:
        options = OpaServerOptions(addr=f"127.0.0.1:{PORT}", config_file="opal-config.yaml", log_level="info")
        async with OpaRunner.setup_opa_runner(options=options, piped_logs_format=EngineLogFormat.MINIMAL):
            await keeps(OpaClient(opa_server_url=f"http://127.0.0.1:{PORT}"))
    finally:
        os.unlink("opal-config.yaml")
    print("passed: OPAL launches the engine and keeps policies and documents in it")


asyncio.run(asyncio.wait_for(main(), 60))
