"""Slow, obvious re-implementations of what the engine does, and measurements of another simulator, to hold it against.

None of them imports anything of the project: `tests/docs/test_contributing.py` keeps that.
"""
