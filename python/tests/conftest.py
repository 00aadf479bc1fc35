"""What several tests read: the paper's folder and its module."""

import pytest

from fairq import papers


@pytest.fixture(scope="session")
def demers1990():
    return papers.load("demers1990")
