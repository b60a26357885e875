"""What sends a question to others: its figures as a file, and a link for people without an account."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial

import streamlit as st

from lib.figures.context import RequestContext
from lib.figures.numbers import days, title
from lib.figures.query import state
from lib.figures.query.focus import usual_metrics
from lib.reporting import links, named_days
from lib.serving.front.shared_route import PREFIX
from lib.settings import Settings
from lib.share import Documents, render, snapshots
from lib.ui.kit import downloads
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import share
from lib.wire.errors import TrancheError

LATEST = "The latest days, each time it is opened"
NEW, PROBLEM = "share_link_new", "share_link_problem"
Params = Mapping[str, str]
Take = Callable[[RequestContext], snapshots.Snapshot | snapshots.Board]


def draw(context: PageContext, params: Params, name: str) -> None:
    """Draw what sends the question of a link's parameters; `name` is that of a saved view, or empty."""
    whose = "_view" if name else ""
    draw_downloads(context, partial(_take, dict(params), name), context.slicer_name, whose)
    if context.slicer.data_fields:
        fixed_params, label = fix_days(context, params)
        choices = {label: fixed_params}
        if fixed_params != dict(params):
            choices = {LATEST: dict(params), **choices}
        if not name:
            page_state, _ = state.read(params, context.slicer, context.project, context.slicer_name)
            metrics = page_state.query.data_fields or usual_metrics(context.slicer)
            field = context.slicer.data_field(page_state.view.field or metrics[0])
            name = f"{title(field)} of {context.slicer_name}"
        draw_form(context, (context.project, context.slicer_name), choices, name, whose)


def draw_downloads(context: PageContext, take: Take, name: str, whose: str) -> None:
    """Draw a button per kind of file; `take` returns the snapshot, `whose` tells the buttons from others'."""
    with st.container(horizontal=True):
        for kind, media_type in render.KINDS.items():
            downloads.offer(
                context, kind.upper(), partial(_file, take, kind), f"{name}.{kind}", media_type,
                f"snapshot_{kind}{whose}",
            )  # fmt: skip


def _file(take: Take, kind: str, context: RequestContext) -> bytes:
    return render.file(take(context), kind)


def _take(params: Params, name: str, context: PageContext) -> snapshots.Snapshot:
    documents, about = Documents(Settings.current()), (context.project, context.slicer_name)
    return documents.of_question(context.person, about, params, name, context.locale or "")


def draw_form(
    context: PageContext, pair: tuple[str, str], choices: Mapping[str, Params], title: str, whose: str
) -> None:
    """Draw the form of a share link, for who may make one; in its place, the link that was just made.

    `choices` are the parameters to share by the days that they show; `pair` is the slicer, of a board two
    empty texts; `whose` tells the form from others.
    """
    if not context.person.may_share or not Settings.current().share_links:
        return
    params = dict(next(iter(choices.values())))
    of_params, path = st.session_state.get(NEW, ({}, ""))
    if of_params == params:
        st.caption("Your share link. It is shown only now: copy it.")
        st.code(share.address(path, {}), language=None, wrap_lines=True)
        st.button(
            "Make another", key=f"share_link_another{whose}", on_click=st.session_state.pop, args=(NEW, None)
        )
        return
    st.caption("A share link opens these figures, and nothing else, without an account. Access lists yours.")
    with st.form(f"share_link{whose}", border=False):
        st.text_input("Title", title, key=f"share_link_name{whose}")
        with st.container(horizontal=True):
            st.selectbox("Works for", [*share.LIFETIMES], 1, key=f"share_link_lifetime{whose}", width=120)
            st.selectbox("Shows", list(choices), key=f"share_link_days{whose}", width=270)
        with st.expander("Embed it"):
            st.text_input(
                "Sites that may embed it",
                key=f"share_link_origins{whose}",
                placeholder="None; or like https://intranet.example, separated by blanks",
            )
        share.draw_recipient(f"share_link_recipient{whose}")
        st.form_submit_button(
            "Make a share link", icon=":material/share:", on_click=_make,
            args=(context, pair, choices, whose),
        )  # fmt: skip
    if problem := st.session_state.pop(PROBLEM, None):
        st.error(plain(problem), icon=":material/error:")


def _make(context: PageContext, pair: tuple[str, str], choices: Mapping[str, Params], whose: str) -> None:
    session = st.session_state
    params = choices[session[f"share_link_days{whose}"]]
    try:
        _, key = context.clients.view_store.share_links.make(
            *pair,
            session[f"share_link_name{whose}"],
            {name: text for name, text in params.items() if name not in ("project", "slicer")},
            timedelta(days=share.LIFETIMES[session[f"share_link_lifetime{whose}"]]),
            session[f"share_link_origins{whose}"].replace(",", " ").split(),
            recipient=share.recipient(f"share_link_recipient{whose}"),
        )
    except TrancheError as error:
        session[PROBLEM] = error.sentence
        return
    session[NEW] = (dict(next(iter(choices.values()))), f"{PREFIX.strip('/')}/{key}")


def fix_days(context: PageContext, params: Params) -> tuple[dict[str, str], str]:
    """The parameters with today's meaning of their days, and these days in words."""
    query = links.from_params(params, context.slicer, context.project, context.slicer_name).query
    start, end = named_days.days_of(query, context.slicer)
    return {**params, "start": start.isoformat(), "end": end.isoformat()}, f"Always {days(start, end)}"
