"""`tranche restore` of archives that are damaged or hostile, and over homes that hold something."""

import hashlib
import io
import json
import shutil
import sqlite3
import struct
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from conftest import copied
from peopled import people_in

from lib.serving import connect
from lib.serving.backup import back_up, restore
from lib.serving.backup.archive import MANIFEST, Damage
from lib.settings import Settings
from lib.wire.errors import BadRequest, Misconfigured

Members = dict[str, bytes]


@pytest.fixture(scope="module")
def archive(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of the small demo, with a database."""
    folder = tmp_path_factory.mktemp("archive")
    settings = Settings(home=copied(home, folder / "home"), demo=True)
    connect.installation(settings).access.issue("viewer", "reporting", "kept", None)
    back_up(settings, folder / "backup.tar")
    return folder / "backup.tar"


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where to restore; after a refusal nothing is there, and nothing beside it."""
    monkeypatch.delenv("TRANCHE_HOME", raising=False)
    place = tmp_path / "place"
    place.mkdir()
    yield place / "home"
    assert not list(place.iterdir())


def members(archive: Path) -> Members:
    """The content of each member."""
    with tarfile.open(archive) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}


def test_an_old_address_of_the_database_is_told(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the restored tranche.toml names another database than this restore uses, its address comes back
    without the password; where it names the same one, nothing does."""
    home = tmp_path / "home"
    monkeypatch.setenv("TRANCHE_DATABASE_URL", f"sqlite:///{home / 'tranche.db'}")
    for url, other in (
        ("postgresql+psycopg://desk:hush@old/tranche", "postgresql+psycopg://desk:***@old/tranche"),
        (f"sqlite:///{home / 'tranche.db'}", None),
    ):
        contents = members(archive)
        contents["home/tranche.toml"] += f'database_url = "{url}"\n'.encode()
        summary = restore(packed(tmp_path / "changed.tar", stated(contents)), home, replace=True)
        assert summary.other_database == other


def packed(path: Path, contents: Members, *more: tarfile.TarInfo) -> Path:
    """An archive of these members, those without content after the others."""
    with tarfile.open(path, "w") as tar:
        for name, content in contents.items():
            about = tarfile.TarInfo(name)
            about.size = len(content)
            tar.addfile(about, io.BytesIO(content))
        for about in more:
            tar.addfile(about)
    return path


def stated(contents: Members) -> Members:
    """The same, with a manifest that agrees with them, as somebody hostile would write it."""
    manifest = json.loads(contents[MANIFEST])
    files = {name: content for name, content in contents.items() if name != MANIFEST}
    manifest["members"] = {
        name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in files.items()
    }
    return files | {MANIFEST: json.dumps(manifest).encode()}


def changed(contents: Members) -> Members:
    """One byte of one file is another one."""
    name = next(member_name for member_name in contents if member_name.endswith(".parquet"))
    return contents | {name: contents[name][:-1] + bytes([contents[name][-1] ^ 1])}


DAMAGES: dict[str, tuple[Callable[[Members], Members], str]] = {
    "a byte": (changed, r"parquet' is damaged: its SHA-256 digest"),
    "a file is missing": (
        lambda contents: {name: contents[name] for name in contents if name != "home/tranche.toml"},
        "'home/tranche.toml' is missing",
    ),
    "a file too many": (
        lambda contents: {"home/more": b"", **contents},
        "'home/more' is not in manifest.json",
    ),
    "no manifest": (
        lambda contents: {name: contents[name] for name in contents if name != MANIFEST},
        "is not whole: its last part, manifest.json, is missing",
    ),
    "a manifest that is none": (
        lambda contents: contents | {MANIFEST: b"{}"},
        r"manifest.json can't be read",
    ),
    "no database": (
        lambda contents: stated({name: contents[name] for name in contents if name != "home/tranche.db"}),
        "has no database tranche.db",
    ),
    "another database": (
        lambda contents: stated(contents | {"home/tranche.db": b"none"}),
        "database can't be read: file is not a database",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_archive_is_refused(damage: str, archive: Path, target: Path, tmp_path: Path) -> None:
    """What is wrong is said, and nothing is written."""
    change, said = DAMAGES[damage]
    with pytest.raises(Damage, match=said):
        restore(packed(tmp_path / "damaged.tar", change(members(archive))), target)


@pytest.mark.parametrize("share", [0, 0.001, 0.2, 0.5, 0.9, 0.97])
def test_an_archive_that_ends_early_is_refused(
    share: float, archive: Path, target: Path, tmp_path: Path
) -> None:
    """Wherever it was cut off."""
    content = archive.read_bytes()
    (tmp_path / "short.tar").write_bytes(content[: int(share * len(content))])
    with pytest.raises(Damage):
        restore(tmp_path / "short.tar", target)


HOSTILE = ("/etc/cron.d/x", "../x", "home/../../x", "home/..", "home//x", "home/./x", "home", "x", "home\\x")
HOSTILE += ("home/a\nb", "home/a\x1b[2Jb", "other/x", "home/../database/x")


@pytest.mark.parametrize("name", HOSTILE, ids=repr)
def test_a_member_outside_of_the_home_is_refused(
    name: str, archive: Path, target: Path, tmp_path: Path
) -> None:
    """Whatever its manifest says: absolute paths, `..`, and all but plain names below the home."""
    contents = {name: b"theirs", **members(archive)}
    with pytest.raises(Damage, match="outside of the data directory: refused") as caught:
        restore(packed(tmp_path / "hostile.tar", stated(contents)), target)
    assert caught.value.reason.isprintable()


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE]
)
def test_only_plain_files_are_taken(kind: bytes, archive: Path, target: Path, tmp_path: Path) -> None:
    """Links, devices, pipes and folders are refused, also where they point into the home."""
    about = tarfile.TarInfo("home/link")
    about.type, about.linkname = kind, "home/tranche.toml"
    contents = {name: content for name, content in members(archive).items() if name != MANIFEST}
    with pytest.raises(Damage, match="'home/link' is no plain file"):
        restore(packed(tmp_path / "hostile.tar", contents, about), target)


def test_a_member_twice_is_refused(archive: Path, target: Path, tmp_path: Path) -> None:
    """The second one would be written where the first was verified."""
    contents = members(archive)
    del contents[MANIFEST]
    again = tarfile.TarInfo("home/tranche.toml")
    with pytest.raises(Damage, match=r"'home/tranche\.toml' is there twice"):
        restore(packed(tmp_path / "hostile.tar", contents, again), target)


def test_a_database_brings_no_code_along(archive: Path, target: Path, tmp_path: Path) -> None:
    """A trigger in it would run whenever the desk writes."""
    contents = members(archive)
    path = tmp_path / "tranche.db"
    path.write_bytes(contents["home/tranche.db"])
    with closing(sqlite3.connect(path)) as opened:
        opened.execute("create trigger t after insert on audit begin delete from audit; end")
        opened.commit()
    contents["home/tranche.db"] = path.read_bytes()
    with pytest.raises(Damage, match="a trigger, view or virtual table that isn't ours: 't'"):
        restore(packed(tmp_path / "hostile.tar", stated(contents)), target)


def test_a_virtual_table_is_code_too(archive: Path, target: Path, tmp_path: Path) -> None:
    """However its statement is written."""
    contents, path = members(archive), tmp_path / "tranche.db"
    path.write_bytes(contents["home/tranche.db"])
    with closing(sqlite3.connect(path)) as opened:
        opened.execute("create virtual table v using fts5(a)")
        opened.execute("pragma writable_schema = on")
        opened.execute(
            "update sqlite_master set sql = 'create/**/virtual table v using fts5(a)' where name = 'v'"
        )
        opened.commit()
    contents["home/tranche.db"] = path.read_bytes()
    with pytest.raises(Damage, match="a trigger, view or virtual table that isn't ours: 'v'"):
        restore(packed(tmp_path / "hostile.tar", stated(contents)), target)


def journal_of(content: bytes, name: str) -> bytes:
    """A rollback journal of a database (SQLite, File Format, 3) that is part of the one of this name."""
    (page_bytes,) = struct.unpack(">H", content[16:18])
    magic = bytes.fromhex("d9d505f920a163d7")
    head = magic + struct.pack(">5I", 0, 0, len(content) // page_bytes, 512, page_bytes)
    names = struct.pack(">I", (1 << 30) // page_bytes + 1) + name.encode()
    return head.ljust(512, b"\0") + names + struct.pack(">II", len(name), sum(name.encode())) + magic


@pytest.mark.parametrize("suffix", ["-journal", "-wal", "-shm", "-JOURNAL"])
def test_a_database_brings_no_journal_along(suffix: str, archive: Path, target: Path, tmp_path: Path) -> None:
    """SQLite would play it back, and remove whatever file it names."""
    contents = members(archive)
    (tmp_path / "theirs").write_text("theirs")
    contents[f"home/tranche.db{suffix}"] = journal_of(contents["home/tranche.db"], str(tmp_path / "theirs"))
    with pytest.raises(Damage, match="a journal of a database, which no backup has: refused"):
        restore(packed(tmp_path / "hostile.tar", stated(contents)), target)
    assert (tmp_path / "theirs").read_text() == "theirs"


@pytest.mark.parametrize("name", ["home/" + "a" * 300, "home/" + "é" * 200, "home/" + "a/" * 3_000 + "a"])
def test_a_name_that_no_disk_takes(name: str, archive: Path, target: Path, tmp_path: Path) -> None:
    """A member whose name is too long is refused as such."""
    with pytest.raises(Damage, match="has a name that is too long"):
        restore(packed(tmp_path / "hostile.tar", stated({name: b"", **members(archive)})), target)


def test_settings_that_name_another_database_are_refused(
    archive: Path, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A desk that would not find the restored database must not begin an empty one."""
    monkeypatch.setenv("TRANCHE_DATABASE_URL", f"sqlite:///{tmp_path}/other.db")
    with pytest.raises(Misconfigured, match="set database_url"):
        restore(archive, target)
    assert not (tmp_path / "other.db").exists()


@pytest.mark.parametrize("replace", [False, True])
def test_an_archive_that_is_not_there(own_home: Path, tmp_path: Path, replace: bool) -> None:
    """A misspelled archive is said to be missing, whatever the home holds, and nothing is replaced."""
    (own_home / "tranche.toml").write_text("# mine\n")
    with pytest.raises(FileNotFoundError, match=r"bakcup\.tar"):
        restore(tmp_path / "bakcup.tar", own_home, replace=replace)
    assert (own_home / "tranche.toml").read_text() == "# mine\n"


def test_a_home_that_holds_something_is_kept(archive: Path, own_home: Path) -> None:
    """It is replaced when that is said, as a whole, and is then beside it under another name."""
    (own_home / "tranche.toml").write_text("# mine\n")
    (own_home / "more").write_text("mine")
    with pytest.raises(BadRequest, match="is not empty: --replace"):
        restore(archive, own_home)
    with connect.one_desk(Settings(home=own_home)), pytest.raises(BadRequest, match="A desk is running"):
        restore(archive, own_home, replace=True)
    with pytest.raises(Damage):
        restore(own_home / "tranche.toml", own_home, replace=True)
    assert (own_home / "more").read_text() == "mine"
    done = restore(archive, own_home, replace=True)
    assert "demo" in (own_home / "tranche.toml").read_text()
    assert people_in(own_home).get("viewer")
    assert not (own_home / "more").exists()
    assert done.former is not None
    assert (done.former / "more").read_text() == "mine"
    assert {path.name for path in own_home.parent.iterdir()} == {"home", done.former.name}


def test_an_empty_folder_is_filled(archive: Path, tmp_path: Path) -> None:
    """A folder that was made for the home, and nothing in it, needs no `--replace`."""
    (tmp_path / "home").mkdir()
    assert restore(archive, tmp_path / "home").former is None
    assert (tmp_path / "home" / "tranche.db").exists()
    shutil.rmtree(tmp_path / "home")
