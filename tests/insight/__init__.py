"""Tests of lib/insight."""
