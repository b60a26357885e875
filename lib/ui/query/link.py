"""Reads questions from URL parameters: `?start=-7d&end=yesterday&split=a~b&is.country=US~CA`.

How they are written, lib/reporting/links.py says.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import NamedTuple
from urllib.parse import urlencode

from lib.reporting import dates
from lib.reporting.links import having, join_texts, split_texts, to_params
from lib.reporting.matches import BY_CODE
from lib.reporting.models import API_ROWS_LIMIT, ROWS_LIMITS, AudienceQuery, Filter, Order, Slicer
from lib.ui.query import periods
from lib.wire.errors import BadRequest

__all__ = [
    "ParsedLink",
    "from_params",
    "having",
    "href",
    "is_question",
    "join_texts",
    "split_texts",
    "to_params",
]
MOST_SPLITS = 3
FILTER = re.compile(rf"({'|'.join(BY_CODE)})(\d*)(?:-(i?)(d?))?\.(.+)", re.DOTALL)
PLAIN = ("start", "end", "tz", "split", "fields", "order", "limit", "offset", "source", "rows")


class ParsedLink(NamedTuple):
    """A question read from a link, and a sentence for each part of the link that was left out."""

    query: AudienceQuery
    left_out: list[str]


def from_params(
    params: Mapping[str, str], slicer: Slicer, project: str, name: str, today: date | None = None
) -> ParsedLink:
    """The question in URL parameters, about the slicer `name` of `project`.

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


def is_question(name: str) -> bool:
    """Whether a URL parameter of this name is part of the question (project and slicer apart)."""
    return name in PLAIN or FILTER.fullmatch(name) is not None


def href(page: str, params: Mapping[str, str | list[str]]) -> str:
    """A link to a screen of the desk, relative to any other screen: `audience?start=-7d&…`."""
    return f"{page}?{urlencode(params, doseq=True)}" if params else page


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
    usual = periods.usual(slicer, today)
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
