"""Mappings: read from CSV files as people have them, kept as they are."""

from pathlib import Path

import pytest

from lib.slicers.warehouse.slicer import read_mapping, store_mapping, stored_mapping
from lib.wire.errors import ImportRefused


def written(folder: Path, content: str, encoding: str = "utf-8") -> Path:
    """A mapping file."""
    path = folder / "m.csv"
    path.write_text(content, encoding=encoding, newline="")
    return path


@pytest.mark.parametrize("header", ["", "code,name\n", "Code,Name\r\n", "id,description\n", "key, label\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_two_columns_are_a_mapping(tmp_path: Path, header: str, encoding: str) -> None:
    """With or without a header; quoted names may hold commas."""
    path = written(tmp_path, header + 'AX,Åland\n"511","Washington, DC"\n\nAX,Åland\n', encoding)
    assert read_mapping(path) == {"AX": "Åland", "511": "Washington, DC"}


def test_codes_that_look_like_a_header_further_down_are_codes(tmp_path: Path) -> None:
    """Only a first line can be a header, and only one of words that say so."""
    assert read_mapping(written(tmp_path, "a,b\nid,name\n")) == {"a": "b", "id": "name"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("code,name\na,b,c\n", "line 2: a mapping has two columns, code and name; this line has 3"),
        ("a\n", "line 1: a mapping has two columns"),
        ("a,b\na,c\n", "line 2: code 'a' is given twice, as 'b' and 'c'"),
    ],
)
def test_other_lines_are_reported(tmp_path: Path, content: str, words: str) -> None:
    """A refusal names file and line."""
    with pytest.raises(ImportRefused, match=words):
        read_mapping(written(tmp_path, content))


def test_another_encoding_is_reported(tmp_path: Path) -> None:
    """A mapping in another encoding is refused rather than misread."""
    with pytest.raises(ImportRefused, match="not UTF-8"):
        read_mapping(written(tmp_path, "a,Å\n", "cp1252"))
    with pytest.raises(ImportRefused, match="no mapping file"):
        read_mapping(tmp_path / "none.csv")


def test_what_is_stored_comes_back(tmp_path: Path) -> None:
    """The file's name depends on the content alone: the same mapping is stored once."""
    mapping = {"b": "Ä", "a": "x"}
    path = store_mapping(tmp_path, mapping)
    assert stored_mapping(tmp_path / path) == mapping
    assert store_mapping(tmp_path, dict(reversed(mapping.items()))) == path
    assert store_mapping(tmp_path, mapping | {"c": ""}) != path
