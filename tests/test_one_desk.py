"""A home and its one desk: a second one is refused, the command line works beside it, files are closed."""

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import ROOT, desk_over
from peopled import people_in
from serving import free_port

from lib.serving import connect
from lib.settings import Settings
from lib.wire import private
from lib.wire.errors import Misconfigured

DESK = [sys.executable, "app.py"]
CLI = [sys.executable, "-c", "from lib.cli import main; main()"]


def run(
    command: list[str], home: Path, typed: str = "", cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """What a process over this home does."""
    variables = {**os.environ, "TRANCHE_HOME": str(home), **environment}
    return subprocess.run(
        command, cwd=cwd, env=variables, input=typed, capture_output=True, text=True, timeout=120, check=False
    )


def test_one_desk_per_home(own_home: Path) -> None:
    """A second desk ends with a sentence that names the first one's process; the command line works."""
    with connect.one_desk(Settings(home=own_home)):  # what a desk holds while it runs
        second = run(DESK, own_home, TRANCHE_PORT=str(free_port()))
        assert second.returncode == 1
        assert "A desk is running over" in second.stderr
        assert f"(process {os.getpid()})" in second.stderr
        assert "Traceback" not in second.stderr
        added = run(
            [*CLI, "user", "add", "bo", "--role", "viewer", "--password-stdin"], own_home, "long enough\n"
        )
        assert added.returncode == 0
    assert people_in(own_home).get("bo") is not None


def test_the_lock_is_the_homes(tmp_path: Path) -> None:
    """Two homes have a desk each; the one that ended left its home free."""
    first, other = Settings(home=tmp_path / "one"), Settings(home=tmp_path / "other")
    second = connect.one_desk(first)
    with connect.one_desk(first), connect.one_desk(other), pytest.raises(Misconfigured, match="TRANCHE_HOME"):
        second.__enter__()
    with connect.one_desk(first):
        pass


def test_desks_over_postgresql_share_a_home(tmp_path: Path) -> None:
    """Desks with a database of PostgreSQL run over one home, and keep out one that has a file."""
    shared = Settings(home=tmp_path / "one", database_url="postgresql+psycopg://tranche@/none")
    process_lock = connect.one_desk(Settings(home=tmp_path / "one"))
    with connect.one_desk(shared), connect.one_desk(shared), pytest.raises(Misconfigured, match="share one"):
        process_lock.__enter__()
    with connect.one_desk(Settings(home=tmp_path / "one")):
        pass


def test_existing_files_are_restricted(tmp_path: Path) -> None:
    """What others could read below the home is closed to them when the desk starts; links are left alone."""
    home, outside = tmp_path / "home", tmp_path / "outside"
    outside.write_text("theirs")
    outside.chmod(0o644)
    (home / "warehouse").mkdir(parents=True, mode=0o755)
    (home / "warehouse" / "rows").write_text("1")
    (home / "warehouse" / "rows").chmod(0o664)
    (home / "link").symlink_to(outside)
    private.close(home)
    modes = {
        path.name: stat.S_IMODE(path.lstat().st_mode) for path in home.rglob("*") if not path.is_symlink()
    }
    assert modes == {"warehouse": 0o700, "rows": 0o600}
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644


def test_files_may_go_while_others_are_restricted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that another process removes while a home is restricted keeps no desk from starting."""
    for name in ("tranche.db-shm", "tranche.toml"):
        (tmp_path / name).touch(0o644)
    walk = os.walk

    def walk_and_remove(folder: Path) -> list[Any]:
        files = [*walk(folder)]
        (tmp_path / "tranche.db-shm").unlink()
        return files

    monkeypatch.setattr(os, "walk", walk_and_remove)
    private.close(tmp_path)
    assert stat.S_IMODE((tmp_path / "tranche.toml").stat().st_mode) == 0o600


def test_all_files_below_the_home_are_the_owners_alone(tmp_path: Path) -> None:
    """Whatever the shell's umask: people, tokens, rows, layouts and the database are 0600, folders 0700."""
    home, rows = tmp_path / "home", tmp_path / "rows.csv"
    rows.write_text("day,site,imps\n2026-11-01,a,1\n2026-11-02,b,2\n")
    before = os.umask(0)
    try:
        brought = run([*CLI, "import", str(rows), "--project", "p", "--slicer", "s"], home, cwd=tmp_path)
        assert brought.returncode == 0, brought.stderr
        words = [*CLI, "user", "add", "ada", "--role", "admin", "--password-stdin"]
        assert run(words, home, "long enough\n").returncode == 0
        words = [*CLI, "token", "create", "--person", "ada", "--service", "deals", "--name", "x"]
        assert run(words, home).returncode == 0
    finally:
        os.umask(before)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in home.rglob("*")}
    assert len(modes) > 8
    assert {path: mode for path, mode in modes.items() if mode != (0o700 if path.is_dir() else 0o600)} == {}


def test_turning_demo_off_locks_the_demo_people_out(own_home: Path) -> None:
    """Without demo mode their password and tokens open nothing, and the start says what to do."""
    with_demo = Settings(home=own_home, demo=True)
    token = connect.installation(with_demo).access.issue("admin", "deals", "made in the demo", None)
    with desk_over(own_home, TRANCHE_DEMO="false") as (address, _):
        form = {
            "grant_type": "password",
            "username": "admin",
            "password": "demo",
            "scope": "service_id=deals",
        }
        assert httpx.post(f"{address}/oauth2/token/", data=form).json()["error"] == "invalid_grant"
        headers = {"Authorization": f"Bearer {token}"}
        assert httpx.get(f"{address}/api/seats/", headers=headers).status_code == 401
        given = run(
            [*CLI, "user", "password", "admin", "--keep-tokens", "--password-stdin"],
            own_home,
            "long enough\n",
        )
        assert given.returncode == 0, given.stderr
        form["password"] = "long enough"
        assert httpx.post(f"{address}/oauth2/token/", data=form).json()["token_type"] == "Bearer"
        assert httpx.get(f"{address}/api/seats/", headers=headers).status_code == 200
    (said,) = connect.startup_warnings(Settings(home=own_home))
    assert "manager, viewer can't sign in or use tokens" in said
    assert "tranche user password NAME" in said


@pytest.mark.parametrize(
    ("proxies", "warns"), [((), True), (("10.0.0.0/8",), False)], ids=["without proxies", "with proxies"]
)
def test_a_desk_behind_a_proxy_that_it_does_not_know(
    own_home: Path, proxies: tuple[str, ...], warns: bool
) -> None:
    """A start with public addresses and no trusted proxy warns of one address for everybody."""
    settings = Settings(home=own_home, demo=True, origins=("https://desk.example",), trusted_proxies=proxies)
    assert ["trusted_proxies is empty" in warning for warning in connect.startup_warnings(settings)] == [
        True
    ] * warns
    assert list(connect.startup_warnings(Settings(home=own_home, demo=True))) == []
