"""A person who may see some rows of a slicer, and a remote service that can't be asked for these alone."""

from collections.abc import Callable

import httpx
import pytest

from lib.people import Grant, Person
from lib.reporting.models import AudienceQuery, ExportQuery, InfoQuery, RecordsQuery
from lib.serving.connect import LimitedReporting
from lib.slicers.models import Slicer
from lib.wire.call import Patience
from lib.wire.errors import AccessError
from lib.wire.filters import Filter

WHERE = {"project_name": "demo", "slicer_name": "delivery"}
DAYS = {"start_date": "-7d", "end_date": "yesterday"}
SLICER = Slicer(extensions=("records", "arrow"))
GRANT = Grant("demo", "delivery", (Filter(name="country", value=("DE",), match="equals"),))
ASK: dict[str, Callable[[LimitedReporting], object]] = {
    "info": lambda reporting: reporting.info(InfoQuery(**WHERE)),
    "audience": lambda reporting: reporting.audience(AudienceQuery(**WHERE, **DAYS), SLICER),
    "export": lambda reporting: reporting.export(ExportQuery(**WHERE, **DAYS, export_format="csv"), SLICER),
    "records": lambda reporting: reporting.records(RecordsQuery(**WHERE, **DAYS), SLICER),
    "records as a file": lambda reporting: reporting.records_file(RecordsQuery(**WHERE, **DAYS), SLICER),
}


@pytest.mark.parametrize("ask", ASK.values(), ids=ASK)
def test_nothing_is_asked_of_a_remote_service(ask: Callable[[LimitedReporting], object]) -> None:
    """Every verb is refused before the service is asked: it would answer about all rows."""

    def refuse(request: httpx.Request) -> httpx.Response:
        raise AssertionError(f"asked {request.url}")

    with httpx.Client(transport=httpx.MockTransport(refuse), base_url="http://remote.example") as http:
        reporting = LimitedReporting(
            http, "token", Patience(0), Person("ada", "Ada", None, "viewer", (GRANT,))
        )
        with pytest.raises(AccessError, match="demo/delivery"):
            ask(reporting)
