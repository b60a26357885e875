"""The verbs that agents call over the Model Context Protocol, each a question to the Python client's Desk.

What comes from data (names, descriptions, notes) is only ever a value of a typed field of an answer: no
instruction, description or prompt of this package has any of it.
"""
