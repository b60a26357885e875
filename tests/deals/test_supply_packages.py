"""Supply packages: the specification's table of fields, its rules, and our decisions about them."""

from decimal import Decimal

import pytest

from deals.caller import END, INVALID, START, Caller, World, deals, option, package, read, unique

TARGETINGS = {
    "geo_targetings": [
        {"type": "country", "value": "US", "is_excluded": False},
        {"type": "dma", "value": "501", "is_excluded": True},
    ],
    "browser_targetings": [{"value": "Safari", "is_excluded": True}],
    "device_targetings": [{"value": "smartphone", "is_excluded": False}],
    "operating_system_targetings": [{"value": "iOS", "is_excluded": False}],
    "size_targetings": [{"width": 300, "height": 250, "is_excluded": False}],
}


def test_a_package_with_the_fields_of_the_specification(manager: Caller, there: World) -> None:
    """Every request field of the table comes back as it was sent, beside those of the service."""
    listed = {
        "domain_list_targetings": [{"id": there.domains, "is_excluded": True}],
        "app_list_targetings": [{"id": there.apps, "is_excluded": False}],
    }
    flags = {"is_active": False, "is_dynamic_bidding": True, "is_true_price_opt_enable": True}
    sent = package(media_type="video", end_date=END, **flags, **TARGETINGS, **listed)
    new_package = manager.make("supply_deals", sent)
    for name, value in sent.items():
        answered = (
            [{key: element[key] for key in element if key != "name"} for element in new_package[name]]
            if name in listed
            else new_package[name]
        )
        assert answered == value, name
    assert isinstance(new_package["id"], int)
    assert (new_package["demand_deals"], new_package["packages"]) == ([], [])
    assert manager.get(f"supply_deals/{new_package['id']}/") == new_package


def test_what_is_not_sent_has_a_default(manager: Caller) -> None:
    """Name, media type and start suffice: active, without an end, for everybody."""
    new_package = manager.make("supply_deals", package())
    assert (new_package["is_active"], new_package["end_date"]) == (True, None)
    assert (new_package["is_dynamic_bidding"], new_package["is_true_price_opt_enable"]) == (False, False)
    assert {name: new_package[name] for name in TARGETINGS} == {name: [] for name in TARGETINGS}


@pytest.mark.parametrize("media_type", ["banner", "video", "audio", "native"])
def test_media_types(manager: Caller, media_type: str) -> None:
    """Four media types are known."""
    assert manager.make("supply_deals", package(media_type=media_type))["media_type"] == media_type


def test_one_request_creates_the_package_and_its_deals(manager: Caller, there: World) -> None:
    """Rule 2: one deal for each option, in the answer's demand_deals, named after package and seat."""
    terms = {
        "agency_curation_fee": Decimal("12.5"),
        "agency_curation_fee_type": 1,
        "contact_email": "a@b.example",
    }
    created = deals(option(there.ada, Decimal("2.5"), deal_sync=True), option(there.cleo, 3), **terms)
    new_package = manager.make("supply_deals", package(create_demand_deals=created))
    assert "create_demand_deals" not in new_package
    assert [reference.keys() for reference in new_package["demand_deals"]] == [{"id", "name"}] * 2
    first, second = (
        manager.get(f"demand_deals/{reference['id']}/") for reference in new_package["demand_deals"]
    )
    ada = manager.get(f"seats/{there.ada}/")["name"]
    assert first["name"] == new_package["demand_deals"][0]["name"] == f"{new_package['name']} - {ada}"
    assert [(deal["seat"]["id"], deal["price"], deal["deal_sync"]) for deal in (first, second)] == [
        (there.ada, Decimal("2.5"), True),
        (there.cleo, 3, False),
    ]
    for deal in (first, second):
        assert {name: deal[name] for name in terms} == terms
        assert [reference["id"] for reference in deal["supply_deals"]] == [new_package["id"]]
        assert (deal["package"], deal["is_active"]) == (None, True)


def test_existing_deals_are_linked(manager: Caller, there: World) -> None:
    """Rule 1: demand_deals links deals that are there; the name beside an id is not read."""
    first = manager.make("supply_deals", package(create_demand_deals=deals(option(there.ada))))
    [deal] = first["demand_deals"]
    second = manager.make("supply_deals", package(demand_deals=[{"id": deal["id"], "name": "whatever"}]))
    assert second["demand_deals"] == [deal]
    linked = manager.get(f"demand_deals/{deal['id']}/")["supply_deals"]
    assert [reference["id"] for reference in linked] == [first["id"], second["id"]]
    assert {"name", "media_type", "start_date", "end_date", "is_active", "status"} <= linked[0].keys()


def test_either_or(manager: Caller, there: World) -> None:
    """Rule 1: create_demand_deals and demand_deals together are refused; neither makes a package alone."""
    [deal] = manager.make("supply_deals", package(create_demand_deals=deals(option(there.ada))))[
        "demand_deals"
    ]
    for linked in ([{"id": deal["id"]}], []):
        both = package(create_demand_deals=deals(option(there.bob)), demand_deals=linked)
        assert manager.wrong("supply_deals", **both) == {
            "non_field_errors": ["Give either create_demand_deals or demand_deals, not both."]
        }
    assert manager.make("supply_deals", package())["demand_deals"] == []
    nothing = package(create_demand_deals=None, demand_deals=[])
    assert manager.make("supply_deals", nothing)["demand_deals"] == []


def test_all_or_nothing(manager: Caller, there: World) -> None:
    """A package whose second deal can't be made leaves neither package nor deal behind."""
    before = [manager.get(f"{entity}/", limit=1)["count"] for entity in ("supply_deals", "demand_deals")]
    options = deals(option(there.ada), option(2**50))
    wrong = manager.wrong("supply_deals", **package(create_demand_deals=options))
    assert wrong["create_demand_deals"]["demand_deals_options"] == [
        {},
        {"seat": {"id": [f"There is no seat {2**50}."]}},
    ]
    after = [manager.get(f"{entity}/", limit=1)["count"] for entity in ("supply_deals", "demand_deals")]
    assert after == before


def test_a_change_touches_the_given_fields_alone(manager: Caller, there: World) -> None:
    """PUT changes what is in its body and nothing else."""
    new_package = manager.make(
        "supply_deals", package(**TARGETINGS, create_demand_deals=deals(option(there.ada)))
    )
    name = unique("Renamed")
    manager.change("supply_deals", new_package["id"], name=name, geo_targetings=[], end_date=END)
    now = manager.get(f"supply_deals/{new_package['id']}/")
    derived = {name: now[name] for name in ("updated_at", "status")}
    assert now == new_package | {"name": name, "geo_targetings": [], "end_date": END} | derived
    manager.change("supply_deals", new_package["id"], end_date=None)
    assert manager.get(f"supply_deals/{new_package['id']}/")["end_date"] is None


def test_links_are_changed_as_a_whole(manager: Caller, there: World) -> None:
    """demand_deals in a PUT is the list of linked deals from then on; the deals themselves stay."""
    new_package = manager.make(
        "supply_deals", package(create_demand_deals=deals(option(there.ada), option(there.bob)))
    )
    first, second = new_package["demand_deals"]
    manager.change("supply_deals", new_package["id"], demand_deals=[{"id": second["id"]}])
    assert manager.get(f"supply_deals/{new_package['id']}/")["demand_deals"] == [second]
    assert manager.get(f"demand_deals/{first['id']}/")["supply_deals"] == []


def test_new_deals_in_a_put_need_a_key(manager: Caller, there: World) -> None:
    """create_demand_deals in a PUT needs an Idempotency-Key: a PUT that is repeated must not create twice."""
    new_package = manager.make("supply_deals", package())
    body = {"create_demand_deals": deals(option(there.ada))}
    [sentence] = manager.invalid("PUT", f"supply_deals/{new_package['id']}/", body)["non_field_errors"]
    assert "Idempotency-Key" in sentence
    several = manager.ask("PUT", "supply_deals/", [{"id": new_package["id"], **body}]).json()["results"]
    assert [result["status"] for result in several] == [INVALID]
    assert manager.get(f"supply_deals/{new_package['id']}/")["demand_deals"] == []


@pytest.mark.parametrize("field", ["id", "packages", "status", "created_at", "updated_at"])
def test_what_the_service_gives_cannot_be_set(manager: Caller, field: str) -> None:
    """Neither in a POST nor in a PUT."""
    new_package = manager.make("supply_deals", package())
    expected = {field: ["This is given by the service and can't be set."]}
    assert manager.wrong("supply_deals", **package(**{field: new_package[field]})) == expected
    assert (
        manager.invalid("PUT", f"supply_deals/{new_package['id']}/", {field: new_package[field]}) == expected
    )


def test_the_end_is_after_the_start(manager: Caller) -> None:
    """Also when one of them is changed and the other is there already, and whatever their offsets."""
    too_early = {"end_date": ["The end must be after the start."]}
    assert manager.wrong("supply_deals", **package(end_date=START)) == too_early
    assert manager.wrong("supply_deals", **package(end_date="2026-03-01 10:00:00+0200")) == too_early
    new_package = manager.make("supply_deals", package(end_date="2026-03-01 09:00:00+0000"))
    path = f"supply_deals/{new_package['id']}/"
    assert manager.invalid("PUT", path, {"end_date": "2026-03-01 08:00:00+0000"}) == too_early
    late = {"start_date": "2026-03-02 09:00:00+0000"}
    assert manager.invalid("PUT", path, late) == {"start_date": too_early["end_date"]}


def test_a_generated_name_passes_its_own_change(manager: Caller, there: World) -> None:
    """Of a package with the longest name the deals' names are shortened, so that a PUT accepts them."""
    long = unique("Long ").ljust(200, "x")
    seat = manager.make("seats", {"name": unique("Seat ").ljust(200, "y"), "dsp": {"id": there.syncing}})
    new_package = manager.make(
        "supply_deals", package(name=long, create_demand_deals=deals(option(there.ada), option(seat["id"])))
    )
    ada = manager.get(f"seats/{there.ada}/")["name"]
    names = [deal["name"] for deal in new_package["demand_deals"]]
    assert names[0].endswith(f" - {ada}")
    for deal, name in zip(new_package["demand_deals"], names, strict=True):
        assert name.startswith(long[:90])
        assert len(name) <= 200
        manager.change("demand_deals", deal["id"], name=name)


def test_deals_of_a_package_that_exists(manager: Caller, there: World) -> None:
    """create_demand_deals in a PUT adds deals to those that are there, all or none, and once for each key."""
    new_package = manager.make("supply_deals", package(create_demand_deals=deals(option(there.ada, 2))))
    path, before = f"supply_deals/{new_package['id']}/", [deal["id"] for deal in new_package["demand_deals"]]
    body = {"create_demand_deals": deals(option(there.bob, 3), option(there.cleo, 4))}
    key = {"Idempotency-Key": unique("adding")}
    for _ in range(2):
        assert manager.ask("PUT", path, body, key).status_code == 204
    demand_deals = manager.get(path)["demand_deals"]
    assert [reference["id"] for reference in demand_deals][:1] == before
    assert [reference["name"].rpartition(" - ")[0] for reference in demand_deals] == [new_package["name"]] * 3
    wrong = manager.invalid("PUT", path, {"create_demand_deals": deals(option(there.ada), option(10**9))})
    assert wrong["create_demand_deals"]["demand_deals_options"][1]["seat"]["id"] == [
        "There is no seat 1000000000."
    ]
    assert len(manager.get(path)["demand_deals"]) == 3
    other = manager.ask("PUT", path, {"name": "Another"}, key)
    assert other.status_code == 409


def test_several_are_changed_by_one_request(manager: Caller, there: World) -> None:
    """Each by itself: what is refused of one says why, and the others are changed and in their history."""
    new_package = manager.make(
        "supply_deals", package(create_demand_deals=deals(option(there.ada), option(there.bob)))
    )
    first, second = (deal["id"] for deal in new_package["demand_deals"])
    body = [{"id": first, "is_active": False}, {"id": 10**9, "is_active": False}, {"id": second, "price": -1}]
    answer = read(manager.ask("PUT", "demand_deals/", body), 200)["results"]
    assert [(result["id"], result["status"]) for result in answer] == [
        (first, 204),
        (10**9, 404),
        (second, INVALID),
    ]
    assert answer[1]["error"] == {"detail": "There is no demand deal 1000000000"}
    assert answer[2]["error"].keys() == {"price"}
    assert manager.get(f"demand_deals/{first}/")["is_active"] is False
    assert manager.history("demand_deals", first)[0]["after"] == {"is_active": False}
    assert len(manager.history("demand_deals", second)) == 1
    for wrong in ({}, [], [{"is_active": True}], [{"id": first}, {"id": first}]):
        assert manager.ask("PUT", "demand_deals/", wrong).status_code == INVALID
