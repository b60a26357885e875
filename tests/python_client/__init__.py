"""Tests of lib/python_client."""
