"""Warnings of the API about what is valid and probably a slip."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from deals.caller import Caller, package, read, unique
from lib.deals import doubts
from lib.deals.models import SupplyPackage
from lib.demo import curation
from lib.demo.population import PLATFORMS

ODD: dict[str, Any] = {
    "geo_targetings": [{"type": "country", "value": one} for one in ("US", "deu", "Narnia")]
    + [{"type": "city", "value": "Minas Tirith"}],
    "device_targetings": [{"value": one} for one in ("smartphone", "Connected TV", "palantir")],
    "size_targetings": [{"width": 300, "height": 250}, {"width": 3000, "height": 25}],
    "start_date": "2024-01-01 00:00:00+0000",
    "end_date": "2024-02-01 00:00:00+0000",
}
SAID = [
    "'Narnia' is no country code of ISO 3166-1.",
    "'palantir' is no usual type of device.",
    "3000x25 is no usual size of an ad.",
    "Dates wholly in the past: it ends on 31 Jan 2024 and never delivers.",
]


def test_a_creation_is_done_and_warned_about(manager: Caller) -> None:
    """The answer to a creation names unknown targets and dates that are over; a repeat answers the same, and
    a package without any has no such field."""
    key = {"Idempotency-Key": unique("key")}
    body = package(**ODD)
    for _ in range(2):
        assert read(manager.ask("POST", "supply_deals/", body, key), 201)["warnings"] == SAID
    assert "warnings" not in read(manager.ask("POST", "supply_deals/", package()), 201)


def test_a_change_is_warned_about_in_a_header(manager: Caller) -> None:
    """A change has no body: its warnings are a header, and stand with the results of a list of changes. They
    are about the fields of the request alone."""
    made = manager.make("supply_deals", package())["id"]
    odd = {"geo_targetings": [{"type": "country", "value": "Nárnia"}]}
    answer = manager.ask("PUT", f"supply_deals/{made}/", odd)
    assert answer.status_code == 204
    assert json.loads(answer.headers["tranche-warnings"]) == ["'Nárnia' is no country code of ISO 3166-1."]
    answer = manager.ask("PUT", f"supply_deals/{made}/", {"name": unique("Renamed")})
    assert "tranche-warnings" not in answer.headers
    [first, second] = manager.ask("PUT", "supply_deals/", [{"id": made, **odd}, {"id": 10**9, **odd}]).json()[
        "results"
    ]
    assert first["warnings"] == ["'Nárnia' is no country code of ISO 3166-1."]
    assert (second["status"], "warnings" in second) == (404, False)


def test_many_warnings_are_counted() -> None:
    """A request with a thousand unknown values is answered with twenty sentences and a count of the rest."""
    places = [{"type": "country", "value": f"Narnia {number} " + "x" * 150} for number in range(1_000)]
    found = doubts.of_package({"geo_targetings": places})
    assert len(found) == 21
    assert found[-1] == "980 more warnings"
    assert max(map(len, found)) < 150


@pytest.mark.parametrize(
    ("end", "count"),
    [("2026-03-01 00:00:00+0000", 1), ("2026-03-01 00:00:01+0000", 0), ("2026-02-28 23:00:00-0200", 0)],
)
def test_dates_that_are_over(end: str, count: int) -> None:
    """A package is over from its end on, in its own time zone."""
    fields = SupplyPackage.model_validate({"end_date": end, "start_date": "2026-01-01 00:00:00+0000"})
    assert len(doubts.of_package(fields.body(), datetime(2026, 3, 1, tzinfo=UTC))) == count


def test_the_demo_has_usual_values() -> None:
    """Each device and size that the demo's report has is in the lists, so that nobody is asked about it."""
    sizes = [size for several in curation.SIZES.values() for size in several if size]
    assert [one for one in PLATFORMS if not doubts.is_known("device", one)] == []
    assert [one for one in sizes if not doubts.is_known("size", one)] == []
