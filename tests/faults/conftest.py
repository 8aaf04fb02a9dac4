"""Patience of downloaders under test."""
import pytest

from fuel.downloaders.base import Policy


@pytest.fixture
def slept():
    return []


@pytest.fixture
def policy(slept):
    return Policy(sleep=slept.append, chunk_size=1000)
