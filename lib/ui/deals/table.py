"""The list of packages and deals: narrowed by a search and by filters, opened by a click, paused in bulk."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Literal

import streamlit as st

from lib.deals.models import MEDIA_TYPES, STATUSES
from lib.ui import selection
from lib.ui.deals import abilities, bring_in, catalogue
from lib.ui.deals.places import CLICKED, OPEN, SAID
from lib.ui.deals.rows import KINDS, Row, Wanted, csv, table
from lib.ui.frame import Here
from lib.ui.markdown import plain
from lib.ui.numbers import Numbers
from lib.wire.errors import DeadlineExceeded, ServiceProblem, TrancheError

Color = Literal["green", "blue", "orange", "gray"]
FIND, KIND, STATUS, MEDIA, SEAT, DSP = "find", "kind", "status", "media", "seat", "dsp"
COLORS: dict[str, Color] = {"active": "green", "pending": "blue", "paused": "orange", "complete": "gray"}
TALLEST, NARROWEST = 630, 150
ROW_HEIGHT = 33


def draw(here: Here, everything: Sequence[Row]) -> None:
    """Controls, then the rows that are left; who may change deals can pause and resume several at once."""
    does = abilities.of(here)
    changeable = frozenset(entity for entity in KINDS if not does.why_not(entity, "change"))
    wanted = _controls(everything)
    shown = [row for row in everything if wanted.has(row)]
    bar = st.container(horizontal=True, vertical_alignment="center")
    chosen = _grid(shown, bool(changeable)) if shown else []
    with bar:
        st.caption(_counted(shown, everything, catalogue.unread(here)), width="content")
        if changeable:
            _bulk(here, [row for row in chosen if row.entity in changeable])
        st.download_button(
            "CSV",
            data=partial(csv, shown),
            file_name="deals.csv",
            mime="text/csv",
            icon=":material/download:",
            type="tertiary",
            disabled=not shown,
            on_click="ignore",
            key="deals_csv",
        )
        bring_in.draw(here)
    if not shown:
        st.info(
            "No package or deal matches. Shorten the search, or take a filter away.",
            icon=":material/search_off:",
        )


def _controls(everything: Iterable[Row]) -> Wanted:
    """The search and the filters; they stand in the URL, so that a link shows the same list."""
    rows = list(everything)
    seats = sorted({seat for row in rows for seat in row.seats})
    dsps = sorted({dsp for row in rows for dsp in row.dsps})
    with st.grid(6, min_column_width=NARROWEST, gap="small"):
        text = st.text_input(
            "Search", type="search", live="200ms", key=FIND, bind="query-params",
            placeholder="Name, seat, DSP, place, id", label_visibility="collapsed",
        )  # fmt: skip
        return Wanted(
            text=text or "",
            kinds=_several(KIND, "Kind", list(KINDS), lambda kind: f"{KINDS[kind]}s"),
            statuses=_several(STATUS, "Status", list(STATUSES), str.capitalize),
            media_types=_several(MEDIA, "Media type", list(MEDIA_TYPES), str.capitalize),
            seats=_several(SEAT, "Seat", seats, str),
            dsps=_several(DSP, "DSP", dsps, str),
        )


def _several(key: str, label: str, options: list[str], named: Callable[[str], str]) -> list[str]:
    return st.multiselect(
        label,
        options,
        format_func=named,
        key=f"deals_{key}",
        bind="query-params",
        placeholder=label,
        label_visibility="collapsed",
        select_all=False,
        filter_mode="contains",
    )


def _grid(shown: Sequence[Row], may_change: bool) -> list[Row]:
    """The rows; what is chosen is forgotten when the rows are others, as it is known by its place alone."""
    draw_rows = partial(
        st.dataframe,
        table(shown),
        key=selection.key("deals", (row.key for row in shown)),
        hide_index=True,
        height=min(TALLEST, ROW_HEIGHT * (len(shown) + 1) + 3),
        column_config=_columns(shown),
        placeholder="",
        alt="Packages and deals",
    )
    if not may_change:
        draw_rows()
        return []
    event: Any = draw_rows(on_select="rerun", selection_mode="multi-row")
    return [shown[place] for place in event["selection"]["rows"] if place < len(shown)]


def _columns(shown: Sequence[Row]) -> dict[str, Any]:
    name = st.column_config.ButtonColumn(
        type="tertiary",
        alignment="left",
        width=330,
        key=CLICKED,
        on_click=_open,
        args=(shown,),
        help="Click a name to open it",
    )
    statuses = [status.capitalize() for status in STATUSES]
    day = st.column_config.DatetimeColumn(format="D MMM YYYY", width=95)
    return {
        "Name": name,
        "Kind": st.column_config.TextColumn(width=70),
        "Status": st.column_config.MultiselectColumn(
            options=statuses, color=[COLORS[status] for status in STATUSES], width=90
        ),
        "Seats": st.column_config.TextColumn(width=190),
        "Price": st.column_config.TextColumn(width=110, alignment="right"),
        "Media type": st.column_config.TextColumn(width=90),
        "Start": day,
        "End": day,
        "Targeting": st.column_config.TextColumn(width=260),
        "Id": st.column_config.NumberColumn(width=50, format="%d"),
    }


def _bulk(here: Here, chosen: Sequence[Row]) -> None:
    for wanted, label, icon in ((False, "Pause", "pause"), (True, "Resume", "play_arrow")):
        concerned = [row for row in chosen if row.is_active is not wanted and row.status != "complete"]
        st.button(
            f"{label} {len(concerned)}" if concerned else label,
            icon=f":material/{icon}:",
            key=f"deals_{label.lower()}",
            disabled=not concerned,
            on_click=set_active,
            args=(here, concerned, wanted),
        )
    if said := st.session_state.pop(SAID, None):
        st.toast(said)


def set_active(here: Here, chosen: Iterable[Row], is_active: bool) -> None:
    """Pause or resume each; what fails is named, the others are done. A callback.

    Where the service does not answer, it is not asked for the rest: each would be waited for.
    """
    done, failed, left = 0, [], list(chosen)
    while left:
        row = left.pop(0)
        try:
            catalogue.client(here).change(row.entity, row.id, {"is_active": is_active})
            done += 1
        except TrancheError as error:
            failed.append(plain(f"{row.name}: {error.reason}"))
            if isinstance(error, ServiceProblem | DeadlineExceeded) and left:
                failed.append(f"{len(left)} more were not asked for")
                break
    catalogue.forget()
    verb = "resumed" if is_active else "paused"
    st.session_state[SAID] = ". ".join([f"{done} {verb}", *failed])


def _open(shown: Sequence[Row]) -> None:
    row = shown[st.session_state[CLICKED]["row"]]
    st.query_params[OPEN] = f"{row.entity}-{row.id}"


def _counted(shown: Sequence[Row], everything: Sequence[Row], unread: dict[str, int]) -> str:
    """`12 packages, 40 deals`, and what is not among them."""
    numbers = Numbers.of(st.context.locale)
    parts = []
    for entity, word in KINDS.items():
        count = sum(row.entity == entity for row in shown)
        if count:
            parts.append(f"{numbers.number(count)} {word.lower()}{'' if count == 1 else 's'}")
    text = ", ".join(parts) or "nothing"
    if len(shown) < len(everything):
        text += f" of {numbers.number(len(everything))} rows"
    for entity, count in unread.items():
        if entity in KINDS:
            text += f"; there are {numbers.number(count)} {KINDS[entity].lower()}s, more than a list can show"
    return text
