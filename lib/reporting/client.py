"""The reporting API from the caller's side: the same three verbs over any transport.

What a service does not do itself (extensions that its info does not list) is done here.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from typing import IO, Any

import httpx
import orjson
from pydantic import ValidationError

from lib.reporting import fallback
from lib.reporting.answers import Audience, as_arrow, as_json
from lib.reporting.models import AudienceQuery, ExportQuery, InfoQuery, Slicer
from lib.wire import call
from lib.wire.deadline import Deadline
from lib.wire.errors import AccessError, BadRequest, DeadlineExceeded, InternalError, TrancheError, Unreadable

PATH = "/API/v2"
KEPT_IN_MEMORY = 32 * 1024 * 1024
PAGE_HEAD = 100
ERRORS: dict[str, type[TrancheError]] = {
    error.status: error for error in (BadRequest, AccessError, DeadlineExceeded, InternalError)
}


@dataclass(frozen=True)
class Download:
    """An exported file. `content` stands at its start, in memory or, when large, on disk."""

    filename: str
    media_type: str
    content: IO[bytes]


class Reporting:
    """A caller with a token. Raises the service's own errors, or ServiceProblem where there is no answer."""

    def __init__(self, http: httpx.Client, token: str, seconds: float | None = None) -> None:
        """`seconds` is how long one call may take altogether."""
        self._http, self._token, self._seconds = http, token, seconds

    def info(self, query: InfoQuery) -> Slicer:
        """What the slicer is."""
        body = self._post("info", query.model_dump(), "application/json").content
        try:
            return Slicer.model_validate(_success(body))
        except ValidationError as error:
            raise Unreadable(
                "The service's description of the slicer is not one that the API knows"
            ) from error

    def audience(self, query: AudienceQuery, slicer: Slicer | None = None) -> Audience:
        """The figures. `slicer` (its info) saves asking which extensions the service knows."""
        slicer = slicer or self.info(InfoQuery(**query.model_dump(include={"project_name", "slicer_name"})))
        sent = fallback.known(query, slicer.extensions)
        accept = as_arrow.MEDIA_TYPE if "arrow" in slicer.extensions else "application/json"
        response = self._post("audience", sent, accept)
        try:
            if as_arrow.MEDIA_TYPE in response.headers.get("content-type", ""):
                audience = as_arrow.decode(response.content)
            else:
                audience = as_json.decode(_success(response.content), query.split_by)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Unreadable("The service's answer is not one that the API knows") from error
        return fallback.complete(audience, query, slicer)

    def export(self, query: ExportQuery) -> Download:
        """The file, whole."""
        request = call.Call(
            "POST",
            f"{PATH}/export",
            json=self._body(_sent(query)),
            headers={"Accept": "*/*"},
            deadline=self._deadline(),
        )
        content = tempfile.SpooledTemporaryFile(KEPT_IN_MEMORY)  # noqa: SIM115
        with call.stream(self._http, request) as (response, pieces):
            media_type = response.headers.get("content-type", "")
            if media_type.startswith("application/json") or not response.is_success:
                _success(b"".join(pieces))
                raise Unreadable("The service sent no file")
            for piece in pieces:
                content.write(piece)
        content.seek(0)
        if media_type.startswith("text/html") and content.read(PAGE_HEAD).lstrip().startswith(b"<"):
            raise Unreadable("The service sent a page for people, not a file")
        content.seek(0)
        return Download(_filename(response, query), media_type.partition(";")[0], content)

    def _post(self, verb: str, fields: Mapping[str, Any], accept: str) -> httpx.Response:
        return call.post(self._http, f"{PATH}/{verb}", self._body(fields), accept, self._deadline())

    def _body(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        return {**fields, "token": self._token}

    def _deadline(self) -> Deadline:
        return Deadline(self._seconds)


def _sent(query: ExportQuery) -> dict[str, Any]:
    return query.model_dump(mode="json", exclude_defaults=True)


def _success(body: bytes) -> dict[str, Any]:
    """The answer's fields. The `status` in the body decides, whatever the HTTP code is (decisions.md)."""
    try:
        fields = orjson.loads(body)
        status = fields["status"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise Unreadable("The service answered with something that is not of this API") from None
    if status == "success":
        return dict(fields)
    reason = fields.get("reason") or f"The service answered {status}"
    raise ERRORS[status](str(reason)) if status in ERRORS else Unreadable(str(reason))


def _filename(response: httpx.Response, query: ExportQuery) -> str:
    message = Message()
    message["Content-Disposition"] = response.headers.get("content-disposition", "")
    return message.get_filename() or f"{query.slicer_name}.{query.export_format}"
