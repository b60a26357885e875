"""Queries as URL parameters of the desk: `?start=-7d&end=yesterday&split=a~b&is.country=US~CA`.

Lists are joined by a tilde, the one separator that URLs, browsers and chat programs leave as it is; a tilde
within an item is written %7E. A filter is one parameter: its match and options, a dot, the key field.

    is. not. has. hasnt. starts. ends.    the six matches
    is-i.  is-d.  is-id.                  whatever the case, descriptions searched too, both
    is2.  is3-i.                          a second and third of the same kind on the same field
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import NamedTuple
from urllib.parse import urlencode

from lib.reporting import dates
from lib.reporting.matches import BY_CODE, DataMatch, rule
from lib.reporting.models import (
    API_ROWS_LIMIT,
    ROWS_LIMITS,
    AudienceQuery,
    DataFilter,
    Filter,
    Order,
    Slicer,
)
from lib.wire.errors import BadRequest

CODES: dict[DataMatch, str] = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "=": "eq", "!=": "ne"}
PLAIN = ("start", "end", "tz", "split", "fields", "order", "limit", "offset", "source", "rows")
FILTER = re.compile(rf"({'|'.join(BY_CODE)})(\d*)(?:-(i?)(d?))?\.(.+)", re.DOTALL)
MOST_SPLITS = 3


class ParsedLink(NamedTuple):
    """A query read from a link, and a sentence for each part of the link that was left out."""

    query: AudienceQuery
    left_out: list[str]


def to_params(query: AudienceQuery) -> dict[str, str]:
    """The whole query as URL parameters, without default values. Relative dates stay relative."""
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


def from_params(
    params: Mapping[str, str], slicer: Slicer, project: str, name: str, today: date | None = None
) -> ParsedLink:
    """The query in URL parameters, about the slicer `name` of `project`.

    Forgiving: what can't be read, or what the slicer does not have, is left out and named in a sentence;
    without dates it is the slicer's last complete week. `today` is today in the slicer's zone.
    """
    left_out: list[str] = []
    keys = [field.name for field in slicer.key_fields]
    data = [field.name for field in slicer.data_fields]
    start, end = _dates(params, slicer, today or dates.today(slicer.timezone), left_out)
    split = _known_names(params.get("split"), keys, "the split by", name, left_out)
    if len(split) > MOST_SPLITS:
        left_out.append(f"Left out the split by {', '.join(split[MOST_SPLITS:])}: three key fields at most.")
    split = split[:MOST_SPLITS]
    orders = _orders(params.get("order"), [*split, *data], name, left_out)
    sources = [source.name for source in slicer.audience_sources]
    query = AudienceQuery(
        project_name=project,
        slicer_name=name,
        start_date=start,
        end_date=end,
        filters=tuple(_filters(params, keys, name, left_out)),
        split_by=split,
        timezone=_timezone(params, slicer, left_out),
        data_fields=_known_names(params.get("fields"), data, "the data field", name, left_out) or None,
        order_by=orders,
        limit=_number(params, "limit", (0, None), left_out),
        offset=_number(params, "offset", (0, None), left_out) or 0,
        audience_key=next(
            iter(_known_names(params.get("source"), sources, "the source", name, left_out)), None
        ),
        audience_rows_limit=_number(params, "rows", ROWS_LIMITS, left_out) or API_ROWS_LIMIT,
    )
    return ParsedLink(query, left_out)


def is_query_param(name: str) -> bool:
    """Whether a URL parameter of this name is part of the query (project and slicer apart)."""
    return name in PLAIN or FILTER.fullmatch(name) is not None


def href(page: str, params: Mapping[str, str | list[str]]) -> str:
    """A link to a screen of the desk, relative to any other screen: `audience?start=-7d&…`."""
    return f"{page}?{urlencode(params, doseq=True)}" if params else page


def address(desk: str, params: Mapping[str, str]) -> str:
    """The whole address of a query on the desk at this address."""
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
    """The texts that `join_texts` put together."""
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


def _filters(params: Mapping[str, str], keys: list[str], name: str, left_out: list[str]) -> list[Filter]:
    filters = []
    for param, text in params.items():
        if not (parts := FILTER.fullmatch(param)):
            continue
        code, _, case, descriptions, field = parts.groups()
        if field not in keys:
            left_out.append(f"Left out the filter on {field}: {name} has no such key field.")
            continue
        filters.append(
            Filter(
                name=field,
                value=split_texts(text),
                match=BY_CODE[code],
                case_insensitive=bool(case),
                search_mappings=bool(descriptions),
            )
        )
    return filters


def _dates(params: Mapping[str, str], slicer: Slicer, today: date, left_out: list[str]) -> tuple[str, str]:
    usual = dates.default_days(slicer, today)
    start, end = params.get("start"), params.get("end")
    if start is None and end is None:
        return usual
    try:
        dates.date_range(start or usual[0], end or usual[1], today)
    except BadRequest as error:
        left_out.append(f"Left out the dates: {error.reason[0].lower()}{error.reason[1:]}.")
        return usual
    return start or usual[0], end or usual[1]


def _timezone(params: Mapping[str, str], slicer: Slicer, left_out: list[str]) -> int | None:
    zone = _number(params, "tz", (-12, 12), left_out)
    if zone is not None and zone != slicer.timezone and not slicer.supports_timezone:
        left_out.append("Left out the time zone: this slicer has daily data in a zone of its own.")
        return None
    return zone


def _known_names(
    text: str | None, choices: Iterable[str], what: str, slicer_name: str, left_out: list[str]
) -> tuple[str, ...]:
    """The names in a parameter that the slicer has, without repeats."""
    names = dict.fromkeys(split_texts(text)) if text else {}
    missing = [name for name in names if name not in choices]
    left_out += [f"Left out {what} {name}: {slicer_name} has none of that name." for name in missing]
    return tuple(name for name in names if name not in missing)


def _orders(text: str | None, choices: list[str], slicer_name: str, left_out: list[str]) -> tuple[Order, ...]:
    falling = {item.removeprefix("-"): item.startswith("-") for item in split_texts(text)} if text else {}
    names = _known_names(join_texts(falling), choices, "the order by", slicer_name, left_out)
    return tuple(Order(name=name, direction="desc" if falling[name] else "asc") for name in names)


def _number(
    params: Mapping[str, str], name: str, limits: tuple[int, int | None], left_out: list[str]
) -> int | None:
    text = params.get(name)
    if text is None:
        return None
    least, most = limits
    if not re.fullmatch(r"[+-]?\d{1,9}", text, re.ASCII) or int(text) < least or int(text) > (most or 10**9):
        left_out.append(f"Left out {name} in the link: '{text[:20]}' is not a valid number.")
        return None
    return int(text)
