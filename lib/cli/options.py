"""Options and arguments that several commands share, and tables on a terminal."""

import getpass
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import click

from lib.people import DealsGrant, Grant
from lib.people.grant import parse_filters
from lib.people.person import LEVELS
from lib.reporting.definition import Definition
from lib.reporting.definition.file import definition_yaml
from lib.reporting.warehouse import Warehouse
from lib.settings import Settings
from lib.wire.errors import BadRequest, UnknownName
from lib.wire.filters import Filter

UNITS = {"d": "days", "h": "hours", "m": "minutes"}
LONGEST = timedelta(days=36_500)


def write_definition(slicer: str, head: str, definition: Definition) -> Path:
    """Write it, with `head` above as a comment, beside files of that name that say something else."""
    name = plain_name(slicer)
    text = "".join(f"# {line}\n" for line in head.splitlines()) + definition_yaml(definition)
    number, path = 2, Path(f"{name}.yaml")
    while path.exists() and path.read_bytes() != text.encode():
        path, number = Path(f"{name}-{number}.yaml"), number + 1
    path.write_text(text, encoding="utf-8")
    return path


def plain_name(name: str) -> str:
    """A name as the name of a file, wherever it is read."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name)


class Duration(click.ParamType[timedelta]):
    """A number of days (d), hours (h) or minutes (m)."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """The duration; another text is a usage error."""
        if isinstance(value, timedelta):
            return value
        match = re.fullmatch(r"([1-9][0-9]{0,8})([dhm])", str(value).strip())
        duration = timedelta(**{UNITS[match[2]]: int(match[1])}) if match else None
        if duration is None or duration > LONGEST:
            self.fail(f"'{value}' is not a duration of up to 100 years, like 90d, 12h or 30m", param, ctx)
        return duration


class DealsGrantType(click.ParamType[DealsGrant]):
    """`none`, `read`, `write`, or of some seats alone `read:3,7`; `sync:3,7` for a DSP."""

    name = f"{'|'.join(LEVELS)}[:seats]"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> DealsGrant:
        """The grant; a text that is none is a usage error."""
        if isinstance(value, DealsGrant):
            return value
        try:
            return DealsGrant.parse(str(value))
        except BadRequest as error:
            self.fail(error.reason, param, ctx)


class FiltersType(click.ParamType[tuple[Filter, ...]]):
    """`seat=3,7`, or filter objects of the reporting API as JSON."""

    name = "field=value,…|json"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Filter, ...]:
        """The filters; a text that is none is a usage error."""
        try:
            return parse_filters(str(value).strip())
        except BadRequest as error:
            self.fail(error.reason, param, ctx)


FILTERS = click.option(
    "--filter",
    "filters",
    type=FiltersType(),
    multiple=True,
    help="Only rows that pass: seat=3,7, or a filter object of the reporting API (JSON). Repeated, all hold.",
)


def with_filters(
    grants: Iterable[Grant], filters: Iterable[tuple[Filter, ...]], settings: Settings
) -> tuple[Grant, ...]:
    """The grants with these filters. UnknownName for a field that a slicer of this desk has not."""
    more = tuple(filter_ for some in filters for filter_ in some)
    result = tuple(replace(grant, filters=(*grant.filters, *more)) for grant in grants)
    warehouse = Warehouse(settings.warehouse)
    for grant in result:
        if grant.filters and grant.slicer and warehouse.has(grant.project, grant.slicer):
            names = [field.name for field in warehouse.definition(grant.project, grant.slicer).key_fields]
            for filter_ in grant.filters:
                if filter_.name not in names:
                    raise UnknownName("key field", filter_.name, names)
    return result


def caller() -> str:
    """`command line (root)`: the account of the operating system, where that is known."""
    try:
        return f"command line ({getpass.getuser()})"
    except (KeyError, OSError):
        return "command line"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Header and rows in columns as wide as their widest cell, two spaces apart."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in (header, *rows)
    )
    return "\n".join(line.rstrip() for line in lines)
