"""Codes by mail, for share links that are limited to one address: whoever reads its mail opens the link.

A code has six digits, works for a quarter of an hour and five tries, and is sent once a minute at most. Who
enters it gets the key of a visit, which a browser keeps for half a day. Only hashes are stored.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, insert, select, update

from lib.database import DatabaseScope
from lib.views.share_links import ShareLink
from lib.views.tables import link_codes, link_visits
from lib.wire.errors import BadRequest

DIGITS, MOST_TRIES = 6, 5
CODE_WORKS, NEXT_AFTER = timedelta(minutes=15), timedelta(minutes=1)
VISIT = timedelta(hours=12)
WRONG_CODE = "This code is wrong or has ended: check it, or have another one sent"


@dataclass(frozen=True)
class LinkCodes(DatabaseScope):
    """The codes and visits of all links of a database."""

    def make(self, link: ShareLink) -> str:
        """A new code for the link, in place of the one before. BadRequest within a minute of that one."""
        now, code = datetime.now(UTC), f"{secrets.randbelow(10**DIGITS):0{DIGITS}}"
        mine = link_codes.c.link_id == link.id

        with self.write() as connection:
            earlier = connection.execute(select(link_codes.c.made).where(mine)).scalar_one_or_none()
            if earlier is not None and timedelta() <= now - earlier < NEXT_AFTER:
                raise BadRequest("A code was sent within the last minute: look into your mail")
            connection.execute(delete(link_codes).where(mine))
            values = {"link_id": link.id, "code_hash": _hash(link, code), "made": now, "tries": 0}
            connection.execute(insert(link_codes).values(values))
        return code

    def enter(self, link: ShareLink, code: str) -> str:
        """The key of a visit. BadRequest for another code than the link's, one that ended, and after five
        wrong ones."""
        now, key = datetime.now(UTC), secrets.token_urlsafe(24)
        mine = link_codes.c.link_id == link.id
        with self.write() as connection:
            row = connection.execute(select(link_codes).where(mine)).one_or_none()
            if row is None or now - row.made > CODE_WORKS or row.tries >= MOST_TRIES:
                is_right = False
            elif is_right := hmac.compare_digest(row.code_hash, _hash(link, code.strip())):
                connection.execute(delete(link_codes).where(mine))
                connection.execute(delete(link_visits).where(link_visits.c.expires <= now))
                values = {"key_hash": _hash(link, key), "link_id": link.id, "expires": now + VISIT}
                connection.execute(insert(link_visits).values(values))
            else:
                connection.execute(update(link_codes).where(mine).values(tries=row.tries + 1))
        if not is_right:  # after the transaction: a try that is rolled back would not count
            raise BadRequest(WRONG_CODE)
        return key

    def is_visit(self, link: ShareLink, key: str) -> bool:
        """Whether this is the key of a visit to the link that has not ended."""
        mine = link_visits.c.key_hash == _hash(link, key), link_visits.c.link_id == link.id
        row = self.row(select(link_visits.c.expires).where(*mine)) if key else None
        return row is not None and row.expires > datetime.now(UTC)


def _hash(link: ShareLink, secret: str) -> str:
    return hashlib.sha256(f"{link.id}.{secret}".encode()).hexdigest()
