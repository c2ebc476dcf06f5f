# SPDX-License-Identifier: Apache-2.0
"""The daemon, its worker and the command line: this module becomes the package tritond_server of the wheel.

Each program runs in place of the Python that starts it. Where the package nvidia-cuda-nvcc is installed beside it (the extra
`cuda`) and CUDA_HOME says nothing else, workers find NVIDIA's assembler there.
"""
import importlib.util
import os
import sys

_BIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin")


def find_cuda():
    """The folder of NVIDIA's wheels for CUDA 13; None when they are not installed."""
    found = importlib.util.find_spec("nvidia")
    for place in (found.submodule_search_locations or ()) if found else ():
        folder = os.path.join(place, "cu13")
        if os.path.exists(os.path.join(folder, "bin", "ptxas")):
            return folder
    return None


def _run(name):
    cuda = find_cuda()
    if cuda:
        os.environ.setdefault("CUDA_HOME", cuda)
    program = os.path.join(_BIN, name)
    os.execv(program, [program, *sys.argv[1:]])


def tritond():
    """Entry point."""
    _run("tritond")


def triton_worker():
    """Entry point."""
    _run("triton-worker")


def triton_client():
    """Entry point."""
    _run("triton-client")
