"""The elements of a targeting, as a request holds them (decisions: Targeting elements)."""

from typing import Annotated

from pydantic import Field

from lib.deals.fields import Id, Pixels, Request, Unread, Value
from lib.deals.models import GeoType

MOST_TARGETS = 1_000


class GeoTarget(Request):
    """A place."""

    type: GeoType
    value: Value
    is_excluded: bool = False


class ValueTarget(Request):
    """A value of a key field."""

    value: Value
    is_excluded: bool = False


class SizeTarget(Request):
    """A size in pixels."""

    width: Pixels
    height: Pixels
    is_excluded: bool = False


class ListTarget(Request):
    """A list of domains or apps, by its id."""

    id: Id
    name: Unread | None = None
    is_excluded: bool = False


Values = Annotated[list[ValueTarget], Field(max_length=MOST_TARGETS)]
Lists = Annotated[list[ListTarget], Field(max_length=MOST_TARGETS)]
Places = Annotated[list[GeoTarget], Field(max_length=MOST_TARGETS)]
Sizes = Annotated[list[SizeTarget], Field(max_length=MOST_TARGETS)]
