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
    deals_of_word = [
        manager.make("demand_deals", {"name": f"{word} {letter}", **option(there.ada, price)})
        for price, letter in enumerate("ÄbCdE", start=1)
    ]
    return word, deals_of_word


def test_pages(manager: Caller, five: tuple[str, list[dict[str, Any]]]) -> None:
    """`next` and `previous` are addresses that lead through all pages, and null at the ends."""
    word, deals_of_word = five
    answer = manager.get("demand_deals/", search=word, limit=2)
    seen = [*answer["results"]]
    assert answer["previous"] is None
    while answer["next"]:
        path = answer["next"].partition("/api/")[2]
        answer = exact.loads(manager.ask("GET", path).content)
        assert answer["previous"]
        seen += answer["results"]
    assert answer["count"] == 5
    assert seen == deals_of_word
    last = exact.loads(manager.ask("GET", answer["previous"].partition("/api/")[2]).content)
    assert last["results"] == deals_of_word[2:4]


def test_a_page_beyond_the_end_is_empty(manager: Caller, five: tuple[str, list[dict[str, Any]]]) -> None:
    """The count stays what it is."""
    answer = manager.get("demand_deals/", search=five[0], offset=2**53 - 1)
    assert (answer["count"], answer["next"], answer["results"]) == (5, None, [])


def test_search_ignores_case_in_every_script(manager: Caller, five: tuple[str, list[dict[str, Any]]]) -> None:
    """In names and deal ids; % and _ are letters like others; a number finds an id too."""
    word, deals_of_word = five
    answer = manager.get("demand_deals/", search=f"{word.lower()} ä")
    assert [result["id"] for result in answer["results"]] == [deals_of_word[0]["id"]]
    assert manager.get("demand_deals/", search=deals_of_word[1]["deal_id"].lower())["results"] == [
        deals_of_word[1]
    ]
    assert manager.get("demand_deals/", search=deals_of_word[1]["deal_id"].lower()[4:12])["results"] == [
        deals_of_word[1]
    ]
    assert (
        deals_of_word[2]
        in manager.get("demand_deals/", search=str(deals_of_word[2]["id"]), limit=500)["results"]
    )
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
    word, deals_of_word = five
    results = manager.get("demand_deals/", search=word, ordering=ordering)["results"]
    assert [result["id"] for result in results] == [deals_of_word[int(place)]["id"] for place in places]


def test_filters_on_deals(manager: Caller, five: tuple[str, list[dict[str, Any]]], there: World) -> None:
    """Plain fields, exactly; several values find any of them; several filters find what fits all."""
    word, deals_of_word = five
    manager.change("demand_deals", deals_of_word[0]["id"], is_active=False)
    supply = manager.make("supply_deals", package(demand_deals=[{"id": deals_of_word[3]["id"]}]))

    def indices(**filters: Any) -> list[int]:
        answer = manager.get("demand_deals/", search=word, ordering="id", **filters)
        return [[deal["id"] for deal in deals_of_word].index(match["id"]) for match in answer["results"]]

    assert indices(price=["2", "3.000"]) == [1, 2]
    assert indices(is_active="false") == indices(status="paused") == [0]
    assert indices(is_active="true", price=["1", "2"]) == [1]
    assert indices(supply_deals=supply["id"]) == [3]
    assert indices(seat=there.ada) == indices(dsp=there.syncing) == [0, 1, 2, 3, 4]
    assert indices(dsp=there.plain) == indices(contact_email="a@b.example") == indices(package=1) == []
    assert indices(contact_email="") == indices(package="") == [0, 1, 2, 3, 4]
    assert indices(name=deals_of_word[4]["name"]) == indices(deal_id=deals_of_word[4]["deal_id"]) == [4]


def test_filters_on_packages(manager: Caller, there: World) -> None:
    """Media type, flags, dates as instants, linked deals."""
    word = unique("Yak")
    created = deals(option(there.ada))
    first = manager.make("supply_deals", package(name=f"{word} a", create_demand_deals=created))
    second = manager.make(
        "supply_deals", package(name=f"{word} b", media_type="video", start_date="2026-03-01 08:00:00+0000")
    )

    def ids_of(**filters: Any) -> list[int]:
        return [result["id"] for result in manager.get("supply_deals/", search=word, **filters)["results"]]

    assert ids_of(media_type="video") == [second["id"]]
    assert ids_of(start_date="2026-03-01 10:00:00+0200") == [first["id"], second["id"]]
    assert ids_of(end_date="") == ids_of(is_active="1") == [first["id"], second["id"]]
    assert ids_of(demand_deals=first["demand_deals"][0]["id"]) == [first["id"]]
    assert ids_of(is_dynamic_bidding="true") == []


def test_everything_that_is_wrong_with_a_query(manager: Caller) -> None:
    """An unknown parameter is refused with the nearest; so is a value that can't be read; all at once."""
    query = {"prize": "2", "limit": "501", "offset": "-1", "ordering": "prise,name", "is_active": "perhaps"}
    query |= {"price": "2,50", "status": "sleeping", "seat": "ada", "search": "a\x00b", "created_at": "now"}
    wrong = manager.invalid("GET", "demand_deals/", **query)
    assert wrong["prize"] == ["There is no such query parameter; did you mean 'price'?"]
    assert wrong["limit"] == ["This must be a whole number from 1 to 500."]
    assert wrong["offset"][0].startswith("This must be a whole number from 0")
    assert wrong["ordering"] == ["This list can't be ordered by 'prise'; did you mean 'price'?"]
    assert wrong["is_active"] == ["This must be true or false."]
    assert wrong["price"] == ["This must be a number with at most six decimals."]
    assert wrong["status"] == ["This must be one of pending, active, paused, complete."]
    assert wrong["seat"] == ["This must be a whole number."]
    assert wrong["search"] == ["This must not contain control characters."]
    assert wrong["created_at"][0].startswith("This must be a time like")
    assert manager.invalid("GET", "seats/", limit=["1", "2"]) == {"limit": ["This may be given once."]}


def test_unknown_parameters_of_remote_services(manager: Caller, there: World) -> None:
    """No other endpoint has query parameters: any is refused, and nothing happens."""
    none = {"verbose": ["There is no such query parameter here."]}
    path = f"seats/{there.ada}/"
    assert manager.invalid("GET", path, verbose=1) == none
    assert manager.invalid("PUT", path, {"name": "never"}, verbose=1) == none
    assert manager.invalid("DELETE", path, verbose=1) == none
    assert manager.invalid("POST", "dsps/", {"name": "never"}, verbose=1) == none
    assert manager.invalid("GET", f"{path}history/", search="x").keys() == {"search"}
    assert manager.get(path)["name"] != "never"


def test_prices_are_ordered_as_numbers(manager: Caller, there: World) -> None:
    """10 comes after 9.5 and after 0.000001."""
    word = unique("Quail")
    for price in (Decimal(10), Decimal("9.5"), Decimal("0.000001")):
        manager.make("demand_deals", {"name": word, **option(there.ada, price)})
    results = manager.get("demand_deals/", name=word, ordering="price")["results"]
    assert [result["price"] for result in results] == [Decimal("0.000001"), Decimal("9.5"), 10]


@pytest.fixture
def sold(manager: Caller, there: World) -> dict[str, Any]:
    """A package for a place of its own, with deals for two new seats; and an unsold one."""
    word = unique("Heron").replace(" ", "-")
    dsp = {"id": there.syncing}
    first, second = (
        manager.make("seats", {"name": f"{word} {seat}", "external_id": f"{word}-{seat}", "dsp": dsp})["id"]
        for seat in ("lou", "ollie")
    )
    places = [{"type": "country", "value": f"{word}-land"}, {"type": "city", "value": f"New {word}ville"}]
    terms = {"contact_email": f"{word}@buyer.example"}
    created = deals(option(first, 3), option(second, 5), **terms)
    package_ = manager.make(
        "supply_deals",
        package(name=f"{word} b", media_type="video", geo_targetings=places, create_demand_deals=created),
    )
    empty = manager.make("supply_deals", package(name=f"{word} a", is_active=False))
    deals_ = [manager.get(f"demand_deals/{deal['id']}/") for deal in package_["demand_deals"]]
    return {"word": word, "package": package_, "empty": empty, "deals": deals_}


def ids(manager: Caller, entity: str, search: str, **params: Any) -> list[int]:
    """What a search finds."""
    return [
        result["id"] for result in manager.get(f"{entity}/", search=search, limit=500, **params)["results"]
    ]


def test_search_finds_by_what_is_linked(manager: Caller, sold: dict[str, Any]) -> None:
    """By contact, deal id, seat, seat code, DSP and targeting, a package by its deals' and a deal by its
    packages'; every word has to be found."""
    word, [first, second] = sold["word"], sold["deals"]
    both = [first["id"], second["id"]]
    assert ids(manager, "demand_deals", f"{word}@BUYER.example") == both
    assert (
        ids(manager, "demand_deals", f"{word}-LAND") == ids(manager, "demand_deals", f"{word}ville") == both
    )
    assert ids(manager, "demand_deals", f"{word}-LOU") == [first["id"]]
    assert ids(manager, "demand_deals", f"{second['seat']['name']} {word} {second['dsp']['name']}") == [
        second["id"]
    ]
    for text in (first["deal_id"], f"{word}@buyer", f"{word}-ollie", f"{word}-land"):
        assert ids(manager, "supply_deals", text) == [sold["package"]["id"]], text
    assert ids(manager, "supply_deals", f"{word} nothing-like-it") == []
    assert ids(manager, "supply_deals", f"{word} country") == [], "kinds of targeting are no words of it"


def test_a_search_finds_beginnings_of_words_and_quotes_a_phrase(manager: Caller, there: World) -> None:
    """Not the middle of a word; a phrase in its order; signs and letters without case anywhere."""
    word = unique("Ibis").replace(" ", "-")
    names = {
        "plain": f"{word} Österreich CTV video", "turned": f"{word} video_CTV (Wien)",
        "other": f"{word} Brotvideo", "far": f"{word} 新東京",
    }  # fmt: skip
    number = {
        key: manager.make("demand_deals", {"name": name, **option(there.ada, 2)})["id"]
        for key, name in names.items()
    }
    for search, expected in {
        "video": ["plain", "turned"], "VID ctv": ["plain", "turned"], "deo": [], "terreich": [],
        "öst": ["plain"], '"ctv vid"': ["plain"], '"ctv video': ["plain"], "“video_ctv”": ["turned"],
        '"video ctv"': [],
        "wien": ["turned"], "(wien": ["turned"], "東京": ["far"], ".": [], '""': [*names],
    }.items():  # fmt: skip
        matches = ids(manager, "demand_deals", f"{word} {search}")
        assert sorted(matches) == sorted(number[key] for key in expected), search


def test_a_word_may_stand_for_a_value_of_targeting(manager: Caller, sold: dict[str, Any]) -> None:
    """`meaning` finds what is targeted at a value by another word, and nothing that merely begins like it."""
    word = sold["word"]
    means = {"meaning": [f"Elbonia:country:{word}-LAND", f"elbonia:city:{word}"]}
    assert ids(manager, "supply_deals", f"{word} elbonia", **means) == [sold["package"]["id"]]
    assert ids(manager, "demand_deals", "ELBONIA", **means) == [deal["id"] for deal in sold["deals"]]
    assert ids(manager, "supply_deals", "elbonia", meaning=f"elbonia:country:{word}-lan") == []
    wrong = manager.invalid("GET", "supply_deals/", meaning="elbonia:planet:X")
    assert wrong["meaning"][0].startswith("This must be word:kind:value")


def test_an_edit_changes_what_is_found(manager: Caller, sold: dict[str, Any]) -> None:
    """Other targeting and another contact are found from then on, and the former ones no more."""
    word = sold["word"]
    manager.change(
        "supply_deals", sold["package"]["id"], geo_targetings=[{"type": "zip", "value": f"{word}7"}]
    )
    manager.change("demand_deals", sold["deals"][0]["id"], contact_email=f"new-{word}@buyer.example")
    assert ids(manager, "supply_deals", f"{word}-land") == []
    assert ids(manager, "supply_deals", f"{word}7") == [sold["package"]["id"]]
    assert ids(manager, "demand_deals", f"new-{word}@buyer") == [sold["deals"][0]["id"]]


def test_filters_and_orders_by_what_is_linked(manager: Caller, sold: dict[str, Any], there: World) -> None:
    """Packages by seat, DSP and lowest price; deals by media type, by their package's start, by seat name."""
    word, sales = sold["word"], [deal["id"] for deal in sold["deals"]]
    second = sold["deals"][1]["seat"]["id"]
    assert ids(manager, "supply_deals", word, seat=second) == [sold["package"]["id"]]
    assert ids(manager, "supply_deals", word, dsp=[there.syncing, there.plain]) == [sold["package"]["id"]]
    assert ids(manager, "supply_deals", word, seat=there.cleo) == []
    assert ids(manager, "demand_deals", word, media_type="video") == sales
    assert ids(manager, "demand_deals", word, media_type="banner") == []
    assert ids(manager, "supply_deals", word, ordering="-price,name") == [
        sold["package"]["id"],
        sold["empty"]["id"],
    ]
    assert ids(manager, "demand_deals", word, ordering="-seat") == sales[::-1]
    assert ids(manager, "demand_deals", word, ordering="start_date,-price") == sales[::-1]


def test_counts(manager: Caller, sold: dict[str, Any], there: World) -> None:
    """How many have each value, of what the search and the other filters find, whatever the filter's own."""
    word = sold["word"]
    manager.change("demand_deals", sold["deals"][1]["id"], is_active=False)
    answer = manager.get("demand_deals/", search=word, counts="status,seat,dsp,media_type", status="paused")
    assert answer["count"] == 1
    assert answer["counts"] == {
        "status": {"active": 1, "paused": 1},
        "seat": {str(sold["deals"][1]["seat"]["id"]): 1},
        "dsp": {str(there.syncing): 1},
        "media_type": {"video": 1},
    }
    packages = manager.get("supply_deals/", search=word, counts="status,dsp")
    assert packages["counts"] == {"status": {"active": 1, "paused": 1}, "dsp": {str(there.syncing): 1}}
    assert "counts" not in manager.get("supply_deals/", search=word)
    wrong = manager.invalid("GET", "supply_deals/", counts="stats")
    assert wrong["counts"] == ["This list can't be counted by 'stats'; did you mean 'status'?"]
