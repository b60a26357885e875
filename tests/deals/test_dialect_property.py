"""Any response of a service is read without loss or invention, and written back unchanged."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as some
from standin.book import SETTINGS

from lib.deals.compat.dialect import Dialect
from lib.deals.models import ENTITIES, DemandDeal, SupplyPackage, Targeting
from lib.wire.errors import Unreadable

DIALECTS = (Dialect(), Dialect.of(SETTINGS["targeting_names"], SETTINGS["fee_types"]))
ARRAYS = [*Targeting.model_fields]
NAMES = some.sampled_from([
    "type", "value", "is_excluded", "id", "name", "width", "height", "geo", "kind", "code", "exclude", "term",
    "w", "supply_deals", "price",
])  # fmt: skip
WORDS = some.sampled_from(["country", "COUNTRY", "city", "US", "Safari", "300", "", "true"])
LEAVES = some.one_of(some.none(), some.booleans(), some.integers(-1, 2000), WORDS)
JSON = some.recursive(
    LEAVES,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)
ELEMENTS = some.dictionaries(NAMES, LEAVES | some.dictionaries(NAMES, LEAVES, max_size=2), max_size=4) | JSON


@given(some.sampled_from(DIALECTS), some.sampled_from(ARRAYS), some.lists(ELEMENTS, max_size=5))
def test_no_element_is_lost(dialect: Dialect, array: str, elements: list[Any]) -> None:
    """Each element is read or kept unread; all of them go back as they came."""
    package = dialect.read(SupplyPackage, {"id": 1, array: elements})
    package = package.known_as(raw={"id": 1, array: elements})
    read, unread = getattr(package, array), package.unread.get(array, [])
    assert len(read) + len(unread) == len(elements)
    back = dialect.write({array: [element.model_dump() for element in read]}, package)[array]
    assert sorted(map(repr, back)) == sorted(map(repr, elements))


@given(some.sampled_from(DIALECTS), some.sampled_from([*ENTITIES.values()]), some.data())
def test_anything_can_be_read(dialect: Dialect, model: type[Any], data: some.DataObject) -> None:
    """An object with an id is an entity, whatever else it says; what is no field's value is unread."""
    names = some.sampled_from([*model.model_fields, "other"])
    body = data.draw(some.dictionaries(names, JSON, max_size=6)) | {"id": 1}
    entity = dialect.read(model, body)
    assert entity.id == 1
    assert entity.unread.keys() <= body.keys()
    for name, value in entity.model_dump(exclude_unset=True).items():
        assert name in body
        assert value is not None or body[name] is None or name in entity.unread


def test_a_nested_resource_without_an_id() -> None:
    """A package that can't be read is an unread part of its deal, which is read."""
    odd, whole = {"id": "country"}, {"id": 3}
    entity = Dialect().read(DemandDeal, {"id": 1, "supply_deals": [odd, whole]})
    assert [package.id for package in entity.supply_deals or ()] == [3]
    assert entity.unread == {"supply_deals": [odd]}


@given(some.sampled_from(DIALECTS), JSON)
def test_what_is_no_object_is_unreadable(dialect: Dialect, body: Any) -> None:
    """Any JSON at all is read, or is Unreadable; misfits are told in sentences."""
    try:
        dialect.read(DemandDeal, body)
    except Unreadable:
        return
    assert all(isinstance(said, str) and said for said in dialect.misfits(DemandDeal, body))
