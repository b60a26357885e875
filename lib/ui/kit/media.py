"""Who may read the files that pages offer at `/media/`: whoever they were made for, in the same browser."""

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


class OwnedMedia:
    """Streamlit's files of its pages, and for whom each was made.

    A file's address is a digest of its content: equal files have one, and many owners. Streamlit itself hands
    a file to whoever has the address. So this stands in front of `files`, its manager of media files, and
    notes what goes in; everything else passes.
    """

    def __init__(self, files: Any, owner: Callable[[], Owner | None]) -> None:
        """`owner` says for whom the script runs that calls it; None where nobody is signed in."""
        self._files, self._owner, self._owning = files, owner, Lock()
        self._owners: dict[str, set[Owner]] = {}

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
        return address

    def remove_orphaned_files(self) -> None:
        """Remove the files that no session uses, and forget whose they were."""
        self._files.remove_orphaned_files()
        with self._owning:
            ids = streamlit_compat.media_ids(self._files)
            if ids is not None:
                self._owners = {
                    media_id: owners for media_id, owners in self._owners.items() if media_id in ids
                }

    def _own(self, file_id: str, owners: Iterable[Owner]) -> None:
        with self._owning:
            self._owners.setdefault(file_id, set()).update(owners)


def script_owner() -> Owner | None:
    """For whom the running script makes files; None before a sign-in, and for a browser without cookies."""
    cookies = connect.installation(Settings.current()).cookies
    browser, username = cookies.browser(st.context.cookies), st.session_state.get("username")
    return (browser.id, username) if browser is not None and username else None


def _id(address: str) -> str:
    return PurePosixPath(address).stem
