"""Checks of the reporting service: info of each slicer, then a day's figures and file of the first one."""

from collections.abc import Iterator
from dataclasses import replace

from lib.reporting.client import Reporting
from lib.reporting.models import ROWS_LIMITS, AudienceQuery, ExportQuery, InfoQuery
from lib.serving import connect, remote
from lib.serving.check.step import ServiceSetting, Step, Steps, check_reachable, timer
from lib.settings import Settings
from lib.slicers.models import EXTENSIONS, Slicer
from lib.wire.errors import AccessError, Damaged, Misconfigured, TrancheError
from lib.wire.text import count_of

NAME = "Reporting"
REFUSAL = "Check reporting_token, or service_username and service_password"
EMBEDDED = "Part of this desk"
VANISHED = "Mount or restore that folder (tranche restore), or import the files again."


def steps(settings: Settings) -> Iterator[Step]:
    """All steps, until one fails on which the others depend."""
    if not settings.remote.base_url:
        warehouse = connect.installation(settings).warehouse
        try:
            warehouse.check()
        except Misconfigured as error:
            yield Step(NAME, str(warehouse.root), "failed", error.sentence, VANISHED)
            return
        slicers = warehouse.slicers()
        yield Step(NAME, EMBEDDED, "ok", f"{count_of(len(slicers), 'slicer')} in {warehouse.root}.")
        for pair in slicers:
            try:
                warehouse.definition(*pair)
            except Damaged as error:
                yield Step(NAME, "/".join(pair), "failed", error.sentence)
        return
    service = ServiceSetting(NAME, "base_url", REFUSAL)
    line = remote.reporting_line(settings)
    if (yield from check_reachable(service, line, settings, settings.reporting_service)):
        client = Reporting(line.http, line.credential, line.patience)
        first: tuple[InfoQuery, Slicer] | None = None
        for name in settings.remote.slicers:
            description = yield from _slicer(service, client, name)
            first = first or description
        if first is None or first[1].last_date is None:
            return
        query, slicer = first
        # One day's totals, and the same as a file.
        day = {"start_date": slicer.last_date, "end_date": slicer.last_date, **query.model_dump()}
        try:
            with timer() as took:
                client.audience(AudienceQuery(**day, audience_rows_limit=ROWS_LIMITS[0]), slicer)
            yield Step(NAME, "Figures", "ok", f"The totals of {slicer.last_date} came {took()}.")
            with timer() as took, client.export(ExportQuery(**day, export_format="csv")).content as file:
                size = file.seek(0, 2)
            yield Step(NAME, "File", "ok", f"The same day as csv, {size:,} bytes, came {took()}.")
        except TrancheError as error:
            yield service.failure("Figures and file", error)


def _slicer(service: ServiceSetting, client: Reporting, name: str) -> Steps[tuple[InfoQuery, Slicer] | None]:
    project, _, slicer_name = name.partition("/")
    query = InfoQuery(project_name=project, slicer_name=slicer_name)
    try:
        slicer = client.info(query)
    except TrancheError as error:
        step = service.failure(name, error)
        hint = "Check this name in slicers. " if isinstance(error, AccessError) else ""
        yield replace(step, remedy=f"{hint}{step.remedy}")
        return None
    missing = [name for name in EXTENSIONS if name not in slicer.extensions]
    rest = f"Tranche emulates {', '.join(missing)} where possible" if missing else "all extensions"
    counts = f"{len(slicer.key_fields)} key fields, {len(slicer.data_fields)} data fields"
    days = f"data to {slicer.last_date}" if slicer.last_date else "no data yet"
    yield Step(NAME, name, "ok", f"{counts}, {days}; {rest}.")
    return query, slicer
