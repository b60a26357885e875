"""Tests of lib/share/mail."""
