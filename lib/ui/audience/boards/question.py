"""The days, comparison and filters of a board, which stand in place of those of its views."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from lib.figures.query import board_params, filters, periods
from lib.figures.query.board_params import OWN_PARAM
from lib.reporting import links, named_days
from lib.reporting.links import join_texts, split_texts
from lib.reporting.models import AudienceQuery
from lib.slicers.models import KeyField, Slicer
from lib.ui.kit import slicer_info
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import dates_picker, filter_form
from lib.views import Board
from lib.wire.filters import BY_CODE, Filter

Params = Mapping[str, str]
Pair = tuple[str, str]
OWN, CUSTOM = "Each view's own", "Custom range"
PARAMS = "board_params"
"""The key of the parameters of each board in this tab."""


def of_board(board: Board) -> dict[str, str]:
    """The parameters of a board on screen: chosen in this tab, else of its link, else stored with it."""
    before: dict[int, dict[str, str]] = st.session_state.get(PARAMS, {})
    if board.id not in before:
        before = before | {board.id: board_params.params_of_link(board, st.query_params.to_dict())}
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
    new = board_params.link_params(board, params)
    old = [
        name for name in st.query_params if board_params.is_shared_param(name) or name in (OWN_PARAM, "board")
    ]
    if any(st.query_params.get(name) != text for name, text in new.items()) or {*old} - new.keys():
        st.query_params.update({name: new.get(name, ()) for name in {**dict.fromkeys(old), **new}})


def draw(context: PageContext, board: Board, pairs: Sequence[Pair]) -> None:
    """Draw the controls; `pairs` are the slicers of the board's views."""
    slicers = [_slicer(context, pair) for pair in pairs]
    params = of_board(board)
    _draw_days(context, board, params)
    _draw_comparison(board, params)
    with st.popover(
        "Filter", icon=":material/add:", key=f"board_filter_{board.id}", on_change="rerun", type="tertiary",
        disabled=not pairs,
    ) as menu:  # fmt: skip
        if menu.open:
            _draw_filter_form(context, board, params, pairs, slicers)
    for name in filter(links.FILTER.fullmatch, params):
        st.button(
            f"{plain(sentence(name, params[name], slicers))} ✕", key=f"board_without_{board.id}_{name}",
            help="Remove this filter", on_click=_remove, args=(board, name),
        )  # fmt: skip


def sentence(name: str, text: str, slicers: Sequence[Slicer]) -> str:
    """A filter of a board in words."""
    match = links.FILTER.fullmatch(name)
    if match is None:
        return name
    _, code, *_, key = match.groups()
    nameless = Slicer(key_fields=(KeyField(name=key),))
    slicer = next((slicer for slicer in slicers if key in _keys(slicer)), nameless)
    return filters.sentence(Filter(name=key, value=split_texts(text), match=BY_CODE[code]), slicer)


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


def _draw_filter_form(
    context: PageContext, board: Board, params: Params, pairs: Sequence[Pair], slicers: Sequence[Slicer]
) -> None:
    """The fields that all slicers of the board have come first; a filter applies where its field is."""
    counts = Counter(name for slicer in slicers for name in _keys(slicer))
    owners = {
        name: (pair, slicer)
        for pair, slicer in reversed([*zip(pairs, slicers, strict=True)])
        for name in _keys(slicer)
    }
    labels = {}
    for name, count in counts.most_common():
        some = "" if count == len(slicers) else f" ({count} of {len(slicers)} slicers)"
        labels[name] = filters.field(name, owners[name][1]) + some

    def values_of(name: str) -> Mapping[str, str]:
        (project, slicer_name), slicer = owners[name]
        own_context = replace(context, project=project, slicer_name=slicer_name, slicer=slicer)
        names = {"project_name": project, "slicer_name": slicer_name}
        return filter_form.frequent_values(own_context, _query(params).model_copy(update=names), name)

    filter_form.draw_filter_form(f"board_filter_{board.id}", labels, values_of, partial(_add, board))


def _add(board: Board, filter_: Filter) -> None:
    """Add a filter to the board; its values join those of one of the same kind. A callback."""
    params = of_board(board)
    new_params = links.to_params(_query(params).model_copy(update={"filters": (filter_,)}))
    for name in filter(links.FILTER.fullmatch, new_params):
        before = split_texts(params[name]) if name in params else ()
        params = params | {name: join_texts(dict.fromkeys((*before, *filter_.value)))}
    st.session_state[f"board_filter_{board.id}"] = False
    change(board, params)


def _remove(board: Board, name: str) -> None:
    change(board, {other: text for other, text in of_board(board).items() if other != name})


def _slicer(context: PageContext, pair: Pair) -> Slicer:
    if pair == (context.project, context.slicer_name):
        return context.slicer
    return slicer_info.open_slicer(context.clients, context.person.username, *pair).slicer


def _keys(slicer: Slicer) -> list[str]:
    return [field.name for field in slicer.key_fields]


def _query(params: Params) -> AudienceQuery:
    days: dict[str, Any] = {
        "start_date": params.get("start", "-7d"), "end_date": params.get("end", "yesterday")
    }  # fmt: skip
    return AudienceQuery(project_name="", slicer_name="", **days)
