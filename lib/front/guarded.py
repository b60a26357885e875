"""Wraps an application in the checks for requests from the network."""

from collections.abc import Collection

from starlette.types import ASGIApp

from lib.front.hosts import OwnHosts, SameOrigin
from lib.wire.network import Network
from lib.wire.policy import SecurityHeaders


def guard(app: ASGIApp, network: Network, scripts: Collection[str] = ()) -> ASGIApp:
    """`app` behind the checks of a request's host and origin; every answer carries the headers of policy.py.

    `scripts` are the hashes of the inline scripts that may run.
    """
    own = SameOrigin(app, network.origins)
    return SecurityHeaders(OwnHosts(own, network.host, network.origins), scripts)
