"""Codes by mail, for share links that are limited to one address: whoever reads its mail opens the link.

A code has six digits and works for a quarter of an hour, until the next one is sent or it is entered. Who
enters it gets the key of a visit, which a browser keeps for half a day. Only hashes are stored.

A link is closed by ten wrong codes in a row, whichever codes were sent meanwhile, until its owner opens it
again: who guesses has one chance in a hundred thousand. Its address gets a mail in ten minutes, ten a day.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, insert, select, update

from lib.database import DatabaseScope
from lib.views.share_links import MOST_WRONG_CODES, ShareLink
from lib.views.tables import link_codes, link_visits, share_links
from lib.wire.errors import BadRequest

DIGITS = 6
CODE_WORKS, NEXT_AFTER, DAY = timedelta(minutes=15), timedelta(minutes=10), timedelta(days=1)
MOST_A_DAY = 10
VISIT = timedelta(hours=12)
TOO_SOON = "A code was sent within the last ten minutes: look into your mail, or ask again later"
TOO_MANY = f"{MOST_A_DAY} codes were sent within a day: use the last one, or ask again tomorrow"
WRONG_CODE = "This code is wrong or has ended: check it, or have another one sent"


@dataclass(frozen=True)
class CodeEntry:
    """What came of a code: the key of a visit, empty where it was wrong; and whether it closed the link."""

    key: str = ""
    closes_link: bool = False


@dataclass(frozen=True)
class LinkCodes(DatabaseScope):
    """The codes and visits of all links of a database."""

    def make(self, link: ShareLink) -> str:
        """A new code for the link, in place of the one before. BadRequest for one too soon or too many."""
        now, code = datetime.now(UTC), f"{secrets.randbelow(10**DIGITS):0{DIGITS}}"
        mine = link_codes.c.link_id == link.id
        with self.write() as connection:
            connection.execute(delete(link_codes).where(mine, link_codes.c.made <= now - DAY))
            times = [*connection.scalars(select(link_codes.c.made).where(mine))]
            if any(abs(now - at) < NEXT_AFTER for at in times):
                raise BadRequest(TOO_SOON)
            if len(times) >= MOST_A_DAY:
                raise BadRequest(TOO_MANY)
            values = {"link_id": link.id, "code_hash": _hash(link, code), "made": now}
            connection.execute(insert(link_codes).values(values))
        return code

    def enter(self, link: ShareLink, code: str) -> CodeEntry:
        """Enter a code: it is right if it is the link's last, has not ended, and the link is not closed."""
        now, key = datetime.now(UTC), secrets.token_urlsafe(24)
        mine = share_links.c.id == link.id
        last = select(link_codes).where(link_codes.c.link_id == link.id).order_by(link_codes.c.id.desc())
        with self.write() as connection:
            wrong = connection.scalar(select(share_links.c.wrong_codes).where(mine))
            row = connection.execute(last.limit(1)).one_or_none()
            if wrong is None or wrong >= MOST_WRONG_CODES:
                return CodeEntry()
            if (
                row is None
                or now - row.made > CODE_WORKS
                or not hmac.compare_digest(row.code_hash, _hash(link, code.strip()))
            ):
                connection.execute(update(share_links).where(mine).values(wrong_codes=wrong + 1))
                return CodeEntry(closes_link=wrong + 1 == MOST_WRONG_CODES)
            connection.execute(update(share_links).where(mine).values(wrong_codes=0))
            connection.execute(update(link_codes).where(link_codes.c.id == row.id).values(code_hash=""))
            connection.execute(delete(link_visits).where(link_visits.c.expires <= now))
            values = {"key_hash": _hash(link, key), "link_id": link.id, "expires": now + VISIT}
            connection.execute(insert(link_visits).values(values))
        return CodeEntry(key)

    def is_visit(self, link: ShareLink, key: str) -> bool:
        """Whether this is the key of a visit to the link that has not ended."""
        mine = link_visits.c.key_hash == _hash(link, key), link_visits.c.link_id == link.id
        row = self.row(select(link_visits.c.expires).where(*mine)) if key else None
        return row is not None and row.expires > datetime.now(UTC)


def _hash(link: ShareLink, secret: str) -> str:
    return hashlib.sha256(f"{link.id}.{secret}".encode()).hexdigest()
