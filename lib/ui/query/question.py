"""The question that Audience, Export and Slicers share. It is kept in the session and shown in the URL.

A browser sends its URL along with every click. Behind a slow network that may be the URL of a moment ago: it
is taken for the question only where the person has gone there (a link, the browser's Back). What the browser
may still show is remembered, so that a click is never undone by an older URL.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from lib.reporting import links
from lib.reporting.models import TIME_KEY_FIELDS, AudienceQuery, Slicer
from lib.ui import streamlit_compat
from lib.ui.kit.frame import PageContext
from lib.ui.kit.rows import NO_RECEIPT, ActReceipt
from lib.ui.query import cards
from lib.ui.query import view as views
from lib.ui.query.cards import Card
from lib.ui.query.view import View
from lib.wire.errors import TrancheError

CARDS_KEY = "remembered_cards"
log = logging.getLogger(__name__)
Slicers = dict[tuple[str, str], str]


def chosen_cards(context: PageContext) -> tuple[Card, ...] | None:
    """The choice for this slicer; None without one, or if the database fails (see the log)."""
    choices: Slicers = st.session_state.get(CARDS_KEY, {})
    about = (context.project, context.slicer_name)
    if about not in choices:
        choices = choices | {about: read_choice(context)}
        st.session_state[CARDS_KEY] = choices
    return cards.from_text(choices[about], context.slicer)


def keep(context: PageContext, new_cards: tuple[Card, ...] | None) -> None:
    """Store this choice; None removes it. If the database fails, it is kept for this session."""
    text = cards.to_text(new_cards or ())
    choices: Slicers = st.session_state.get(CARDS_KEY, {})
    st.session_state[CARDS_KEY] = choices | {(context.project, context.slicer_name): text}
    try:
        context.clients.view_store.cards.set(context.project, context.slicer_name, text)
    except TrancheError as error:
        log.warning("The choice of leaderboards could not be kept: %s", error.reason)


def read_choice(context: PageContext) -> str:
    """The same as text, from the database; empty without a choice, or if the database fails (see the log)."""
    try:
        return context.clients.view_store.cards.get(context.project, context.slicer_name)
    except TrancheError as error:
        log.warning("The choice of leaderboards could not be read: %s", error.reason)
        return ""


MOST_STEPS = 50
Params = Mapping[str, str]


@dataclass(frozen=True)
class Steps:
    """Questions as URL parameters: those before the current one, and those that were undone, nearest first.

    `past` runs from the oldest to the latest.
    """

    past: tuple[Params, ...] = ()
    undone: tuple[Params, ...] = ()

    def after(self, old: Params) -> "Steps":
        """The steps after a change from `old`. Steps undone before can no longer be redone."""
        return Steps((*self.past, old)[-MOST_STEPS:])

    def back(self, old: Params) -> tuple[Params, "Steps"]:
        """The question before `old`, and the steps as seen from there; `old` itself without one."""
        if not self.past:
            return old, self
        return self.past[-1], Steps(self.past[:-1], (old, *self.undone))

    def forward(self, old: Params) -> tuple[Params, "Steps"]:
        """The question that was undone last, and the steps as seen from there; `old` itself without one."""
        if not self.undone:
            return old, self
        return self.undone[0], Steps((*self.past, old), self.undone[1:])

    def after_navigation(self, old: Params, new: Params) -> "Steps":
        """After the browser went from `old` to `new`.

        To a question of these steps it undoes or redoes what lies between; to another it is a step.
        """
        if new == old:
            return self
        if new in self.undone:
            place = self.undone.index(new)
            return Steps((*self.past, old, *self.undone[:place]), self.undone[place + 1 :])
        if new in self.past:
            place = len(self.past) - 1 - self.past[::-1].index(new)
            return Steps(self.past[:place], (*self.past[place + 1 :], old, *self.undone))
        return self.after(old)


QUESTION_KEY, ABOUT, LEFT_OUT = "question", "question_about", "question_left_out"
SCREEN, MEANINGS = "screen", "question_without_parameters"
OF_ONE_SLICER = ("split", "fields", "field", "order", "source")
SLICER_PARAMS = ("project", "slicer")
EXPLORATION, EXPLORATION_BEFORE = "explore", "question_explored"
MOST_ADDRESSES = 50


@dataclass(frozen=True)
class KeptQuestion:
    """The question as URL parameters, on a screen (None: decided when the screen opens).

    `addresses` are the parameters that the browser was sent to, and may still show; `receipts` has
    the last act applied of each component with rows; `steps` are the questions before this one. All in one
    value: a run may break off between two writes.
    """

    screen: str | None = None
    params: Params = field(default_factory=dict)
    addresses: tuple[Params, ...] = ()
    receipts: Mapping[str, ActReceipt] = field(default_factory=dict)
    steps: Steps = field(default_factory=Steps)


def arrive(screen: str) -> None:
    """Start drawing the screen of that name, which is also its URL without parameters."""
    if st.session_state.get(SCREEN) != screen:
        st.session_state[SCREEN] = screen
        st.session_state[QUESTION_KEY] = replace(_kept_question(), screen=None)


def current(context: PageContext) -> AudienceQuery:
    """The current question, about the slicer chosen in the header.

    Where nothing is asked yet, it is the last complete week by the first key field: a screen opens on an
    answer, not on an empty form. On the way to another slicer, days are kept, and those filters that it has.
    The usual question needs no parameters: a URL without any asks it.
    """
    about = (context.project, context.slicer_name)
    params = _params()
    reading = links.from_params(params, context.slicer, *about)
    is_moved = st.session_state.get(ABOUT, about) != about
    is_carried = params.get(EXPLORATION) == st.session_state.get(EXPLORATION_BEFORE)
    if is_moved and (reading.left_out or is_carried):
        stale_names = (*OF_ONE_SLICER * bool(reading.left_out), *(EXPLORATION,) * is_carried)
        params = {name: text for name, text in params.items() if name not in stale_names}
        reading = links.from_params(params, context.slicer, *about)
    query = reading.query
    if "split" not in params and (is_moved or not asks(params)):
        query = query.model_copy(update={"split_by": first_split(context.slicer)})
    missing = [] if is_moved else views.left_out(params, context.slicer, context.slicer_name)
    if is_moved or reading.left_out or missing:
        st.session_state[LEFT_OUT] = [*reading.left_out, *missing]
    st.session_state[ABOUT], st.session_state[EXPLORATION_BEFORE] = about, params.get(EXPLORATION)
    if params or is_moved:
        extra = views.to_params(views.from_params(params, context.slicer))
        _write(
            params_of(query) | extra if params else {}, steps=Steps() if is_moved else _kept_question().steps
        )
    return query


def view(context: PageContext) -> View:
    """The current view, with the leaderboards of the link, or else those that the person chose."""
    view = _view(context)
    return view if view.cards else replace(view, cards=chosen_cards(context))


def _view(context: PageContext) -> View:
    """The view by the parameters alone."""
    return views.from_params(_params(), context.slicer)


def ask(query: AudienceQuery) -> None:
    """Change the question. Call it from a callback, or call `st.rerun` next."""
    extra = {name: text for name, text in _params().items() if name in views.PARAMS}
    _write(params_of(query) | extra)
    st.session_state.pop(LEFT_OUT, None)


def change_view(context: PageContext, query: AudienceQuery | None = None, **changes: object) -> None:
    """Change these fields of the view, in one step with `query` if given."""
    view = replace(_view(context), **changes)  # type: ignore[arg-type]
    _write(params_of(query or current(context)) | views.to_params(view))


def follow(
    context: PageContext,
    states: Iterable[tuple[AudienceQuery, Mapping[str, Any]]],
    last_acts: Mapping[str, ActReceipt],
) -> None:
    """Go through questions, each with what it changes of the view: each is a step of its own to undo.

    `last_acts` is the last act of each component that they come from.
    """
    view, every = _view(context), []
    for query, changes in states:
        view = replace(view, **changes)
        every.append(params_of(query) | views.to_params(view))
    steps, now = _kept_question().steps, _kept_question().params
    for params in every:
        steps, now = (steps.after(now) if params != now else steps), params
    _write(now, last_acts, steps)
    st.session_state.pop(LEFT_OUT, None)


def steps() -> Steps:
    """The questions before this one, and those that were undone."""
    return _kept_question().steps


def undo() -> None:
    """Go one step back. From a callback, followed by `st.rerun`."""
    kept_question = _kept_question()
    params, steps = kept_question.steps.back(kept_question.params)
    _write(params, steps=steps)


def redo() -> None:
    """Repeat the step that was undone last. From a callback, followed by `st.rerun`."""
    kept_question = _kept_question()
    params, steps = kept_question.steps.forward(kept_question.params)
    _write(params, steps=steps)


def reset(context: PageContext) -> None:
    """Go to the slicer's default question and view; this is a step that can be undone."""
    _write(_usual(context))


def is_usual(context: PageContext) -> bool:
    """Whether the question is the default one."""
    return whole(context) == _usual(context)


def whole(context: PageContext) -> dict[str, str]:
    """The question and its view as normalized URL parameters, without project and slicer."""
    return params_of(current(context)) | views.to_params(_view(context))


def go(params: Params, about: tuple[str, str] | None = None) -> None:
    """Go to a stored question, as a link does: parts that no longer fit are reported and left out.

    From a callback, followed by `st.rerun`. `about` are project and slicer, where the pickers change too.
    """
    if about is not None:
        st.session_state[ABOUT] = about
    st.session_state.pop(LEFT_OUT, None)
    _write({name: text for name, text in params.items() if is_ours(name)})


def receipt(component: str) -> ActReceipt:
    """The last click of this component that is part of the question."""
    return _kept_question().receipts.get(component, NO_RECEIPT)


def params() -> dict[str, str]:
    """The question's URL parameters, for links to other screens."""
    return dict(_kept_question().params)


def left_out() -> list[str]:
    """A sentence for each part of the link that was left out, until the question changes."""
    sentences: list[str] = st.session_state.get(LEFT_OUT, [])
    return sentences


def first_split(slicer: Slicer) -> tuple[str, ...]:
    """The default split: the first plain key field."""
    plain = [f.name for f in slicer.key_fields if not f.is_segmented and f.name not in TIME_KEY_FIELDS]
    return tuple(plain[:1])


def _usual(context: PageContext) -> dict[str, str]:
    query = links.from_params({}, context.slicer, context.project, context.slicer_name).query
    return params_of(query.model_copy(update={"split_by": first_split(context.slicer)}))


def params_of(query: AudienceQuery) -> dict[str, str]:
    """The question's parameters without those of the header's pickers."""
    return {name: text for name, text in links.to_params(query).items() if name not in SLICER_PARAMS}


def _params() -> Params:
    """The question's parameters, from the session, or from the URL after a link or the browser's Back.

    On the way from another screen a URL without parameters stands for the question asked there, and goes on
    to do so when the browser's Back leads to it; a screen opened without any asks the usual question.
    """
    kept_question, url, screen = _kept_question(), _in_url(), st.session_state.get(SCREEN)
    if kept_question.screen == screen and url in kept_question.addresses and not streamlit_compat.is_back():
        return kept_question.params
    meanings: Mapping[str | None, Params] = st.session_state.get(MEANINGS, {})
    if not url and kept_question.screen != screen:
        meanings = {**meanings, screen: kept_question.params}
        st.session_state[MEANINGS] = meanings
    params = url or meanings.get(screen, {})
    steps = (
        kept_question.steps.after_navigation(kept_question.params, params)
        if kept_question.addresses
        else kept_question.steps
    )
    st.session_state[QUESTION_KEY] = replace(
        kept_question, screen=screen, params=params, addresses=(url,), steps=steps
    )
    return params


def _kept_question() -> KeptQuestion:
    kept_question: KeptQuestion = st.session_state.get(QUESTION_KEY, KeptQuestion())
    return kept_question


def _in_url() -> dict[str, str]:
    """The question's parameters in the URL; a removed one stays, without values, until the next run."""
    return {
        name: text
        for name, text in st.query_params.to_dict().items()
        if is_ours(name) and (text or st.query_params.get_all(name))
    }


def _write(
    params: Params, last_acts: Mapping[str, ActReceipt] | None = None, steps: Steps | None = None
) -> None:
    """Store the parameters and put them into the URL in one step, as one entry of the browser's history.

    Without `steps`, another question is one more of them. Where a run breaks off between the two, the next
    one finds an older address, and puts this right.
    """
    kept_question, url = _kept_question(), _in_url()
    if steps is None:
        steps = (
            kept_question.steps
            if params == kept_question.params
            else kept_question.steps.after(kept_question.params)
        )
    more = [one for one in (url, params) if one not in kept_question.addresses]
    addresses = (*kept_question.addresses, *more)[-MOST_ADDRESSES:]
    receipts = {**kept_question.receipts, **(last_acts or {})}
    new = replace(kept_question, params=params, addresses=addresses, receipts=receipts, steps=steps)
    if new != kept_question:
        st.session_state[QUESTION_KEY] = new
    if url != params:
        st.query_params.update({name: params.get(name, ()) for name in {**url, **params}})


def asks(params: Params) -> bool:
    """Whether URL parameters ask anything, and not only how the usual question is shown."""
    return any(map(links.is_query_param, params))


def is_ours(name: str) -> bool:
    """Whether a URL parameter of this name is part of the question or its view."""
    return links.is_query_param(name) or name in views.PARAMS
