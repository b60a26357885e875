"""Traces the flows of docs/architecture.md on a small demo, and writes which files of lib they run through.

    python docs/flows.py

Each flow is done once before it is traced, as in a desk that has run for a while. Counted are the files of
lib in which a function runs, those functions, and the shapes: dataclasses and pydantic models of lib that a
function gets or returns.
"""

import contextlib
import datetime as dt
import re
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, is_dataclass
from inspect import CO_VARARGS, CO_VARKEYWORDS
from pathlib import Path
from types import FrameType
from typing import Any

from click.testing import CliRunner
from pydantic import BaseModel

from lib.cli import main as tranche
from lib.deals.models import Seat
from lib.demo import build
from lib.demo.deals import seed
from lib.figures.overview.overview_answers import OverviewAnswers
from lib.figures.query.card import default_cards
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.serving import connect
from lib.serving.front.overview_route import OverviewRequest
from lib.settings import Settings
from lib.slicers.warehouse import Warehouse
from lib.ui.deals.changes.creation import CreationPlan, FormSource, package_creation
from lib.ui.deals.forms.draft import Draft, Terms
from lib.wire.deadline import Deadline
from lib.wire.filters import Filter

ROOT = Path(__file__).resolve().parent.parent
LIB = f"{ROOT / 'lib'}/"
TARGET = ROOT / "docs" / "architecture.md"
MARKED = re.compile(r"(?<=<!-- flows -->\n).*?(?=<!-- /flows -->)", re.S)
ROWS = 20_000
TODAY = dt.datetime.now(dt.UTC).date()
ABOUT = {"project": "demo", "slicer": "curation"}


@dataclass
class Trace:
    """What ran: functions by file, files in the order of their first function, and shapes."""

    functions: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    shapes: set[type] = field(default_factory=set)

    def profile(self, frame: FrameType, event: str, argument: Any) -> None:
        """Note a call or a return of lib; what sys.setprofile calls."""
        code = frame.f_code
        if not code.co_filename.startswith(LIB) or code.co_name == "<module>":
            return
        if event == "call":
            self.functions[code.co_filename.removeprefix(LIB)].add(code.co_qualname)
            count = code.co_argcount + code.co_kwonlyargcount
            count += sum(bool(code.co_flags & flag) for flag in (CO_VARARGS, CO_VARKEYWORDS))
            for name in code.co_varnames[:count]:
                self._note(frame.f_locals.get(name))
        elif event == "return":
            self._note(argument)

    def _note(self, thing: Any) -> None:
        shape = type(thing)
        if shape.__module__.startswith("lib.") and (is_dataclass(shape) or issubclass(shape, BaseModel)):
            self.shapes.add(shape)

    @property
    def function_count(self) -> int:
        """How many functions ran."""
        return sum(map(len, self.functions.values()))

    def way(self) -> str:
        """The files by folder, in the order in which they came."""
        folders: dict[str, list[str]] = defaultdict(list)
        for name in self.functions:
            folder, _, file = name.rpartition("/")
            folders[folder].append(file.removesuffix(".py"))
        return " → ".join(
            f"`{Path('lib', folder)}` ({', '.join(files)})" for folder, files in folders.items()
        )


class Tracer:
    """Traces this thread and those that start from now on, which may live longer than a flow."""

    def __init__(self) -> None:
        self._trace: Trace | None = None
        self._is_over = False
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)

    def _profile(self, frame: FrameType, event: str, argument: Any) -> None:
        if self._is_over:
            sys.setprofile(None)  # a thread that goes on after the last flow can only be freed by itself
        elif self._trace is not None:
            self._trace.profile(frame, event, argument)

    def traced(self, flow: Callable[[], object]) -> Trace:
        """What runs in this flow."""
        self._trace = trace = Trace()
        try:
            flow()
        finally:
            self._trace = None
        return trace

    def stop(self) -> None:
        """Take the hooks away."""
        self._is_over = True
        threading.setprofile(None)
        sys.setprofile(None)


def main() -> None:
    """Write the flows between their marks."""
    text = TARGET.read_text(encoding="utf-8")
    TARGET.write_text(MARKED.sub(lambda _: describe(traces()), text, count=1), encoding="utf-8")


def describe(found: dict[str, Trace]) -> str:
    """A row of counts for each flow, then its way."""
    rows = [
        f"| {name} | {len(trace.functions)} | {trace.function_count} | {len(trace.shapes)} |"
        for name, trace in found.items()
    ]
    ways = [f"*{name}*: {trace.way()}." for name, trace in found.items()]
    table = ["| Flow | Files | Functions | Shapes |", "|---|---|---|---|", *rows]
    return "\n".join(table) + "\n\n" + "\n\n".join(ways) + "\n"


def written_counts() -> dict[str, int]:
    """How many files each flow takes, as the page says."""
    text = TARGET.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) \| (\d+) \| \d+ \| \d+ \|$", text, re.M)
    return {name: int(files) for name, files in rows}


def traces() -> dict[str, Trace]:
    """Each flow, traced on a demo in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        settings = demo(Path(folder))
        tracer = Tracer()
        try:
            found = {}
            for name, flow in flows(settings).items():
                flow(0)
                found[name] = tracer.traced(lambda flow=flow: flow(1))  # type: ignore[misc]
            return found
        finally:
            tracer.stop()


def demo(home: Path) -> Settings:
    """The settings of a new demo with few rows, without deals."""
    (home / "tranche.toml").write_text("demo = true\n")
    settings = Settings(home=home, demo=True)
    build(Warehouse(settings.warehouse), connect.installation(settings).people, TODAY, ROWS)
    return settings


def flows(settings: Settings) -> dict[str, Callable[[int], object]]:
    """The flows on that demo: each takes the number of the time that it is done."""
    installation = connect.installation(settings)
    person = installation.people.get("manager")
    clients = connect.connect(person, settings)
    seed(clients.deals, TODAY)
    answers = OverviewAnswers(settings)
    slicer = clients.reporting.info(InfoQuery(project_name="demo", slicer_name="curation"))
    seats = {seat.id: seat for seat in clients.deals.everything(Seat)}
    card, *_ = default_cards(slicer)
    week = AudienceQuery(project_name="demo", slicer_name="curation", start_date="-7d", end_date="yesterday")
    split = week.model_copy(update={"split_by": (card.name,)})
    values = list(clients.reporting.audience(split, slicer).names[card.name])
    file = settings.home / "sales.csv"

    def click(number: int) -> object:
        """A value of a leaderboard is clicked."""
        request = OverviewRequest(**ABOUT, acts=[["include", [[card.name, values[number]]]]])
        return list(answers.lines(request, person, Deadline(60)))

    def ask(number: int) -> object:
        """A script or a screen of the same process asks."""
        filters = (Filter(name=card.name, match="equals", value=(values[-1 - number],)),)
        query = week.model_copy(update={"filters": filters})
        return connect.connect(person, settings).reporting.audience(query, slicer)

    def create(number: int) -> object:
        """A draft of the form becomes a package with a deal."""
        draft = Draft.of(
            name=f"Traced {number}", media_type="banner", start_date="2031-01-01", seats={1: Terms("2.5")}
        )
        source = FormSource(creations=[package_creation(draft, clients.deals, seats)])
        plan = CreationPlan(source=source, record=clients.bulk_actions.record("Traced"))
        plan.finish(clients.deals)
        return plan

    def import_(number: int) -> object:
        """A file of a new table is imported from the command line."""
        days = (TODAY - dt.timedelta(days=day) for day in range(20))
        file.write_text("\n".join(["day,country,imps", *(f"{day},C{number},{number + 1}" for day in days)]))
        command = ["import", str(file), "--project", "demo", "--slicer", f"sales{number}"]
        with contextlib.chdir(settings.home):  # the inferred definition is written where the command runs
            result = CliRunner(env={"TRANCHE_HOME": str(settings.home)}).invoke(
                tranche, command, catch_exceptions=False
            )
        if result.exit_code:
            raise RuntimeError(result.output)
        return result

    return {
        "A click on the overview": click,
        "An embedded question": ask,
        "A draft becomes a package": create,
        "A file is imported": import_,
    }


if __name__ == "__main__":
    main()
