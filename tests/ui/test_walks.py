"""Random walks over Audience: after each, every part and tab is the API's exact answer for its link."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import walks
from conftest import COUNTRIES, DAYS, DEFINITION, copied, small_rows
from walks import Check, Oracle, Walk

from lib.figures import rows
from lib.figures.overview import moved
from lib.figures.overview.overview_answers import OverviewAnswers
from lib.figures.query.compared_answers import ComparedAnswers
from lib.people import Person
from lib.reporting.models import InfoQuery
from lib.serving import connect
from lib.serving.front.overview_route import OverviewRequest
from lib.settings import Settings
from lib.ui.audience import records_tab
from lib.wire.deadline import Deadline

MANAGER = Person("manager", "Max Manager", None, "admin")
WALKS, DRAWS = 200, 10
PARTS = ["head", "cards", "split"]
LARGE, WEEKS_OF_ROWS = 4, DAYS // 7


@pytest.fixture(scope="module")
def desk(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """A desk with a small slicer, one so large that estimates come first, and one without some days."""
    own = copied(home, tmp_path_factory.mktemp("walks") / "home")
    settings = Settings(home=own, demo=True, throttle_questions=10**6)
    with connect.installation(settings).warehouse.writer(
        "demo", "large", DEFINITION, {"country": COUNTRIES}
    ) as writer:
        for seed in range(LARGE):
            writer.write(small_rows(seed))
        writer.commit("made for the test", "many rows")
    with connect.installation(settings).warehouse.writer(
        "demo", "holes", DEFINITION, {"country": COUNTRIES}
    ) as writer:
        for weeks in range(0, 6 * WEEKS_OF_ROWS, WEEKS_OF_ROWS):
            writer.write(earlier_rows(weeks))
        writer.commit("made for the test", "eighteen weeks, of which days are missing")
    yield settings


def earlier_rows(weeks: int) -> pa.Table:
    """Three weeks of rows up to so many weeks ago, without every third day or so, or a whole week."""
    frame = small_rows(weeks).to_pandas()
    frame["time"] -= pd.Timedelta(weeks=weeks)
    days = frame["time"].dt.date.map(lambda day: day.toordinal())
    is_missing = (days * 7919 % 11 < 3) | (days // 7 % 5 == 2)
    return pa.Table.from_pandas(frame[~is_missing], schema=DEFINITION.schema(), preserve_index=False)


@pytest.fixture
def precisions(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, bool]]:
    """Whether each side of every change that is made is an estimate."""
    sides: list[tuple[bool, bool]] = []
    original = ComparedAnswers.__init__

    def noting(self: ComparedAnswers, now: Any, before: Any, *rest: Any, **more: Any) -> None:
        sides.append((now.is_sampled, before.is_sampled))
        original(self, now, before, *rest, **more)

    monkeypatch.setattr(ComparedAnswers, "__init__", noting)
    return sides


@pytest.mark.parametrize("first", range(0, WALKS, DRAWS))
def test_walks_end_at_exact_answers(
    desk: Settings, precisions: list[tuple[bool, bool]], monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    """After any walk all figures are the API's for the link; both sides of each change had one precision."""
    monkeypatch.setattr("lib.figures.query.ask.FIRST", {"audience_rows_limit": 10_000, "exact_within": 0})
    reporting = connect.connect(MANAGER, desk).reporting
    for seed in range(first, first + DRAWS):
        about = ("demo", ("delivery", "large", "holes")[seed % 3])
        slicer = reporting.info(InfoQuery(project_name=about[0], slicer_name=about[1]))
        walk = Walk(np.random.default_rng(seed))
        answers = OverviewAnswers(desk)
        for _ in range(walks.STEPS):
            acts = walk.step()
            request = OverviewRequest(
                project=about[0], slicer=about[1], params=walk.params, acts=acts, parts=PARTS
            )
            lines = [*answers.lines(request, MANAGER, Deadline(60))]
            by_part = {line["part"]: line for line in lines}
            errors = [line["error"] for line in lines if "error" in line]
            assert not errors, (seed, walk.params, acts, errors)
            walk.arrive(by_part["head"]["params"])
            assert {by_part[part]["is_final"] for part in PARTS} == {True}
        parts = {part: by_part[part][part] for part in PARTS}
        request = OverviewRequest(project=about[0], slicer=about[1], params=walk.params, parts=PARTS[:1])
        focus, _ = answers.finish(request, MANAGER, Deadline(60))
        try:
            check = Check(Oracle(reporting, slicer, walk.params, about), parts)
            check.all()
            check.records(records_tab.records_query(focus, (), records_tab.LATEST))
            if focus.comparison is not None:
                movers = moved.compute(focus)
                check.moved(rows.as_json(moved.table(focus, movers)), moved.total_sentence(focus, movers))
        except AssertionError as error:
            error.add_note(f"walk {seed}, of {about[1]}: {walk.params}")
            raise
    assert all(now == before for now, before in precisions)
