"""The drawer of a package or a deal: its facts, its history, and the form that changes it."""
