"""Tests of lib/alerts."""
