"""NDJSON: one object per line, nested ones flattened, each value as its own kind."""

import json
from pathlib import Path

import pytest
from ingesting import Place, cells, definition, reader, refused

from lib.wire.errors import ImportRefused


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder for files."""
    return Place(tmp_path)


def lines(*rows: object) -> str:
    """Objects as NDJSON."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


@pytest.mark.parametrize("name", ["a.ndjson", "a.jsonl.gz", "a.json"])
def test_values_keep_their_kind(place: Place, name: str) -> None:
    """Text, numbers, booleans and nulls; a key that a row lacks is missing there."""
    path = place.file(name, lines({"a": "Łódź", "b": 1, "c": True}, {"b": None, "d": 0.5}))
    assert reader(path).description == "NDJSON, UTF-8"
    assert cells(path) == {"a": ["Łódź", None], "b": [1, None], "c": [True, None], "d": [None, 0.5]}


def test_nested_objects_are_flattened_with_dots(place: Place) -> None:
    """`{"user": {"geo": {"country": …}}}` is the column user.geo.country."""
    path = place.file(
        "a.ndjson", lines({"user": {"geo": {"country": "DE"}, "id": 7}, "user.x": 1}, {"user": None})
    )
    assert cells(path) == {
        "user.geo.country": ["DE", None],
        "user.id": [7, None],
        "user.x": [1, None],
        "user": [None, None],
    }


def test_values_of_several_kinds_become_text(place: Place) -> None:
    """A column of numbers and texts is text; of single values and lists, lists; nothing gets lost."""
    path = place.file(
        "a.ndjson",
        lines(
            {"a": 1, "b": "x"},
            {"a": "one", "b": ["y", 2, None]},
            {"a": 2.0, "b": None},
            {"a": False, "b": []},
        ),
    )
    assert cells(path) == {"a": ["1", "one", "2", "false"], "b": [["x"], ["y", "2", None], None, []]}


def test_numbers_beyond_64_bits_are_kept_as_text(place: Place) -> None:
    """An identifier that no integer column holds does not stop the import."""
    assert cells(place.file("a.ndjson", f'{{"id": {2**64 - 1}}}\n{{"id": 1}}\n')) == {
        "id": [str(2**64 - 1), "1"]
    }


def test_lines_that_are_no_object_are_refused(place: Place) -> None:
    """Each with its line and reason; empty lines are counted and passed over."""
    good = lines({"a": 1})
    text = (good + "\n[1]\nnot json\n" + good + '{"a": 1').encode() + b'\n{"a": "\xff"}\n' + good.encode()
    path = place.file("a.ndjson", text)
    assert [(reject.line, reject.reason, reject.text) for reject in refused(path, encoding="utf-8")] == [
        (3, "not a JSON object", "[1]"),
        (4, "not JSON", "not json"),
        (6, "not JSON", '{"a": 1'),
        (7, "bytes that are not valid in UTF-8; name another --encoding", '{"a": "\ufffd"}'),
    ]
    assert cells(path, encoding="utf-8") == {"a": [1, 1, 1]}


def test_nesting_without_end_is_refused(place: Place) -> None:
    """A hostile line costs itself alone."""
    path = place.file("a.ndjson", '{"a":' * 200 + "1" + "}" * 200 + '\n{"a": 1}\n')
    assert [reject.reason for reject in refused(path)] == ["objects nested too deeply"]


def test_utf_16_is_read(place: Place) -> None:
    """NDJSON of another encoding is recognized as a CSV is."""
    assert cells(place.file("a.ndjson", lines({"a": "ä"}, {"a": "ö"}), "utf-16")) == {"a": ["ä", "ö"]}


def test_a_column_that_never_comes_is_missed_at_the_end(place: Place) -> None:
    """A misspelled column of a new slicer is refused; a slicer that has it already may leave it out."""
    path = place.file("a.ndjson", lines({"time": "2026-01-01", "siet": "a", "imps": 1}))
    with pytest.raises(ImportRefused, match="Unknown column 'site'; did you mean 'siet'"):
        place.take(path, definition=definition())
    good = place.file("b.ndjson", lines({"time": "2026-01-01", "site": "a", "imps": 1}))
    place.take(good, definition=definition())
    assert place.take(path, definition=definition(), mode="append").row_count == 2


def test_more_rows_than_a_batch_keep_their_lines(place: Place) -> None:
    """Batches follow each other without a gap; columns that come late are there."""
    rows = [{"n": n} | ({"late": "x"} if n > 30_000 else {}) for n in range(45_000)]
    path = place.file("a.ndjson", lines(*rows))
    batches = list(reader(path).rows(["n", "late"], lambda reject: None))
    assert [int(line) for raw in batches for line in raw.lines] == list(range(1, 45_001))
    assert batches[1].text(5) == lines(rows[20_005]).strip()
    assert sum("late" in raw.table.column_names for raw in batches) == 2
