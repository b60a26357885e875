"""Options of commands that grant something: permissions for deals, and filters of rows."""

from collections.abc import Iterable
from dataclasses import replace

import click

from lib.people import DealsGrant, Grant
from lib.people.person import LEVELS, parse_filters
from lib.settings import Settings
from lib.wire.errors import BadRequest, UnknownName
from lib.wire.filters import Filter


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
    "--filter", "filters", type=FiltersType(), multiple=True,
    help="Only rows that pass: seat=3,7, or a filter object of the reporting API (JSON). Repeated, all hold.",
)  # fmt: skip


def with_filters(
    grants: Iterable[Grant], filters: Iterable[tuple[Filter, ...]], settings: Settings
) -> tuple[Grant, ...]:
    """The grants with these filters. UnknownName for a field that a slicer of this desk has not."""
    from lib.slicers.warehouse import Warehouse

    more = tuple(filter_ for option in filters for filter_ in option)
    result = tuple(replace(grant, filters=(*grant.filters, *more)) for grant in grants)
    warehouse = Warehouse(settings.warehouse)
    for grant in result:
        if grant.filters and grant.slicer and warehouse.has(grant.project, grant.slicer):
            names = [field.name for field in warehouse.definition(grant.project, grant.slicer).key_fields]
            for filter_ in grant.filters:
                if filter_.name not in names:
                    raise UnknownName("key field", filter_.name, names)
    return result
