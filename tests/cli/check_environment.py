"""What the tests of `heddle check` share."""

import os


def check_environment(**more):
    """The variables that a check sees: none of the simulator's own, and no search for leaks in a build with sanitizers,
    which takes seconds."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SIM_")}
    leaks = environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    return {**environment, "LC_ALL": "C.UTF-8", "ASAN_OPTIONS": leaks, **more}
