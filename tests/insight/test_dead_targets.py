"""Dead targets: values without a bid, of a slicer of nine rows whose figures can be read off."""

import datetime as dt
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import LAST_DAY
from dealing import START, clients, package
from inventory import DEFINITION, NAME, PROJECT, ROWS, embedded, known, slicer, table
from standin.app import served
from standin.state import TOKEN, State

from lib.deals.client import Deals
from lib.deals.models import GeoTarget, ListTarget, SizeTarget, SupplyPackage, ValueTarget
from lib.deals.targeting.kinds import KINDS
from lib.insight.dead_search import DeadResult, DeadScope, DeadSearch
from lib.insight.dead_targets import VALUES, IncludedTarget, checks, questions
from lib.reporting.models import AudienceQuery
from lib.serving.connect import Clients
from lib.settings import Settings
from lib.slicers.granularities import time_key_field
from lib.wire.errors import Abandoned, InternalError

NOW = dt.datetime.now(dt.UTC)
OLD = LAST_DAY - dt.timedelta(days=20)


def rows(region: str = "Somewhere") -> pa.Table:
    """The seven rows of yesterday, none of Norway, and five bids of Austria and Opera twenty days before."""
    day, zero = table().slice(0, 1).to_pylist()[0], table().slice(0, 1).to_pylist()[0]
    old = dt.datetime.combine(OLD, dt.time(9), dt.UTC)
    day |= {"time": old, "country": "AT", "browser": "Opera", "requested_sizes": ["160x600"], "bids": 5.0}
    zero |= {"country": "NO", "bids": 0.0}
    both = pa.concat_tables([table(), pa.Table.from_pylist([day, zero], schema=DEFINITION.schema())])
    place = both.schema.get_field_index("region")
    filled = pa.array([region] * len(both), both.schema.field(place).type)
    return both.set_column(place, both.schema.field(place), filled)


@pytest.fixture(params=["embedded", "specification alone"])
def of(request: pytest.FixtureRequest, own_home: Path):
    """The clients: of a service of our own, and of one that knows the specification and nothing more."""
    if request.param == "embedded":
        yield embedded(own_home, rows())
        return
    with served(State({("demo", "inventory"): known(rows())})) as service:
        settings = Settings(
            home=own_home,
            demo=True,
            base_url=service.address,
            reporting_token=TOKEN,
            slicers="demo/inventory",
        )
        yield clients(settings)


def place(value: str, kind: str = "country", is_excluded: bool = False) -> GeoTarget:
    """A place that is targeted."""
    return GeoTarget(type=kind, value=value, is_excluded=is_excluded)


def question(first: dt.date, last: dt.date, limit: int = 10_000_000) -> AudienceQuery:
    """The bids of these days."""
    return AudienceQuery(
        project_name=PROJECT, slicer_name=NAME, start_date=first.isoformat(), end_date=last.isoformat(),
        data_fields=("bids",), precision=1, audience_rows_limit=limit,
    )  # fmt: skip


def searched(of: Clients, days: int, limit: int = 10_000_000, to: dt.date = LAST_DAY) -> DeadResult:
    """What is found in the last days."""
    first = to - dt.timedelta(days=days - 1)
    before = question(first - dt.timedelta(days=60), first - dt.timedelta(days=1), limit)
    info = slicer(of)
    scope = DeadScope(info, {}, question(first, to, limit), before, "bids", NOW)
    return DeadSearch(of.deals, lambda query: of.reporting.audience(query, info), scope).result()


def named(result: DeadResult) -> dict[str, tuple[tuple[int, ...], dt.date | None]]:
    """Of each dead target its packages, and its last day."""
    return {
        dead_target.target.kind.value(dead_target.target.target): (
            dead_target.target.packages,
            dead_target.last,
        )
        for dead_target in result.dead
    }


def sell(deals: Deals) -> None:
    """Two packages that are sold, and one that has ended."""
    deals.create(
        SupplyPackage,
        package("One", {}, geo_targetings=tuple(map(place, ("US", "AT", "NO", "AQ"))), size_targetings=(
            SizeTarget(width=728, height=90), SizeTarget(width=160, height=600),
        )),
    )  # fmt: skip
    browsers = (ValueTarget(value="Opera"), ValueTarget(value="Lynx", is_excluded=True))
    deals.create(
        SupplyPackage,
        package("Two", {}, geo_targetings=(place("AQ"), place("FR")), browser_targetings=browsers),
    )
    ended = {"end_date": START + dt.timedelta(days=1), "geo_targetings": (place("XX"),)}
    deals.create(SupplyPackage, package("Ended", {}, **ended))


def test_values_without_a_bid(of: Clients) -> None:
    """In the last seven days: Austria, Opera and 160x600, whose last bid is twenty days old, Norway, whose
    rows have none, and Antarctica; not what is excluded, nor what a package that has ended targets."""
    sell(of.deals)
    result = searched(of, 7)
    assert named(result) == {
        "AT": ((1,), OLD), "NO": ((1,), None), "AQ": ((1, 2), None),
        "Opera": ((2,), OLD), "160x600": ((1,), OLD),
    }  # fmt: skip
    assert (result.bids.is_exact, result.unproven, result.gaps) == (True, (), ())
    assert sorted(result.packages) == [1, 2]
    assert result.bids.days == 1


def test_against_pandas(of: Clients) -> None:
    """Over the last thirty days the dead ones are those that a sum of the rows finds nothing of."""
    sell(of.deals)
    frame = rows().to_pandas()
    countries = frame.groupby("country")["bids"].sum()
    sizes = frame.explode("requested_sizes").groupby("requested_sizes")["bids"].sum()
    browsers = frame.groupby("browser")["bids"].sum()
    sums = pd.concat([countries, sizes, browsers])
    targeted = ["US", "AT", "NO", "AQ", "FR", "728x90", "160x600", "Opera"]
    assert set(named(searched(of, 30))) == {code for code in targeted if not sums.get(code, 0) > 0}


def test_days_without_data(of: Clients) -> None:
    """Where the report has nothing at all, no target is dead."""
    sell(of.deals)
    result = searched(of, 7, to=LAST_DAY - dt.timedelta(days=40))
    assert (result.dead, result.unproven, result.bids.has_data) == ((), (), False)


def test_a_key_field_without_values(own_home: Path) -> None:
    """A key field that the report leaves empty says nothing of its values: they are named as not checked."""
    of = embedded(own_home, rows(region=""))
    of.deals.create(SupplyPackage, package("One", {}, geo_targetings=(place("Lyon", "region"),)))
    result = searched(of, 7)
    assert result.dead == ()
    assert result.gaps == ("Region: the report has no values for it in these days.",)


def test_a_sample_proves_nothing(own_home: Path) -> None:
    """Of 40,000 records 10,000 are read: what they don't have is unproven, and exact with all of them."""
    draw = np.random.default_rng(3)
    many = table().take(pa.array(draw.integers(0, len(ROWS), 40_000)))
    of = embedded(own_home, many)
    of.deals.create(SupplyPackage, package("One", {}, geo_targetings=(place("US"), place("AQ"))))
    result = searched(of, 7, limit=10_000)
    assert (result.dead, [dead_target.target.value for dead_target in result.unproven]) == ((), ["AQ"])
    assert named(searched(of, 7)) == {"AQ": ((1,), None)}


def test_what_can_not_be_checked(own_home: Path) -> None:
    """A kind without key field and a list without entries are named once; a list stands for its entries."""
    of = embedded(own_home)
    phones = ValueTarget(value="phone"), ValueTarget(value="tablet")
    sold = SupplyPackage(
        id=1,
        device_targetings=phones,
        domain_list_targetings=(ListTarget(id=1), ListTarget(id=2, name="None")),
    )
    info = slicer(of)
    with_domains = info.model_copy(
        update={
            "key_fields": (*info.key_fields, info.key_fields[0].model_copy(update={"name": "site_domain"}))
        }
    )
    targets, gaps = checks([sold], with_domains, {("domain_list", 1): ("a.example", "b.example")})
    assert [target.values for target in targets] == [("a.example", "b.example")]
    assert gaps == (
        "Device: this slicer has no key field for it.",
        "Domain list: None is empty, or its entries are not known.",
    )


def test_many_values_take_few_questions() -> None:
    """1,200 values of one key field take three questions, besides those for all bids and for any value."""
    many = [
        IncludedTarget(KINDS[0], place(str(number)), "country", (str(number),), (1,))
        for number in range(1_200)
    ]
    asked = questions(question(LAST_DAY, LAST_DAY), many)
    assert [len(query.filters[0].value) for query in asked if query.split_by] == [VALUES, VALUES, 200]
    assert len(asked) == 5
    assert all(time_key_field("day") not in query.split_by for query in asked)


def test_a_search_that_fails_or_is_given_up(own_home: Path) -> None:
    """What a question fails with is raised; a search that was given up ends, and asks nothing more."""
    of = embedded(own_home, rows())
    sell(of.deals)
    scope = DeadScope(slicer(of), {}, question(OLD, LAST_DAY), None, "bids", NOW)

    def broken(query: AudienceQuery):
        raise InternalError("broken")

    with pytest.raises(InternalError, match="broken"):
        DeadSearch(of.deals, broken, scope).result()
    search, is_known = [], threading.Event()

    def given_up(query: AudienceQuery):
        is_known.wait()
        search[0].cancel()
        raise Abandoned("The caller is gone")

    search.append(DeadSearch(of.deals, given_up, scope))
    is_known.set()
    with pytest.raises(Abandoned):
        search[0].result()
    assert search[0].is_done
