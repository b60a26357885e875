"""Own metrics: who sees them, who may change and share them, and what of it is noted; once per database."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from lib import database
from lib.people import Grant, Person, Role
from lib.views import OwnMetric, ViewStore
from lib.views.entries import Scope
from lib.wire.errors import AccessError, BadRequest

DELIVERY = ("demo", "delivery")
As = Callable[..., ViewStore]


@pytest.fixture
def noted() -> list[tuple[str, str]]:
    """What was noted for the audit log."""
    return []


@pytest.fixture
def kept(database_url: str, noted: list[tuple[str, str]]) -> As:
    """The stores of this person; all may see the project demo unless `sees` says something else."""
    engine: Engine = database.engine(database_url)
    database.migrate(engine)

    def of(name: str, role: Role = "viewer", sees: str = "demo") -> ViewStore:
        person = Person(name, name, None, role, (Grant.parse(sees),))
        return ViewStore(Scope(engine, "", person), note=lambda event, detail: noted.append((event, detail)))

    return of


def names(kept: ViewStore) -> list[str]:
    """The names of the metrics of delivery that this person sees."""
    return [metric.name for metric in kept.metrics.of(*DELIVERY)]


def test_a_metric_is_what_was_saved(kept: As, noted: list[tuple[str, str]]) -> None:
    """A metric comes back as it was saved, for its owner alone, and is noted."""
    metric = kept("ada").metrics.save(*DELIVERY, " Cost  per click ", "revenue / clicks", "$", 3)
    assert kept("ada").metrics.of(*DELIVERY) == [metric]
    assert (metric.name, metric.formula, metric.unit, metric.digits) == (
        "Cost per click",
        "revenue / clicks",
        "$",
        3,
    )
    assert (metric.owner, metric.is_shared, metric.is_mine) == ("ada", False, True)
    assert names(kept("bo")) == names(kept("root", role="admin")) == []
    assert noted == [("metric added", "demo/delivery: Cost per click = revenue / clicks (personal)")]


def test_managers_share_metrics(kept: As, noted: list[tuple[str, str]]) -> None:
    """A shared metric is everybody's to see, and any manager's who may see the slicer to change."""
    with pytest.raises(AccessError, match="managers"):
        kept("ada").metrics.save(*DELIVERY, "Mine", "clicks", is_shared=True)
    metric = kept("max", role="manager").metrics.save(*DELIVERY, "Ours", "clicks", is_shared=True)
    assert names(kept("ada")) == ["Ours"]
    change: tuple[str, str, str, int, bool] = ("Ours", "imps", "", 0, True)
    with pytest.raises(AccessError):
        kept("ada").metrics.change(metric.id, *change)
    with pytest.raises(AccessError):
        kept("ada").metrics.delete(metric.id)
    with pytest.raises(BadRequest, match="not there"):
        kept("eve", role="manager", sees="demo/curation").metrics.change(metric.id, *change)
    changed = kept("bo", role="manager").metrics.change(metric.id, *change)
    assert (changed.formula, changed.owner, changed.is_mine) == ("imps", "max", False)
    kept("root", role="admin").metrics.delete(metric.id)
    assert names(kept("max", role="manager")) == []
    assert [event for event, _ in noted] == ["metric added", "metric changed", "metric removed"]
    assert noted[1][1] == "demo/delivery: Ours = clicks (shared) → demo/delivery: Ours = imps (shared)"


def test_a_personal_metric_is_its_owners(kept: As) -> None:
    """Nobody else reads, changes or deletes it, whatever their role."""
    metric = kept("ada").metrics.save(*DELIVERY, "Mine", "clicks")
    for other in (kept("bo", role="manager"), kept("root", role="admin")):
        assert other.metrics.get(metric.id) is None
        with pytest.raises(BadRequest, match="not there"):
            other.metrics.change(metric.id, "Theirs", "imps", "", 0, False)
        with pytest.raises(BadRequest, match="not there"):
            other.metrics.delete(metric.id)
    assert kept("ada").metrics.of(*DELIVERY) == [metric]
    with pytest.raises(AccessError):
        kept("bo", sees="demo/curation").metrics.of(*DELIVERY)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (("", "clicks"), "name is missing"),
        (("x" * 101, "clicks"), "too long"),
        (("New", " "), "formula is missing"),
        (("New", "clicks", "x" * 21), "unit is too long"),
        (("New", "clicks", "", 7), "digits"),
        (("taken", "clicks"), "already"),
    ],
)
def test_what_can_not_be_stored_is_refused(kept: As, values: tuple[str, ...], reason: str) -> None:
    """A metric needs a name of its own, a formula, and a unit and digits within bounds."""
    store = kept("ada").metrics
    metric: OwnMetric = store.save(*DELIVERY, "Taken", "imps")
    with pytest.raises(BadRequest, match=reason):
        store.save(*DELIVERY, *values)  # type: ignore[arg-type]
    assert store.of(*DELIVERY) == [metric]
