"""The client of a remote reporting service, for a person who may see only some rows of a slicer.

The service answers the desk, not the person, and tells days and numbers of records of all rows: until it can
be asked for some rows alone, a grant with filters opens nothing there.
"""

from collections.abc import Mapping
from typing import Any

import httpx

from lib.people import Person
from lib.reporting.answers import Audience
from lib.reporting.answers.records import RecordTable
from lib.reporting.client import Download, FileQuery, Reporting
from lib.reporting.models import Slicer
from lib.wire.call import Credential, Patience
from lib.wire.errors import LIMITED, AccessError


class LimitedReporting(Reporting):
    """Refuses whatever is about a slicer of which the person may see only some rows."""

    def __init__(self, http: httpx.Client, token: Credential, patience: Patience, person: Person) -> None:
        super().__init__(http, token, patience)
        self._person = person

    def _info(self, fields: Mapping[str, Any]) -> Slicer:
        self._check(fields["project_name"], fields["slicer_name"])
        return super()._info(fields)

    def _audience(self, fields: Mapping[str, Any], split_by: tuple[str, ...], slicer: Slicer) -> Audience:
        self._check(fields["project_name"], fields["slicer_name"])
        return super()._audience(fields, split_by, slicer)

    def _records(self, fields: Mapping[str, Any]) -> RecordTable:
        self._check(fields["project_name"], fields["slicer_name"])
        return super()._records(fields)

    def _file(self, verb: str, query: FileQuery) -> Download:
        self._check(query.project_name, query.slicer_name)
        return super()._file(verb, query)

    def _check(self, project: str, slicer: str) -> None:
        if self._person.row_filters(project, slicer):
            raise AccessError(
                f"{LIMITED} {project}/{slicer}, and the remote reporting service can't be asked for these "
                "alone. Ask an administrator"
            )
