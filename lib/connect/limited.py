"""The client of a remote reporting service, for a person who may see only some rows of a slicer.

The service answers the desk, not the person, and tells days and numbers of records of all rows: until it can
be asked for some rows alone, a grant with filters opens nothing there.
"""

from collections.abc import Callable, Mapping
from typing import Any

import httpx

from lib.people import Person
from lib.reporting.client import Answer, Download, FileQuery, Reporting
from lib.wire.call import Credential, Patience
from lib.wire.errors import LIMITED, AccessError


class LimitedReporting(Reporting):
    """Refuses whatever is about a slicer of which the person may see only some rows."""

    def __init__(self, http: httpx.Client, token: Credential, patience: Patience, person: Person) -> None:
        super().__init__(http, token, patience)
        self._person = person

    def _request(
        self, verb: str, fields: Mapping[str, Any], accept: str, read: Callable[[httpx.Response], Answer]
    ) -> Answer:
        if "slicer_name" in fields:
            self._check(fields["project_name"], fields["slicer_name"])
        return super()._request(verb, fields, accept, read)

    def _file(self, verb: str, query: FileQuery) -> Download:
        self._check(query.project_name, query.slicer_name)
        return super()._file(verb, query)

    def _check(self, project: str, slicer: str) -> None:
        if self._person.row_filters(project, slicer):
            raise AccessError(
                f"{LIMITED} {project}/{slicer}, and the remote reporting service can't be asked for these "
                "alone. Ask an administrator"
            )
