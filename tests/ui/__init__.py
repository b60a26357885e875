"""Tests of lib/ui."""
