"""The token service and its documentation: `POST /oauth2/token/` gives a token for a name and a password.

Fields and answer are those of the deals specification (Authentication, Temporary token), errors those of
RFC 6749, 5.2. 401 is the specification's for a wrong password and for a person without access to the service,
whose `access_denied` is a word of RFC 6749, 4.1.2.1; that repeated failures answer 429 is our own choice.
"""

import asyncio
import threading
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Annotated, Literal
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from lib.people.tokens.access import Access
from lib.people.tokens.store import Caller, Token
from lib.wire.apis import read_body
from lib.wire.errors import BadRequest, TooManyAttempts, TrancheError
from lib.wire.schemas import JSON, Schema, body

FORM = "application/x-www-form-urlencoded"
EXAMPLE = {
    "grant_type": "password", "username": "viewer", "password": "demo", "scope": "service_id=reporting"
}  # fmt: skip
TOKEN_EXAMPLE = {
    "token_type": "Bearer", "scope": "service_id=reporting", "access_token": "trn_rep_…", "expires_in": 3600
}  # fmt: skip
WAIT = {"headers": {"Retry-After": {"description": "Seconds to wait", "schema": {"type": "string"}}}}
SCOPE = "service_id="
PASSWORD_THREADS = 2
PLACES = 64
LARGEST_FORM = 16_384
CLOSE, CHALLENGE = {"Connection": "close"}, {"WWW-Authenticate": "Bearer"}
NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}
Form = dict[str, str]
__all__ = ["Access", "Caller", "Token", "TokenApi", "router"]


class TokenForm(BaseModel):
    """A name and a password, and the service that the token is for."""

    grant_type: Annotated[str, Field(description="Always `password`.")]
    username: Annotated[str, Field(description="The name with which you sign in to the desk.")]
    password: Annotated[str, Field(description="The password with which you sign in to the desk.")]
    scope: Annotated[str, Field(description="`service_id=` and the service, here `reporting` or `deals`.")]


class TokenAnswer(BaseModel):
    """The token, and for how many seconds it works."""

    token_type: Literal["Bearer"]
    scope: str
    access_token: str
    expires_in: int


class TokenError(BaseModel):
    """The error code of RFC 6749, and a sentence."""

    error: str
    error_description: str


class TokenRefusal(TrancheError):
    """A refusal: the error code of RFC 6749, the HTTP code, and a sentence."""

    def __init__(
        self, error: str, reason: str, code: int = 400, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(reason)
        self.error, self.code, self.headers = error, code, headers or {}

    def answer(self) -> JSONResponse:
        body = {"error": self.error, "error_description": self.reason}
        return JSONResponse(body, self.code, NO_STORE | self.headers)


def _response(model: type[BaseModel], description: str, **example: object) -> Schema:
    return {"description": description, "model": model, "content": {JSON: {"example": example}}}


def _refusal(description: str, error: str, reason: str) -> Schema:
    return _response(TokenError, description, error=error, error_description=reason)


class TokenApi:
    """Issues tokens for these service identifiers, which work for `lifetime`.

    Checking a password takes long on purpose, so it has two threads of its own and blocks no other request;
    at most `PLACES` requests wait for these.
    """

    def __init__(self, access: Access, services: Collection[str], lifetime: timedelta) -> None:
        self.lifetime = lifetime
        self._access, self._services = access, services
        self._passwords = ThreadPoolExecutor(PASSWORD_THREADS, thread_name_prefix="passwords")
        self._waiting = threading.BoundedSemaphore(PLACES)

    async def issue(self, form: Form, address: str | None) -> str:
        """The token that the form asks for. TokenRefusal if it gets none."""
        # The service identifier that is asked for, once the form is whole.
        if form.get("grant_type", "password") != "password":
            raise TokenRefusal("unsupported_grant_type", "The only grant_type here is 'password'")
        if missing := [name for name in TokenForm.model_fields if name not in form]:
            raise TokenRefusal("invalid_request", f"Missing: {', '.join(missing)}")
        service = form["scope"].removeprefix(SCOPE)
        if not form["scope"].startswith(SCOPE) or service not in self._services:
            reason = f"The scope must be {SCOPE} and the identifier of a service of this desk"
            raise TokenRefusal("invalid_scope", reason)
        if not self._waiting.acquire(blocking=False):
            reason = "Too many sign-ins at the same time; try again"
            raise TokenRefusal("temporarily_unavailable", reason, 503, {"Retry-After": "5"})
        try:
            work = partial(_issue, self._access, form, service, self.lifetime, address)
            return await asyncio.get_running_loop().run_in_executor(self._passwords, work)
        finally:
            self._waiting.release()


router = APIRouter(tags=["tokens"])
"""The token endpoint, answered by the TokenApi that is `tokens` in the application's state."""


@router.post(
    "/oauth2/token/",
    name="token",
    summary="A temporary token for a name and a password",
    operation_id="token",
    openapi_extra=body(TokenForm, {"viewer": ("A token for reports", EXAMPLE)}, FORM),
    responses={
        200: _response(TokenAnswer, "The token, and for how many seconds it works", **TOKEN_EXAMPLE),
        400: _refusal("A field of the form is missing", "invalid_request", "Missing: scope"),
        401: _refusal("No such person, or one without access", "invalid_grant", "Wrong name or password"),
        413: _refusal("The form is too large", "invalid_request", "The form is larger than…"),
        429: WAIT | _refusal("Too many failed attempts", "slow_down", "Too many failed attempts…"),
        500: _refusal("A failure of the service", "server_error", "The service had an error"),
        503: WAIT | _refusal("It is busy, or its database away", "temporarily_unavailable", "Try again"),
    },
)
async def _token(request: Request) -> JSONResponse:
    api: TokenApi = request.app.state.tokens
    address = request.client.host if request.client else None
    try:
        content = await read_body(request, LARGEST_FORM)
        if content is None:
            reason = f"The form is larger than {LARGEST_FORM:,} bytes"
            raise TokenRefusal("invalid_request", reason, 413, CLOSE)
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
            raise TokenRefusal("invalid_request", f"The content type must be {FORM}")
        try:
            pairs = parse_qsl(content.decode("ascii"), errors="strict", max_num_fields=50)
        except ValueError:
            raise TokenRefusal("invalid_request", "The body is not a form in UTF-8") from None
        # A field without a value counts as not sent, one sent twice is refused (RFC 6749, 3.2).
        names = [name for name, _ in pairs]
        if repeats := sorted({name for name in names if names.count(name) > 1}):
            raise TokenRefusal("invalid_request", f"Sent more than once: {', '.join(repeats)}")
        form = dict(pairs)
        text = await api.issue(form, address)
    except TokenRefusal as refusal:
        return refusal.answer()
    seconds = int(api.lifetime.total_seconds())
    answer = {"token_type": "Bearer", "scope": form["scope"], "access_token": text, "expires_in": seconds}
    return JSONResponse(answer, headers=NO_STORE)


def _issue(access: Access, form: Form, service: str, lifetime: timedelta, address: str | None) -> str:
    try:
        person = access.check(form["username"], form["password"], address)
    except TooManyAttempts as error:
        wait = {"Retry-After": str(error.retry_after)}
        raise TokenRefusal("slow_down", error.reason, error.http, wait) from error
    if person is None:
        raise TokenRefusal("invalid_grant", "Wrong name or password", 401, CHALLENGE)
    about = person.username, service, "Temporary token"
    try:
        return access.issue(*about, lifetime, kind="temporary", address=address)
    except BadRequest as error:
        raise TokenRefusal("access_denied", error.reason, 401, CHALLENGE) from error
