"""The checks that every request passes before the desk or an API gets it, and the headers of every answer."""

from lib.serving.front.desk_socket import DeskRoutes, DeskSocket
from lib.serving.front.document import DeskDocument, Preloads
from lib.serving.front.hosts import guard
from lib.serving.front.sign_in_routes import (
    ADDRESS_HEADER,
    BROWSER_HEADER,
    OUTCOME,
    SESSION,
    CompanyRoutes,
    SignInRoutes,
)
from lib.serving.front.socket_messages import Protocol, note_sign_in
from lib.serving.front.streamlit_parts import LOGOUT
from lib.wire.policy import inline_scripts

__all__ = [
    "ADDRESS_HEADER",
    "BROWSER_HEADER",
    "LOGOUT",
    "OUTCOME",
    "SESSION",
    "CompanyRoutes",
    "DeskDocument",
    "DeskRoutes",
    "DeskSocket",
    "Preloads",
    "Protocol",
    "SignInRoutes",
    "guard",
    "inline_scripts",
    "note_sign_in",
]
