"""The documentation of the token endpoint, which parses its form itself."""

from typing import Any

_FIELDS = {
    "grant_type": "Always `password`.",
    "username": "The name with which you sign in to the desk.",
    "password": "The password with which you sign in to the desk.",
    "scope": "`service_id=` and the service that the token is for, here `reporting` or `deals`.",
}
_FORM = {
    "type": "object",
    "required": list(_FIELDS),
    "properties": {name: {"type": "string", "description": text} for name, text in _FIELDS.items()},
    "example": {
        "grant_type": "password",
        "username": "viewer",
        "password": "demo",
        "scope": "service_id=reporting",
    },
}
_ISSUED = {
    "token_type": "Bearer",
    "scope": "service_id=reporting",
    "access_token": "trn_rep_…",
    "expires_in": 3600,
}


_WAIT = {"Retry-After": {"description": "Seconds to wait", "schema": {"type": "string"}}}


def _refused(error: str, description: str) -> dict[str, Any]:
    return {"error": error, "error_description": description}


def _response(description: str, example: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"example": example}}}


DOCUMENTATION: dict[str, Any] = {
    "summary": "A temporary token for a name and a password",
    "response_model": None,
    "openapi_extra": {
        "requestBody": {"required": True, "content": {"application/x-www-form-urlencoded": {"schema": _FORM}}}
    },
    "responses": {
        200: _response("The token, and for how many seconds it works", _ISSUED),
        400: _response("A field of the form is missing", _refused("invalid_request", "Missing: scope")),
        401: _response("No such person", _refused("invalid_grant", "Wrong name or password")),
        413: _response("The form is too large", _refused("invalid_request", "The form is larger than…")),
        429: _response("Too many failed attempts", _refused("slow_down", "Too many failed attempts…"))
        | {"headers": _WAIT},
        500: _response("A failure of the service", _refused("server_error", "The service had an error")),
        503: _response("It is busy, or its database away", _refused("temporarily_unavailable", "Try again"))
        | {"headers": _WAIT},
    },
}
