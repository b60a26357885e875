"""Lists: count, next, previous, results; limit, offset, search, ordering, filters."""

from decimal import Decimal
from typing import Any

import pytest

from deals.caller import Caller, World, deals, option, package, unique
from lib.wire import exact


@pytest.fixture
def five(manager: Caller, there: World) -> tuple[str, list[dict[str, Any]]]:
    """Five demand deals with a word that nothing else has, at prices 1 to 5."""
    word = unique("Zebra").replace(" ", "-")
    made = [
        manager.make("demand_deals", {"name": f"{word} {one}", **option(there.ada, price)})
        for price, one in enumerate("ÄbCdE", start=1)
    ]
    return word, made


def test_pages(manager: Caller, five: tuple[str, list[dict[str, Any]]]) -> None:
    """`next` and `previous` are addresses that lead through all pages, and null at the ends."""
    word, made = five
    answer = manager.get("demand_deals/", search=word, limit=2)
    seen = [*answer["results"]]
    assert answer["previous"] is None
    while answer["next"]:
        path = answer["next"].partition("/api/")[2]
        answer = exact.loads(manager.ask("GET", path).content)
        assert answer["previous"]
        seen += answer["results"]
    assert answer["count"] == 5
    assert seen == made
    last = exact.loads(manager.ask("GET", answer["previous"].partition("/api/")[2]).content)
    assert last["results"] == made[2:4]


def test_a_page_beyond_the_end_is_empty(manager: Caller, five: tuple[str, list[dict[str, Any]]]) -> None:
    """The count stays what it is."""
    answer = manager.get("demand_deals/", search=five[0], offset=2**53 - 1)
    assert (answer["count"], answer["next"], answer["results"]) == (5, None, [])


def test_search_ignores_case_in_every_script(manager: Caller, five: tuple[str, list[dict[str, Any]]]) -> None:
    """In names and deal ids; % and _ are letters like others; a number finds an id too."""
    word, made = five
    found = manager.get("demand_deals/", search=f"{word.lower()} ä")
    assert [one["id"] for one in found["results"]] == [made[0]["id"]]
    assert manager.get("demand_deals/", search=made[1]["deal_id"].lower())["results"] == [made[1]]
    assert made[2] in manager.get("demand_deals/", search=str(made[2]["id"]), limit=500)["results"]
    assert manager.get("demand_deals/", search=f"{word}%")["count"] == 0
    assert manager.get("demand_deals/", search=word.replace("-", "_"))["count"] == 0


@pytest.mark.parametrize(
    ("ordering", "places"),
    [
        ("-price", "43210"),
        ("price", "01234"),
        ("name", "12340"),
        ("-name", "04321"),
        ("is_active,-id", "43210"),
    ],
)
def test_ordering(
    manager: Caller, five: tuple[str, list[dict[str, Any]]], ordering: str, places: str
) -> None:
    """By one field or several, rising or falling; names without regard to case."""
    word, made = five
    found = manager.get("demand_deals/", search=word, ordering=ordering)["results"]
    assert [one["id"] for one in found] == [made[int(place)]["id"] for place in places]


def test_filters_on_deals(manager: Caller, five: tuple[str, list[dict[str, Any]]], there: World) -> None:
    """Plain fields, exactly; several values find any of them; several filters find what fits all."""
    word, made = five
    manager.change("demand_deals", made[0]["id"], is_active=False)
    supply = manager.make("supply_deals", package(demand_deals=[{"id": made[3]["id"]}]))

    def found(**filters: Any) -> list[int]:
        answer = manager.get("demand_deals/", search=word, ordering="id", **filters)
        return [[one["id"] for one in made].index(one["id"]) for one in answer["results"]]

    assert found(price=["2", "3.000"]) == [1, 2]
    assert found(is_active="false") == found(status="paused") == [0]
    assert found(is_active="true", price=["1", "2"]) == [1]
    assert found(supply_deals=supply["id"]) == [3]
    assert found(seat=there.ada) == found(dsp=there.syncing) == [0, 1, 2, 3, 4]
    assert found(dsp=there.plain) == found(contact_email="a@b.example") == found(package=1) == []
    assert found(contact_email="") == found(package="") == [0, 1, 2, 3, 4]
    assert found(name=made[4]["name"]) == found(deal_id=made[4]["deal_id"]) == [4]


def test_filters_on_packages(manager: Caller, there: World) -> None:
    """Media type, flags, dates as instants, linked deals."""
    word = unique("Yak")
    created = deals(option(there.ada))
    first = manager.make("supply_deals", package(name=f"{word} a", create_demand_deals=created))
    second = manager.make(
        "supply_deals", package(name=f"{word} b", media_type="video", start_date="2026-03-01 08:00:00+0000")
    )

    def found(**filters: Any) -> list[int]:
        return [one["id"] for one in manager.get("supply_deals/", search=word, **filters)["results"]]

    assert found(media_type="video") == [second["id"]]
    assert found(start_date="2026-03-01 10:00:00+0200") == [first["id"], second["id"]]
    assert found(end_date="") == found(is_active="1") == [first["id"], second["id"]]
    assert found(demand_deals=first["demand_deals"][0]["id"]) == [first["id"]]
    assert found(is_dynamic_bidding="true") == []


def test_everything_that_is_wrong_with_a_query(manager: Caller) -> None:
    """An unknown parameter is 400 and offers the nearest; so is a value that can't be read; all at once."""
    query = {"prize": "2", "limit": "501", "offset": "-1", "ordering": "prise,name", "is_active": "perhaps"}
    query |= {"price": "2,50", "status": "sleeping", "seat": "ada", "search": "a\x00b", "created_at": "now"}
    wrong = manager.refused("GET", "demand_deals/", 400, **query)
    assert wrong["prize"] == ["There is no such query parameter; did you mean 'price'?"]
    assert wrong["limit"] == ["This must be a whole number from 1 to 500."]
    assert wrong["offset"][0].startswith("This must be a whole number from 0")
    assert wrong["ordering"] == ["This list can't be ordered by 'prise'; did you mean 'price'?"]
    assert wrong["is_active"] == ["This must be true or false."]
    assert wrong["price"] == ["This must be a number with at most six decimals."]
    assert wrong["status"] == ["This must be one of pending, active, paused, complete."]
    assert wrong["seat"] == ["This must be a whole number."]
    assert wrong["search"] == ["This may not have control characters in it."]
    assert wrong["created_at"][0].startswith("This must be a time like")
    assert manager.refused("GET", "seats/", 400, limit=["1", "2"]) == {"limit": ["This may be given once."]}


def test_unknown_parameters_elsewhere(manager: Caller, there: World) -> None:
    """No other endpoint has query parameters: any is 400, and nothing happens."""
    none = {"verbose": ["There is no such query parameter here."]}
    path = f"seats/{there.ada}/"
    assert manager.refused("GET", path, 400, verbose=1) == none
    assert manager.refused("PUT", path, 400, {"name": "never"}, verbose=1) == none
    assert manager.refused("DELETE", path, 400, verbose=1) == none
    assert manager.refused("POST", "dsps/", 400, {"name": "never"}, verbose=1) == none
    assert manager.refused("GET", f"{path}history/", 400, search="x").keys() == {"search"}
    assert manager.get(path)["name"] != "never"


def test_prices_are_ordered_as_numbers(manager: Caller, there: World) -> None:
    """10 comes after 9.5 and after 0.000001."""
    word = unique("Quail")
    for price in (Decimal(10), Decimal("9.5"), Decimal("0.000001")):
        manager.make("demand_deals", {"name": word, **option(there.ada, price)})
    found = manager.get("demand_deals/", name=word, ordering="price")["results"]
    assert [one["price"] for one in found] == [Decimal("0.000001"), Decimal("9.5"), 10]
