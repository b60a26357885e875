"""Filters of a question as the targeting of a package, and back again."""

import pytest

from lib.deals.models import GeoTarget, ListTarget, SizeTarget, Targeting, ValueTarget
from lib.deals.targeting.filters import report_filters
from lib.deals.targeting.from_filters import FromFilters, from_filters
from lib.slicers.models import KeyField, Slicer
from lib.wire.filters import Filter

NAMES = ("user.geo.country", "user.geo.region", "agent.browser.name", "requested_sizes", "site_domain")
SLICER = Slicer(key_fields=tuple(KeyField(name=name) for name in (*NAMES, "media_type", "ssp")))
LISTS = {("domain_list", 4): ("a.example", "b.example"), ("app_list", 5): ("a.example",)}


def only(name: str, *values: str, **more: object) -> Filter:
    """A filter that keeps these values."""
    return Filter(**{"name": name, "value": values, "match": "equals", **more})


def no(name: str, *values: str) -> Filter:
    """A filter that excludes these values."""
    return only(name, *values, match="not equals")


def made(*filters: Filter) -> FromFilters:
    """What these filters make of a package."""
    return from_filters(filters, SLICER, LISTS)


def whys(prefill: FromFilters) -> list[tuple[tuple[str, ...], str]]:
    """The values left out, and why."""
    return [(omission.filter.value, omission.why) for omission in prefill.left_out]


def test_values_become_targets() -> None:
    """Countries, browsers, sizes and a media type that are kept or excluded are the package's targets."""
    filters = (
        only("user.geo.country", "US", "DE"),
        no("agent.browser.name", "Safari"),
        only("requested_sizes", "300x250"),
    )
    prefill = made(*filters, only("media_type", "video"))
    assert prefill.targeting == Targeting(
        geo_targetings=(GeoTarget(type="country", value="US"), GeoTarget(type="country", value="DE")),
        browser_targetings=(ValueTarget(value="Safari", is_excluded=True),),
        size_targetings=(SizeTarget(width=300, height=250),),
    )
    assert (prefill.media_type, prefill.lists, prefill.left_out) == ("video", (), ())
    assert {*report_filters(prefill.targeting, SLICER, LISTS).filters} == {*filters}


def test_domains_need_a_list() -> None:
    """Domains are the list that has exactly these, else one to be created."""
    there = made(only("site_domain", "b.example", "a.example"))
    assert there.targeting.domain_list_targetings == (ListTarget(id=4, is_excluded=False),)
    needed = made(no("site_domain", "a.example"), only("user.geo.country", "US"))
    assert [(needed_list.entries, needed_list.is_excluded) for needed_list in needed.lists] == [
        (("a.example",), True)
    ]
    whole = needed.with_lists([9])
    assert whole.domain_list_targetings == (ListTarget(id=9, is_excluded=True),)
    assert whole.geo_targetings == (GeoTarget(type="country", value="US"),)


def test_of_two_places_the_narrower_is_required() -> None:
    """A package has any of its places, so that Germany and Bavaria can't both be required; excluding can."""
    prefill = made(only("user.geo.country", "DE"), only("user.geo.region", "BY"))
    assert prefill.targeting.geo_targetings == (GeoTarget(type="region", value="BY"),)
    assert whys(prefill) == [(("DE",), "a package has any of its places; it targets the region")]
    both = made(only("user.geo.country", "DE"), no("user.geo.region", "BY"))
    assert not both.left_out
    assert len(both.targeting.geo_targetings) == 2


def test_filters_on_one_field() -> None:
    """Of two that keep, what both keep is targeted; of two that exclude, everything."""
    country = "user.geo.country"
    kept = made(only(country, "US", "DE"), only(country, "DE", "FR"))
    assert [targeting.value for targeting in kept.targeting.geo_targetings] == ["DE"]
    excluded = made(no(country, "US"), no(country, "DE", "US"))
    assert [targeting.value for targeting in excluded.targeting.geo_targetings] == ["US", "DE"]
    none = made(only(country, "US"), only(country, "DE"))
    assert whys(none) == [(("DE",), "it has no value in common with another filter on the field")]


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (only("ssp", "x"), "no target stands for this key field"),
        (only("site_domain", "news", match="contains"), "a package has whole values, not parts or other"),
        (
            only("user.geo.country", "us", case_insensitive=1),
            "a package has whole values, not parts or other",
        ),
        (only("user.geo.country", "US", search_mappings=1), "a package has whole values, not parts or other"),
        (only("user.geo.country", ""), "a package has no such target"),
        (only("requested_sizes", "fluid"), "a package has no such target"),
        (only("media_type", "banner", "video"), "no target stands for this key field"),
    ],
)
def test_what_is_left_out(one: Filter, why: str) -> None:
    """What a targeting can't say is left out with the reason, and nothing is made of it."""
    prefill = made(one)
    assert prefill.is_empty
    assert [said.why.startswith(why) for said in prefill.left_out] == [True]
