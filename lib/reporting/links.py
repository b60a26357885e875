"""Questions as URL parameters of the desk: `?start=-7d&end=yesterday&split=a~b&is.country=US~CA`.

Lists are joined by a tilde, the one separator that URLs, browsers and chat programs leave as it is; a tilde
within an item is written %7E. A filter is one parameter: its match and options, a dot, the key field.

    is. not. has. hasnt. starts. ends.    the six matches
    is-i.  is-d.  is-id.                  whatever the case, descriptions searched too, both
    is2.  is3-i.                          a second and third of the same kind on the same field
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from urllib.parse import urlencode

from lib.reporting.matches import DataMatch, rule
from lib.reporting.models import API_ROWS_LIMIT, AudienceQuery, DataFilter, Filter

CODES: dict[DataMatch, str] = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "=": "eq", "!=": "ne"}


def to_params(query: AudienceQuery) -> dict[str, str]:
    """The whole question as URL parameters, without default values. Relative dates stay relative."""
    optional = {
        "tz": "" if query.timezone is None else str(query.timezone),
        "split": join_texts(query.split_by),
        "fields": join_texts(query.data_fields or ()),
        "order": join_texts("-" * (o.direction == "desc") + o.name for o in query.order_by),
        "limit": "" if query.limit is None else str(query.limit),
        "offset": str(query.offset or ""),
        "source": query.audience_key or "",
        "rows": "" if query.audience_rows_limit == API_ROWS_LIMIT else str(query.audience_rows_limit),
    }
    return {
        "project": query.project_name,
        "slicer": query.slicer_name,
        "start": query.start_date,
        "end": query.end_date,
        **{name: text for name, text in optional.items() if text},
        **_filter_params(query.filters),
    }


def address(desk: str, params: Mapping[str, str]) -> str:
    """The whole address of a question on the desk at this address."""
    return f"{desk}/audience?{urlencode(params)}"


def having(filters: Iterable[DataFilter]) -> str:
    """Filters by figures as one parameter: `imps~ge~1000~ctr~lt~0.2`."""
    return join_texts(text for one in filters for text in (one.name, CODES[one.match], digits(one.value)))


def digits(value: float) -> str:
    """A number in plain digits, as few as say it."""
    return f"{Decimal(repr(float(value))).normalize():f}"


def join_texts(items: Iterable[str]) -> str:
    """Texts as one parameter."""
    return "~".join(item.replace("%", "%25").replace("~", "%7E") for item in items)


def split_texts(text: str) -> tuple[str, ...]:
    """The texts that `joined` put together."""
    return tuple(item.replace("%7E", "~").replace("%25", "%") for item in text.split("~"))


def _filter_params(filters: Iterable[Filter]) -> dict[str, str]:
    params: dict[str, str] = {}
    for filter_ in filters:
        flags = "i" * filter_.case_insensitive + "d" * filter_.search_mappings
        count = 1
        while (name := _filter_name(filter_, count, flags)) in params:
            count += 1
        params[name] = join_texts(filter_.value)
    return params


def _filter_name(filter_: Filter, count: int, flags: str) -> str:
    number = str(count) if count > 1 else ""
    return f"{rule(filter_.match).code}{number}{'-' if flags else ''}{flags}.{filter_.name}"
