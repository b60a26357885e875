"""What sends a question to others: its figures as a file, and a link for people without an account."""

from collections.abc import Mapping
from datetime import timedelta
from functools import partial

import streamlit as st

from lib import connect
from lib.front.shared_route import PREFIX
from lib.reporting import links, named_days
from lib.settings import Settings
from lib.snapshot import render
from lib.ui.audience.snapshots import Snapshots
from lib.ui.charts.numbers import days, title
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import focus, share, state
from lib.wire.errors import AccessError, TrancheError

LATEST = "The latest days, each time it is opened"
NEW, PROBLEM = "share_link_new", "share_link_problem"
Params = Mapping[str, str]


def draw(context: PageContext, params: Params, name: str) -> None:
    """Draw what sends the question of a link's parameters; `name` is that of a saved view, or empty."""
    _draw_downloads(context, params, name)
    if context.slicer.data_fields and context.person.may_share and Settings.current().share_links:
        _draw_form(context, params, name)


def _draw_downloads(context: PageContext, params: Params, name: str) -> None:
    st.caption("These figures as a file")
    with st.container(horizontal=True):
        for kind, media_type in render.KINDS.items():
            st.download_button(
                kind.upper(),
                data=partial(_file, context, dict(params), name, kind, context.locale or ""),
                file_name=f"{context.slicer_name}.{kind}",
                mime=media_type,
                on_click="ignore",
                icon=":material/download:",
                key=f"snapshot_{kind}{'_view' if name else ''}",
            )


def _file(context: PageContext, params: Params, name: str, kind: str, language: str) -> bytes:
    """The file, in the name of the person as they are when they click."""
    settings = Settings.current()
    person = connect.installation(settings).people.get(context.person.username)
    if person is None or person.added != context.person.added:
        raise AccessError
    about = (context.project, context.slicer_name)
    return render.file(Snapshots(settings).take(person, about, params, name, language), kind)


def _draw_form(context: PageContext, params: Params, name: str) -> None:
    """Draw the form of a share link; in its place, the link that was just made of this question."""
    whose = "_view" if name else ""
    of_params, path = st.session_state.get(NEW, ({}, ""))
    if of_params == dict(params):
        st.caption("Your share link. It is shown only now: copy it.")
        st.code(share.address(path, {}), language=None, wrap_lines=True)
        st.button("Make another", key=f"share_link_another{whose}", on_click=_forget)
        return
    fixed_params, label = _fix_days(context, params)
    st.caption(
        "A share link opens these figures, and nothing else, without an account: for everybody who has it, "
        "or for one address. Access lists your links and revokes them."
    )
    with st.form(f"share_link{whose}", border=False):
        st.text_input("Title", name or _title(context, params), max_chars=100, key=f"share_link_name{whose}")
        with st.container(horizontal=True):
            st.selectbox("Works for", [*share.LIFETIMES], 1, key=f"share_link_lifetime{whose}", width=120)
            choices = [*([LATEST] if fixed_params != dict(params) else []), label]
            st.selectbox("Shows", choices, key=f"share_link_days{whose}", width=270)
        st.text_input(
            "Sites that may embed it",
            key=f"share_link_origins{whose}",
            placeholder="None; or like https://intranet.example, separated by blanks",
        )
        share.draw_recipient(f"share_link_recipient{whose}")
        st.form_submit_button(
            "Make a share link",
            icon=":material/share:",
            on_click=_make,
            args=(context, dict(params), fixed_params, whose),
        )
    if problem := st.session_state.pop(PROBLEM, None):
        st.error(plain(problem), icon=":material/error:")


def _forget() -> None:
    st.session_state.pop(NEW, None)


def _make(context: PageContext, params: dict[str, str], fixed_params: dict[str, str], whose: str) -> None:
    """Make the link. A callback."""
    state = st.session_state
    link_params = params if state[f"share_link_days{whose}"] == LATEST else fixed_params
    try:
        _, key = context.clients.view_store.share_links.make(
            context.project,
            context.slicer_name,
            state[f"share_link_name{whose}"],
            {name: text for name, text in link_params.items() if name not in ("project", "slicer")},
            timedelta(days=share.LIFETIMES[state[f"share_link_lifetime{whose}"]]),
            state[f"share_link_origins{whose}"].replace(",", " ").split(),
            recipient=share.recipient(f"share_link_recipient{whose}"),
        )
    except TrancheError as error:
        state[PROBLEM] = f"{error.reason.rstrip('.')}."
        return
    state[NEW] = (params, f"{PREFIX.strip('/')}/{key}")


def _fix_days(context: PageContext, params: Params) -> tuple[dict[str, str], str]:
    """The parameters with today's meaning of their days, and these days in words."""
    query = links.from_params(params, context.slicer, context.project, context.slicer_name).query
    start, end = named_days.days_of(query, context.slicer)
    return {**params, "start": start.isoformat(), "end": end.isoformat()}, f"Always {days(start, end)}"


def _title(context: PageContext, params: Params) -> str:
    query = links.from_params(params, context.slicer, context.project, context.slicer_name).query
    metrics = query.data_fields or focus.usual_metrics(context.slicer)
    field = state.view_from_params(params, context.slicer).field or metrics[0]
    return f"{title(context.slicer.data_field(field))} of {context.slicer_name}"
