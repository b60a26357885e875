"""The days, comparison and filters of a board, which stand in place of those of its views."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from lib.figures.query import board_params, filters, periods
from lib.figures.query.board_params import OWN_PARAM
from lib.reporting import named_days
from lib.reporting.links import split_texts
from lib.reporting.models import AudienceQuery
from lib.slicers import dates
from lib.slicers.models import Slicer
from lib.ui import streamlit_compat
from lib.ui.kit import address, slicer_info
from lib.ui.kit.frame import PageContext
from lib.ui.query import bar, dates_picker, filter_pills
from lib.ui.query.filter_editor import FilterTarget
from lib.views import Board
from lib.wire.filters import Filter

Params = Mapping[str, str]
Pair = tuple[str, str]
OWN, CUSTOM = "Each view's own", "Custom range"
PARAMS = "board_params"
"""The key of the parameters of each board in this tab."""


def of_board(board: Board) -> dict[str, str]:
    """The parameters of a board on screen: chosen in this tab, else of its link, else stored with it.

    After the browser's Back or Forward those of its address, if that names it.
    """
    before: dict[int, dict[str, str]] = st.session_state.get(PARAMS, {})
    url = address.params()
    if board.id not in before or (streamlit_compat.is_back() and url.get("board") == str(board.id)):
        before = before | {board.id: board_params.params_of_link(board, url)}
        st.session_state[PARAMS] = before
    return before[board.id]


def last_params(board: Board) -> dict[str, str]:
    """The parameters of a board that was open before in this tab, else those stored with it."""
    before: dict[int, dict[str, str]] = st.session_state.get(PARAMS, {})
    return before.get(board.id, dict(board.params))


def change(board: Board, params: Params) -> None:
    """Show a board under other parameters, and put them into the address. From a callback, or rerun next."""
    before: dict[int, dict[str, str]] = st.session_state.get(PARAMS, {})
    st.session_state[PARAMS] = before | {board.id: dict(params)}
    write_address(board, params)


def write_address(board: Board, params: Params) -> None:
    """Put a board and its parameters into the address of the page, in one step."""
    new, own = board_params.link_params(board, params), (OWN_PARAM, "board")
    old = {
        name: text for name, text in address.params().items()
        if board_params.is_shared_param(name) or name in own
    }  # fmt: skip
    if old != new:
        st.query_params.update({name: new.get(name, ()) for name in {**old, **new}})


def draw(context: PageContext, board: Board, pairs: Sequence[Pair]) -> None:
    """Draw the controls; `pairs` are the slicers of the board's views."""
    slicers = [slicer_of(context, pair) for pair in pairs]
    params = of_board(board)
    _draw_days(context, board, params)
    _draw_comparison(board, params)
    targets = [_target(context, board, pair, slicers, index) for index, pair in enumerate(pairs)]
    popover_key = f"board_filter_{board.id}"
    with st.popover(
        "Filter", icon=":material/add:", key=popover_key, on_change="rerun", type="tertiary",
        disabled=not pairs,
    ) as menu:  # fmt: skip
        if menu.open:
            _draw_addition(popover_key, targets)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=bar.PILLS):
        for index, target in enumerate(targets):
            filter_pills.draw_pills(target, f"{popover_key}_{index}")


def days_text(params: Params, slicer: Slicer) -> str:
    """The days of a board in words."""
    if "start" not in params:
        return OWN
    query = _query(params)
    preset = periods.preset_of(slicer, query.start_date, query.end_date, named_days.today(query, slicer))
    return preset.label if preset else f"{query.start_date} to {query.end_date}"


def _draw_days(context: PageContext, board: Board, params: Params) -> None:
    slicer, query = context.slicer, _query(params)
    now = named_days.today(query, slicer)
    presets = {preset.label: preset for preset in periods.presets(slicer, now)}
    current = days_text(params, slicer)
    options = list(dict.fromkeys([OWN, *presets, CUSTOM, current]))
    key = dates_picker.followed_key(f"board_days_{board.id}", current)
    st.selectbox(
        "Days", options, key=key, width=210, label_visibility="collapsed",
        format_func=lambda label: f"Days: {label[0].lower()}{label[1:]}", on_change=_ask_days,
        args=(context, board, key, presets),
    )  # fmt: skip
    if current not in (OWN, *presets):
        name = f"board_range_{board.id}"
        key = f"{name}_{query.start_date}_{query.end_date}"
        days = named_days.resolve(query.start_date, query.end_date, now, slicer)
        st.date_input(
            "Custom range", days, key=key, label_visibility="collapsed", required=True, width=230,
            on_change=_ask_range, args=(board, key),
        )  # fmt: skip


def _ask_days(context: PageContext, board: Board, key: str, presets: Mapping[str, periods.Preset]) -> None:
    label, params = st.session_state[key], dict(of_board(board))
    days = {name: text for name, text in params.items() if name in board_params.DAYS}
    others = {name: text for name, text in params.items() if name not in board_params.DAYS}
    if label in presets:
        days = {"start": presets[label].start, "end": presets[label].end}
    elif label == OWN:
        days = {}
    elif label == CUSTOM:
        start, end = named_days.days_of(_query(params), context.slicer)
        days = {"start": start.isoformat(), "end": end.isoformat()}
    change(board, days | others)


def _ask_range(board: Board, key: str) -> None:
    days = st.session_state[key]
    if len(days) == 2:
        change(board, {**of_board(board), "start": days[0].isoformat(), "end": days[1].isoformat()})


def _draw_comparison(board: Board, params: Params) -> None:
    kinds = {"": OWN, **{k: text for k, text in dates_picker.KINDS.items() if k != "range"}}
    current = params.get("compare", "")
    options = list(dict.fromkeys([*kinds, current]))
    key = dates_picker.followed_key(f"board_compare_{board.id}", current)
    st.selectbox(
        "Compared with",
        options,
        format_func=lambda kind: (
            f"vs {kinds[kind].lower() if kind in kinds else ' to '.join(split_texts(kind))}"
        ),
        key=key,
        width=190,
        label_visibility="collapsed",
        on_change=_ask_comparison,
        args=(board, key),
    )


def _ask_comparison(board: Board, key: str) -> None:
    kind, params = st.session_state[key], of_board(board)
    others = {name: text for name, text in params.items() if name != "compare"}
    change(board, others | ({"compare": kind} if kind else {}))


def _draw_addition(key: str, targets: Sequence[FilterTarget]) -> None:
    """Draw the editor of a new filter. The fields that all slicers of the board have come first, each once; a
    filter applies where its field is."""
    slicers = [target.context.slicer for target in targets]
    owners: dict[str, FilterTarget] = {}
    counts: Counter[str] = Counter()
    for target in targets:
        for name in target.context.slicer.key_names:
            first, *_ = board_params.names_in(name, slicers)
            owners.setdefault(first, target)
            counts[first] += 1
    labels = {}
    for name, count in counts.most_common():
        some = "" if count == len(targets) else f" ({count} of {len(targets)} slicers)"
        labels[name] = filters.field(name, owners[name].context.slicer) + some
    filter_pills.draw_addition(owners.get, key, labels, key)


def _target(
    context: PageContext, board: Board, pair: Pair, slicers: Sequence[Slicer], index: int
) -> FilterTarget:
    """The filters of a board on the key fields of a slicer, but for those that a slicer before it has too."""
    slicer = slicers[index]
    own = replace(context, project=pair[0], slicer_name=pair[1], slicer=slicer)
    keys = slicer.key_names
    keys_before = {name for before in slicers[:index] for name in before.key_names}

    def parts() -> tuple[list[Filter], list[Filter]]:
        """The filters that are edited here, by the slicer's names, and the others."""
        own_filters: list[Filter] = []
        others: list[Filter] = []
        for filter_ in board_params.filters_of(of_board(board)):
            name = next(iter(board_params.names_in(filter_.name, slicers)), filter_.name)
            is_own = name in keys and name not in keys_before
            (own_filters if is_own else others).append(filter_.model_copy(update={"name": name}))
        return own_filters, others

    def read() -> AudienceQuery:
        params, (start, end) = of_board(board), dates.default_days(slicer, dates.today(slicer.timezone))
        return AudienceQuery(
            project_name=pair[0],
            slicer_name=pair[1],
            start_date=params.get("start", start),
            end_date=params.get("end", end),
            filters=tuple(parts()[0]),
        )

    def write(query: AudienceQuery) -> None:
        all_filters = (*parts()[1], *query.filters)
        change(board, board_params.with_filters(of_board(board), all_filters))
        st.rerun()

    return FilterTarget(own, read, write)


def slicer_of(context: PageContext, pair: Pair) -> Slicer:
    """The description of a slicer of the board."""
    if pair == (context.project, context.slicer_name):
        return context.slicer
    return slicer_info.open_slicer(context.clients, context.person.username, *pair).slicer


def _query(params: Params) -> AudienceQuery:
    days: dict[str, Any] = {
        "start_date": params.get("start", "-7d"), "end_date": params.get("end", "yesterday")
    }  # fmt: skip
    return AudienceQuery(project_name="", slicer_name="", **days)
