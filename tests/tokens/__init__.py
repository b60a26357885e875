"""Tests of lib/tokens."""
