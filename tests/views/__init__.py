"""Tests of lib/views."""
