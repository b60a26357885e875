"""Who may do what: the tokens' store and the people's file, asked together."""

from datetime import timedelta
from typing import Self

from lib import database
from lib.people import Grant, People, Person
from lib.settings import Settings
from lib.tokens.models import Caller, Kind, Token
from lib.tokens.store import TokenStore
from lib.wire.errors import AccessError, BadRequest, UnknownName


class Access:
    """A token is worth what its owner may see now, and what it was granted of that."""

    def __init__(self, store: TokenStore, people: People) -> None:
        self.store = store
        self.people = people

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Over the database and the people's file of these settings; brings the database up to date."""
        engine = database.engine(settings.database_url)
        database.migrate(engine)
        return cls(TokenStore(engine), People(settings.people_file))

    def caller(self, token: str, service: str) -> Caller:
        """Who comes with this token to this service.

        AccessError, in the same words, for a token that is wrong, expired, revoked, for another service, or
        of an owner who is not there any more.
        """
        found = self.store.verify(token, service)
        owner = self.people.get(found.owner)
        if owner is None or _belonged_to_a_namesake(found, owner):
            raise AccessError()
        return Caller(owner, found)

    def issue(
        self,
        owner: str,
        service: str,
        name: str,
        lifetime: timedelta | None,
        grants: tuple[Grant, ...] = (),
        kind: Kind = "permanent",
    ) -> str:
        """A new token's text, granted at most what its owner has (nothing named: all of it).

        UnknownName without such a person; BadRequest naming what isn't theirs to grant.
        """
        person = self.people.get(owner)
        if person is None:
            raise UnknownName("person", owner, (known.username for known in self.people.everyone()))
        foreign = [str(grant) for grant in grants if not person.may_see(grant.project, grant.slicer)]
        if foreign:
            raise BadRequest(
                f"'{person.username}' may not see {', '.join(foreign)}, so their token can't either; "
                f"they may see {', '.join(map(str, person.grants)) or 'nothing yet'}"
            )
        return self.store.issue(person.username, service, name, lifetime, grants, kind)

    def remove(self, username: str) -> int:
        """Remove a person and revoke their tokens; returns how many. UnknownName without such a person."""
        self.people.remove(username)
        return self.store.revoke_all(username.strip().lower())


def _belonged_to_a_namesake(token: Token, owner: Person) -> bool:
    """Somebody of this name was removed, and another added since the token was issued."""
    return owner.added is not None and token.created < owner.added
