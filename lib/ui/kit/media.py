"""Who may read the files that pages offer at `/media/`: whoever they were made for, in the same browser."""

from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from typing import Any

import streamlit as st
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorage

from lib import connect
from lib.settings import Settings

Owner = tuple[str, str]
"""A browser's number, and the name of the person signed in."""


class OwnedMedia(MediaFileManager):
    """Streamlit's files of its pages, and for whom each was made.

    A file's address is a digest of its content: equal files have one, and many owners. Streamlit itself hands
    a file to whoever has the address.
    """

    def __init__(self, storage: MediaFileStorage, owner: Callable[[], Owner | None]) -> None:
        """`owner` says for whom the script runs that calls it; None where nobody is signed in."""
        super().__init__(storage)
        self._owner = owner
        self._owners: dict[str, set[Owner]] = {}

    def belongs_to(self, file_id: str, owner: Owner) -> bool:
        """Whether the file was made for this browser and person."""
        return owner in self._owners.get(file_id, ())

    def add(self, *given: Any, **named: Any) -> str:
        """Store a file of the running script, and return its address."""
        address = super().add(*given, **named)
        self._own(_id(address), filter(None, [self._owner()]))
        return address

    def add_deferred(self, *given: Any, **named: Any) -> str:
        """Store what makes a file of the running script on a click, and return its identifier."""
        deferred = super().add_deferred(*given, **named)
        self._own(deferred, filter(None, [self._owner()]))
        return deferred

    def execute_deferred(self, file_id: str) -> str:
        """Make the file, and return its address."""
        owners = self._owners.get(file_id, set())
        address = super().execute_deferred(file_id)
        self._own(_id(address), owners)
        return address

    def remove_orphaned_files(self) -> None:
        """Remove the files that no session uses, and forget whose they were."""
        super().remove_orphaned_files()
        with self._lock:
            existing = self._file_metadata.keys() | self._deferred_callables.keys()
            self._owners = {one: owners for one, owners in self._owners.items() if one in existing}

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
