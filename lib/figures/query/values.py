"""The values of a key field in the data, the most frequent first, searchable by code and description."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import chain

from lib.figures.context import RequestContext
from lib.figures.numbers import Numbers
from lib.figures.query import ask, filters, precision
from lib.reporting.answers import Audience
from lib.reporting.models import API_ROWS_LIMIT, DESK_ROWS_LIMIT, ROWS_LIMITS, AudienceQuery
from lib.slicers.granularities import CYCLE_KEY_FIELDS, SPAN_KEY_FIELDS
from lib.slicers.models import Order, Slicer
from lib.wire.filters import Filter

MOST_VALUES = 300
WORDS, OCCURRENCES = "described_values", "seen_values"
FieldKey = tuple[Hashable, str, str, str]


@dataclass(frozen=True)
class Values:
    """Codes with their descriptions, in order; `count` is the number of all values.

    Where `is_counted` is false these are those of a sample; where `has_words` is, codes stand for themselves.
    """

    descriptions: dict[str, str]
    count: int
    is_counted: bool = True
    has_words: bool = True

    @property
    def has_more(self) -> bool:
        """Whether a search at the service can find more values than these."""
        return self.count > len(self.descriptions) or not self.is_counted or not self.has_words

    def placeholder(self, numbers: Numbers) -> str:
        """The placeholder of the search field."""
        if not self.has_words:
            return "Search by code or description"
        return f"Search among {numbers.number(self.count)} values" if self.is_counted else "Search all values"


def value_options(context: RequestContext, query: AudienceQuery, name: str, text: str = "") -> Values:
    """A key field's values on the question's days, without its filters; only those with `text`, if given."""
    answer = ask.audience(context, _values_query(context, query, name, filters.searching(name, text)))
    has_words = precision.has_words(context.slicer, context.slicer.key_field(name))
    labels = matching(context, answer, name, text)
    return Values(labels, answer.total.records_found, answer.confidence_range is None, has_words)


def matching(context: RequestContext, answer: Audience, name: str, text: str) -> dict[str, str]:
    """The codes of an answer with their descriptions, in its order; with `text`, those that contain it.

    With a description the service finds values whose description is not known here: they are not looked
    through again, though on a segmented key field others come along.
    """
    labels, field = _describe(context, answer, name), context.slicer.key_field(name)
    if not text or (answer.descriptions is None and (field.mapping or not field.is_segmented)):
        return labels
    letters = text.lower()
    return {
        code: label for code, label in labels.items() if letters in code.lower() or letters in label.lower()
    }


def descriptions(
    context: RequestContext, query: AudienceQuery, name: str, codes: Iterable[str]
) -> dict[str, str]:
    """The descriptions of these values, as far as they occur on the question's days.

    Where the service fails there are none: codes will do, and the figures say that it failed.
    """
    labels = _known_values(context, name)
    missing = tuple(code for code in codes if code not in labels)
    if missing and context.slicer.key_field(name).mapping and context.slicer.knows("include_mappings"):
        exact = Filter(name=name, value=missing, match="equals")
        answer = ask.try_fetch(context, _values_query(context, query, name, (exact,)))
        if answer is None:
            return labels
        _describe(context, answer, name)
    for code in missing:
        labels.setdefault(code, code)
    return labels


def of_filters(
    context: RequestContext, query: AudienceQuery, conditions: Iterable[Filter] | None = None
) -> dict[str, dict[str, str]]:
    """The descriptions of the values of these filters, by key field; without any of all of the question."""
    codes: dict[str, list[str]] = {}
    for filter_ in (*query.filters, *chain(*query.any_of)) if conditions is None else conditions:
        codes.setdefault(filter_.name, []).extend(filter_.value)
    return {name: descriptions(context, query, name, codes[name]) for name in codes}


def check(context: RequestContext, query: AudienceQuery, name: str, codes: Iterable[str]) -> dict[str, bool]:
    """Whether each of these values occurs on the question's days, as far as the service can tell.

    It can't where it does not answer in a moment, or has only looked at a sample of the rows.
    """
    cache = context.cache(OCCURRENCES, dict[FieldKey, dict[str, bool]])
    occurrences = cache.setdefault((context.viewer, context.project, context.slicer_name, name), {})
    all_codes = tuple(codes)
    unseen = tuple(code for code in all_codes if code not in occurrences)
    for start in range(0, len(unseen), MOST_VALUES):
        batch = unseen[start : start + MOST_VALUES]
        exact = Filter(name=name, value=batch, match="equals")
        answer = ask.try_fetch(context, _values_query(context, query, name, (exact,)))
        if answer is not None:
            names, is_exact = {*answer.names[name].tolist()}, answer.confidence_range is None
            occurrences.update({code: code in names for code in batch if is_exact or code in names})
    return {code: occurrences[code] for code in all_codes if code in occurrences}


def look_up(
    context: RequestContext, query: AudienceQuery, name: str, texts: Iterable[str]
) -> tuple[dict[str, tuple[str, ...]], bool]:
    """The values that each of these texts means, on the question's days: by code, else whatever its case by
    code or description; and whether every record was looked at. A text that means none is left out.
    """
    all_texts, is_exact = tuple(texts), True
    descriptions: dict[str, str] = {}
    for start in range(0, len(all_texts), MOST_VALUES):
        batch = all_texts[start : start + MOST_VALUES]
        exact = Filter(name=name, value=batch, match="equals", case_insensitive=1, search_mappings=1)
        query_of_texts = _values_query(context, query, name, (exact,))
        all_rows = {"limit": None, "audience_rows_limit": ROWS_LIMITS[1]}
        answer = ask.audience(
            context,
            query_of_texts.model_copy(update=all_rows if context.slicer.knows("limit") else {"limit": None}),
        )
        descriptions |= _describe(context, answer, name)
        is_exact = is_exact and answer.confidence_range is None
    by_words: dict[str, list[str]] = {}
    by_code: dict[str, list[str]] = {}
    for code, label in descriptions.items():
        by_code.setdefault(code.casefold(), []).append(code)
        by_words.setdefault(label.casefold(), []).append(code)
    codes_of: dict[str, tuple[str, ...]] = {}
    for text in all_texts:
        key = text.casefold()
        codes = [text] if text in descriptions else by_code.get(key) or by_words.get(key)
        if codes:
            codes_of[text] = tuple(codes)
    return codes_of, is_exact


def remember(context: RequestContext, audience: Audience) -> None:
    """Cache the descriptions in an answer, so that filters on its values need no query for them."""
    for name in map(str, audience.names):
        _describe(context, audience, name)


def frequent(slicer: Slicer) -> str | None:
    """The data field that measures how frequent values are: the first one that is not a formula."""
    return next((field.name for field in slicer.data_fields if field.formula is None), None)


def in_order(name: str, by: str | None) -> Order:
    """The order of values: the largest by a data field first; of times the latest, of weekdays the Monday."""
    if name in CYCLE_KEY_FIELDS:
        return Order(name=name, direction="asc")
    return Order(name=name, direction="desc") if name in SPAN_KEY_FIELDS or by is None else Order(name=by)


def _values_query(
    context: RequestContext, query: AudienceQuery, name: str, conditions: tuple[Filter, ...]
) -> AudienceQuery:
    by, others_come_along = frequent(context.slicer), context.slicer.key_field(name).is_segmented
    return AudienceQuery(
        project_name=query.project_name,
        slicer_name=query.slicer_name,
        start_date=query.start_date,
        end_date=query.end_date,
        timezone=query.timezone,
        filters=conditions,
        split_by=(name,),
        data_fields=None if by is None else (by,),
        order_by=(in_order(name, by),),
        limit=None if conditions and others_come_along else MOST_VALUES,
        include_mappings=1,
        audience_rows_limit=API_ROWS_LIMIT if context.slicer.knows("limit") else DESK_ROWS_LIMIT,
    )


def _describe(context: RequestContext, answer: Audience, name: str) -> dict[str, str]:
    codes = answer.names[name].tolist()
    frame = answer.descriptions
    texts = frame[name].tolist() if frame is not None and name in frame else codes
    labels = dict(zip(codes, texts, strict=True))
    _known_values(context, name).update(labels)
    return labels


def _known_values(context: RequestContext, name: str) -> dict[str, str]:
    cache = context.cache(WORDS, dict[FieldKey, dict[str, str]])
    return cache.setdefault((context.viewer, context.project, context.slicer_name, name), {})
