"""Charts and numbers: pure functions of an answer, without a question to the service."""
