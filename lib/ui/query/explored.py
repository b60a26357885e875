"""The state of the Slicers page: the fields chosen, and the order of the top values."""

from dataclasses import dataclass

from lib.reporting.models import Order, Slicer
from lib.ui.query.link import join_texts, split_texts


@dataclass(frozen=True)
class Explored:
    """Names of fields, empty for the usual ones; `order` is that of the top values, None by volume."""

    key: str = ""
    data: str = ""
    order: Order | None = None


NOTHING = Explored()


def to_text(explored: Explored) -> str:
    """The fields and the order as one parameter; empty where nothing was chosen."""
    if explored == NOTHING:
        return ""
    order = explored.order
    by = () if order is None else ("-" * (order.direction == "desc") + order.name,)
    return join_texts((explored.key, explored.data, *by))


def from_text(text: str, slicer: Slicer) -> Explored:
    """The state in a URL parameter; the default if the slicer lacks one of the fields."""
    key, data, by = (*split_texts(text), "", "")[:3]
    keys = {field.name for field in slicer.key_fields}
    fields = {field.name for field in slicer.data_fields}
    if key not in keys or data not in fields:
        return NOTHING
    name = by.removeprefix("-")
    order = Order(name=name, direction="desc" if by.startswith("-") else "asc")
    return Explored(key, data, order if name in {key, *fields} else None)
