"""A targeting as report filters, in words, and as pickers hold it; the filters checked against pandas."""

from pathlib import Path

import pandas as pd
import pytest
from dealing import SOLD, clients, sold_rows

from lib.deals.models import AppList, DomainList, GeoTarget, ListTarget, SizeTarget, Targeting, ValueTarget
from lib.deals.targeting.filters import entries, report_filters
from lib.deals.targeting.kinds import KINDS, elements, key_field
from lib.figures.deals import targeting_text
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.settings import Settings
from lib.slicers.models import KeyField, Slicer
from lib.wire.filters import Filter

NAMES = ("country", "region", "city", "zip", "device_type", "browser", "operating_system", "size",
         "site_domain", "app_bundle", "media_type")  # fmt: skip
SLICER = Slicer(key_fields=tuple(KeyField(name=name, description=name.capitalize()) for name in NAMES))
US, CA = GeoTarget(type="country", value="US"), GeoTarget(type="country", value="CA")
NO_SAFARI = ValueTarget(value="Safari", is_excluded=True)
LISTS = entries(
    [
        DomainList(id=7, name="Safe news", domains=("a.example", "b.example")),
        AppList(id=7, name="Games", apps=("g",)),
    ]
)


def equals(name: str, *values: str) -> Filter:
    """A filter on any of these values."""
    return Filter(name=name, value=values, match="equals")


def but(name: str, *values: str) -> Filter:
    """A filter on none of these values."""
    return Filter(name=name, value=values, match="not equals")


@pytest.mark.parametrize(
    ("targeting", "filters"),
    [
        (Targeting(), []),
        (Targeting(geo_targetings=(US, CA)), [equals("country", "US", "CA")]),
        (Targeting(browser_targetings=(NO_SAFARI,)), [but("browser", "Safari")]),
        (
            Targeting(
                geo_targetings=(US, GeoTarget(type="city", value="Lyon", is_excluded=True)),
                device_targetings=(ValueTarget(value="tablet"),),
            ),
            [but("city", "Lyon"), equals("country", "US"), equals("device_type", "tablet")],
        ),
        (
            Targeting(operating_system_targetings=(ValueTarget(value="iOS"),)),
            [equals("operating_system", "iOS")],
        ),
        (
            Targeting(size_targetings=(SizeTarget(width=300, height=250, is_excluded=True),)),
            [but("size", "300x250")],
        ),
        (
            Targeting(
                domain_list_targetings=(ListTarget(id=7, is_excluded=True),),
                app_list_targetings=(ListTarget(id=7),),
            ),
            [but("site_domain", "a.example", "b.example"), equals("app_bundle", "g")],
        ),
    ],
)
def test_filters(targeting: Targeting, filters: list[Filter]) -> None:
    """Each kind becomes a filter on its key field: any of what is meant, none of what is excluded."""
    report = report_filters(targeting, SLICER, LISTS)
    assert (list(report.filters), report.left_out) == (filters, ())


def test_media_type() -> None:
    """The media type of a package is a filter too."""
    assert report_filters(Targeting(), SLICER, {}, "video").filters == (equals("media_type", "video"),)


@pytest.mark.parametrize(
    ("targeting", "sentence"),
    [
        (
            Targeting(geo_targetings=(US, GeoTarget(type="region", value="CA-ON"))),
            "Places: a filter can't say Country or Region.",
        ),
        (
            Targeting(geo_targetings=(GeoTarget(type="dma", value="501"),)),
            "DMA: this slicer has no key field for it.",
        ),
        (
            Targeting(domain_list_targetings=(ListTarget(id=8, name="Sports"),)),
            "Domain list: Sports is empty, or its entries are not known.",
        ),
    ],
)
def test_what_is_left_out(targeting: Targeting, sentence: str) -> None:
    """What filters can't say is left out of them, and named."""
    report = report_filters(targeting, SLICER, LISTS)
    assert (report.filters, report.left_out) == ((), (sentence,))


def test_media_type_left_out() -> None:
    """A media type that the slicer does not know is named."""
    assert report_filters(Targeting(), Slicer(), {}, "video").left_out == (
        "Media type: this slicer has no key field for it.",
    )


def test_long_names_of_key_fields() -> None:
    """A key field is found by the last dotted parts of its name, as the specification's sample names them."""
    names = {
        "country": "bid_context_wrapper.user.geo.country",
        "region": "bid_context_wrapper.user.geo.country_region",
        "device": "bid_context_wrapper.user.agent.device.type",
        "operating_system": "bid_context_wrapper.user.agent.os.name",
        "browser": "bid_context_wrapper.user.agent.browser.name",
        "size": "requested_sizes",
        "domain_list": "bid_context_wrapper.supply.site_domain",
    }
    versions = ("bid_context_wrapper.user.agent.os.version", "bid_context_wrapper.user.agent.device.model")
    slicer = Slicer(key_fields=tuple(KeyField(name=name) for name in (*versions, *names.values())))
    names_by_kind = {kind.name: field.name for kind in KINDS if (field := key_field(kind, slicer))}
    assert names_by_kind == names


def test_figures_of_a_targeting(deals_home: Path) -> None:
    """The filters select in the report what the targeting means: pandas finds the same impressions."""
    reporting = clients(Settings(home=deals_home, demo=True)).reporting
    targeting = Targeting(
        geo_targetings=(
            US,
            GeoTarget(type="country", value="DE"),
            GeoTarget(type="country", value="US", is_excluded=True),
        ),
        device_targetings=(ValueTarget(value="smartphone"),),
        domain_list_targetings=(ListTarget(id=7, is_excluded=True),),
    )
    asked = AudienceQuery(project_name="demo", slicer_name=SOLD, start_date="-30d", end_date="yesterday")
    slicer = reporting.info(InfoQuery(project_name="demo", slicer_name=SOLD))
    lists = {("domain_list", 7): ("news.example",)}
    filters = report_filters(targeting, slicer, lists, "banner").filters
    answer = reporting.audience(asked.model_copy(update={"filters": filters}), slicer)

    rows = sold_rows().to_pandas()
    first = pd.Timestamp.now(tz="UTC").normalize() - pd.Timedelta(days=30)
    meant = rows[
        (rows["time"] >= first)
        & (rows["geo.country"] == "DE")
        & (rows["device_type"] == "smartphone")
        & (rows["site_domain"] != "news.example")
    ]
    assert answer.total.values["imps"] == meant["imps"].sum() > 0


@pytest.mark.parametrize(
    ("targeting", "listed", "sentence"),
    [
        (Targeting(), 3, "everything"),
        (
            Targeting(
                geo_targetings=(US, CA),
                device_targetings=(ValueTarget(value="mobile"),),
                browser_targetings=(NO_SAFARI,),
            ),
            3,
            "US, CA · mobile · not Safari",
        ),
        (
            Targeting(geo_targetings=tuple(GeoTarget(type="zip", value=str(n)) for n in range(5))),
            3,
            "0, 1, 2 and 2 more",
        ),
        (
            Targeting(
                size_targetings=(SizeTarget(width=300, height=250),),
                app_list_targetings=(ListTarget(id=3, is_excluded=True), ListTarget(id=4, name="Games")),
            ),
            None,
            "300x250 · Games · not list 3",
        ),
    ],
)
def test_in_words(targeting: Targeting, listed: int | None, sentence: str) -> None:
    """A targeting in a sentence: what is meant, then what is not, with no more of a kind than fit."""
    assert targeting_text.sentence(targeting, listed) == sentence


def test_in_words_of_the_report() -> None:
    """Values are told by their descriptions where the report has some."""
    described = {"country": {"US": "United States"}}
    assert targeting_text.sentence(Targeting(geo_targetings=(US, CA)), None, described) == "United States, CA"


def test_elements() -> None:
    """As a request carries it, a targeting is the same in whatever order it was said, and means the same."""
    targeting = Targeting(
        geo_targetings=(US, CA), size_targetings=(SizeTarget(width=1, height=2, is_excluded=True),)
    )
    other = Targeting(geo_targetings=(CA, US), size_targetings=targeting.size_targetings)
    assert elements(targeting) == elements(other)
    assert elements(targeting)["size_targetings"] == [{"width": 1, "height": 2, "is_excluded": True}]
    assert set(Targeting.model_validate(elements(targeting)).geo_targetings) == {US, CA}
