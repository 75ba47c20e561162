"""What all tests share: how much Hypothesis tries, and which tests run only at night."""

import os

import pytest
from hypothesis import HealthCheck, settings

PROFILE = os.environ.get("WHENCE_PROFILE", "default")

# Time decides nothing here: a first call may wait for numba to compile.
_UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("default", _UNHURRIED, derandomize=True, max_examples=60)
settings.register_profile("nightly", _UNHURRIED, max_examples=2_000, print_blob=True)
settings.load_profile(PROFILE)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave tests marked `nightly` out unless the profile asks for them."""
    if PROFILE == "nightly":
        return
    left_out = [item for item in items if item.get_closest_marker("nightly")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
