"""Another service's words: targeting elements and fee types of other shapes, and what fits none."""

from decimal import Decimal
from typing import Any

import pytest

from lib.deals.compat.dialect import Dialect
from lib.deals.models import (
    FEE_TYPES,
    CreateDemandDeals,
    DemandDeal,
    DemandDealOption,
    GeoTarget,
    ListTarget,
    Package,
    Reference,
    SizeTarget,
    SupplyPackage,
    ValueTarget,
)
from lib.wire.errors import Invalid, Misconfigured, Unreadable

NAMES = {
    "geo_targetings": {
        "type": "geo.kind=country:COUNTRY,city:CITY",
        "value": "geo.code",
        "is_excluded": "exclude=true:1,false:0",
    },
    "browser_targetings": {"value": "."},
    "device_targetings": {"value": "device", "is_excluded": "operator=true:EXCLUDE,false:INCLUDE"},
    "size_targetings": {"width": "w", "height": "h", "is_excluded": "not"},
    "domain_list_targetings": {"id": "list.id", "is_excluded": "exclude"},
}
THEIRS = Dialect.of(NAMES, {1: 10, 3: 30})
US = {"geo": {"kind": "COUNTRY", "code": "US"}, "exclude": 0, "weight": 3}
PARIS = {"geo": {"kind": "CITY", "code": "Paris"}, "exclude": 1}
ODD = {"polygon": [[1, 2], [3, 4]]}
PACKAGE = {
    "id": "17",
    "name": "Theirs",
    "geo_targetings": [US, ODD, PARIS],
    "browser_targetings": ["Safari"],
    "device_targetings": [{"device": "tv", "operator": "EXCLUDE"}],
    "size_targetings": [{"w": "300", "h": 250, "not": "false"}],
    "domain_list_targetings": [{"list": {"id": 4, "name": "News"}, "exclude": True}],
    "floor": 1.5,
}


def read() -> SupplyPackage:
    """The package, as if it had been read from the service."""
    package = THEIRS.read(SupplyPackage, PACKAGE)
    return package.known_as(raw=PACKAGE)


def test_elements_of_another_shape_are_read() -> None:
    """Nested names, words for types and flags, bare values, numbers as text: each becomes our element."""
    package = read()
    assert package.id == 17
    assert package.geo_targetings == (
        GeoTarget(type="country", value="US", is_excluded=False),
        GeoTarget(type="city", value="Paris", is_excluded=True),
    )
    assert package.browser_targetings == (ValueTarget(value="Safari", is_excluded=False),)
    assert package.device_targetings == (ValueTarget(value="tv", is_excluded=True),)
    assert package.size_targetings == (SizeTarget(width=300, height=250, is_excluded=False),)
    assert package.domain_list_targetings == (ListTarget(id=4, name=None, is_excluded=True),)


def test_what_does_not_fit_is_kept_as_it_came() -> None:
    """An element of another shape is neither dropped nor guessed; a field that nobody knows stays too."""
    package = read()
    assert package.unread == {"geo_targetings": [ODD]}
    assert package.model_extra == {"floor": 1.5}


def test_an_element_that_may_be_an_exclusion_is_not_read_as_an_inclusion() -> None:
    """Without is_excluded, and with a field that may be where the service says so, nobody may guess."""
    plain, doubtful = {"value": "Safari"}, {"value": "Safari", "exclude": True}
    package = Dialect().read(SupplyPackage, {"id": 1, "browser_targetings": [plain, doubtful]})
    assert package.browser_targetings == (ValueTarget(value="Safari", is_excluded=False),)
    assert package.unread == {"browser_targetings": [doubtful]}


@pytest.mark.parametrize(
    ("array", "element"),
    [
        ("geo_targetings", {"type": "planet", "value": "Mars", "is_excluded": False}),
        ("geo_targetings", {"type": "country", "value": 840, "is_excluded": False}),
        ("browser_targetings", {"value": "Safari", "is_excluded": "perhaps"}),
        ("browser_targetings", "Safari"),
        ("size_targetings", {"width": 300}),
        ("app_list_targetings", {"id": "games"}),
    ],
)
def test_nothing_is_guessed(array: str, element: Any) -> None:
    """A type, a flag or a number of another kind makes an element unread."""
    entity = Dialect().read(SupplyPackage, {"id": 1, array: [element]})
    assert (getattr(entity, array), entity.unread) == ((), {array: [element]})


def test_a_field_of_another_kind_is_set_aside() -> None:
    """A price in words, a time without offset, half a list: the rest is read; without a true id, nothing."""
    body = {
        "id": 1, "price": "cheap", "created_at": "2026-03-01T09:00:00", "supply_deals": [{"id": 2}, 3],
        "name": "Fine",
    }  # fmt: skip
    entity = Dialect().read(DemandDeal, body)
    assert (entity.name, entity.price, [deal.id for deal in entity.supply_deals]) == ("Fine", None, [2])
    assert entity.unread == {"price": "cheap", "created_at": "2026-03-01T09:00:00", "supply_deals": [3]}
    for broken in ({"id": "x"}, [1], "text", None):
        with pytest.raises(Unreadable):
            Dialect().read(DemandDeal, broken)


def test_an_array_that_is_none() -> None:
    """Null is an empty array; an object in its place is kept, and can't be changed from here."""
    package = Dialect().read(SupplyPackage, {"id": 1, "geo_targetings": None, "size_targetings": {"any": []}})
    assert (package.geo_targetings, package.unread) == ((), {"size_targetings": {"any": []}})
    with pytest.raises(Invalid, match="can't read: change it there"):
        Dialect().write({"size_targetings": []}, package)


def test_packages_inside_of_deals() -> None:
    """The targeting of a package inside of a deal is read alike."""
    entity = THEIRS.read(DemandDeal, {"id": 1, "supply_deals": [PACKAGE]})
    assert entity.supply_deals[0].geo_targetings[1].value == "Paris"
    assert entity.supply_deals[0].unread == {"geo_targetings": [ODD]}
    assert THEIRS.read(Package, {"id": 1, "supply_deals": [PACKAGE]}).supply_deals[0].id == 17


def test_elements_are_written_as_theirs() -> None:
    """Our elements go out in their names and words; without exclusions and words there, it is said where."""
    written = THEIRS.write(
        {
            "name": "New",
            "geo_targetings": [{"type": "country", "value": "DE", "is_excluded": True}],
            "browser_targetings": [{"value": "Firefox", "is_excluded": False}],
            "device_targetings": [{"value": "tv"}],
            "app_list_targetings": [{"id": 3, "is_excluded": False}],
            "domain_list_targetings": [{"id": 3, "name": "News", "is_excluded": False}],
        }
    )
    assert written == {
        "name": "New",
        "geo_targetings": [{"geo": {"kind": "COUNTRY", "code": "DE"}, "exclude": 1}],
        "browser_targetings": ["Firefox"],
        "device_targetings": [{"device": "tv", "operator": "INCLUDE"}],
        "app_list_targetings": [{"id": 3, "is_excluded": False}],
        "domain_list_targetings": [{"list": {"id": 3}, "exclude": False}],
    }
    with pytest.raises(Invalid) as error:
        THEIRS.write(
            {
                "geo_targetings": [{"type": "dma", "value": "501", "is_excluded": False}],
                "browser_targetings": [{"value": "Firefox", "is_excluded": True}],
            }
        )
    assert error.value.fields == {
        "geo_targetings": [{"value": ['The settings have no value of this service for "dma".']}],
        "browser_targetings": [{"value": ["This service can't exclude anything here."]}],
    }


def test_what_is_kept_goes_back_as_it_came() -> None:
    """An array that is edited: kept elements with all their fields, unread ones too, new ones as theirs."""
    kept = {"type": "country", "value": "US", "is_excluded": False}
    new = {"type": "city", "value": "Lyon", "is_excluded": False}
    written = THEIRS.write({"geo_targetings": [kept, new]}, read())
    assert written == {"geo_targetings": [US, {"geo": {"kind": "CITY", "code": "Lyon"}, "exclude": 0}, ODD]}
    assert THEIRS.write({"name": "Other"}, read()) == {"name": "Other"}


def test_two_that_say_the_same_to_us_both_go_back() -> None:
    """Elements that differ in what we don't know alone are both kept."""
    both = [{"value": "Safari", "is_excluded": False, "weight": weight} for weight in (1, 2)]
    package = Dialect().read(SupplyPackage, {"id": 1, "browser_targetings": both})
    package = package.known_as(raw={"id": 1, "browser_targetings": both})
    same = {"value": "Safari", "is_excluded": False}
    assert Dialect().write({"browser_targetings": [same, same]}, package) == {"browser_targetings": both}


def test_what_was_read_can_be_written() -> None:
    """Every element that was read is written as it came."""
    package = read()
    for array in ("geo_targetings", "device_targetings", "size_targetings", "domain_list_targetings"):
        sent = [element.body() for element in getattr(package, array)]
        assert sorted(map(str, THEIRS.write({array: sent}, package)[array])) == sorted(
            map(str, PACKAGE[array])
        )


def test_fee_types() -> None:
    """Their numbers become ours and back; one without its like is unread, and is never sent."""
    assert THEIRS.fees == {1: FEE_TYPES[1], 3: FEE_TYPES[3]}
    assert THEIRS.read(DemandDeal, {"id": 1, "agency_curation_fee_type": "30"}).agency_curation_fee_type == 3
    other = THEIRS.read(DemandDeal, {"id": 1, "agency_curation_fee_type": 3, "agency_curation_fee": "2.50"})
    assert (other.agency_curation_fee_type, other.unread) == (None, {"agency_curation_fee_type": 3})
    assert other.agency_curation_fee == Decimal("2.50")
    assert THEIRS.write({"agency_curation_fee_type": 1}) == {"agency_curation_fee_type": 10}
    assert THEIRS.write({"agency_curation_fee_type": None}) == {"agency_curation_fee_type": None}
    option = DemandDealOption(seat=Reference(id=1), price=Decimal(2))
    for number, theirs in ((3, 30), (2, None)):
        new = CreateDemandDeals(demand_deals_options=(option,), agency_curation_fee_type=number)
        fields = SupplyPackage(name="x", create_demand_deals=new).body()
        if theirs is not None:
            assert THEIRS.write(fields)["create_demand_deals"]["agency_curation_fee_type"] == theirs
            continue
        with pytest.raises(Invalid) as error:
            THEIRS.write(fields)
        assert error.value.fields == {
            "create_demand_deals": {
                "agency_curation_fee_type": [
                    "The settings have no number of this service for this type of fee."
                ]
            }
        }


def test_our_own_words_stay_as_they_are() -> None:
    """Without settings, what goes out is what came in."""
    fields = {"name": "x", "geo_targetings": [{"type": "zip", "value": "1", "note": "kept"}], "price": 1}
    assert Dialect().write(fields) == fields


def test_misfits_are_named() -> None:
    """For each array that does not fit: how many, the fields found, those expected; the fee type too."""
    body = {**PACKAGE, "size_targetings": "300x250"}
    deal = {"id": 1, "agency_curation_fee_type": 7, "supply_deals": [body], "price": [1]}
    assert THEIRS.misfits(DemandDeal, deal) == [
        "agency_curation_fee_type is 7; the fee types of the settings are 10, 30",
        "price is not what the specification says: [1]",
        "geo_targetings: 1 of 3 elements have polygon; expected are geo.kind, geo.code, exclude",
        "size_targetings is no list but 300x250; expected is a list of w, h, not",
    ]
    assert Dialect().misfits(SupplyPackage, {"id": 1, "geo_targetings": [US]}) == [
        "geo_targetings: 1 of 1 elements have geo.kind, geo.code, exclude, weight; "
        "expected are type, value, is_excluded"
    ]
    assert THEIRS.misfits(SupplyPackage, {**PACKAGE, "geo_targetings": [US]}) == []


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (
            {"geo_targeting": {"value": "x"}},
            "Unknown targeting 'geo_targeting'; did you mean 'geo_targetings'?",
        ),
        ({"geo_targetings": {"valu": "x"}}, "geo_targetings: Unknown field 'valu'; did you mean 'value'?"),
        ({"geo_targetings": {"value": "x"}}, "geo_targetings must map type"),
        ({"browser_targetings": {"value": "a..b"}}, "value is 'a..b', and should be a name"),
        ({"browser_targetings": {"value": ".", "is_excluded": "x"}}, "a value alone has no other field"),
        ({"browser_targetings": {"value": "a=b:c"}}, "can't have its own values"),
        ({"geo_targetings": {"type": "t=state:S", "value": "v"}}, "has 'state': words are country:theirs"),
        (
            {"browser_targetings": {"value": "v", "is_excluded": "x=true"}},
            "has 'true': words are true:theirs",
        ),
    ],
)
def test_names_that_make_no_sense(names: dict[str, dict[str, str]], said: str) -> None:
    """A slip in the settings is named, with what would be right."""
    with pytest.raises(Misconfigured, match=r"^targeting_names: ") as error:
        Dialect.of(names, {})
    assert said in error.value.reason


@pytest.mark.parametrize(
    ("fee_types", "said"),
    [
        ({9: 1}, "there is no fee type 9; there are 0 undisclosed, 1 percent of spend"),
        ({1: 5, 2: 5}, "same number"),
    ],
)
def test_fee_types_that_make_no_sense(fee_types: dict[int, int], said: str) -> None:
    """A fee type that we don't have, and one number for two of them, are named."""
    with pytest.raises(Misconfigured, match=said):
        Dialect.of({}, fee_types)
