"""Answers written as JSON: by columns, and yet byte for byte what orjson writes of the same rows."""

from typing import Any

import numpy as np
import orjson
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.reporting.answers import Audience, Precision, Total, as_arrow, as_json
from lib.reporting.answers.as_json import CHUNK_CELLS, PIECE_BYTES

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NUMBERS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(-(2**60), 2**60).map(float),
    st.sampled_from([0.0, -0.0, 5e-324, 1e16, 1e22, 2.0**53, -(2.0**53) + 1]),
)
TOTAL = Total({"imps": 3.0, "rate": None}, 2, ("2026-11-01",))


@st.composite
def audiences(draw: st.DrawFn) -> Audience:
    """Answers of any shape, by every kind of number and text."""
    rows = draw(st.integers(0, 6))
    fields = draw(st.lists(TEXTS, max_size=3, unique=True))
    split = draw(st.lists(TEXTS, max_size=2, unique=True))
    has_extras, is_described, is_sampled = (draw(st.booleans()) for _ in range(3))
    additive = fields[: draw(st.integers(0, len(fields)))]

    def some(names: list[str], cells: Any, dtype: str) -> pd.DataFrame:
        columns = {
            name: pd.Series(draw(st.lists(cells, min_size=rows, max_size=rows)), dtype=dtype)
            for name in names
        }
        return pd.DataFrame(columns, index=pd.RangeIndex(rows))

    extras = {extra: some(fields, NUMBERS, "float64") for extra in ("low", "high", "n_eff")}
    return Audience(
        keys=some(split, TEXTS, "str"),
        values=some(fields, NUMBERS, "float64"),
        percents=some(additive, NUMBERS, "float64"),
        total=TOTAL,
        descriptions=some(split, TEXTS, "str") if is_described else None,
        confidence_range=some(["c"], st.just("1.25"), "str")["c"] if is_sampled else None,
        precision=Precision(2, 5) if has_extras else None,
        **(extras if has_extras else {}),
    )


def by_rows(audience: Audience) -> bytes:
    """The rows as dictionaries, written by orjson; whole columns of whole numbers are integers."""
    frames = {"value": audience.values, "percent": audience.percents}
    frames |= {"low": audience.low, "high": audience.high, "n_eff": audience.n_eff}
    cells = {key: {} if frame is None else columns(frame) for key, frame in frames.items()}
    rows = []
    for place in range(len(audience)):
        data = [
            {"name": name} | {key: column[name][place] for key, column in cells.items() if name in column}
            for name in audience.values
        ]
        row: dict[str, Any] = {"data": data, "name": list(audience.names.iloc[place])}
        if audience.descriptions is not None:
            row["description"] = list(audience.descriptions.iloc[place])
        if audience.confidence_range is not None:
            row["confidence_range"] = audience.confidence_range.iloc[place]
        rows.append(row)
    return orjson.dumps(rows)


def columns(frame: pd.DataFrame) -> dict[str, list[float | int]]:
    """Each column as Python numbers."""
    found = {name: frame[name].tolist() for name in frame}
    return {name: list(map(int, column)) if whole(column) else column for name, column in found.items()}


def whole(column: list[float]) -> bool:
    """Whether these are all integers that a float holds exactly."""
    return all(number.is_integer() and abs(number) < 2**53 for number in column)


@given(audiences())
def test_columns_write_what_rows_write(audience: Audience) -> None:
    """Any answer is the same bytes as if its rows were dictionaries that orjson writes, cell by cell or by
    columns."""
    for most in (as_json.FEW_CELLS, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(as_json, "FEW_CELLS", most)
            body = b"".join(as_json.encode(audience))
        assert body.partition(b',"rows":')[2] == by_rows(audience) + b"}"


def test_an_answer_in_pieces_is_whole() -> None:
    """An answer of more rows than a piece has is one JSON value with every row in its order."""
    count = CHUNK_CELLS  # of three cells each
    values = np.arange(count) / 8
    audience = Audience(
        keys=pd.DataFrame({"k": [f'"{place},' for place in range(count)]}, dtype="str"),
        values=pd.DataFrame({"imps": values}),
        percents=pd.DataFrame({"imps": values}),
        total=TOTAL,
    )
    pieces = list(as_json.encode(audience))
    rows = orjson.loads(b"".join(pieces))["rows"]
    assert [row["data"][0]["value"] for row in rows] == values.tolist()
    assert [row["name"] for row in rows] == [[f'"{place},'] for place in range(count)]
    assert pieces[0].endswith(b'"rows":[')


def test_a_wide_answer_comes_in_small_pieces() -> None:
    """However wide its rows are, no piece of an answer is much larger than 256 KB."""
    values = pd.DataFrame(
        np.random.default_rng(2).random((3000, 80)), columns=[f"field {n}" for n in range(80)]
    )
    names = pd.DataFrame({"k": [str(place) for place in range(3000)]}, dtype="str")
    audience = Audience(keys=names, values=values, percents=values, total=TOTAL)
    pieces = list(as_json.encode(audience))
    assert max(map(len, pieces)) < 1.1 * PIECE_BYTES
    assert sum(map(len, pieces)) > 50 * PIECE_BYTES
    assert orjson.loads(b"".join(pieces))["rows"][2999]["name"] == ["2999"]


@pytest.mark.parametrize("count", [3, 2000, 20_000])
def test_codes_are_written_as_their_texts(count: int) -> None:
    """Keys with the codes of a dictionary are the same JSON and the same Arrow answer as the texts."""
    draw = np.random.default_rng(4)
    values = pd.DataFrame({"imps": draw.integers(0, 99, count).astype(float)})
    dictionaries = {"site": ["", 'a"b', "tab\t", "ü"], "os": ["iOS", "never", "Windows"]}
    keys = {
        name: pa.DictionaryArray.from_arrays(draw.integers(0, len(texts), count).astype(np.int32), texts)
        for name, texts in dictionaries.items()
    }
    coded = Audience(keys=keys, values=values, percents=values, total=TOTAL)
    plain = Audience(keys=coded.names, values=values, percents=values, total=TOTAL)
    assert [*coded.names["site"]] == keys["site"].to_pylist()
    assert b"".join(as_json.encode(coded)) == b"".join(as_json.encode(plain))
    answer = as_arrow.decode(as_arrow.encode(coded))
    pd.testing.assert_frame_equal(answer.names, as_arrow.decode(as_arrow.encode(plain)).names)
