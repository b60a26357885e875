"""The matches of filters: one entry each, and nothing that is none."""

from typing import get_args

import numpy as np
import pyarrow as pa
import pytest

from lib.engines.resident import query
from lib.engines.resident.substrings import matching_any
from lib.wire import filters
from lib.wire.deadline import Deadline
from lib.wire.errors import UnknownName
from lib.wire.filters import Filter

TEXTS = ["", "a", "Ab", "abc", "cab", "ä"]


def test_every_match_has_an_entry_with_a_code_of_its_own() -> None:
    """The registry has the API's matches and no others, and no two share a code or words."""
    assert tuple(filters.RULES) == filters.MATCHES == get_args(filters.Match)
    assert len(filters.BY_CODE) == len({rule.words for rule in filters.RULES.values()}) == len(filters.RULES)


@pytest.mark.parametrize("match", ["contians", "not", "regex", "Equals"])
def test_an_unknown_match_is_an_error(match: str) -> None:
    """A match that nobody knows is refused by name, nowhere read as another one."""
    with pytest.raises(UnknownName, match="Unknown match"):
        filters.rule(match)
    with pytest.raises(UnknownName, match="Unknown match"):
        matching_any(pa.array(["a"], pa.string()), ["a"], match, Deadline())


@pytest.mark.parametrize("match", filters.MATCHES)
def test_an_engine_finds_what_the_entry_says(match: filters.Match) -> None:
    """For each match, the resident engine marks the texts for which the entry's test holds."""
    wanted = Filter(name="key", value=("ab", "ä"), match=match)
    mask = query.matching(pa.array([*TEXTS, None], pa.string()), wanted, {}, Deadline())
    holds = filters.rule(match).holds
    expected = [any(holds(text, value) for value in wanted.value) for text in TEXTS]
    assert mask.tolist() == [*expected, False]


def test_one_entry_is_a_match_for_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that no engine has a quicker way for is done by the entry's predicate."""
    shorter = filters.Rule("shorter", lambda text, value: len(text) < len(value), "is shorter than", "short")
    monkeypatch.setitem(filters.RULES, "shorter", shorter)
    wanted = Filter.model_construct(name="key", value=("abc",), match="shorter", case_insensitive=0)
    mask = query.matching(pa.array(TEXTS, pa.string()), wanted, {}, Deadline())
    assert np.flatnonzero(mask).tolist() == [0, 1, 2, 5]
