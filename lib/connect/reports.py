"""Reports for the desk's own work, in nobody's name; results are for those who may see the slicer."""

from datetime import UTC, datetime

from lib.connect.opening import Installation
from lib.reporting.answers import Audience
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery, InfoQuery, Slicer
from lib.reporting.service import AuthorizedRequest

WHO, SLOW_MINUTES = "tranche", 15


class Reports:
    """The slicers of the desk's reporting service, embedded or remote."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation
        line = installation.lines.reporting
        self._remote = None if line is None else Reporting(line.http, line.credential, line.patience)

    def slicers(self) -> list[tuple[str, str]]:
        """Project and name of each."""
        if self._remote is None:
            return sorted(self._installation.warehouse.slicers())
        named = (one.partition("/") for one in self._installation.settings.slicers)
        return sorted((project, name) for project, _, name in named)

    def info(self, project: str, slicer: str) -> Slicer:
        """The slicer. Raises why it can't be read."""
        if self._remote is None:
            return self._installation.warehouse.open(project, slicer).info()
        return self._remote.info(InfoQuery(project_name=project, slicer_name=slicer))

    def version(self, project: str, slicer: str) -> str:
        """A text that differs once the data do; of a remote service, every quarter of an hour."""
        if self._remote is None:
            return self._installation.warehouse.open(project, slicer).version
        return str(int(datetime.now(UTC).timestamp() // (60 * SLOW_MINUTES)))

    @property
    def is_remote(self) -> bool:
        """Whether a remote service answers."""
        return self._remote is not None

    def is_quick(self, project: str, slicer: str) -> bool:
        """Whether answers about the slicer are computed in this process, in milliseconds."""
        if self._remote is not None:
            return False
        return self._installation.warehouse.open(project, slicer).definition.source is None

    def audience(self, query: AudienceQuery, slicer: Slicer) -> Audience:
        """The answer, within the deadline of any question."""
        if self._remote is not None:
            return self._remote.audience(query, slicer)
        service = self._installation.reporting
        stored = self._installation.warehouse.open(query.project_name, query.slicer_name)
        fields = query.model_dump(exclude_defaults=True, exclude_none=True)
        return service.audience(AuthorizedRequest(WHO, stored, fields), service.deadline())
