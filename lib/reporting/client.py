"""The client of the reporting API: the same three verbs over any transport.

What a service does not do itself (extensions that its info does not list) is done here.
"""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from email.message import Message
from typing import IO, Any, TypeVar

import httpx

from lib.reporting import fallback
from lib.reporting.answers import Audience, as_arrow, body, received
from lib.reporting.models import AudienceQuery, ExportQuery, InfoQuery, Slicer
from lib.wire import call
from lib.wire.credential import Credential, credential, in_the_name_of
from lib.wire.errors import Garbled, Unreadable

PATH = "/API/v2"
JSON = "application/json"
ANY_FILE = "application/json, */*;q=0.9"
ONCE = call.Patience(retries=0)
KEPT_IN_MEMORY = 32 * 1024 * 1024
MOST_OF_AN_ERROR = 16 * 1024
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Download:
    """An exported file. `content` is at its start, in memory or, if large, on disk."""

    filename: str
    media_type: str
    content: IO[bytes]


class Reporting:
    """A client with a token. Raises the service's own errors, or ServiceProblem without a response.

    All three verbs are reads, so that each may be repeated.
    """

    def __init__(self, http: httpx.Client, token: str | Credential, patience: call.Patience = ONCE) -> None:
        self._http, self._credential, self._patience = http, credential(token), patience

    def info(self, query: InfoQuery) -> Slicer:
        """The slicer's description."""
        return fallback.described(self._asked("info", query.model_dump(), JSON, received.slicer))

    def audience(self, query: AudienceQuery, slicer: Slicer | None = None) -> Audience:
        """The figures. `slicer` (its info) saves asking which extensions the service knows."""
        slicer = slicer or self.info(_where(query))
        sent = fallback.known(query, slicer.extensions)
        accept = as_arrow.MEDIA_TYPE if slicer.knows("arrow") else JSON
        audience = self._asked(
            "audience", sent, accept, lambda answer: received.audience(answer, query.split_by)
        )
        return fallback.complete(audience, query, slicer)

    def export(self, query: ExportQuery, slicer: Slicer | None = None) -> Download:
        """The file, whole. `slicer` (its info) saves asking which extensions the service knows.

        BadRequest where the file is to have what its service does not know: nobody else can make it.
        """
        if fallback.extensions_of(query):
            slicer = slicer or self.info(_where(query))
            fallback.check_file(query, slicer.extensions)
        return in_the_name_of(self._credential, lambda token: self._export(query, token))

    def _export(self, query: ExportQuery, token: str) -> Download:
        sent = query.model_dump(mode="json", exclude_defaults=True)
        content = tempfile.SpooledTemporaryFile(KEPT_IN_MEMORY)  # noqa: SIM115
        asked = replace(self._call("export", sent, ANY_FILE, token), is_download=True)
        with call.stream(self._http, asked) as (response, pieces):
            media_type = response.headers.get("content-type", "")
            if body.is_message(media_type) or not response.is_success:
                wish = response.headers.get("retry-after", "")
                message = {"content-type": media_type, "retry-after": wish}
                received.fields(
                    httpx.Response(response.status_code, headers=message, content=b"".join(pieces))
                )
                raise Unreadable("The service sent no file")
            for piece in pieces:
                content.write(piece)
        content.seek(0)
        _error(content, response)
        return Download(_filename(response, query), media_type.partition(";")[0], content)

    def _asked(
        self, verb: str, fields: Mapping[str, Any], accept: str, read: Callable[[httpx.Response], Answer]
    ) -> Answer:
        """The response parsed by `read`; repeated once if the token was refused and can be renewed."""
        return in_the_name_of(
            self._credential,
            lambda token: read(call.call(self._http, self._call(verb, fields, accept, token))),
        )

    def _call(self, verb: str, fields: Mapping[str, Any], accept: str, token: str) -> call.Call:
        sent = {**fields, "token": token}
        return self._patience.call("POST", f"{PATH}/{verb}", True, json=sent, headers={"Accept": accept})


def _where(query: InfoQuery) -> InfoQuery:
    return InfoQuery(project_name=query.project_name, slicer_name=query.slicer_name)


def _error(content: IO[bytes], response: httpx.Response) -> None:
    """Raise the error in a body that is not a file: an error with a file's type, or an HTML page."""
    head = content.read(MOST_OF_AN_ERROR)
    content.seek(0)
    if response.headers.get("content-type", "").startswith("text/html") and head.lstrip().startswith(b"<"):
        raise Garbled("The service returned a web page, not a file")
    if head.lstrip().startswith(b"{") and len(head) < MOST_OF_AN_ERROR:
        try:
            found = body.fields(head, JSON)
        except ValueError:
            return
        if found["status"] in received.ERRORS:
            received.fields(httpx.Response(response.status_code, content=head))


def _filename(response: httpx.Response, query: ExportQuery) -> str:
    message = Message()
    message["Content-Disposition"] = response.headers.get("content-disposition", "")
    return message.get_filename() or f"{query.slicer_name}.{query.export_format}"
