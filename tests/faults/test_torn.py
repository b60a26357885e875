"""Answers that are torn anywhere: an error of the family, never anything else."""

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as some

from faults.conftest import Service
from lib.deals.compat.dialect import Dialect
from lib.deals.models import SupplyPackage
from lib.reporting.answers import as_arrow, responses
from lib.wire.errors import Unreadable

ASKED = {
    "project_name": "demo", "slicer_name": "delivery", "start_date": "-7d", "end_date": "yesterday",
    "split_by": ["geo.country"],
}  # fmt: skip


@pytest.fixture(scope="session", params=[as_arrow.MEDIA_TYPE, "application/json"], ids=["Arrow", "JSON"])
def figures(request: pytest.FixtureRequest, service: Service) -> httpx.Response:
    """An audience answer, whole."""
    body = ASKED | {"token": service.token("reporting")}
    address, accept = f"{service.address}/API/v2/audience", {"Accept": request.param}
    return httpx.post(address, json=body, headers=accept)


@given(share=some.floats(0, 1), less=some.integers(1, 300))
def test_figures(figures: httpx.Response, share: float, less: int) -> None:
    """Figures that end too early are not read as if they were whole."""
    torn = figures.content[: max(0, int(len(figures.content) * share) - less)]
    headers = {"content-type": figures.headers["content-type"]}
    assert len(responses.audience(figures, ("geo.country",))) > 1
    with pytest.raises(Unreadable):
        responses.audience(httpx.Response(200, headers=headers, content=torn), ("geo.country",))


@pytest.fixture(scope="session")
def deals(service: Service) -> httpx.Response:
    """A list of deals, whole."""
    headers = {"Authorization": f"Bearer {service.token('deals')}"}
    return httpx.get(f"{service.address}/api/supply_deals/", headers=headers)


@given(share=some.floats(0, 1, exclude_max=True))
def test_lists(deals: httpx.Response, share: float) -> None:
    """Nor is a list of deals."""
    assert Dialect().page(SupplyPackage, deals).count
    torn = deals.content[: int(len(deals.content) * share)]
    with pytest.raises(Unreadable):
        Dialect().page(SupplyPackage, httpx.Response(200, content=torn))
