"""POST /oauth2/token/: temporary tokens for a name and a password, whose life is told as a text."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from standin.state import State, WriteRequest


def tokens(state: State) -> Starlette:
    """The one endpoint (deals specification, Temporary token)."""

    async def token(request: Request) -> Response:
        form = {name: str(value) for name, value in (await request.form()).items()}
        state.asked.append(WriteRequest(request.url.path, dict(request.headers), form))
        if form.get("grant_type") != "password" or not form.get("scope", "").startswith("service_id="):
            return JSONResponse({"error": "invalid_request"}, 400)
        if state.people.get(form.get("username", "")) != form.get("password"):
            return JSONResponse({"error": "invalid_grant", "error_description": "Bad credentials"}, 401)
        given = {"access_token": state.give(form["scope"]), "scope": form["scope"]}
        return JSONResponse({"token_type": "Bearer", "expires_in": state.expires_in, **given})

    return Starlette(routes=[Route("/oauth2/token/", token, methods=["POST"])])
