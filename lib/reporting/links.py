"""Queries as URL parameters of the desk: `?start=-7d&end=yesterday&split=a~b&is.country=US~CA`.

Lists are joined by a tilde, the one separator that URLs, browsers and chat programs leave as it is; a tilde
within an item is written %7E. A filter is one parameter: its match and options, a dot, the key field.

    is. not. has. hasnt. starts. ends.    the six matches
    is-i.  is-d.  is-id.                  whatever the case, descriptions searched too, both
    is2.  is3-i.                          a second and third of the same kind on the same field
    any.is.  any2.has.                    one of a group of filters of which any holds, and of a second group
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import NamedTuple
from urllib.parse import urlencode

from lib.reporting import named_days
from lib.reporting.models import (
    API_ROWS_LIMIT,
    MOST_ALTERNATIVES,
    MOST_GROUPS,
    ROWS_LIMITS,
    AudienceQuery,
    DataFilter,
)
from lib.slicers import dates, zones
from lib.slicers.counterparts import counterpart, title
from lib.slicers.models import KeyField, Order, Slicer
from lib.slicers.zones import Zone
from lib.wire.errors import BadRequest
from lib.wire.filters import BY_CODE, DataMatch, Filter, rule

CODES: dict[DataMatch, str] = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "=": "eq", "!=": "ne"}
PLAIN = ("start", "end", "tz", "split", "fields", "order", "limit", "offset", "source", "rows")
FILTER = re.compile(rf"(?:any(\d{{0,3}})\.)?({'|'.join(BY_CODE)})(\d*)(?:-(i?)(d?))?\.(.+)", re.DOTALL)
MOST_SPLITS = 3


class ParsedLink(NamedTuple):
    """A query read from a link, and a sentence for each part of the link that was left out."""

    query: AudienceQuery
    left_out: list[str]


def to_params(query: AudienceQuery) -> dict[str, str]:
    """The whole query as URL parameters, without default values. Days keep their names (named_days.py)."""
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
        **filter_params(query.filters),
        **{
            f"any{number if number > 1 else ''}.{name}": text
            for number, group in enumerate(query.any_of, 1)
            for name, text in filter_params(group).items()
        },
    }


def from_params(
    params: Mapping[str, str],
    slicer: Slicer,
    project: str,
    name: str,
    today: date | None = None,
    origin: Slicer | None = None,
) -> ParsedLink:
    """The query in URL parameters, about the slicer `name` of `project`.

    Forgiving: what can't be read, or what the slicer does not have, is left out and named in a sentence;
    without dates it is the slicer's last complete week. `today` is today in the slicer's zone. Fields go by
    their meaning (counterparts.py), where the link was about the slicer `origin`.
    """
    reader = _LinkReader(params, slicer, name, today or dates.today(slicer.timezone), origin or slicer)
    return ParsedLink(reader.query(project), reader.left_out)


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
    return join_texts(
        text for filter_ in filters for text in (filter_.name, CODES[filter_.match], digits(filter_.value))
    )


def digits(value: float) -> str:
    """A number in plain digits, as few as say it."""
    return f"{Decimal(repr(float(value))).normalize():f}"


def join_texts(items: Iterable[str]) -> str:
    """Texts as one parameter."""
    return "~".join(item.replace("%", "%25").replace("~", "%7E") for item in items)


def split_texts(text: str) -> tuple[str, ...]:
    """The texts that `join_texts` put together."""
    return tuple(item.replace("%7E", "~").replace("%25", "%") for item in text.split("~"))


def read_filter(parts: re.Match[str], text: str) -> Filter:
    """The filter of a parameter, whose name matches FILTER, and its text."""
    _, code, _, case, descriptions, field = parts.groups()
    return Filter(
        name=field,
        value=split_texts(text),
        match=BY_CODE[code],
        case_insensitive=bool(case),
        search_mappings=bool(descriptions),
    )


def filter_params(filters: Iterable[Filter]) -> dict[str, str]:
    """Filters that all hold as parameters."""
    params: dict[str, str] = {}
    for filter_ in filters:
        flags = "i" * filter_.case_insensitive + "d" * filter_.search_mappings
        code, end = rule(filter_.match).code, f"{'-' if flags else ''}{flags}.{filter_.name}"
        name, count = f"{code}{end}", 1
        while name in params:
            count += 1
            name = f"{code}{count}{end}"
        params[name] = join_texts(filter_.value)
    return params


class FieldNames:
    """The names of a slicer's fields, by those of the slicer `origin` that mean the same."""

    def __init__(self, slicer: Slicer, origin: Slicer) -> None:
        self._slicer, self._origin = slicer, origin

    def of(self, name: str) -> str:
        """The slicer's name of a field; the name itself where no field means the same."""
        keys = {field.name: field for field in self._origin.key_fields}
        data = {field.name: field for field in self._origin.data_fields}
        if name in data:
            return counterpart(data[name], self._slicer.data_fields) or name
        return counterpart(keys.get(name, KeyField(name=name)), self._slicer.key_fields) or name

    def title(self, name: str) -> str:
        """What people call that field."""
        return title(name, (*self._origin.key_fields, *self._origin.data_fields))


class _LinkReader:
    """Reads the parts of a query, and collects in `left_out` a sentence for each that it leaves out."""

    def __init__(
        self, params: Mapping[str, str], slicer: Slicer, name: str, today: date, origin: Slicer
    ) -> None:
        self._params, self._slicer, self._name, self._today = params, slicer, name, today
        self._names = FieldNames(slicer, origin)
        self._keys = slicer.key_names
        self.left_out: list[str] = []

    def query(self, project: str) -> AudienceQuery:
        """The query, about this project's slicer. To be called once."""
        data = self._slicer.data_names
        sources = [source.name for source in self._slicer.audience_sources]
        default = dates.default_days(self._slicer, self._today)
        start, end = self._params.get("start") or default[0], self._params.get("end") or default[1]
        if (start, end) != default:
            try:
                named_days.resolve(start, end, self._today, self._slicer)
            except BadRequest as error:
                self.left_out.append(f"Left out the dates: {error.reason[0].lower()}{error.reason[1:]}.")
                start, end = default
        split = self._known_names("split", self._keys, "the split by")
        if len(split) > MOST_SPLITS:
            rest = ", ".join(split[MOST_SPLITS:])
            self.left_out.append(f"Left out the split by {rest}: three key fields at most.")
        split = split[:MOST_SPLITS]
        filters = self._filters()
        order_text = self._params.get("order")
        items = split_texts(order_text) if order_text else ()
        falls = {item.removeprefix("-"): item.startswith("-") for item in items}
        order_names = self._choose(falls, [*split, *data], "the order by")
        falls = {self._names.of(name): is_falling for name, is_falling in falls.items()} | falls
        return AudienceQuery(
            project_name=project,
            slicer_name=self._name,
            start_date=start,
            end_date=end,
            split_by=split,
            order_by=tuple(
                Order(name=name, direction="desc" if falls[name] else "asc") for name in order_names
            ),
            filters=filters.pop(None, ()),
            any_of=tuple(group for group in filters.values() if group),
            timezone=self._timezone(),
            data_fields=self._known_names("fields", data, "the data field") or None,
            limit=self._number("limit", (0, None)),
            offset=self._number("offset", (0, None)) or 0,
            audience_key=next(iter(self._known_names("source", sources, "the source")), None),
            audience_rows_limit=self._number("rows", ROWS_LIMITS) or API_ROWS_LIMIT,
        )

    def _filters(self) -> dict[str | None, tuple[Filter, ...]]:
        """The filters by their group, those that all hold by None; a group with an unknown field is empty.

        Without one of its filters a group would keep fewer rows than the link says: it is left out whole.
        """
        groups: dict[str | None, tuple[Filter, ...]] = {}
        incomplete: set[str] = set()
        for param, text in self._params.items():
            if not (parts := FILTER.fullmatch(param)):
                continue
            group, field = parts[1], self._names.of(parts[6])
            if field not in self._keys:
                which = "filter" if group is None else "filters of which any holds, with one"
                title = self._names.title(parts[6])
                self.left_out.append(f"Left out the {which} on {title}: {self._name} has no such key field.")
                incomplete |= set() if group is None else {group}
                continue
            filter_ = read_filter(parts, text).model_copy(update={"name": field})
            groups[group] = tuple(dict.fromkeys((*groups.get(group, ()), filter_)))
        for number, (group, filters) in enumerate(groups.items()):
            if group is not None and (number > MOST_GROUPS or len(filters) > MOST_ALTERNATIVES):
                self.left_out.append(f"Left out any{group}, filters of which any holds: too many.")
                incomplete.add(group)
        return {group: () if group in incomplete else filters for group, filters in groups.items()}

    def _timezone(self) -> Zone | None:
        text = self._params.get("tz", "")
        zone = text if text in zones.names() else self._number("tz", (-12, 12))
        if isinstance(zone, str) and self._slicer.supports_timezone and not self._slicer.knows("time_zones"):
            self.left_out.append(f"Left out the time zone {zone}: this service knows whole hours alone.")
            return None
        if zone is not None and zone != self._slicer.timezone and not self._slicer.supports_timezone:
            self.left_out.append("Left out the time zone: this slicer has daily data in a zone of its own.")
            return None
        return zone

    def _known_names(self, param: str, choices: Iterable[str], what: str) -> tuple[str, ...]:
        """The names in a parameter that the slicer has, without repeats."""
        text = self._params.get(param)
        return self._choose(dict.fromkeys(split_texts(text) if text else ()), choices, what)

    def _choose(self, names: Iterable[str], choices: Iterable[str], what: str) -> tuple[str, ...]:
        field_names = set(choices)
        own_names = {name: name if name in field_names else self._names.of(name) for name in names}
        self.left_out += [
            f"Left out {what} {self._names.title(name)}: {self._name} has none of that name."
            for name, own in own_names.items()
            if own not in field_names
        ]
        return tuple(dict.fromkeys(own for own in own_names.values() if own in field_names))

    def _number(self, param: str, limits: tuple[int, int | None]) -> int | None:
        text, (least, most) = self._params.get(param), limits
        if text is None:
            return None
        is_number = re.fullmatch(r"[+-]?\d{1,9}", text, re.ASCII) is not None
        if not is_number or int(text) < least or int(text) > (most or 10**9):
            self.left_out.append(f"Left out {param} in the link: '{text[:20]}' is not a valid number.")
            return None
        return int(text)
