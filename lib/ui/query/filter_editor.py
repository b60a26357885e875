"""The editor of filters: the values of a key field, a pasted list of them, or a form of texts.

Values have their figures: a click keeps one, others leave it out or keep it alone. They are found by typing;
those that are chosen already follow the largest. Of a pasted list, nothing is added without a click. What is
edited is a FilterTarget: the filters of the page, of a group, of a board, or of a grant.
"""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, NoReturn
from urllib.parse import quote

import streamlit as st

from lib.figures import rows
from lib.figures.numbers import NOT_SET, NOTHING, Numbers, title
from lib.figures.query import ask, clicks, filters, focus, precision, values
from lib.figures.query.state import PageState
from lib.figures.rows import Act, ActReceipt, CardHeader, Cell, Column, Row, Table
from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery
from lib.slicers.models import DataField
from lib.ui.kit import problems, reader, rows_mount, widgets
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import current_focus, history, page_clicks
from lib.wire.filters import MATCHES, RULES, Filter, Match

LIMIT, MOST_VALUES = 100, 100
Figures = dict[str, float]
WIDTH, TEXTS_HEIGHT = 380, 90
LIST, TEXT, PASTE = "List", "Text", "Paste"
TEXT_MATCHES = tuple(match for match in MATCHES if not RULES[match].is_whole)
OnChange = Callable[[], None] | None
PASTE_HEIGHT, MOST_NAMES, MAX_LENGTH = 120, 20, 100_000
MOST_CHARACTERS = 15_000  # of the values of one key field, as the address has them
Receipts = Mapping[str, ActReceipt]
RECEIPTS = "filter_receipts"


def _receipt(component: str) -> ActReceipt:
    receipts: Receipts = st.session_state.get(RECEIPTS, {})
    return receipts.get(component, rows.NO_RECEIPT)


def _note(last_acts: Receipts) -> None:
    st.session_state[RECEIPTS] = {**st.session_state.get(RECEIPTS, {}), **last_acts}


@dataclass(frozen=True)
class FilterTarget:
    """Filters that are edited: those of the query that `read` gives, about the slicer of `context`.

    `write` stores them as those of another query; `apply` takes clicks on values, by default one after the
    other, with the last act of each component, which `receipt` gives and `note` notes. Values are listed
    under the filters of `around`; without one under the query's own on other fields.
    """

    context: PageContext
    read: Callable[[], AudienceQuery]
    write: Callable[[AudienceQuery], object]
    around: AudienceQuery | None = None
    apply: Callable[[Sequence[Act], Receipts], NoReturn] | None = None
    receipt: Callable[[str], ActReceipt] = field(default=_receipt)
    note: Callable[[Receipts], object] = field(default=_note)

    @classmethod
    def of_page(cls, context: PageContext) -> "FilterTarget":
        """The filters of the page that hold together."""

        def write(query: AudienceQuery) -> None:
            history.change(replace(history.current(context), query=query))

        return cls(
            context, lambda: history.current(context).query, write, None, partial(page_clicks.take, context),
            history.receipt, history.receive,
        )  # fmt: skip

    def write_filters(self, new_filters: Iterable[Filter]) -> None:
        """Store these filters in place of all."""
        self.write(self.read().model_copy(update={"filters": tuple(dict.fromkeys(new_filters))}))

    def take(self, acts: Sequence[Act], last_acts: Receipts) -> None:
        """Apply these clicks on values."""
        if self.apply is not None:
            self.apply(acts, last_acts)
        page_state = PageState(self.read())
        for act in acts:
            page_state = clicks.apply(page_state, act, self.context.slicer)
        # First, as `write` may draw the page anew; an act that is applied twice changes nothing.
        self.note(last_acts)
        self.write(page_state.query)


def catch_up(target: FilterTarget, key: str, name: str) -> None:
    """Apply the clicks in the list that are not applied yet."""
    acts, latest = rows.new_acts(st.session_state.get(key), target.receipt(key))
    for act in acts:
        match act:
            case ["find", _, str(text)]:
                st.session_state[_found_by(key, name)] = text
    if acts:
        if choices := [act for act in acts if clicks.is_filtering(act)]:
            target.take(choices, {key: latest})
        else:
            target.note({key: latest})


def _found_by(key: str, name: str) -> str:
    return f"{key}_find_{name}"


def _table(target: FilterTarget, name: str, text: str) -> Table:
    context, query = target.context, target.read()
    field, numbers = _page_field(context, query), Numbers.of(reader.locale())
    answer = ask.estimate(context, _values_query(target, name, field, filters.searching(name, text)))
    labels = dict([*values.matching(context, answer, name, text).items()][:LIMIT])
    figures = _figures(answer, name, field)
    if not text:
        missing = tuple(code for code in filters.values(query, name) if code not in labels)[:MOST_VALUES]
        if missing:  # chosen values that are not among the largest
            exact = Filter(name=name, value=missing, match="equals")
            rest = ask.estimate(context, _values_query(target, name, field, (exact,)))
            descriptions = values.matching(context, rest, name, "")
            labels |= {code: descriptions.get(code, code) for code in missing}
            figures = figures | _figures(rest, name, field)
    field_title = filters.field(name, context.slicer)
    # The number of values, and the precision of the figures: `top 100 of 1,163 · ± 1.3 %…`.
    count, is_cut = precision.count(answer, numbers), answer.total.records_found > LIMIT
    about = [f"top {LIMIT} of {count}" if is_cut else count]
    exactness = precision.EXACT if field is None else precision.sentence(answer, field.name, numbers)
    about += [] if exactness == precision.EXACT else [exactness]
    message = f"No value contains “{text}”." if text else "No data for the other filters and days."
    card = CardHeader(field_title, " · ".join(about), text, "" if labels else message, is_picker=True)
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
    target: FilterTarget, name: str, field: DataField | None, more: tuple[Filter, ...]
) -> AudienceQuery:
    """The values under the other filters, so that unchosen values stay visible."""
    volume = None if field is None else focus.volume(target.context.slicer, field)
    query = target.around or target.read()
    other_filters = query.filters if target.around else filters.other_filters(query, name)
    return query.model_copy(
        update={
            "split_by": (name,),
            "filters": (*other_filters, *more),
            "data_fields": None if field is None else tuple(dict.fromkeys((field.name, volume))),
            "order_by": (values.in_order(name, volume),),
            "limit": LIMIT,
            "offset": 0,
            "precision": 1,
            "include_mappings": 1,
        }
    )


def _page_field(context: PageContext, query: AudienceQuery) -> DataField | None:
    """The data field of the page, where it is about this slicer; else the slicer's usual one."""
    state_field = history.params().get("field") if history.is_about(context) else None
    names = (state_field, *(query.data_fields or focus.usual_metrics(context.slicer)))
    fields = {field.name: field for field in context.slicer.data_fields}
    return next((fields[name] for name in names if name in fields), None)


def _figures(answer: Audience, name: str, field: DataField | None) -> Figures:
    if field is None:
        return {}
    return dict(zip(answer.names[name].tolist(), answer.values[field.name].tolist(), strict=True))


def _figure(value: float | None, field: DataField | None, numbers: Numbers) -> list[Cell]:
    if field is None:
        return []
    if value is None:
        return [Cell(NOTHING, is_faint=True, about="No data for the other filters and days")]
    return [Cell(numbers.brief(value, field), about=numbers.full(value, field))]


def draw_values(target: FilterTarget, prefix: str, name: str, way: str) -> None:
    """Draw the values of the key field `name` (a list, or pasted), and the controls for all chosen values.

    `prefix` makes the keys of widgets unique.
    """
    if way == PASTE:
        draw_paste(target, prefix, name)
    else:
        key = f"{prefix}_board"
        catch_up(target, key, name)
        with problems.report_errors("The values"):
            table = _table(target, name, st.session_state.get(_found_by(key, name), ""))
            rows_mount.draw(key, [table], target.receipt(key), partial(catch_up, target, key, name))
            if target.apply is not None:
                current_focus.refine(key)
    if not (own_filters := filters.about(target.read(), name)):
        return
    st.session_state[f"{prefix}_any_case"] = any(filter_.case_insensitive for filter_ in own_filters)
    st.session_state[f"{prefix}_descriptions"] = any(filter_.search_mappings for filter_ in own_filters)

    def change() -> None:
        flags = _read_flags(prefix)
        target.write(filters.change(target.read(), name, lambda filter_: filter_.model_copy(update=flags)))

    _flags(target.context, prefix, name, change)
    with st.container(horizontal=True, gap="xsmall"):
        about = "Exclude what is included, and include what is excluded"
        widgets.icon_button(
            "Swap", "swap_horiz", f"{prefix}_swap", lambda: target.write(filters.swap(target.read(), name)),
            help=about,
        )  # fmt: skip
        draw_removal(prefix, lambda: target.write(filters.clear(target.read(), name)))


def draw_removal(prefix: str, remove: Callable[[], object]) -> None:
    """Draw the button that removes the filter; `remove` is its callback."""
    widgets.icon_button("Remove", "close", f"{prefix}_remove", remove)


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
        "Match", TEXT_MATCHES, format_func=lambda match: RULES[match].words, key=f"{prefix}_match",
        width=WIDTH, on_change=on_change,
    )  # fmt: skip
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


@dataclass(frozen=True)
class PastedValues:
    """Values found in the data, pasted texts that were not found, and whether that is certain."""

    matches: tuple[str, ...]
    unknown: tuple[str, ...]
    is_exact: bool = True


def draw_paste(target: FilterTarget, prefix: str, name: str) -> None:
    """Draw the field to paste into, then the values found with buttons to keep or leave them out."""
    key = f"{prefix}_pasted_{name}"
    text = st.text_area(
        "Values, one per line or separated by commas", key=key, height=PASTE_HEIGHT, width=WIDTH,
        placeholder="Codes or descriptions",
    )  # fmt: skip
    st.button("Check values", icon=":material/playlist_add_check:", key=f"{key}_check")
    count_text = Numbers.of(reader.locale()).number
    if text and len(text) > MAX_LENGTH:
        st.error(
            f"The list is too long: {count_text(len(text))} characters, {count_text(MAX_LENGTH)} at most. "
            "Nothing was added: paste part of it.",
            icon=":material/error:",
        )
        return
    if not (text or "").strip():
        return
    with problems.report_errors("The values", effect="What you pasted is kept."):
        paste = check_paste(target.context, target.read(), name, text or "")
        count = len(paste.matches)
        st.caption(f"{count_text(count)} value{'s' * (count != 1)} found in the data of these days.")
        if paste.unknown:
            names, more = ", ".join(map(plain, paste.unknown[:MOST_NAMES])), len(paste.unknown) - MOST_NAMES
            rest = f" and {count_text(more)} more" if more > 0 else ""
            where = "" if paste.is_exact else ", in a sample of the records"
            st.warning(
                f"{count_text(len(paste.unknown))} not found{where}: {names}{rest}", icon=":material/help:"
            )
        _ways(target, key, name, paste)


def check_paste(context: PageContext, query: AudienceQuery, name: str, text: str) -> PastedValues:
    """The pasted values, looked up in the data of the question's days. Raises the service's errors."""
    lines = [_texts(line) for line in text.splitlines() if line.strip()]
    codes = {part: "" if part == NOT_SET else part for line in lines for part in line}
    codes_by_text, is_exact = values.look_up(context, query, name, dict.fromkeys(codes.values()))
    matches: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for whole, *parts in lines:
        for part in [whole] if codes[whole] in codes_by_text or not parts else parts:
            codes_of_line = codes_by_text.get(codes[part])
            (matches if codes_of_line else unknown).update(dict.fromkeys(codes_of_line or (part,)))
    return PastedValues(tuple(matches), tuple(unknown), is_exact)


def _texts(line: str) -> list[str]:
    """The whole line, then its parts between tabs and commas (not commas within double quotes)."""
    cells = (next(csv.reader([part], skipinitialspace=True), []) for part in line.split("\t"))
    parts = [cell.strip() for row in cells for cell in row if cell.strip()]
    whole = line.strip()
    return parts if parts == [whole] or len(parts) == 1 else [whole, *parts]


def _ways(target: FilterTarget, key: str, name: str, paste: PastedValues) -> None:
    with_unknown = bool(paste.unknown) and st.checkbox("Add unknown values too", key=f"{key}_unknown")
    new_values = (*paste.matches, *(paste.unknown if with_unknown else ()))
    fit = _fit(filters.values(target.read(), name), new_values)
    if len(fit) < len(new_values):
        st.warning(
            f"{len(fit):,} of {len(new_values):,} fit into the link. The others stay here.",
            icon=":material/link:",
        )
    rest = [text for text in (*paste.matches, *paste.unknown) if text not in set(fit)]
    ways: tuple[tuple[str, Match, Literal["primary", "secondary"]], ...] = (
        ("Include", "equals", "primary"),
        ("Exclude", "not equals", "secondary"),
    )
    with st.container(horizontal=True):
        for label, match, kind in ways:
            st.button(
                f"{label} {len(fit):,}", key=f"{key}_{label.lower()}", type=kind, disabled=not fit,
                on_click=_take, args=(target, key, name, fit, rest, match),
            )  # fmt: skip


def _fit(existing: Iterable[str], new_values: Iterable[str]) -> tuple[str, ...]:
    """As many of the values as fit into the link, beside those already chosen."""
    space = MOST_CHARACTERS - sum(len(quote(value)) + 1 for value in existing)
    fit = []
    for value in new_values:
        space -= len(quote(value)) + 1
        if space < 0:
            break
        fit.append(value)
    return tuple(fit)


def _take(
    target: FilterTarget, key: str, name: str, new_values: tuple[str, ...], rest: list[str], match: Match
) -> None:
    """Add these values to the filter; values that are not added stay in the field."""
    st.session_state[key] = "\n".join(
        '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text for text in rest
    )
    st.session_state[f"{key}_unknown"] = False
    codes = ["" if value == NOT_SET else value for value in new_values]
    target.write(filters.gather(target.read(), name, codes, match))
