"""The screen Forecasts: how often ranges held and how wide they were by kind, then each forecast."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import pandas as pd
import streamlit as st

from lib.deals.forecasts import KINDS, MOST_ROWS, Kind, StoredForecast
from lib.deals.models import DemandDeal, SupplyPackage
from lib.deals.proposals.store import ENTITY as PROPOSALS
from lib.insight import calibration, conformal
from lib.insight.calibration import Calibration, RangeScale
from lib.insight.outcomes import Subject
from lib.reporting import links
from lib.reporting.confidence import LEVEL
from lib.reporting.models import DataField
from lib.ui.charts import numbers
from lib.ui.charts.numbers import NOTHING, Numbers
from lib.ui.deals import catalog, facts, ledger, proposals
from lib.ui.deals.deal_list import KINDS as ENTITIES
from lib.ui.deals.view import OPEN
from lib.ui.kit import listing, screens
from lib.ui.kit.frame import PageContext
from lib.ui.kit.listing import ListCell, ListColumn, Listing, ListRow, OpenRow, new_acts
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import report_errors
from lib.ui.kit.rows import NO_RECEIPT
from lib.ui.query import filters
from lib.wire.errors import TrancheError

WHICH, LIST, RECEIPT, SELECTION = "forecasts_which", "forecasts_list", "forecasts_taken", "forecasts_chosen"
MISSES, HITS, WAITING, NO_SCORE = "Misses", "Held", "Waiting", "Not scored"
TITLES: Mapping[Kind, str] = {"targeting": "Targeting", "price": "Price guide", "proposal": "Proposal"}
MOST, IN_SIGHT, FILTERS = 200, 10, 2
COLUMNS = (
    ListColumn("what", "Forecast", 21.0),
    ListColumn("kind", "Kind", 6.0),
    ListColumn("made", "Made", 9.0),
    ListColumn("days", "Days", 9.0, on_phone="below"),
    ListColumn("range", "Range", 10.0, is_right=True, on_phone="left", is_titled=True),
    ListColumn("came", "Came to", 7.0, is_right=True, on_phone="right", is_titled=True),
    ListColumn("outside", "Outside by", 6.0, is_right=True, on_phone="end", is_titled=True),
)
Names = Mapping[tuple[str | None, int | None], str]


def draw(context: PageContext) -> None:
    """The table by kind, and the list."""
    st.caption(
        f"Forecasts of targetings, price guides and approved proposals with their {LEVEL} ranges, compared "
        "with the report once their days have passed. The next ranges are scaled by what was learned."
    )
    with report_errors("The forecasts", effect="They are still scored in the background."):
        rows = context.clients.forecasts.visible()
        if not rows:
            st.info(
                "No forecast is kept yet. One is once a package is opened, created, changed or proposed.",
                title="No forecasts", icon=":material/query_stats:",
            )  # fmt: skip
            return
        _table(context, rows)
        _list(context, rows)


def _table(context: PageContext, rows: Sequence[StoredForecast]) -> None:
    """Coverage and width by kind and field, and what scales the next ranges."""
    numbers = Numbers.of(st.context.locale)
    words = ForecastWords(context, {}, numbers)
    groups: dict[tuple[Kind, str], list[StoredForecast]] = {}
    for one in sorted(rows, key=lambda one: (KINDS.index(one.kind), one.field)):
        groups.setdefault((one.kind, words.field_title(one)), []).append(one)
    table, drifting = {}, []
    for (kind, title), group in groups.items():
        range_scale = ledger.range_scale(context, kind, group[0].field)
        cells = _cells(calibration.calibration(group), numbers)
        table[f"{TITLES[kind]}: {plain(title)}"] = {**cells, "Next ranges": scale(range_scale)}
        drifting += [f"{TITLES[kind]}, {title}"] if range_scale.drifts else []
    frame = pd.DataFrame.from_dict(table, orient="index").rename_axis("Kind")
    st.table(frame, border="horizontal", alt="How often the ranges of each kind held")
    most = f" These are the latest {MOST_ROWS:,}." if len(rows) == MOST_ROWS else ""
    st.caption(
        "Width is that of the median range, in percent of its estimate. Forecasts of the same days err "
        f"together, so they say less than as many independent ones.{most}"
    )
    if drifting:
        lag = "The scale is learned from the past, and follows only as more is scored."
        st.warning(
            f"{plain('; '.join(drifting))}. {ledger.DRIFT} {lag}",
            title="Ranges hold less often lately", icon=":material/trending_up:",
        )  # fmt: skip


def _cells(of: Calibration, words: Numbers) -> dict[str, str]:
    low, high = (words.percent(100 * side, 0) for side in of.interval)
    return {
        "Held": f"{of.hits:,} of {of.count:,}",
        "Share": _percent(of.hits, of.count, words),
        f"{LEVEL} interval": f"{low} to {high}" if of.count else NOTHING,
        "Held before scaling": _percent(of.raw_hits, of.count, words),
        "Width": words.percent(100 * of.width, 0),
        "Width before scaling": words.percent(100 * of.raw_width, 0),
    }


def _percent(part: int, whole: int, words: Numbers) -> str:
    return words.percent(100 * part / whole, 1) if whole else NOTHING


def scale(of: RangeScale) -> str:
    """`as made: 12 scored, 30 needed`, `× 1.31, by 145 scored`."""
    if of.scale is None:
        return f"as made: {of.count} scored, {conformal.FEWEST} needed"
    whose = {"field": "", "slicer": " of all fields", "all": " of all slicers"}[of.scope]
    return f"× {of.scale:.2f}, by {of.count} scored{whose}"


def _list(context: PageContext, rows: Sequence[StoredForecast]) -> None:
    groups = _groups(rows)
    labels = {name: f"{name} {len(group):,}" for name, group in groups.items()}
    which = st.segmented_control(
        "Which", list(labels), format_func=labels.__getitem__, default=MISSES, key=WHICH,
        required=True, label_visibility="collapsed",
    )  # fmt: skip
    group, open_id = groups[which], st.session_state.get(SELECTION)
    if not group:
        st.caption("There are none.")
        return
    words = ForecastWords(context, _names(context, group[:MOST]), Numbers.of(st.context.locale))
    list_rows = tuple(ListRow(str(one.id), words.row(one), is_open=one.id == open_id) for one in group[:MOST])
    page = Listing(f"Forecasts: {which}", COLUMNS, list_rows, len(group), most_in_sight=IN_SIGHT)
    listing.draw(LIST, page, st.session_state.get(RECEIPT, NO_RECEIPT), _take)
    if len(group) > MOST:
        st.caption(f"The first {MOST} of {len(group):,}.")
    for one in group:
        if one.id == open_id:
            st.markdown(f"**{plain(words.title(one))}**")
            st.caption(plain(words.sentence(one)))
            st.caption(plain(words.filters(one)))
            _links(one)


def _groups(rows: Sequence[StoredForecast]) -> dict[str, list[StoredForecast]]:
    """The misses, the furthest first; those that held, the latest first; those that wait, the next first."""
    misses = sorted((one for one in rows if one.has_held is False), key=calibration.excess, reverse=True)
    hits = sorted((one for one in rows if one.has_held), key=lambda one: one.last_day, reverse=True)
    rest = [one for one in rows if one.has_held is None]
    waiting = sorted((one for one in rest if not one.problem), key=lambda one: one.last_day)
    return {MISSES: misses, HITS: hits, WAITING: waiting, NO_SCORE: [one for one in rest if one.problem]}


def _take() -> None:
    """Open the forecast that was clicked. A callback."""
    state = st.session_state
    acts, state[RECEIPT] = new_acts(state.get(LIST) or {}, state.get(RECEIPT, NO_RECEIPT))
    for act in acts:
        if isinstance(act, OpenRow) and act.key.isdecimal():
            state[SELECTION] = int(act.key)


def _names(context: PageContext, rows: Sequence[StoredForecast]) -> Names:
    """The names of packages and deals, as far as the deals service says them."""
    names: dict[tuple[str | None, int | None], str] = {}
    for model in (SupplyPackage, DemandDeal):
        ids = [one.entity_id for one in rows if one.entity == model.entity and one.entity_id]
        try:
            entities = catalog.by_id(context, model, ids)
        except TrancheError:
            entities = ()  # the list then has their numbers
        names |= {(model.entity, one.id): one.name for one in entities if one.name}
    return names


@dataclass(frozen=True)
class ForecastWords:
    """A forecast in words: the slicer on screen knows its fields, `names` are those of packages and deals."""

    context: PageContext
    names: Names
    numbers: Numbers

    def row(self, one: StoredForecast) -> tuple[ListCell, ...]:
        """The cells of the list."""
        first, last = date.fromisoformat(one.first_day), date.fromisoformat(one.last_day)
        excess = calibration.excess(one)
        outside = self.numbers.percent(100 * excess) if math.isfinite(excess) else "all of it"
        cells = (
            self.title(one),
            TITLES[one.kind],
            f"{numbers.days(one.at.date(), one.at.date())}, {one.by}",
            numbers.days(first, last),
            self.span(one, one.low, one.high),
            one.problem or (NOTHING if one.actual is None else self.figure(one, one.actual)),
            outside if excess else NOTHING,
        )
        return tuple(map(ListCell, cells))

    def title(self, one: StoredForecast) -> str:
        """`Bids: Morning News`: the field, and the package, deal or proposal; else the filters."""
        whose = self.names.get((one.entity, one.entity_id))
        if whose is None and one.entity is not None:
            whose = f"{ENTITIES.get(one.entity, 'Proposal').lower()} {one.entity_id}"
        return f"{self.field_title(one)}: {whose or self.filters(one)}"

    def field_title(self, one: StoredForecast) -> str:
        """The label of its field, as far as it is known; a price guide is about the median."""
        field = self._field(one)
        return f"{'Median ' * (one.kind == 'price')}{one.field if field is None else numbers.title(field)}"

    def sentence(self, one: StoredForecast) -> str:
        """By whom, of which data, and the range before and after it was scaled."""
        is_scaled = one.scale is not None and one.scale != 1
        raw = f", {self.span(one, one.raw_low, one.raw_high)} before scaling by {one.scale:.2f}"
        parts = (
            f"{TITLES[one.kind]} by {one.by}, {facts.moment(one.at)}, {one.project}/{one.slicer}",
            f" with data to {_day(one.data_day)}" if one.data_day else "",
            f". Estimate {self.figure(one, one.estimate)}, range {self.span(one, one.low, one.high)}",
            raw if is_scaled else "",
            "" if one.actual is None else f". It came to {self.figure(one, one.actual)}",
            f". {one.problem}" if one.problem else "",
        )
        return f"{''.join(parts)}."

    def filters(self, one: StoredForecast) -> str:
        """Its filters; of a slicer that is not on screen with the names of its key fields."""
        slicer, subject = self.context.slicer, Subject.read(one.project, one.slicer, one.field, one.subject)
        names = {field.name for field in slicer.key_fields} if self._is_on_screen(one) else set()
        parts = [
            filters.sentence(of, slicer)
            if of.name in names
            else f"{of.name} {of.match} {', '.join(of.value[:FILTERS])}"
            for of in subject.filters
        ]
        return " · ".join(parts) or "Everything"

    def span(self, one: StoredForecast, low: float, high: float) -> str:
        """`1.20 M to 1.40 M`."""
        return f"{self.figure(one, low)} to {self.figure(one, high)}"

    def figure(self, one: StoredForecast, value: float) -> str:
        """A count roughly, a price with its unit."""
        if one.kind != "price":
            return self.numbers.rough(value)
        field = self._field(one)
        return self.numbers.number(value, 2) if field is None else self.numbers.short(value, field)

    def _is_on_screen(self, one: StoredForecast) -> bool:
        return (one.project, one.slicer) == (self.context.project, self.context.slicer_name)

    def _field(self, one: StoredForecast) -> DataField | None:
        fields = self.context.slicer.data_fields if self._is_on_screen(one) else ()
        return next((field for field in fields if field.name == one.field), None)


def _day(text: str) -> str:
    day = date.fromisoformat(text)
    return numbers.days(day, day)


def _links(one: StoredForecast) -> None:
    subject = Subject.read(one.project, one.slicer, one.field, one.subject)
    query = subject.query((date.fromisoformat(one.first_day), date.fromisoformat(one.last_day)))
    params = links.to_params(query.model_copy(update={"precision": None, "exact_within": None}))
    params.pop("rows", None)
    with st.container(horizontal=True):
        st.page_link(
            screens.AUDIENCE, label="The question", icon=":material/monitoring:", query_params=params
        )
        if one.entity == PROPOSALS:
            st.page_link(
                screens.DEALS, label="The proposal", icon=":material/rate_review:",
                query_params={proposals.PARAM: str(one.entity_id)},
            )  # fmt: skip
        elif one.entity is not None:
            label = f"The {ENTITIES[one.entity].lower()}"
            st.page_link(
                screens.DEALS, label=label, icon=":material/handshake:",
                query_params={OPEN: f"{one.entity}-{one.entity_id}"},
            )  # fmt: skip
