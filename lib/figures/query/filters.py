"""Filters of a question: changes (include, exclude or release values of a key field), and their words."""

from collections.abc import Callable, Iterable, Mapping, Set
from decimal import Decimal

from lib.figures import numbers
from lib.figures.numbers import NOT_SET
from lib.reporting.links import digits
from lib.reporting.models import AudienceQuery, DataFilter
from lib.slicers.granularities import TIME_KEY_FIELDS
from lib.slicers.models import Slicer
from lib.wire.filters import RULES, Filter, Match, rule
from lib.wire.text import and_more

MOST_NAMES = 2
SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠"}
Change = Callable[[Filter], Filter]
OTHER: dict[Match, Match] = {"equals": "not equals", "not equals": "equals"}


def searching(name: str, text: str) -> tuple[Filter, ...]:
    """The filter that finds values by a part of their code or description; none without a text."""
    filter_ = Filter(name=name, value=(text,), match="contains", case_insensitive=1, search_mappings=1)
    return (filter_,) if text else ()


def sentence(
    filter_: Filter, slicer: Slicer, descriptions: Mapping[str, str] | None = None, most: int = MOST_NAMES
) -> str:
    """A filter as a short sentence; `descriptions` has the words of codes, `most` is how many to name."""
    return f"{field(filter_.name, slicer)} {_matching(filter_, descriptions or {}, most)}"


def group_sentence(
    group: Iterable[Filter],
    slicer: Slicer,
    descriptions: Mapping[str, Mapping[str, str]] | None = None,
    most: int | None = MOST_NAMES,
) -> str:
    """A group of filters of which any holds: `Any of: Country is Germany, Device is mobile`.

    `descriptions` has the words of codes by key field; without `most` all values are named.
    """
    parts = (
        sentence(filter_, slicer, (descriptions or {}).get(filter_.name), most or len(filter_.value))
        for filter_ in group
    )
    return f"Any of: {', '.join(parts)}"


def sentences(
    query: AudienceQuery,
    slicer: Slicer,
    descriptions: Mapping[str, Mapping[str, str]] | None = None,
    most: int | None = None,
) -> list[str]:
    """All filters of a question: a sentence for each, and for each group; without `most` with all values.

    `descriptions` has the words of codes by key field (`values.of_filters`).
    """
    words = descriptions or {}
    single = [sentence(f, slicer, words.get(f.name), most or len(f.value)) for f in query.filters]
    return [*single, *(group_sentence(group, slicer, words, most) for group in query.any_of)]


def figure_sentence(filter_: DataFilter, slicer: Slicer, reader: numbers.Numbers) -> str:
    """A filter by figures in words: `Impressions ≥ 1,000`."""
    places = max(0, -int(Decimal(digits(filter_.value)).as_tuple().exponent))
    field = numbers.title(slicer.data_field(filter_.name), with_unit=True)
    return f"{field} {SIGNS.get(filter_.match, filter_.match)} {reader.number(filter_.value, places)}"


def figure_sentences(
    data_filters: Iterable[DataFilter], slicer: Slicer, reader: numbers.Numbers
) -> list[str]:
    """A sentence of all of them, and that totals are whole, as they choose rows alone; none without any."""
    texts = [figure_sentence(filter_, slicer, reader) for filter_ in data_filters]
    return [f"Rows with {', '.join(texts)}; totals are of all values"] if texts else []


def restrictions(slicer: Slicer) -> str:
    """The rows that the person may see, as a sentence with all values; empty where these are all rows."""
    return "; ".join(sentence(filter_, slicer, most=len(filter_.value)) for filter_ in slicer.restrictions)


def together(filters: Iterable[Filter], slicer: Slicer, descriptions: Mapping[str, str] | None = None) -> str:
    """The filters on one key field in the same way: `Country is United States · is not Canada`."""
    all_filters = tuple(filters)
    parts = " · ".join(_matching(filter_, descriptions or {}, MOST_NAMES) for filter_ in all_filters)
    return f"{field(all_filters[0].name, slicer)} {parts}"


def field(name: str, slicer: Slicer) -> str:
    """A key field's name as people know it."""
    return slicer.key_field(name).description or name


def value_label(code: str, descriptions: Mapping[str, str]) -> str:
    """A value as people know it: its description, the code itself, or `(not set)`."""
    return descriptions.get(code) or code or NOT_SET


def both(code: str, description: str | None) -> str:
    """A value by description and code, to be found by either."""
    label = description or code or NOT_SET
    return label if label == code or not code else f"{label} · {code}"


def _matching(filter_: Filter, descriptions: Mapping[str, str], most: int) -> str:
    time = TIME_KEY_FIELDS.get(filter_.name)
    codes = map(time.label, filter_.value) if time else filter_.value
    names = [value_label(code, descriptions) for code in codes]
    return f"{rule(filter_.match).words} {and_more(names, most)}"


def is_whole(filter_: Filter) -> bool:
    """Whether the filter includes or excludes whole values."""
    return RULES[filter_.match].is_whole


def about(query: AudienceQuery, name: str) -> tuple[Filter, ...]:
    """The filters that include or exclude whole values of this key field."""
    return tuple(filter_ for filter_ in query.filters if filter_.name == name and is_whole(filter_))


def other_filters(query: AudienceQuery, name: str) -> tuple[Filter, ...]:
    """The other filters of the question."""
    return tuple(filter_ for filter_ in query.filters if filter_.name != name or not is_whole(filter_))


def values(query: AudienceQuery, name: str, match: Match | None = None) -> tuple[str, ...]:
    """The values that filters include or exclude, without repeats; those of one `match` if given."""
    lists = (filter_.value for filter_ in about(query, name) if match in (None, filter_.match))
    return tuple(dict.fromkeys(value for filter_values in lists for value in filter_values))


def include(query: AudienceQuery, name: str, value: str) -> AudienceQuery:
    """The question with this value as the only one included, and no longer excluded."""
    filters = [f for f in query.filters if not (f.name == name and f.match == "equals")]
    filter_ = Filter(name=name, value=(value,), match="equals")
    return _asking(query, (*_without(filters, name, {value}, "not equals"), filter_))


def add(query: AudienceQuery, name: str, value: str) -> AudienceQuery:
    """The question with this value added to those included, and no longer excluded."""
    return gather(query, name, (value,), "equals")


def exclude(query: AudienceQuery, name: str, value: str) -> AudienceQuery:
    """The question with this value excluded; one filter holds all excluded values."""
    return gather(query, name, (value,), "not equals")


def gather(query: AudienceQuery, name: str, more: Iterable[str], match: Match) -> AudienceQuery:
    """The question with these values in its filter of this match, and in none of the other one."""
    new_values = tuple(dict.fromkeys(more))
    filters = _without(query.filters, name, set(new_values), OTHER[match])
    for index, filter_ in enumerate(filters):
        if filter_.name == name and filter_.match == match:
            both = filter_.model_copy(update={"value": tuple(dict.fromkeys((*filter_.value, *new_values)))})
            return _asking(query, (*filters[:index], both, *filters[index + 1 :]))
    return _asking(
        query, (*filters, Filter(name=name, value=new_values, match=match)) if new_values else filters
    )


def release(query: AudienceQuery, name: str, value: str) -> AudienceQuery:
    """The question with this value neither included nor excluded."""
    filters = _without(query.filters, name, {value}, "equals")
    return _asking(query, _without(filters, name, {value}, "not equals"))


def swap(query: AudienceQuery, name: str) -> AudienceQuery:
    """The question with included and excluded values of the key field swapped."""
    return change(query, name, lambda filter_: filter_.model_copy(update={"match": OTHER[filter_.match]}))


def change(query: AudienceQuery, name: str, work: Change) -> AudienceQuery:
    """The question with each filter on whole values of the key field as `work` makes it."""
    ours = set(about(query, name))
    return _asking(query, (work(filter_) if filter_ in ours else filter_ for filter_ in query.filters))


def clear(query: AudienceQuery, name: str) -> AudienceQuery:
    """The question without filters on whole values of the key field."""
    return _asking(query, other_filters(query, name))


def _without(filters: Iterable[Filter], name: str, old_values: Set[str], match: Match) -> list[Filter]:
    """The filters without these values of the key field in that match; filters left empty are dropped."""
    others = []
    for filter_ in filters:
        if filter_.name == name and filter_.match == match and not old_values.isdisjoint(filter_.value):
            rest = tuple(value for value in filter_.value if value not in old_values)
            filter_ = filter_.model_copy(update={"value": rest})
        if filter_.value:
            others.append(filter_)
    return others


def _asking(query: AudienceQuery, filters: Iterable[Filter]) -> AudienceQuery:
    return query.model_copy(update={"filters": tuple(filters)})
