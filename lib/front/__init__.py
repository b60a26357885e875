"""The checks that every request passes before the desk or an API gets it, and the headers of every answer."""

from lib.front.company_routes import OUTCOME, CompanyRoutes
from lib.front.desk_routes import DeskRoutes
from lib.front.desk_socket import DeskSocket
from lib.front.document import DeskDocument
from lib.front.guarded import guard
from lib.front.open_sockets import note_sign_in
from lib.front.preloads import Preloads
from lib.front.sign_in_routes import ADDRESS_HEADER, BROWSER_HEADER, SESSION, SignInRoutes
from lib.front.socket_messages import Protocol
from lib.front.streamlit_parts import LOGOUT
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
