"""What the overview's route answers: its parts, quick first and exact in the end."""

import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import TimeoutError
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from statistics import median

from lib.figures import error_text, numbers
from lib.figures.caches import SessionCache
from lib.figures.context import RequestContext
from lib.figures.overview import answer
from lib.figures.overview.answer import Json
from lib.figures.query import ask, card, clicks, focus, state
from lib.figures.query.ask import Answers
from lib.figures.query.card import Card
from lib.figures.query.focus import Focus
from lib.figures.query.state import PageState
from lib.people import Person
from lib.reporting.models import InfoQuery
from lib.serving import connect
from lib.serving.connect import Reports
from lib.serving.front.overview_route import OverviewRequest
from lib.settings import Settings
from lib.slicers.models import Slicer
from lib.wire.deadline import Deadline
from lib.wire.errors import Abandoned, AccessError, BadRequest, TrancheError, is_passing

SLICERS, SECONDS_BETWEEN_CHECKS = 1_000, 0.25
QUICK_SECONDS, LATEST = 0.15, 5
MOST_ROUNDS = 3  # exact figures may bring other rows, whose comparison is an estimate again


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
            sentence, details = error_text.sentence(error), error_text.details(error)
            problem = {"sentence": sentence, "details": details, "is_passing": is_passing(error)}
            return head | {"error": problem}
        return head | {"is_final": self.answers.start_count == self.exact_count, name: content}

    def content(self, name: str) -> Json | list[Json]:
        """A part as it is now. Raises the errors of the service."""
        if not self.context.slicer.data_fields:
            return answer.of_nothing(name)
        return answer.PARTS[name](self.focus, self.page_state.params)

    # Resolved once: the parts of a turn are of one state, and its day may not change between them.
    @cached_property
    def focus(self) -> Focus:
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


class OverviewAnswers:
    """Answers from the services of an installation, in the name of the person who asks."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._reports = Reports(connect.installation(settings))
        self._latest: dict[tuple[str, str], deque[float]] = {}
        self._slicers: SessionCache[Slicer] = SessionCache(connect.SLICER_SECONDS, SLICERS)

    def may_ask_ahead(self, request: OverviewRequest, person: Person) -> bool:
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

    def lines(self, request: OverviewRequest, person: Person, deadline: Deadline) -> Iterator[Json]:
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
        self, request: OverviewRequest, person: Person, deadline: Deadline
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

    def focus(self, request: OverviewRequest, person: Person, deadline: Deadline) -> Focus:
        """The state after the clicks, resolved, without its figures. Raises as `finish`."""
        return self._turn(request, person, deadline).focus

    def context(self, request: OverviewRequest, person: Person, deadline: Deadline) -> RequestContext:
        """The context of a request. Raises AccessError, and the errors of the service."""
        clients = connect.connect(person, self._settings, within=deadline)
        about = request.project, request.slicer
        if about not in clients.slicers:
            raise AccessError
        info = partial(
            clients.reporting.info, InfoQuery(project_name=request.project, slicer_name=request.slicer)
        )
        # What the slicer is; of a remote service, as it was a minute ago at most.
        key = (person.username, person.row_filters(*about), *about)
        slicer = self._slicers.get(key, info) if clients.slicer_seconds else info()
        return RequestContext(
            person,
            *about,
            clients.with_own(slicer, *about),
            clients,
            language=numbers.read_language(request.numbers) or request.locale,
            chosen_zone=request.zone,
            caches={ask.ANSWERS: Answers(is_parallel=not self._reports.is_quick(*about))},
        )

    def _turn(self, request: OverviewRequest, person: Person, deadline: Deadline) -> _Turn:
        context, about = self.context(request, person, deadline), (request.project, request.slicer)
        answers = context.caches[ask.ANSWERS]
        page_state = state.from_params(request.params, context.slicer, *about, context.own_zone)
        own_cards = "" if page_state.view.cards else card.own_cards_text(context)
        default_cards = card.cards_from_text(own_cards, context.slicer)
        for act in filter(None, request.acts):
            page_state = clicks.apply(page_state, act, context.slicer, default_cards)
        return _Turn(context, page_state, default_cards, deadline, answers, self.version(person, *about))

    def version(self, person: Person, project: str, slicer: str) -> str:
        """A text that differs once the data do, or the rows that the person may see: the key of answers."""
        row_filters = person.row_filters(project, slicer)
        return " ".join((self._reports.version(project, slicer), *map(repr, row_filters)))
