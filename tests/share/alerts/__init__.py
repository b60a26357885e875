"""Tests of lib/share/alerts."""
