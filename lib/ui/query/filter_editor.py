"""The content of a filter's popover: the values of its key field with their figures, or a form of texts.

The values of a key field to filter by, each with its figure: a click keeps it, others leave it out or keep
it alone. Values are found by typing; those that are chosen already follow the largest.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery, DataField, Filter
from lib.ui.charts.numbers import LONGEST, NOTHING, Numbers, title
from lib.ui.kit import problems, rows
from lib.ui.kit.frame import PageContext
from lib.ui.kit.rows import CardHeader, Cell, Choice, Column, Row, Search, Table
from lib.ui.query import ask, clicks, filter_paste, filters, focus, history, precision, values
from lib.wire.filters import MATCHES, RULES, Match

LIMIT, MOST_VALUES = 100, 100
Figures = dict[str, float]
WIDTH, TEXTS_HEIGHT = 380, 90
LIST, PASTE = "List", "Paste"
TEXT_MATCHES = tuple(match for match in MATCHES if not RULES[match].is_whole)
OnChange = Callable[[], None] | None


def draw(context: PageContext, prefix: str, name: str) -> None:
    """Draw the list of values of the key field `name`; `prefix` makes its widget keys unique."""
    key = f"{prefix}_board"
    catch_up(context, key, name)
    with problems.report_errors("The values"):
        table = _table(
            context, history.current(context).query, name, st.session_state.get(_found_by(key, name), "")
        )
        rows.draw(key, [table], history.receipt(key), partial(_follow, context, key, name))
        ask.refine(key)


def catch_up(context: PageContext, key: str, name: str) -> None:
    """Apply the clicks in the list that are not applied yet, then rerun the page."""
    acts, latest = rows.new_acts(st.session_state.get(key), history.receipt(key))
    for act in acts:
        if isinstance(act, Search):
            st.session_state[_found_by(key, name)] = act.text
    if acts:
        choices = [act for act in acts if isinstance(act, Choice)]
        clicks.take(context, choices, {key: latest})
        if choices:
            st.rerun()


def _follow(context: PageContext, key: str, name: str) -> None:
    catch_up(context, key, name)


def _found_by(key: str, name: str) -> str:
    return f"{key}_find_{name}"


def _table(context: PageContext, query: AudienceQuery, name: str, text: str) -> Table:
    field, numbers = _page_field(context, query), Numbers.of(st.context.locale)
    answer = ask.estimate(context, _values_query(context, query, name, field, values.searching(name, text)))
    labels = dict([*values.matching(context, answer, name, text).items()][:LIMIT])
    figures = _figures(answer, name, field)
    if not text:
        missing = tuple(code for code in filters.values(query, name) if code not in labels)[:MOST_VALUES]
        labels, figures = _add_missing(context, query, name, missing, labels, figures)
    field_title = filters.field(name, context.slicer)
    card = CardHeader(
        field_title, _about(answer, field, numbers), text, _message(text, labels), is_picker=True
    )
    columns = [Column("name", "Value", True)]
    if field is not None:
        columns.append(Column("value", title(field, with_unit=True)))
    included, left_out = (set(filters.values(query, name, match)) for match in ("equals", "not equals"))
    table_rows = [
        Row(
            [Cell(label or filters.value_label(code, {}), about=filters.both(code, label)),
             *_figure(figures.get(code), field, numbers)],
            ((name, code),),
            included=(code in included,),
            excluded=(code in left_out,),
        )
        for code, label in labels.items()
    ]  # fmt: skip
    return Table(name, f"Values of {field_title}", columns, table_rows, verb="Keep", card=card)


def _values_query(
    context: PageContext, query: AudienceQuery, name: str, field: DataField | None, more: tuple[Filter, ...]
) -> AudienceQuery:
    """The values under the question's other filters, so that unchosen values stay visible."""
    volume = None if field is None else focus.volume(context.slicer, field)
    return query.model_copy(
        update={
            "split_by": (name,),
            "filters": (*filters.other_filters(query, name), *more),
            "data_fields": None if field is None else tuple(dict.fromkeys((field.name, volume))),
            "order_by": (values.in_order(name, volume),),
            "limit": LIMIT,
            "offset": 0,
            "precision": 1,
            "include_mappings": 1,
        }
    )


def _add_missing(
    context: PageContext,
    query: AudienceQuery,
    name: str,
    missing: tuple[str, ...],
    labels: dict[str, str],
    figures: Figures,
) -> tuple[dict[str, str], Figures]:
    """The values and figures, with the chosen values that are not among the largest."""
    if not missing:
        return labels, figures
    exact = Filter(name=name, value=missing, match="equals")
    field = _page_field(context, query)
    answer = ask.estimate(context, _values_query(context, query, name, field, (exact,)))
    descriptions = values.matching(context, answer, name, "")
    more = {code: descriptions.get(code, code) for code in missing}
    return labels | more, figures | _figures(answer, name, field)


def _page_field(context: PageContext, query: AudienceQuery) -> DataField | None:
    """The data field of the page."""
    names = (history.current(context).view.field, *(query.data_fields or focus.usual_metrics(context.slicer)))
    return next((context.slicer.data_field(name) for name in names if name), None)


def _figures(answer: Audience, name: str, field: DataField | None) -> Figures:
    if field is None:
        return {}
    return dict(zip(answer.names[name].tolist(), answer.values[field.name].tolist(), strict=True))


def _figure(value: float | None, field: DataField | None, numbers: Numbers) -> list[Cell]:
    if field is None:
        return []
    if value is None:
        return [Cell(NOTHING, is_faint=True, about="No data for the other filters and days")]
    text = numbers.rough(value) if abs(value) >= LONGEST else numbers.plain(value, field)
    return [Cell(text, about=numbers.full(value, field))]


def _about(answer: Audience, field: DataField | None, numbers: Numbers) -> str:
    """`top 100 of 1,163 · ± 1.3 %…`: the number of values, and the precision of the figures."""
    count = precision.count(answer, numbers)
    is_cut = answer.total.records_found > LIMIT
    text = precision.EXACT if field is None else precision.sentence(answer, field.name, numbers)
    parts = [f"top {LIMIT} of {count}" if is_cut else count]
    return " · ".join([*parts, *([] if text == precision.EXACT else [text])])


def _message(text: str, labels: dict[str, str]) -> str:
    if labels:
        return ""
    return f"No value contains “{text}”." if text else "No data for the other filters and days."


def draw_values(context: PageContext, prefix: str, name: str, way: str) -> None:
    """Draw the values of the key field `name` (a list, or pasted), and the controls for all chosen values."""
    with st.container(width=WIDTH):
        (filter_paste.draw if way == PASTE else draw)(context, prefix, name)
        own_filters = filters.about(history.current(context).query, name)
        if own_filters:
            _options(context, prefix, name, own_filters)


def _options(context: PageContext, prefix: str, name: str, own_filters: tuple[Filter, ...]) -> None:
    st.session_state[f"{prefix}_any_case"] = any(filter_.case_insensitive for filter_ in own_filters)
    st.session_state[f"{prefix}_descriptions"] = any(filter_.search_mappings for filter_ in own_filters)
    _flags(context, prefix, name, partial(_flag, context, prefix, name))
    with st.container(horizontal=True, gap="xsmall"):
        st.button(
            "Swap",
            icon=":material/swap_horiz:",
            type="tertiary",
            help="Exclude what is included, and include what is excluded",
            key=f"{prefix}_swap",
            on_click=_ask,
            args=(context, name, filters.swap),
        )
        draw_removal(prefix, partial(_ask, context, name, filters.clear))


def _flag(context: PageContext, prefix: str, name: str) -> None:
    flags = _read_flags(prefix)
    _ask(context, name, partial(filters.change, work=lambda f: f.model_copy(update=flags)))


def _ask(context: PageContext, name: str, work: Callable[[AudienceQuery, str], AudienceQuery]) -> None:
    page_state = history.current(context)
    history.push(replace(page_state, query=work(page_state.query, name)))
    st.rerun()


def draw_removal(prefix: str, remove: Callable[[], None]) -> None:
    """Draw the button that removes the filter; `remove` is its callback."""
    st.button("Remove", icon=":material/close:", type="tertiary", key=f"{prefix}_remove", on_click=remove)


def fill(prefix: str, filter_: Filter | None = None) -> None:
    """Fill the form of texts with this filter, or clear it."""
    st.session_state[f"{prefix}_match"] = filter_.match if filter_ else TEXT_MATCHES[0]
    st.session_state[f"{prefix}_texts"] = "\n".join(filter_.value) if filter_ else ""
    st.session_state[f"{prefix}_any_case"] = bool(filter_ and filter_.case_insensitive)
    st.session_state[f"{prefix}_descriptions"] = bool(filter_ and filter_.search_mappings)


def read(prefix: str, name: str) -> Filter | None:
    """The filter in the form of texts; None without any texts."""
    match: Match = st.session_state.get(f"{prefix}_match", TEXT_MATCHES[0])
    texts = tuple(line for line in st.session_state.get(f"{prefix}_texts", "").splitlines() if line)
    filter_ = Filter(name=name, value=texts, match=match).model_copy(update=_read_flags(prefix))
    return filter_ if texts else None


def draw_texts(context: PageContext, prefix: str, name: str, on_change: OnChange) -> None:
    """Draw the form of a filter by texts on `name`; `on_change` is the callback of its widgets."""
    st.selectbox(
        "Match",
        TEXT_MATCHES,
        format_func=lambda match: RULES[match].words,
        key=f"{prefix}_match",
        width=WIDTH,
        on_change=on_change,
    )
    st.text_area(
        "Texts, one per line", key=f"{prefix}_texts", width=WIDTH, height=TEXTS_HEIGHT, on_change=on_change
    )
    _flags(context, prefix, name, on_change)


def _flags(context: PageContext, prefix: str, name: str, on_change: OnChange) -> None:
    with st.container(horizontal=True):
        st.checkbox("Any case", key=f"{prefix}_any_case", on_change=on_change)
        if context.slicer.key_field(name).mapping:
            st.checkbox("Descriptions too", key=f"{prefix}_descriptions", on_change=on_change)


def _read_flags(prefix: str) -> dict[str, int]:
    names = {"case_insensitive": "any_case", "search_mappings": "descriptions"}
    return {name: int(bool(st.session_state.get(f"{prefix}_{key}"))) for name, key in names.items()}
