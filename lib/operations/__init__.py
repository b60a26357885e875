"""Operations of a running desk: is it alive, is it ready, and how busy is it?

`/healthz`, `/readyz` and `/metrics` are for the programs that watch over this one.
"""

import asyncio
import hmac

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import SecretStr
from starlette.exceptions import HTTPException

from lib.operations.meter import Meter, Observed, OpenTabs
from lib.operations.readiness import Readiness, probes

__all__ = ["Meter", "Observed", "OpenTabs", "Readiness", "probes", "routes"]
READ = ["GET", "HEAD"]
NOT_KEPT = {"Cache-Control": "no-store"}
CHALLENGE = {"WWW-Authenticate": "Bearer"}


def routes(readiness: Readiness, meter: Meter, token: SecretStr | None) -> APIRouter:
    """The three routes. Anybody may ask the first two; without a `token` there is no `/metrics`."""
    router = APIRouter(include_in_schema=False)

    async def healthz() -> Response:
        return PlainTextResponse("ok\n", headers=NOT_KEPT)

    async def readyz() -> Response:
        parts = await readiness.parts()
        is_ready = readiness.is_ready(parts)
        body = {
            "status": "ready" if is_ready else "not ready",
            "parts": {name: "ok" if is_good else "failed" for name, is_good in parts.items()},
        }
        return JSONResponse(body, 200 if is_ready else 503, NOT_KEPT)

    async def metrics(request: Request) -> Response:
        if token is None:
            raise HTTPException(404)
        header = request.headers.get("authorization", "").encode("utf-8", "surrogateescape")
        expected = f"Bearer {token.get_secret_value()}".encode()
        if not hmac.compare_digest(header, expected):
            raise HTTPException(401, "Missing or invalid token", CHALLENGE)
        text = await asyncio.to_thread(meter.text)
        return Response(text, headers=NOT_KEPT, media_type=CONTENT_TYPE_LATEST)

    for path, endpoint in (("/healthz", healthz), ("/readyz", readyz), ("/metrics", metrics)):
        router.add_api_route(path, endpoint, methods=READ)
    return router
