"""Who may read the files that pages offer at `/media/`: whoever they were made for, in the same browser."""

import time
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from threading import Lock
from typing import Any

import streamlit as st

from lib.serving import connect
from lib.settings import Settings
from lib.ui import streamlit_compat

Owner = tuple[str, str]
"""A browser's number, and the name of the person signed in."""
HELD_SECONDS, HELD_BYTES = 60, 128 << 20


class OwnedMedia:
    """Streamlit's files of its pages, and for whom each was made.

    A file's address is a digest of its content: equal files have one, and many owners. Streamlit itself hands
    a file to whoever has the address. So this stands in front of `files`, its manager of media files, and
    notes what goes in; everything else passes.

    Streamlit deletes a file that was made on a click when scripts have ended twice, whoever's: on a busy desk
    before the browser has requested it. So it is held for a minute: the newest files, up to 128 MB of them.
    """

    def __init__(
        self, files: Any, owner: Callable[[], Owner | None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`owner` says for whom the script runs that calls it; None where nobody is signed in.

        `clock` gives seconds.
        """
        self._files, self._owner, self._clock, self._lock = files, owner, clock, Lock()
        self._owners: dict[str, set[Owner]] = {}
        self._held: dict[str, tuple[float, int]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)

    def belongs_to(self, file_id: str, owner: Owner) -> bool:
        """Whether the file was made for this browser and person."""
        return owner in self._owners.get(file_id, ())

    def add(self, *content: Any, **options: Any) -> str:
        """Store a file of the running script, and return its address."""
        address: str = self._files.add(*content, **options)
        self._own(_id(address), filter(None, [self._owner()]))
        return address

    def add_deferred(self, *content: Any, **options: Any) -> str:
        """Store what makes a file of the running script on a click, and return its identifier."""
        file_id: str = self._files.add_deferred(*content, **options)
        self._own(file_id, filter(None, [self._owner()]))
        return file_id

    def execute_deferred(self, file_id: str) -> str:
        """Make the file, and return its address."""
        owners = self._owners.get(file_id, set())
        address: str = self._files.execute_deferred(file_id)
        self._own(_id(address), owners)
        # Hold the file from now on, and let go of the oldest that are too much beside it.
        size = streamlit_compat.media_size(self._files, _id(address))
        with self._lock:
            self._held.pop(_id(address), None)
            while self._held and size + sum(other for _, other in self._held.values()) > HELD_BYTES:
                del self._held[next(iter(self._held))]
            self._held[_id(address)] = self._clock() + HELD_SECONDS, size
        return address

    def remove_orphaned_files(self) -> None:
        """Remove the files that no session uses and that are not held, and forget whose they were."""
        with self._lock:
            now = self._clock()
            self._held = {id_: (until, size) for id_, (until, size) in self._held.items() if until > now}
            streamlit_compat.keep_media(self._files, self._held)
            self._files.remove_orphaned_files()
            ids = streamlit_compat.media_ids(self._files)
            if ids is not None:
                self._owners = {id_: owners for id_, owners in self._owners.items() if id_ in ids}

    def _own(self, file_id: str, owners: Iterable[Owner]) -> None:
        with self._lock:
            self._owners.setdefault(file_id, set()).update(owners)


def script_owner() -> Owner | None:
    """For whom the running script makes files; None before a sign-in, and for a browser without cookies."""
    cookies = connect.installation(Settings.current()).cookies
    browser, username = cookies.browser(st.context.cookies), st.session_state.get("username")
    return (browser.id, username) if browser is not None and username else None


def _id(address: str) -> str:
    return PurePosixPath(address).stem
