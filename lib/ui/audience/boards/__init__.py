"""Boards: saved views side by side, drawn from parts of their answers: on screen, in files, links, mails."""
