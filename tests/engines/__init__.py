"""Tests of lib/engines."""
