"""Tests of lib/operations."""
