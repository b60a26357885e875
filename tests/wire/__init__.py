"""Tests of lib/wire."""
