"""Tests of lib/cli."""
