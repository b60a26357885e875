"""Tests of lib/mail."""
