"""Texts that begin with, end with or contain any of many values are found in one pass."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.engines.resident import substrings
from lib.engines.resident.query import matching
from lib.engines.resident.substrings import matching_any
from lib.wire.deadline import Deadline
from lib.wire.errors import DeadlineExceeded
from lib.wire.filters import Filter

BY_PYTHON: dict[str, Callable[[str, str], bool]] = {
    "begins with": str.startswith,
    "ends with": str.endswith,
    "contains": str.__contains__,
}
WORDS = st.text(alphabet="ab é\U0001f600", max_size=6)
TEXTS = st.lists(st.none() | WORDS, max_size=30)
VALUES = st.lists(WORDS, min_size=1, max_size=30)


def by_python(texts: list[str | None], values: list[str], match: str) -> list[bool]:
    """The same, text by text and value by value."""
    return [text is not None and any(BY_PYTHON[match](text, value) for value in values) for text in texts]


@given(TEXTS, VALUES, st.sampled_from(list(BY_PYTHON)))
def test_what_matches(texts: list[str | None], values: list[str], match: str) -> None:
    """What matches is what Python's own comparison of each text with each value finds."""
    mask = matching_any(pa.array(texts, pa.string()), values, match, Deadline())
    assert mask.tolist() == by_python(texts, values, match)


@given(TEXTS, VALUES)
def test_in_pieces_of_few_bytes(texts: list[str | None], values: list[str]) -> None:
    """So it is when the texts are read in many pieces, and from the middle of an array."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(substrings, "CHUNK_BYTES", 3)
        sliced = pa.array(["a", *texts], pa.string()).slice(1)
        mask = matching_any(sliced, values, "contains", Deadline())
    assert mask.tolist() == by_python(texts, values, "contains")


def test_values_whose_hashes_are_the_same() -> None:
    """Different values of one hash (Thue and Morse's sequence has such) are told apart."""
    thue = "".join("ab"[bin(n).count("1") % 2] for n in range(2048))
    other = thue.translate(str.maketrans("ab", "ba"))
    values = [thue, other]
    assert (
        len({int(needle.hashes[0]) for needle in substrings._Needles.of([v.encode() for v in values])}) == 1
    )
    texts = pa.array([f"x{thue}", f"{other}y", "ab" * 1500], pa.string())
    assert matching_any(texts, values, "contains", Deadline()).tolist() == [True, True, False]


@pytest.mark.parametrize("match", ["contains", "not contains", "begins with", "ends with"])
def test_a_filter_of_many_values(match: str) -> None:
    """A filter of thousands of values, whatever their case, finds what each value alone would find."""
    draw = np.random.default_rng(5)
    texts = ["".join(draw.choice(list("abcABC"), size)) for size in draw.integers(3, 12, 300)]
    values = ["".join(draw.choice(list("abcABC"), size)) for size in draw.integers(5, 9, 2000)]
    wanted = Filter(name="x", value=tuple(values), match=match, case_insensitive=1)
    mask = matching(pa.array(texts, pa.string()), wanted, {}, Deadline())
    lower = [value.lower() for value in values]
    assert mask.tolist() == by_python([t.lower() for t in texts], lower, match.removeprefix("not "))
    assert 0 < mask.sum() < len(texts)


@pytest.mark.parametrize("match", list(BY_PYTHON))
def test_the_deadline_holds(match: str) -> None:
    """Values of many lengths are stopped by the deadline on the way."""
    with pytest.raises(DeadlineExceeded):
        matching_any(pa.array(["a"]), ["a", "bb"], match, Deadline(-1))
