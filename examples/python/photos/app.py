"""The photo service of the tutorial, with FastAPI.

Run it with ``uvicorn app:app`` in this folder.
"""

from pathlib import Path
from typing import Any

import fastapi
from fastapi.requests import HTTPConnection

import solon
from solon.integrations.fastapi import require

FOLDER = Path(__file__).parent

engine = solon.Engine()


def reload() -> None:
    """Loads policy and data in one change. Requests that are being decided use either all of it or nothing."""
    engine.load(FOLDER / "policy", FOLDER / "data.json")


def photo_request(connection: HTTPConnection) -> dict[str, Any]:
    """Returns the input of the policy."""
    return {
        # set by the proxy that authenticates users
        "user": connection.headers.get("x-user"),
        "method": connection.scope["method"],
        "photo": connection.path_params["photo"],
    }


reload()
app = fastapi.FastAPI()
allowed = fastapi.Depends(require(engine.prepare("data.photos.allow", must_exist=True), input=photo_request))


@app.get("/photos/{photo}", dependencies=[allowed])
async def show(photo: str) -> dict[str, str]:
    return {"photo": photo}


@app.delete("/photos/{photo}", dependencies=[allowed])
async def delete(photo: str) -> dict[str, str]:
    engine.delete(f"library/{photo}")
    return {"deleted": photo}
