"""The embedded client without HTTP in between: it gives what the API gives, to whom the API gives it."""

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lib.people import Grant, Person
from lib.reporting.answers import Audience
from lib.reporting.client import ONCE, Reporting
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.reporting.service import AuthorizedRequest
from lib.serving import connect
from lib.serving.connect.embedded import EmbeddedReporting
from lib.slicers.models import Order
from lib.wire.deadline import Deadline
from lib.wire.errors import Abandoned, AccessError, BadRequest, DeadlineExceeded, InternalError, TrancheError
from lib.wire.filters import Filter

INFO = InfoQuery(project_name="demo", slicer_name="delivery")
WEEK = AudienceQuery(project_name="demo", slicer_name="delivery", start_date="-7d", end_date="yesterday")
KEYS = ("geo.country", "campaign_id", "categories", "granularity_day", "granularity_week")
Make = Callable[..., EmbeddedReporting]


@pytest.fixture
def make(installation: connect.Installation) -> Make:
    """The client of somebody with this token: without one, the desk's own for the manager."""

    def reporting_for(token: str | None = None, within: Deadline | None = None) -> EmbeddedReporting:
        person = installation.people.get("manager")
        credential = token if token else installation.desk_tokens.of(person, "reporting")
        patience = replace(ONCE, within=within)
        return EmbeddedReporting(
            installation.http, credential, patience, installation.reporting, installation.meter
        )

    return reporting_for


@pytest.fixture
def over_http(installation: connect.Installation) -> Reporting:
    """The same client over the API."""
    person = installation.people.get("manager")
    return Reporting(installation.http, installation.desk_tokens.of(person, "reporting"))


def question(draw: np.random.Generator) -> AudienceQuery:
    """A random question about the small demo."""
    split = tuple(draw.choice(KEYS, draw.integers(0, 3), replace=False).tolist())
    values = {"geo.country": ("US", ""), "campaign_id": ("3",), "categories": ("news", "sport")}
    filtered = draw.choice([*values], draw.integers(0, 3), replace=False).tolist()
    matches = ("equals", "not equals", "contains")
    data = ("imps", "clicks", "revenue", "ctr", "unique_users")
    chosen = tuple(draw.choice(data, draw.integers(1, 5), replace=False).tolist())
    return WEEK.model_copy(
        update={
            "start_date": f"-{draw.integers(1, 21)}d",
            "split_by": split,
            "filters": tuple(
                Filter(name=name, value=values[name], match=str(draw.choice(matches))) for name in filtered
            ),
            "data_fields": None if draw.random() < 0.3 else chosen,
            "order_by": (Order(name=chosen[0]),) if draw.random() < 0.5 and chosen[0] == "imps" else (),
            "limit": None if draw.random() < 0.5 else int(draw.integers(1, 9)),
            "include_mappings": int(draw.integers(0, 2)),
            "precision": int(draw.integers(0, 2)),
        }
    )


def assert_equal(first: Audience, other: Audience) -> None:
    """Two answers are the same, but for what an exact answer is expected to take."""
    for part in fields(Audience):
        ours, theirs = getattr(first, part.name), getattr(other, part.name)
        if isinstance(ours, pd.DataFrame):
            pd.testing.assert_frame_equal(ours, theirs)
        elif isinstance(ours, pd.Series):
            pd.testing.assert_series_equal(ours, theirs)
        elif part.name == "precision" and ours is not None:
            assert replace(ours, exact_milliseconds=0) == replace(theirs, exact_milliseconds=0)
        else:
            assert ours == theirs, part.name


@pytest.mark.parametrize("seed", range(60))
def test_gives_what_the_api_gives(make: Make, over_http: Reporting, seed: int) -> None:
    """Frames, types, totals and precision of an answer are those that came over HTTP and Arrow before."""
    asked = question(np.random.default_rng(seed))
    assert_equal(make().audience(asked), over_http.audience(asked))


def test_describes_a_slicer_as_the_api_does(make: Make, over_http: Reporting) -> None:
    """Info is the same value, and says as much of what the service sent."""
    ours, theirs = make().info(INFO), over_http.info(INFO)
    assert ours == theirs
    assert ours.model_fields_set | {"status"} == theirs.model_fields_set


@pytest.mark.parametrize(
    "changes",
    [
        {"split_by": ("geo.contry",)},
        {"start_date": "soon"},
        {"start_date": "today", "end_date": "-5d"},
        {"timezone": 30},
        {"slicer_name": "unknown"},
        {"project_name": "other"},
        {"filters": (Filter(name="geo.country", value=("x",) * 20_000, match="equals"),)},
    ],
)
def test_refuses_what_the_api_refuses(make: Make, over_http: Reporting, changes: dict[str, Any]) -> None:
    """A wrong question fails with the same kind of error in the same words."""
    slicer = over_http.info(INFO)
    asked = WEEK.model_copy(update=changes)
    errors = []
    for client in (make(), over_http):
        with pytest.raises(TrancheError) as caught:
            client.audience(asked, slicer)
        errors.append((type(caught.value), caught.value.reason))
    assert errors[0] == errors[1]
    assert errors[0][0] in (BadRequest, AccessError)


def test_looks_at_the_token_at_every_call(make: Make, installation: connect.Installation) -> None:
    """A token that is revoked between two calls opens nothing any more; a wrong one never does."""
    text = installation.access.issue("manager", "reporting", "test", None)
    client, slicer = make(text), make().info(INFO)
    client.audience(WEEK, slicer)
    token = installation.access.store.verify(text, "reporting")
    installation.access.revoke(token, "manager")
    for refused in (client, make("tranche_wrong")):
        with pytest.raises(AccessError):
            refused.audience(WEEK, slicer)


def test_looks_at_the_grants_of_each_slicer(make: Make, installation: connect.Installation) -> None:
    """Questions that share one look at a token are refused where they are about somebody else's slicer."""
    text = installation.access.issue("viewer", "reporting", "test", None, (Grant("demo", "delivery"),))
    client, slicer = make(text, Deadline(30)), make().info(INFO)
    client.audience(WEEK, slicer)
    with pytest.raises(AccessError):
        client.audience(WEEK.model_copy(update={"project_name": "other"}), slicer)


def test_a_changed_answer_leaves_the_next_one_as_it_is(make: Make) -> None:
    """What a caller does to its frames does not reach the cache that others are answered from."""
    asked = WEEK.model_copy(update={"split_by": ("geo.country",), "data_fields": ("imps",)})
    first = make().audience(asked)
    before = first.values["imps"].tolist()
    first.values.loc[:, "imps"] = 0.0
    first.names.iloc[0, 0] = "nowhere"
    again = make().audience(asked)
    assert again.values["imps"].tolist() == before
    assert "nowhere" not in again.names["geo.country"].tolist()


class Waiting:
    """A service whose answers wait until they are told to go on, or their deadline stops them."""

    def __init__(self) -> None:
        self.has_begun, self.may_end, self.running, self.most = threading.Event(), threading.Event(), 0, 0
        self._lock = threading.Lock()

    def __call__(self, request: AuthorizedRequest, deadline: Deadline) -> Audience:
        """An answer, after a while."""
        with self._lock:
            self.running += 1
            self.most = max(self.most, self.running)
        self.has_begun.set()
        try:
            while not self.may_end.wait(0.01):
                deadline.check()
        finally:
            with self._lock:
                self.running -= 1
        raise InternalError


@pytest.fixture
def waiting(installation: connect.Installation, monkeypatch: pytest.MonkeyPatch) -> Iterator[Waiting]:
    """Such a service."""
    waiting_service = Waiting()
    monkeypatch.setattr(installation.reporting, "audience", waiting_service)
    yield waiting_service
    waiting_service.may_end.set()


def test_stops_when_its_caller_leaves(make: Make, waiting: Waiting) -> None:
    """A question whose caller goes away is stopped where it is."""
    deadline, slicer = Deadline(30), make().info(INFO)
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            make(within=deadline).audience(WEEK, slicer)
        except TrancheError as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert waiting.has_begun.wait(30)
    deadline.abandon()
    thread.join(30)
    assert [type(error) for error in errors] == [Abandoned]


def test_stops_at_its_deadline(make: Make, waiting: Waiting) -> None:
    """A question takes no longer than its caller allows."""
    slicer = make().info(INFO)
    with pytest.raises(DeadlineExceeded):
        make(within=Deadline(0.1)).audience(WEEK, slicer)


def test_one_person_does_not_take_all_threads(
    make: Make, waiting: Waiting, installation: connect.Installation
) -> None:
    """However many questions of one person come from screens, no more than their share run."""
    slicer = make().info(INFO)

    def ask(asked: AudienceQuery) -> None:
        with pytest.raises(InternalError):
            make().audience(asked, slicer)

    threads = [
        threading.Thread(target=ask, args=(WEEK.model_copy(update={"limit": number}),)) for number in range(6)
    ]
    for thread in threads:
        thread.start()
    assert waiting.has_begun.wait(30)
    viewer = installation.people.get("viewer")
    assert isinstance(viewer, Person)
    free = installation.reporting.queries.submit(viewer.username, lambda: "answered")
    assert free.result(30) == "answered"
    waiting.may_end.set()
    for thread in threads:
        thread.join(30)
    assert waiting.most <= installation.settings.query_share


def test_is_measured_as_a_request(make: Make, installation: connect.Installation) -> None:
    """Metrics count the questions of screens, those that fail too, as before."""

    def counted(status: int) -> float:
        name = f'tranche_requests_total{{kind="audience",status="{status}"}} '
        lines = installation.meter.text().decode().splitlines()
        return next((float(line.removeprefix(name)) for line in lines if line.startswith(name)), 0.0)

    client, slicer = make(), make().info(INFO)
    before = counted(200), counted(400)
    client.audience(WEEK, slicer)
    with pytest.raises(BadRequest):
        client.audience(WEEK.model_copy(update={"start_date": "soon"}), slicer)
    assert (counted(200), counted(400)) == (before[0] + 1, before[1] + 1)


def test_a_failure_inside_is_told_without_details(
    make: Make, installation: connect.Installation, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    """What nobody foresaw is an internal error; its cause is in the log alone."""

    def broken(*_: object) -> Audience:
        raise ValueError("secret")

    slicer = make().info(INFO)
    monkeypatch.setattr(installation.reporting, "audience", broken)
    with caplog.at_level(logging.ERROR), pytest.raises(InternalError) as caught:
        make().audience(WEEK, slicer)
    assert "secret" not in caught.value.reason
    assert "secret" in caplog.text
