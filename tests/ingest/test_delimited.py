"""CSV and its kin: whatever encoding, delimiter and newline a file has, its cells come out."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingesting import Place, cells, reader, refused

from lib.ingest.inference import Hints
from lib.wire.errors import ImportRefused


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder for files."""
    return Place(tmp_path)


@pytest.mark.parametrize(
    ("name", "mark"), [("a.csv", ","), ("a.csv.gz", ";"), ("a.txt", "|"), ("a.tsv", "\t"), ("a.csv", "\t")]
)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_the_delimiter_is_recognized(place: Place, name: str, mark: str, newline: str) -> None:
    """Comma, tab, semicolon and pipe are told apart, though other ones stand in cells."""
    others = "".join(other for other in ",;|" if other != mark)
    text = newline.join([f"time{mark}note", f"1{mark}a{others}b", f'2{mark}"x{mark}y"', ""])
    assert cells(place.file(name, text)) == {"time": ["1", "2"], "note": [f"a{others}b", f"x{mark}y"]}


def test_the_delimiter_can_be_named(place: Place) -> None:
    """A delimiter that is given is used, whatever the text looks like."""
    path = place.file("a.csv", "a,b;c\n1,2;3\n")
    assert cells(path, delimiter=";") == {"a,b": ["1,2"], "c": ["3"]}
    assert [Hints.delimiter(name) for name in ("tab", "\\t", "\t", "semicolon", "^")] == [
        "\t",
        "\t",
        "\t",
        ";",
        "^",
    ]
    for wrong in ("", "ab", '"', "\n", "ä"):
        with pytest.raises(ValueError, match="one character"):
            Hints.delimiter(wrong)


@pytest.mark.parametrize(
    ("encoding", "shown", "words"),
    [
        ("utf-8", "UTF-8", "Zürich, São Paulo, 東京"),
        ("utf-8-sig", "UTF-8", "Zürich, São Paulo, 東京"),
        ("utf-16", "UTF-16", "Zürich, 東京"),
        ("utf-16-le", "UTF-16-LE", "Zürich"),
        ("utf-16-be", "UTF-16-BE", "Zürich"),
        ("cp1252", "Windows-1252", "Zürich, São Paulo, Besançon, Malmö"),
        ("cp1250", "Windows-1250", "Łódź, Gdańsk, Świdnica, Kraków"),
        ("cp1251", "Windows-1251", "Москва, Санкт-Петербург, Казань"),
        ("shift_jis", "SHIFT_JIS", "東京, 大阪, 広告, サイト"),
        ("gb18030", "GB18030", "北京, 上海, 广告, 网站"),
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_the_encoding_is_recognized(place: Place, encoding: str, shown: str, words: str, name: str) -> None:
    """Each encoding is found by itself, told, and read as what was written."""
    cities = words.split(", ")
    path = place.file(name, "id,city\n" + "".join(f"{n},{city}\n" for n, city in enumerate(cities)), encoding)
    assert reader(path).description.startswith(f"{shown}, comma-separated")
    assert cells(path)["city"] == cities


def test_the_encoding_can_be_named(place: Place) -> None:
    """An encoding that is given is used; one that nobody knows is refused."""
    path = place.file("a.csv", "id,city\n1,Ünal\n", "cp1254")
    assert cells(path, encoding="windows-1254")["city"] == ["Ünal"]
    with pytest.raises(ImportRefused, match="no encoding 'nonsense'"):
        reader(path, encoding="nonsense")
    with pytest.raises(ImportRefused, match="no encoding 'base64'"):
        reader(path, encoding="base64")


def test_letters_far_behind_the_beginning_decide(place: Place) -> None:
    """A file that is plain ASCII for long is read in the encoding of the letters that come later."""
    path = place.file("a.csv", "id,city\n" + "1,Rome\n" * 700_000 + "2,Zürich\n", "cp1252")
    assert cells(path)["city"][-1] == "Zürich"


def test_a_few_broken_letters_do_not_change_the_encoding(place: Place) -> None:
    """In text that is UTF-8 but for one row, that row is refused, with its line, and the rest is read."""
    text = "id,city\n1,Zürich\n2,Köln\n3,Malmö\n".encode() + b"4,Z\xfcrich\n" + "5,Łódź\n".encode()
    path = place.file("a.csv", text)
    (reject,) = refused(path)
    assert (reject.line, reject.text) == (5, "4,Z\ufffdrich")
    assert "UTF-8" in reject.reason and "--encoding" in reject.reason
    assert cells(path)["city"] == ["Zürich", "Köln", "Malmö", "Łódź"]


def test_bytes_that_an_encoding_lacks_break_their_row(place: Place) -> None:
    """The same holds for encodings other than UTF-8."""
    path = place.file("a.csv", b"id,city\n1,Z\xfcrich\n2,\x81\n")
    assert [reject.line for reject in refused(path, encoding="cp1252")] == [3]
    assert cells(path, encoding="cp1252")["city"] == ["Zürich"]


def test_rows_of_another_width_are_refused_with_their_physical_line(place: Place) -> None:
    """Lines are counted as an editor counts them: newlines in cells and empty lines count too."""
    text = 'id,note\n1,"two\nlines"\n\n2\n3,x\n4,a,b\n5,"c\n\nd",\n6,y\n'
    path = place.file("a.csv", text)
    assert [(reject.line, reject.value, reject.text) for reject in refused(path)] == [
        (5, "1 instead of 2", "2"),
        (7, "3 instead of 2", "4,a,b"),
        (8, "3 instead of 2", '5,"c\n\nd",'),
    ]
    assert cells(path) == {"id": ["1", "3", "6"], "note": ["two\nlines", "x", "y"]}


def test_an_open_quote_is_refused(place: Place) -> None:
    """A quote that is never closed costs its own row, not the rest of the file."""
    path = place.file("a.csv", 'id,note\n1,a\n2,"b\n3,c\n')
    (reject,) = refused(path)
    assert (reject.line, reject.text) == (3, '2,"b')
    assert cells(path)["id"] == ["1", "3"]


def test_columns_are_named_by_the_header(place: Place) -> None:
    """Blanks around names go; a column without a name is called by its place; a second one gets a number."""
    assert list(cells(place.file("a.csv", " id ,,\n1,2,3\n"))) == ["id", "column_2", "column_3"]
    assert cells(place.file("b.csv", "id,id,id_2\n1,2,3\n")) == {"id": ["1"], "id_3": ["2"], "id_2": ["3"]}


def test_only_the_wanted_columns_are_read(place: Place) -> None:
    """What a definition does not name is not read, and may even be there twice."""
    source = reader(place.file("a.csv", "id,x,x\n1,2,3\n"))
    (raw,) = source.rows(["id"], lambda reject: None)
    assert raw.table.to_pydict() == {"id": ["1"]}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b" \n\n", "is empty"),
        ("a.csv.gz", b"", "is empty"),
        ("a.zip", b"PK\x03\x04....", "an archive has to be unpacked first"),
        ("a.parquet", b"id,x\n", "is not a Parquet file"),
        ("a.csv", b"\x1f\x8b\x08\x00\x00\x00\x00\x00", "damaged or cut-off gzip"),
    ],
)
def test_files_of_other_kinds_are_refused_in_words(
    place: Place, name: str, content: bytes, words: str
) -> None:
    """What can't be imported is told with what it seems to be."""
    with pytest.raises(ImportRefused, match=words):
        reader(place.file(name, content))


def test_a_gzip_file_that_was_cut_off_is_refused(place: Place) -> None:
    """A download that broke off is noticed, wherever it did."""
    path = place.file("a.csv.gz", "id,x\n" + "".join(f"{n},{n * n}\n" for n in range(50_000)))
    path.write_bytes(path.read_bytes()[:-5000])
    with pytest.raises(ImportRefused, match="damaged or cut-off"):
        cells(path)


def test_the_content_tells_the_format_where_the_name_does_not(place: Place) -> None:
    """Gzip, JSON lines and delimited text are known by how they begin."""
    assert cells(place.file("data", '{"a": 1}\n')) == {"a": [1]}
    assert cells(place.file("data", "a,b\n1,2\n")) == {"a": ["1"], "b": ["2"]}
    hidden = place.file("data.gz", "a,b\n1,2\n").rename(place.folder / "renamed.csv")
    assert cells(hidden) == {"a": ["1"], "b": ["2"]}


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), max_size=8)


@given(rows=st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=20), mark=st.sampled_from(",;\t|"))
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], mark: str
) -> None:
    """Any cells at all come back as they were written; an empty one is missing."""
    text = io.StringIO()
    csv.writer(text, delimiter=mark, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(
        [("a", "b"), *rows]
    )
    path = tmp_path_factory.mktemp("any") / "a.csv"
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    by_column = cells(path, encoding="utf-8", delimiter=mark)
    assert list(zip(by_column["a"], by_column["b"], strict=True)) == [(a or None, b or None) for a, b in rows]
