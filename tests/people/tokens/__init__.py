"""Tests of lib/people/tokens."""
