"""Who may call, and how often: token, throttle, role, in this order."""

from collections.abc import Callable

from lib import database
from lib.tokens.access import Access
from lib.tokens.models import Caller
from lib.wire.errors import AccessError, Forbidden, Unauthorised
from lib.wire.throttle import Throttle

READER = "viewer"
WRONG = "This token does not open the deals API: it is wrong, has ended, or is for another service"
MISSING = "A token is needed: Authorization: Bearer <token>"


class Admission:
    """The door of the deals API. `is_exempt` says of a token's text whether it is never throttled."""

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

    def caller(self, authorization: str | None, writes: bool) -> Caller:
        """Who comes with this header (RFC 6750, 2.1).

        Unauthorised without a token that opens this service, Throttled when it came too often, Forbidden
        for somebody who may only read and wants to write.
        """
        scheme, _, token = (authorization or "").strip().partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Unauthorised(MISSING)
        try:
            with database.explained():
                caller = self._access.caller(token.strip(), self._service)
        except AccessError:
            raise Unauthorised(WRONG, 'Bearer error="invalid_token"') from None
        if not self._is_exempt(token.strip()):
            self._throttles[writes].admit(caller.token.id)
        if writes and caller.person.role == READER:
            raise Forbidden(f"'{caller.person.username}' may see deals and not change them")
        return caller
