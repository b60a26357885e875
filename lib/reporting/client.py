"""The reporting API from the caller's side: the same three verbs over any transport.

What a service does not do itself (extensions that its info does not list) is done here.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.message import Message
from typing import IO, Any, TypeVar

import httpx
import orjson
from pydantic import ValidationError

from lib.reporting import fallback
from lib.reporting.answers import Audience, as_arrow, as_json
from lib.reporting.models import AudienceQuery, ExportQuery, InfoQuery, Slicer
from lib.wire import call
from lib.wire.breaker import DEAD
from lib.wire.credential import Credential, credential, in_the_name_of
from lib.wire.errors import (
    AccessError,
    BadRequest,
    DeadlineExceeded,
    InternalError,
    TrancheError,
    Unreachable,
    Unreadable,
)

PATH = "/API/v2"
JSON = "application/json"
UNAUTHORISED = 401
ONCE = call.Patience(retries=0)
KEPT_IN_MEMORY = 32 * 1024 * 1024
PAGE_HEAD = 100
ERRORS: dict[str, type[TrancheError]] = {
    error.status: error for error in (BadRequest, AccessError, DeadlineExceeded, InternalError)
}
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Download:
    """An exported file. `content` stands at its start, in memory or, when large, on disk."""

    filename: str
    media_type: str
    content: IO[bytes]


class Reporting:
    """A caller with a token. Raises the service's own errors, or ServiceProblem where there is no answer.

    All three verbs are reads, so that each may be repeated.
    """

    def __init__(self, http: httpx.Client, token: str | Credential, patience: call.Patience = ONCE) -> None:
        self._http, self._credential, self._patience = http, credential(token), patience

    def info(self, query: InfoQuery) -> Slicer:
        """What the slicer is."""
        return self._asked("info", query.model_dump(), JSON, _slicer)

    def audience(self, query: AudienceQuery, slicer: Slicer | None = None) -> Audience:
        """The figures. `slicer` (its info) saves asking which extensions the service knows."""
        slicer = slicer or self.info(InfoQuery(**query.model_dump(include={"project_name", "slicer_name"})))
        sent = fallback.known(query, slicer.extensions)
        accept = as_arrow.MEDIA_TYPE if "arrow" in slicer.extensions else JSON
        audience = self._asked("audience", sent, accept, lambda answer: _audience(answer, query.split_by))
        return fallback.complete(audience, query, slicer)

    def export(self, query: ExportQuery) -> Download:
        """The file, whole."""
        return in_the_name_of(self._credential, lambda token: self._export(query, token))

    def _export(self, query: ExportQuery, token: str) -> Download:
        request = self._call("export", _sent(query), "*/*", token)
        content = tempfile.SpooledTemporaryFile(KEPT_IN_MEMORY)  # noqa: SIM115
        with call.stream(self._http, request) as (response, pieces):
            media_type = response.headers.get("content-type", "")
            if media_type.startswith("application/json") or not response.is_success:
                _success(httpx.Response(response.status_code, content=b"".join(pieces)))
                raise Unreadable("The service sent no file")
            for piece in pieces:
                content.write(piece)
        content.seek(0)
        if media_type.startswith("text/html") and content.read(PAGE_HEAD).lstrip().startswith(b"<"):
            raise Unreadable("The service sent a page for people, not a file")
        content.seek(0)
        return Download(_filename(response, query), media_type.partition(";")[0], content)

    def _asked(
        self, verb: str, fields: Mapping[str, Any], accept: str, read: Callable[[httpx.Response], Answer]
    ) -> Answer:
        """What `read` makes of the answer; asked again where that is a refused token that can be renewed."""
        return in_the_name_of(
            self._credential,
            lambda token: read(call.call(self._http, self._call(verb, fields, accept, token))),
        )

    def _call(self, verb: str, fields: Mapping[str, Any], accept: str, token: str) -> call.Call:
        body = {**fields, "token": token}
        return self._patience.call("POST", f"{PATH}/{verb}", True, json=body, headers={"Accept": accept})


def _sent(query: ExportQuery) -> dict[str, Any]:
    return query.model_dump(mode="json", exclude_defaults=True)


def _slicer(answer: httpx.Response) -> Slicer:
    try:
        return Slicer.model_validate(_success(answer))
    except ValidationError as error:
        raise Unreadable("The service's description of the slicer is not one that the API knows") from error


def _audience(answer: httpx.Response, split_by: Sequence[str]) -> Audience:
    try:
        if as_arrow.MEDIA_TYPE in answer.headers.get("content-type", ""):
            return as_arrow.decode(answer.content)
        return as_json.decode(_success(answer), split_by)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unreadable("The service's answer is not one that the API knows") from error


def _success(answer: httpx.Response) -> dict[str, Any]:
    """The answer's fields. The `status` in the body decides, whatever the HTTP code is (decisions.md)."""
    try:
        fields = orjson.loads(answer.content)
        status = fields["status"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise _foreign(answer.status_code) from None
    if status == "success":
        return dict(fields)
    reason = fields.get("reason") or f"The service answered {status}"
    raise ERRORS[status](str(reason)) if status in ERRORS else Unreadable(str(reason))


def _foreign(code: int) -> TrancheError:
    """What an answer of that HTTP code is that is not of this API: mostly somebody's on the way to it."""
    if code == UNAUTHORISED:
        return AccessError()
    if code in DEAD:
        return Unreachable(f"Something on the way to the service answered {code} in its place")
    return Unreadable(f"The service answered {code}, with something that is not of this API")


def _filename(response: httpx.Response, query: ExportQuery) -> str:
    message = Message()
    message["Content-Disposition"] = response.headers.get("content-disposition", "")
    return message.get_filename() or f"{query.slicer_name}.{query.export_format}"
