"""The features of a deals service, as values for screens."""

import pytest

from lib.deals.abilities import ALL, PLAIN, Abilities
from lib.deals.models import FEE_TYPES
from lib.wire.errors import Forbidden, Unsupported


def test_our_own_service_does_everything() -> None:
    """The default refuses nothing."""
    whole = Abilities()
    for entity in ALL:
        assert whole.why_not(entity, "create", "change", "delete") == ""
        whole.check("delete", entity)
    assert (whole.lists, whole.repeats, whole.fees) == (True, True, FEE_TYPES)


def test_what_can_not_be_done_is_said_in_one_sentence() -> None:
    """The verbs that are missing, and who can do it."""
    said = "This service can't create or delete a demand deal; whoever runs it can"
    assert PLAIN.why_not("demand_deals", "create", "change", "delete") == said
    assert PLAIN.why_not("demand_deals", "change") == ""
    with pytest.raises(Unsupported, match="can't delete a demand deal;"):
        PLAIN.check("delete", "demand_deals")


def test_a_reason_to_refuse_comes_first() -> None:
    """Where nothing may be changed, that is the reason, whatever the service does."""
    closed = Abilities(refuses="Only looking")
    assert closed.why_not("seats", "create") == "Only looking"
    with pytest.raises(Forbidden, match="Only looking"):
        closed.check("create", "seats")
