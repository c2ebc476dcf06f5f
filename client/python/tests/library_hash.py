# SPDX-License-Identifier: Apache-2.0
"""Triton's caches go by a hash of its library. It is 500 MB large, so that each process takes half a second to compute it.
Processes that tests start get it from the tests."""
import os

import triton.runtime

VARIABLE = "TRITOND_TEST_LIBRARY_HASH"


def modules():
    """Those that look the hash up by name. Releases before 3.5 have it elsewhere, and each process computes it."""
    candidates = (triton.runtime.cache, triton.runtime.autotuner)
    return [module for module in candidates if hasattr(module, "triton_key")]


def hand_on():
    """What the environment of a process says, for take."""
    found = modules()
    return {VARIABLE: found[0].triton_key()} if found else {}


def take():
    known = os.environ.get(VARIABLE)
    if known:
        for module in modules():
            module.triton_key = lambda: known
