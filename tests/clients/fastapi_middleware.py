"""PyPI `fastapi-opa`: the middleware of a web service that authorizes requests."""

from server import serving, skip_without

for name in ["fastapi_opa", "fastapi", "httpx"]:
    skip_without(name)

from fastapi import FastAPI  # noqa: E402
from fastapi.testclient import TestClient  # noqa: E402
from fastapi_opa import OPAConfig, OPAMiddleware  # noqa: E402
from fastapi_opa.auth.auth_api_key import APIKeyAuthentication, APIKeyConfig  # noqa: E402

POLICY = """package httpapi.authz

default allow := false

allow if {
	input.request_method == "GET"
	input.request_path == ["open"]
}
"""

with serving({"authz.rego": POLICY}) as port:
    key = APIKeyAuthentication(APIKeyConfig(header_key="x-api-key", api_key="secret"))
    app = FastAPI()
    app.add_middleware(OPAMiddleware, config=OPAConfig(authentication=key, opa_host=f"http://127.0.0.1:{port}"))
    app.get("/open")(lambda: {"open": True})
    app.get("/closed")(lambda: {"open": False})
    client = TestClient(app)
    allowed = client.get("/open", headers={"x-api-key": "secret"})
    assert (allowed.status_code, allowed.json()) == (200, {"open": True}), allowed.text
    refused = client.get("/closed", headers={"x-api-key": "secret"})
    assert refused.status_code in (401, 403), refused.text
print("passed: fastapi-opa")
