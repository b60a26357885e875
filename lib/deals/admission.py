"""Who may call the deals API: a token, not too often, and a person with access to deals, in this order."""

from collections.abc import Callable

from lib.deals.store.work import DealsScope
from lib.tokens.access import Access
from lib.tokens.models import Caller
from lib.wire.errors import AccessError, Forbidden, Unauthorized
from lib.wire.throttle import Throttle

WRONG = "This token is not valid for the deals API: it is wrong, expired, or for another service"
NO_ACCESS = "'{}' has no access to deals; an administrator can grant it"
SYNC_ALONE = "This token is for deal sync alone: it opens /api/deal_sync/"
NOT_A_DSP = "Only a DSP reports statuses, with a token of its own for its seats: --deals sync:3,7"
MISSING = "A token is required: Authorization: Bearer <token>"


class Admission:
    """Admission to the deals API. `is_exempt` tells whether a token is never throttled."""

    def __init__(
        self,
        access: Access,
        service: str,
        reads: Throttle,
        writes: Throttle,
        is_exempt: Callable[[str], bool] = lambda token: False,
    ) -> None:
        self._access, self._service = access, service
        self._throttles = {False: reads, True: writes}
        self._is_exempt = is_exempt

    def caller(self, authorization: str | None, writes: bool, *, may_propose: bool = False) -> Caller:
        """The caller with this Authorization header (RFC 6750, 2.1), as `_known`.

        Forbidden for a DSP, and for somebody who may only read and wants to write; with `may_propose` who
        may propose is let in too.
        """
        caller = self._caller(authorization, writes)
        if caller.deals.syncs:
            raise Forbidden(SYNC_ALONE)
        if writes and not (caller.deals.writes or (may_propose and caller.deals.proposes)):
            raise Forbidden(f"'{caller.person.username}' can see deals, but not change them")
        return caller

    def sync_caller(self, authorization: str | None, reports: bool) -> Caller:
        """The caller of deal sync: anybody with access to deals, but a DSP alone `reports` statuses."""
        caller = self._caller(authorization, reports)
        if reports and not caller.deals.syncs:
            raise Forbidden(NOT_A_DSP)
        return caller

    def _caller(self, authorization: str | None, writes: bool) -> Caller:
        """The caller with this header, who has some access to deals.

        Unauthorized without a token that opens this service, and for somebody without access to deals;
        Throttled when it came too often.
        """
        scheme, _, token = (authorization or "").strip().partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Unauthorized(MISSING)
        try:
            caller = self._access.caller(token.strip(), self._service)
        except AccessError:
            raise Unauthorized(WRONG, 'Bearer error="invalid_token"') from None
        if not caller.deals.opens:
            raise Unauthorized(NO_ACCESS.format(caller.person.username), 'Bearer error="invalid_token"')
        if not self._is_exempt(token.strip()):
            self._throttles[writes].admit(caller.token.id)
        return caller


def scope_of(caller: Caller) -> DealsScope:
    """The scope of this caller. Times are in whole seconds, as those of the deals are."""
    added_at = caller.person.added
    return DealsScope(
        who=caller.person.username,
        seats=caller.deals.seats,
        since=added_at and added_at.replace(microsecond=0),
        token=caller.token.id if caller.is_for_seats else None,
        may_see=lambda *pair: caller.may_see(*pair) and not caller.row_filters(*pair),
    )
