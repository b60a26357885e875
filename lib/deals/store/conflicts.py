"""Converts a violated constraint of the database to a Conflict with a sentence."""

import re
import sqlite3

from sqlalchemy.exc import IntegrityError

from lib.wire.errors import Conflict

LOST_RACE = (
    "Somebody else changed what this request refers to at the same moment; read it again and repeat it"
)
_SQLITE_UNIQUE = re.compile(r"UNIQUE constraint failed: (.+)")
DUPLICATES = {
    "uq_dsps_name": "A DSP of this name already exists",
    "uq_seats_dsp_id_name": "This DSP has a seat of this name already",
    "uq_seats_dsp_id_external_id": "This DSP has a seat of this external_id already",
    "uq_domain_lists_name": "A domain list of this name already exists",
    "uq_app_lists_name": "An app list of this name already exists",
}


def conflict(error: IntegrityError) -> Conflict:
    """The Conflict for a duplicate, or for a lost race."""
    return Conflict(DUPLICATES.get(_constraint(error), LOST_RACE))


def _constraint(error: IntegrityError) -> str:
    """The constraint's name; for SQLite, built from the columns in its message."""
    if isinstance(error.orig, sqlite3.Error):
        match = _SQLITE_UNIQUE.search(str(error.orig))
        columns = [name.split(".") for name in match[1].split(", ")] if match else []
        return "_".join(["uq", columns[0][0], *(column for _, column in columns)]) if columns else ""
    diagnostics = getattr(error.orig, "diag", None)
    return getattr(diagnostics, "constraint_name", None) or ""
