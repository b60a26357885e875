"""Mail: saved views and alerts that come by mail, and what the desk tells a person."""
