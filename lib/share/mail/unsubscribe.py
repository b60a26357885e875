"""Ending mails from a mail, without a sign-in: by an address that is signed, once for each subscription.

The address opens nothing else, and is worth nothing after it was used. It is for the page that asks back, and
for the one click of mail programs (RFC 8058).
"""

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import Self

from sqlalchemy import Engine, delete

from lib.database import DatabaseScope
from lib.people.secret import secret
from lib.people.tokens.audit import Audit
from lib.serving.front.shared_route import PATH
from lib.views.subscriptions import REMOVAL, WITH_VIEWS, Subscription, describe, subscription_of
from lib.views.tables import mail_subscriptions


@dataclass(frozen=True)
class Unsubscriber:
    """Makes and takes the addresses. `origin` is the desk's."""

    engine: Engine
    audit: Audit
    origin: str
    key: str = field(repr=False)

    @classmethod
    def of(cls, engine: Engine, audit: Audit, origin: str) -> Self:
        """With the key of all desks over the database."""
        return cls(engine, audit, origin, secret(engine, "mail"))

    def address(self, subscription: Subscription) -> str:
        """The address that ends this subscription."""
        return f"{self.origin}{PATH}?token={subscription.id}-{self._proof(subscription)}"

    def stop(self, token: str) -> bool:
        """End the subscription of a token; False for one that is wrong, or was used."""
        number, _, proof = token.partition("-")
        if not (number.isascii() and number.isdecimal() and len(number) < 16):
            return False
        with DatabaseScope(self.engine).write() as connection:
            row = connection.execute(WITH_VIEWS.where(mail_subscriptions.c.id == int(number))).one_or_none()
            if row is None:
                return False
            subscription = subscription_of(row)
            if not hmac.compare_digest(self._proof(subscription).encode(), proof.encode()):
                return False
            connection.execute(delete(mail_subscriptions).where(mail_subscriptions.c.id == subscription.id))
        self.audit.note(REMOVAL, "the link in a mail", subscription.owner, describe(subscription))
        return True

    def _proof(self, subscription: Subscription) -> str:
        about = f"{subscription.id}/{subscription.created.isoformat()}/{subscription.recipient}"
        return hmac.new(self.key.encode(), about.encode(), hashlib.sha256).hexdigest()
