"""What the client does where a service knows the specification and nothing more.

Order, page and choice of data fields are made here from the whole answer; totals stay those of the whole.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from lib.reporting.answers import Audience, Values
from lib.reporting.models import EXTENSIONS, AudienceQuery

PAGE = frozenset({"order_by", "limit", "offset"})


def known(query: AudienceQuery, extensions: Collection[str]) -> dict[str, Any]:
    """The request's fields for a service with these extensions; what is ordered here is cut here too."""
    left_out = set(EXTENSIONS) - set(extensions)
    if "order_by" in left_out:
        left_out |= PAGE
    return query.model_dump(mode="json", exclude_defaults=True, exclude=left_out)


def complete(audience: Audience, query: AudienceQuery, extensions: Collection[str]) -> Audience:
    """The answer with everything that was asked for and not sent."""
    left_out = set(EXTENSIONS) - set(extensions)
    if "order_by" in left_out:
        audience = _rows(audience, _ordered(audience, query)[query.offset :][: query.limit])
    elif left_out & PAGE:
        audience = _rows(audience, np.arange(len(audience))[query.offset :][: query.limit])
    return (
        _fields(audience, query.data_fields) if query.data_fields and "data_fields" in left_out else audience
    )


def _ordered(audience: Audience, query: AudienceQuery) -> np.ndarray[Any, np.dtype[np.intp]]:
    columns = {name: audience.names[name].to_numpy(dtype=object) for name in audience.names}
    columns |= {name: audience.values[name].to_numpy() for name in audience.values}
    places = np.arange(len(audience))
    for order in reversed(query.order_by):
        if order.name in columns:
            column = pd.Series(columns[order.name])[places]
            ascending = order.direction == "asc"
            places = column.sort_values(
                ascending=ascending, kind="stable", na_position="last"
            ).index.to_numpy()
    return places


def _rows(audience: Audience, places: np.ndarray[Any, np.dtype[np.intp]]) -> Audience:
    frames = ("names", "values", "percents", "descriptions", "confidence_range", "low", "high", "n_eff")
    parts = {name: getattr(audience, name) for name in frames}
    taken = {
        name: part.iloc[places].reset_index(drop=True) for name, part in parts.items() if part is not None
    }
    return replace(audience, **taken)


def _fields(audience: Audience, names: tuple[str, ...]) -> Audience:
    there = [name for name in names if name in audience.values]
    values: Values = {name: audience.total.values[name] for name in there}
    return replace(
        audience,
        values=audience.values[there],
        percents=audience.percents[[name for name in there if name in audience.percents]],
        total=replace(audience.total, values=values),
    )
