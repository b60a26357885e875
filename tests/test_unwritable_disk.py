"""A desk whose disk becomes full or read-only under it: writes are refused in a sentence, reading goes on.

Three disks: files that may not grow (setrlimit), a small file system without room, and one that the kernel
makes read-only because of an error. The latter two need somebody who may mount, and are skipped otherwise.
"""

import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from conftest import PASSWORD, copied, desk_over

from lib.people.tokens.access import Access
from lib.serving import connect
from lib.settings import Settings
from lib.wire import private
from lib.wire.errors import StoreUnavailable, StoreUnwritable

MEGABYTES, ATTEMPTS = 64, 60


@dataclass(frozen=True)
class Disk:
    """A folder, and what makes it unwritable for a process, and writable again where that can be."""

    folder: Path
    breaks: Callable[[int], None]
    mends: Callable[[int], None] | None = None


def ran(*command: str | Path) -> bool:
    """Whether the command succeeds."""
    try:
        return subprocess.run([*map(str, command)], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@contextmanager
def mounted(folder: Path, *options: str | Path) -> Iterator[None]:
    """A file system in this folder."""
    if not ran("mount", *options, folder):
        pytest.skip("Nobody may mount a file system of their own")
    try:
        yield
    finally:
        ran("umount", "--lazy", folder)


@pytest.fixture(params=["limit", "full", "read-only"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    """A disk that can become unwritable."""
    folder, image = tmp_path / "disk", tmp_path / "image"
    folder.mkdir()
    if request.param == "limit":
        unlimited = resource.RLIM_INFINITY
        yield Disk(folder, lambda process: limit(process, 0), lambda process: limit(process, unlimited))
    elif request.param == "full":
        with mounted(folder, "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs"):
            filling = folder / "filling"
            yield Disk(folder, lambda _: fill(filling), lambda _: filling.unlink())
    else:
        image.touch()
        os.truncate(image, MEGABYTES * 2**20)
        ran("mkfs.ext4", "-q", image)
        with mounted(folder, "-o", "loop,errors=remount-ro", image):
            yield Disk(folder, lambda _: fail(folder))


def limit(process: int, size: int) -> None:
    """No file of the process may be larger than this, in bytes."""
    resource.prlimit(process, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def fill(path: Path) -> None:
    """Write until there is no room."""
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def fail(folder: Path) -> None:
    """Let the kernel find an error in the file system, which it then makes read-only."""
    device = next(words[0] for words in mounts() if words[1] == str(folder))
    trigger = Path("/sys/fs/ext4") / Path(device).name / "trigger_fs_error"
    if not trigger.exists():
        pytest.skip("This kernel can't be told of an error in a file system")
    trigger.write_text("an error for a test")


def mounts() -> list[list[str]]:
    """What is mounted: device, folder, …"""
    return [line.split() for line in Path("/proc/mounts").read_text().splitlines()]


class Caller:
    """Scripts with tokens for both APIs of the desk at this address."""

    def __init__(self, address: str, access: Access) -> None:
        self.address = address
        self.deals, self.reporting = (
            access.issue("manager", service, "a script", None) for service in ("deals", "reporting")
        )

    def dsps(self, name: str = "") -> httpx.Response:
        """The DSPs; with a name, one more of it."""
        sent = {"headers": {"Authorization": f"Bearer {self.deals}"}, "timeout": 60}
        where = f"{self.address}/api/dsps/"
        return httpx.post(where, json={"name": name}, **sent) if name else httpx.get(where, **sent)

    def token(self) -> httpx.Response:
        """A temporary token."""
        form = {"grant_type": "password", "username": "manager", "password": PASSWORD}
        scope = {"scope": "service_id=deals"}
        return httpx.post(f"{self.address}/oauth2/token/", data=form | scope, timeout=60)

    def report(self) -> httpx.Response:
        """The last week."""
        where = {"project_name": "demo", "slicer_name": "delivery", "token": self.reporting}
        days = {"start_date": "-7d", "end_date": "yesterday"}
        return httpx.post(f"{self.address}/API/v2/audience", json=where | days, timeout=60)


def test_a_disk_that_fails_under_a_desk(home: Path, disk: Disk) -> None:
    """Reports and lists are answered as before, what writes is refused and not there; later it all works."""
    own = copied(home, disk.folder / "home")
    access = Access.of(Settings(home=own, demo=True))
    with desk_over(own, TRANCHE_THROTTLE_WRITES="1000") as (address, process):
        caller = Caller(address, access)
        access.store.engine.dispose()
        assert caller.dsps("First").status_code == 201
        report = caller.report().json()
        disk.breaks(process)
        answers = [caller.dsps(f"DSP {number}") for number in range(ATTEMPTS)]
        assert (answers[-1].status_code, answers[-1].json()) == (507, {"detail": StoreUnwritable.REASON})
        created = ["First", *(answer.json()["name"] for answer in answers if answer.status_code == 201)]
        assert {result["name"] for result in caller.dsps().json()["results"]} == {*created}
        token = caller.token()
        assert (token.status_code, token.json()["error_description"]) == (507, StoreUnwritable.REASON)
        assert caller.report().json() == report
        assert httpx.get(f"{address}/healthz").status_code == 200
        if disk.mends:
            disk.mends(process)
            assert caller.dsps("Last").status_code == 201
            assert caller.token().status_code == 200


def test_the_desk_reads_without_writing(home: Path, tmp_path: Path) -> None:
    """The tokens with which the desk calls its own APIs are in no database, which may be read-only."""
    own = copied(home, tmp_path / "home")
    installation = connect.installation(Settings(home=own, demo=True))
    person = installation.people.get("manager")
    assert person is not None
    token = installation.desk_tokens.token(person, "deals")
    assert installation.access.caller(token, "deals").person == person
    assert installation.access.store.everything() == []


def test_a_lock_on_a_full_disk(tmp_path: Path) -> None:
    """Work in the background that can't take its lock gets an error of ours, and tries again later."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, usual[1]))
    try:
        with pytest.raises(StoreUnavailable, match="can't be written"), private.process_lock(tmp_path / "a"):
            raise AssertionError("the lock was taken")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
