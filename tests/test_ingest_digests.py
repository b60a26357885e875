"""Digests of large files: computed while their rows are read, and refusing an import all the same."""

import hashlib
from pathlib import Path

import pytest
from ingesting import Place, definition

from lib.reporting.ingest import importing
from lib.reporting.ingest.digests import Digests
from lib.reporting.ingest.readers import reader
from lib.wire.errors import ImportRefused

DAY = "time,site,imps\n2026-01-01,a,1\n2026-01-02,b,2\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A place where no file is so small that its digest is waited for."""
    monkeypatch.setattr(importing, "SOON_READ", -1)
    return Place(tmp_path)


def test_the_digest_of_each_file_is_kept(place: Place) -> None:
    """Each source of an import has its own file's SHA-256 digest, in the order of the files."""
    paths = [place.file("a.csv", DAY), place.file("b.csv", DAY.replace(",1", ",5"))]
    (made,) = place.take(*paths, definition=definition()).imports
    wanted = [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]
    assert [source.digest for source in made.sources] == wanted


def test_a_large_file_that_is_in_already_can_t_be_appended(place: Place) -> None:
    """A file that is known is refused although its rows were being read, and nothing is changed."""
    before = place.take(place.file("a.csv", DAY), definition=definition())
    with pytest.raises(ImportRefused, match=r"imported already: 2 rows were imported from it, as a.csv"):
        place.take(place.file("other.csv", DAY), definition=definition(), mode="append")
    assert place.warehouse.open("p", "s").files == before.files


def test_a_large_file_that_is_named_twice_is_refused(place: Place) -> None:
    """Two files of the same content are refused although the first was being read; no slicer is made."""
    with pytest.raises(ImportRefused, match=r"b.csv and a.csv are the same file"):
        place.take(place.file("a.csv", DAY), place.file("b.csv", DAY), definition=definition())
    assert not place.warehouse.slicers()


def test_closing_ends_the_thread(place: Place) -> None:
    """Digests that nobody wants any more leave no thread behind, whether they were computed or not."""
    digests = Digests([reader(place.file("a.csv", DAY))])
    digests.close()
    assert not digests._thread.is_alive()
