"""Tests of lib/check."""
