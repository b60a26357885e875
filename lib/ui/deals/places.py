"""Where the screen Deals keeps what it shares among its parts: the URL's parameter, the session's names."""

OPEN, CLICKED, SAID = "open", "deals_clicked", "deals_said"
