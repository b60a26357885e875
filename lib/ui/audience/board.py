"""The board of the Audience page: headline, time chart and leaderboards in one component.

Its figures come from a route beside Streamlit's, so that a click needs no run of the page: the browser draws
first and then tells Streamlit what was clicked, as tables do (rows.py). Streamlit keeps the state: it says
which of these acts it has taken, the parameters that it has now, and those that undo and redo lead to.
"""

import hashlib
import json
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import TimeoutError
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from statistics import median

import streamlit as st

from lib.people import Person
from lib.reporting.models import InfoQuery
from lib.serving import connect
from lib.serving.connect import Reports
from lib.serving.front.board_route import BoardRequest
from lib.settings import Settings
from lib.slicers.models import Slicer
from lib.ui.audience import answer
from lib.ui.audience.answer import Json
from lib.ui.charts import numbers, theme
from lib.ui.kit import problems, reader, retry, rows
from lib.ui.kit.frame import PageContext, RequestContext
from lib.ui.kit.session_cache import SessionCache
from lib.ui.query import ask, card, clicks, filters, focus, history, note_list, state
from lib.ui.query.ask import Answers
from lib.ui.query.card import Card
from lib.ui.query.focus import Focus
from lib.ui.query.periods import granularities
from lib.ui.query.state import PageState
from lib.wire.deadline import Deadline
from lib.wire.errors import Abandoned, AccessError, BadRequest, TrancheError
from lib.wire.text import straight

FOLDER = Path(__file__).parent
SCRIPTS = ("store.js", "figures.js", "chart.js", "waiting.js", "adder.js", "board.js", "early.js")
FILE, MOST_STEPS = "board.js", 3
COLORS = {
    "textColor": "text",
    "backgroundColor": "background",
    "secondaryBackgroundColor": "secondary-background",
    "borderColor": "border",
    "primaryColor": "primary",
    "linkColor": "link",
    "greenColor": "green",
    "redColor": "red",
}
"""The colors of the theme (.streamlit/config.toml) that the board uses, as its style calls them."""
SLICERS, SECONDS_BETWEEN_CHECKS = 1_000, 0.25
QUICK_SECONDS, LATEST = 0.15, 5
MOST_ROUNDS = 3  # exact figures may bring other rows, whose comparison is an estimate again


def _script() -> str:
    """The board's module: its style as a text, what draws tables, and its own parts."""
    style = rows.STYLE + (FOLDER / "board.css").read_text() + _early("light") + _early("dark")
    parts = [f"const STYLE = {json.dumps(style)}"]
    parts += [(rows.FOLDER / name).read_text() for name in rows.DRAWING]
    return "\n".join([*parts, *((FOLDER / name).read_text() for name in SCRIPTS)])


def _early(mode: str) -> str:
    """The colors of a board that is drawn before Streamlit has set the theme's."""
    colors = [f"--st-{name}-color: {theme.THEME[mode][key]};" for key, name in COLORS.items()]
    return f':host([data-early="{mode}"]) {{ {" ".join(colors)} }}\n'


SCRIPT = _script()
ADDRESS = f"{FILE}?{hashlib.sha256(SCRIPT.encode()).hexdigest()[:16]}"
# An inline script travels with each of its redraws: the board's is a file, that the browser keeps.
_mount = st.components.v2.component(
    "tranche_board",
    html='<div class="place"></div>',
    js=f"""
let board
export default function (given) {{
  if (board) return board.mount(given)
  import(new URL("{ADDRESS}", globalThis.trancheServer)).then((module) => (board = module).mount(given))
}}
""",
    isolate_styles=False,
)


def draw(context: PageContext) -> None:
    """Mount the board for the state as it is now."""
    steps = history.steps()
    _mount(
        key=clicks.CARDS,
        data={
            "taken": history.receipt(clicks.CARDS),
            "params": history.current(context).params,
            "steps": {
                "undo": _latest(context, steps.undo),
                "redo": _latest(context, steps.redo[::-1]),
            },
            "project": context.project,
            "slicer": context.slicer_name,
            "fields": [
                [field.name, straight(numbers.title(field, with_unit=True))]
                for field in context.slicer.data_fields
            ],
            "keys": [
                [field.name, straight(filters.field(field.name, context.slicer))]
                for field in context.slicer.key_fields
            ],
            "edition": [
                note_list.changes(),
                [field.model_dump() for field in context.slicer.own_fields],
                card.cards_text(card.own_cards(context) or ()),
            ],
        },
        on_acts_change=partial(clicks.catch_up, context),
    )


def _latest(context: PageContext, steps: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The last of these states as normalized parameters, the nearest at the end."""
    about = context.slicer, context.project, context.slicer_name, context.own_zone
    return [state.from_params(step, *about).params for step in steps[-MOST_STEPS:]]


def place(context: PageContext) -> str:
    """The key of the container around the board, whose height is that of a board with or without a chart."""
    return "board" if granularities(context.slicer) else "board_timeless"


@dataclass
class _Turn:
    """One request on its way: the state after its clicks, and what its answers come from.

    `default_cards` are the leaderboards that the person chose, shown where the state names none. Of the
    exact answers that it awaits, `exact_count` are there.
    """

    context: RequestContext
    page_state: PageState
    default_cards: tuple[Card, ...] | None
    deadline: Deadline
    answers: Answers
    version: str
    exact_count: int = 0

    def part(self, name: str, stage: str) -> Json:
        """The line of a part; one with the error where it fails."""
        head = {"part": name, "stage": stage, "params": self.page_state.params, "version": self.version}
        try:
            head["day"] = ask.today(self.context, self.page_state.query).isoformat()
            content = self.content(name)
        except Abandoned:
            raise
        except TrancheError as error:
            return head | {"error": _problem(error)}
        return head | {"is_final": self.answers.start_count == self.exact_count, name: content}

    def content(self, name: str) -> Json | list[Json]:
        """A part as it is now. Raises the errors of the service."""
        if not self.context.slicer.data_fields:
            return answer.of_nothing(name)
        return answer.PARTS[name](self.focus, self.page_state.params)

    # Resolved once: the parts of a turn are of one state, and its day may not change between them.
    @cached_property
    def focus(self) -> Focus:
        """The state, resolved."""
        cards = self.page_state.view.cards or self.default_cards
        return focus.resolve(self.context, self.page_state.with_view(cards=cards))

    def settle(self) -> bool:
        """Wait for the exact answers under way; False if there were none since the last time."""
        if self.answers.start_count == self.exact_count:
            return False
        self.exact_count = self.answers.start_count
        for future in self.answers.pending():
            while not future.done():
                self.deadline.check()
                with suppress(TimeoutError, TrancheError):
                    future.result(SECONDS_BETWEEN_CHECKS)
        return True


def _problem(error: TrancheError) -> Json:
    """An error as a sentence, its details, and whether the same request may succeed in a moment."""
    is_passing = isinstance(error, retry.PASSING)
    return {
        "sentence": problems.sentence(error),
        "details": problems.details(error),
        "is_passing": is_passing,
    }


class BoardAnswers:
    """Answers from the services of an installation, in the name of the person who asks."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._reports = Reports(connect.installation(settings))
        self._latest: dict[tuple[str, str], deque[float]] = {}
        self._slicers: SessionCache[Slicer] = SessionCache(connect.SLICER_SECONDS, SLICERS)

    def may_ask_ahead(self, request: BoardRequest, person: Person) -> bool:
        """Whether an answer costs so little that it may be made for nothing. Raises AccessError.

        Never in databases, where reading may cost money; at a remote service if its last answers were quick.
        """
        about = request.project, request.slicer
        if not person.may_see(*about):
            raise AccessError
        if self._reports.is_quick(*about):
            return True
        latest = self._latest.get(about, ())
        return self._reports.is_remote and bool(latest) and max(latest) < QUICK_SECONDS

    def lines(self, request: BoardRequest, person: Person, deadline: Deadline) -> Iterator[Json]:
        """The lines of an answer. Raises AccessError before the first."""
        began, turn = time.monotonic(), self._turn(request, person, deadline)
        latest = self._latest.setdefault((request.project, request.slicer), deque(maxlen=LATEST))
        if not request.ahead and not self._reports.is_quick(request.project, request.slicer):
            usual_seconds = round(median(latest), 1) if latest else None
            yield {"part": "wait", "engine": turn.context.slicer.engine or "", "lately": usual_seconds}
        for name in dict.fromkeys(request.parts):
            yield turn.part(name, "first")
        latest.append(time.monotonic() - began)
        for _ in range(0 if request.ahead else MOST_ROUNDS):
            if not turn.settle():
                break
            for name in dict.fromkeys(request.parts):
                yield turn.part(name, "exact")
        yield {"part": "end"}

    def finish(
        self, request: BoardRequest, person: Person, deadline: Deadline
    ) -> tuple[Focus, dict[str, Json | list[Json]]]:
        """The state after the clicks, resolved, and its parts by name, as they are in the end.

        Raises AccessError, BadRequest for a slicer about which nothing can be asked, and the errors of the
        service.
        """
        turn = self._turn(request, person, deadline)
        if not turn.context.slicer.data_fields:
            raise BadRequest("This slicer has no data fields to show")
        parts: dict[str, Json | list[Json]] = {}
        for _ in range(MOST_ROUNDS + 1):
            parts = {name: turn.content(name) for name in request.parts}
            if not turn.settle():
                break
        return turn.focus, parts

    def _turn(self, request: BoardRequest, person: Person, deadline: Deadline) -> _Turn:
        clients = connect.connect(person, self._settings, within=deadline)
        about = request.project, request.slicer
        if about not in clients.slicers:
            raise AccessError
        answers = Answers(is_parallel=not self._reports.is_quick(*about))
        context = RequestContext(
            person,
            *about,
            clients.with_own(self._slicer(clients, person, *about), *about),
            clients,
            language=reader.read_language(request.numbers) or request.locale,
            chosen_zone=request.zone,
            caches={ask.ANSWERS: answers},
        )
        page_state = state.from_params(request.params, context.slicer, *about, context.own_zone)
        default_cards = None if page_state.view.cards else card.read_own_cards(context)
        for act in filter(None, request.acts):
            page_state = clicks.apply(page_state, act, context.slicer, default_cards)
        return _Turn(context, page_state, default_cards, deadline, answers, self.version(person, *about))

    def version(self, person: Person, project: str, slicer: str) -> str:
        """A text that differs once the data do, or the rows that the person may see: the key of answers."""
        row_filters = person.row_filters(project, slicer)
        return " ".join((self._reports.version(project, slicer), *map(repr, row_filters)))

    def _slicer(self, clients: connect.Clients, person: Person, project: str, name: str) -> Slicer:
        """What the slicer is; of a remote service, as it was a minute ago at most."""
        query = InfoQuery(project_name=project, slicer_name=name)
        if not clients.slicer_seconds:
            return clients.reporting.info(query)
        key = (person.username, person.row_filters(project, name), project, name)
        return self._slicers.get(key, lambda: clients.reporting.info(query))
