"""Tests of lib/remote."""
