"""The checks that every request passes before the desk or an API gets it, and the headers of every answer."""

from lib.wire.front.chart_later import ChartLater
from lib.wire.front.company_routes import OUTCOME, CompanyRoutes
from lib.wire.front.desk_routes import DeskRoutes
from lib.wire.front.desk_socket import DeskSocket
from lib.wire.front.document import DeskDocument
from lib.wire.front.guarded import guarded
from lib.wire.front.open_sockets import note_sign_in
from lib.wire.front.policy import inline_scripts
from lib.wire.front.preloads import Preloads
from lib.wire.front.sign_in_routes import BROWSER_HEADER, SESSION, SignInRoutes
from lib.wire.front.socket_messages import Protocol
from lib.wire.front.streamlit_parts import LOGOUT

__all__ = [
    "BROWSER_HEADER",
    "LOGOUT",
    "OUTCOME",
    "SESSION",
    "ChartLater",
    "CompanyRoutes",
    "DeskDocument",
    "DeskRoutes",
    "DeskSocket",
    "Preloads",
    "Protocol",
    "SignInRoutes",
    "guarded",
    "inline_scripts",
    "note_sign_in",
]
