"""Filters: in words, and what a click on a value does to them."""

import pytest

from lib.figures.query import filters
from lib.figures.query.filters import exclude, include
from lib.reporting.models import AudienceQuery
from lib.slicers.models import KeyField, Slicer
from lib.wire.filters import Filter

SLICER = Slicer(key_fields=(KeyField(name="geo.country", description="Country"), KeyField(name="site")))
NAMES = {"US": "United States", "CA": "Canada"}


def only(*values: str, name: str = "geo.country") -> Filter:
    """A filter that includes values."""
    return Filter(name=name, value=values, match="equals")


def none_of(*values: str, name: str = "geo.country") -> Filter:
    """A filter that excludes values."""
    return Filter(name=name, value=values, match="not equals")


def asked(*filters: Filter) -> AudienceQuery:
    """A question with these filters."""
    return AudienceQuery(
        project_name="demo", slicer_name="delivery", start_date="-7d", end_date="yesterday", filters=filters
    )


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (only("US"), "Country is United States"),
        (only("US", "CA"), "Country is United States, Canada"),
        (only("US", "CA", "FR", "DE"), "Country is United States, Canada and 2 more"),
        (none_of(""), "Country is not (not set)"),
        (Filter(name="site", value=("news",), match="begins with"), "site begins with news"),
        (Filter(name="site", value=("a", "b"), match="not contains"), "site doesn't contain a, b"),
    ],
)
def test_filters_in_words(wanted: Filter, words: str) -> None:
    """A filter reads as a short sentence, with descriptions for codes and a word for what is not set."""
    assert filters.sentence(wanted, SLICER, NAMES) == words


@pytest.mark.parametrize(
    ("code", "description", "words"),
    [
        ("US", "United States", "United States · US"),
        ("FR", None, "FR"),
        ("FR", "FR", "FR"),
        ("", None, "(not set)"),
        ("", "Nobody", "Nobody"),
    ],
)
def test_values_are_found_by_both(code: str, description: str | None, words: str) -> None:
    """A value is offered by description and code together."""
    assert filters.both(code, description) == words


def test_keeping_a_value() -> None:
    """A value that is kept stands alone for its field; other fields and matches stay as they are."""
    contains = Filter(name="geo.country", value=("U",), match="contains")
    query = asked(only("US", "CA"), contains, only("1", name="site"))
    assert include(query, "geo.country", "CA").filters == (contains, only("1", name="site"), only("CA"))


def test_keeping_what_was_excluded() -> None:
    """A value that is kept is no longer excluded; the other excluded ones stay excluded."""
    assert include(asked(none_of("US", "CA")), "geo.country", "US").filters == (none_of("CA"), only("US"))
    assert include(asked(none_of("US")), "geo.country", "US").filters == (only("US"),)


def test_excluding_a_value() -> None:
    """Excluded values of a field gather in one filter, each once, beside what the field includes."""
    query = exclude(asked(only("FR", "US")), "geo.country", "CA")
    assert query.filters == (only("FR", "US"), none_of("CA"))
    query = exclude(exclude(query, "geo.country", "DE"), "geo.country", "CA")
    assert query.filters == (only("FR", "US"), none_of("CA", "DE"))


def test_excluding_what_was_kept() -> None:
    """A value that is excluded is no longer included; an include that has no other value goes."""
    assert exclude(asked(only("US", "CA")), "geo.country", "US").filters == (only("CA"), none_of("US"))
    assert exclude(asked(only("US")), "geo.country", "US").filters == (none_of("US"),)
