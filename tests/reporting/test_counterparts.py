"""Fields of two slicers that mean the same, and those that only look alike."""

import pytest

from lib.slicers.counterparts import counterpart, title
from lib.slicers.models import DataField, KeyField


def key(name: str, description: str = "", mapping: str = "", role: str = "") -> KeyField:
    """A key field."""
    return KeyField(name=name, description=description, mapping=mapping or None, role=role or None)


THERE = (
    key("country", "Country", "country"),
    key("seat", "Buyer seat", "seat", "seat"),
    key("device_type", "Device type"),
    key("is_secure", "Secure request", "yes_no"),
    key("site_domain", "Domain"),
    key("page_domain", "Domain"),
)


@pytest.mark.parametrize(
    ("field", "name"),
    [
        (key("country"), "country"),
        (key("user.geo.country", "Country", "country"), "country"),
        (key("geo", "User country", "country"), "country"),
        (key("user.agent.device.type", "Device Type"), "device_type"),
        (key("buyer_id", "Trader", role="seat"), "seat"),
        (key("is_app", "In app", "yes_no"), None),
        (key("domain", "Domain"), None),
        (key("browser", "Browser"), None),
        (key("bid.user.geo.country"), "country"),
        (key("user.device.type"), "device_type"),
    ],
)
def test_fields_go_by_their_meaning(field: KeyField, name: str | None) -> None:
    """By name, role, label, or a mapping that they are called by; never to one of two, nor by a flag's."""
    assert counterpart(field, THERE) == name


def test_data_fields_go_by_their_labels() -> None:
    """Impressions are impressions; what is called otherwise is another field."""
    there = (DataField(name="imps", description="Impressions"), DataField(name="spend", description="Spend"))
    assert counterpart(DataField(name="impressions", description="Impressions"), there) == "imps"
    assert counterpart(DataField(name="cost", description="Cost"), there) is None


def test_a_field_is_called_by_its_label() -> None:
    """Without a label it is the last word of its name, never the whole."""
    assert title("country", THERE) == "Country"
    assert title("bid_context.demand.advertiser_id") == "Advertiser"
