# SPDX-License-Identifier: Apache-2.0
"""What the package costs, with the Triton of this environment: measure.py ADDRESS [ROUNDS]

Prints medians: an interpreter's start with and without the package while it is off, a hit's time in the package beyond the
call itself, and how soon a refused connection and a black hole are known.
"""
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import warnings

warnings.simplefilter("ignore")

import kernels  # noqa: E402

import tritond  # noqa: E402
from tritond import _kernel, _service, _settings  # noqa: E402
from tritond._errors import NotServed  # noqa: E402


def median_ms(seconds):
    return statistics.median(seconds) * 1e3


def timed(owner, name, into):
    """Has method `name` of class `owner` add the seconds of each call to `into`."""
    original = getattr(owner, name)

    def method(*arguments):
        begin = time.perf_counter()
        try:
            return original(*arguments)
        finally:
            into.append(time.perf_counter() - begin)

    setattr(owner, name, method)


def measure_start(rounds):
    """With the package's .pth file and without it, in turns."""
    switch = pathlib.Path(sysconfig.get_paths()["purelib"]) / "tritond.pth"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRITOND")}
    times = {True: [], False: []}
    for i in range(2 * rounds):
        there = i % 2 == 0
        if not there:
            switch.rename(switch.with_suffix(".off"))
        try:
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", "pass"], env=environment, check=True)
            times[there].append(time.perf_counter() - begin)
        finally:
            if not there:
                switch.with_suffix(".off").rename(switch)
    difference = median_ms([a - b for a, b in zip(times[True], times[False])])
    print(f"start: {median_ms(times[True]):.2f} ms with, {median_ms(times[False]):.2f} ms without; {difference:+.3f} ms")


def measure_hits(address, rounds):
    """Each round with an empty Triton cache, so that the daemon is asked."""
    decided, called = [], []
    timed(_kernel.Kernel, "_decide", decided)
    timed(_service.Server, "compile", called)
    tritond.install(address, on_failure="error")
    for name in ("add", "softmax", "matmul"):
        for _ in range(rounds + 3):
            with tempfile.TemporaryDirectory() as cache:
                os.environ["TRITON_CACHE_DIR"] = cache
                error = kernels.compile_one(name)["error"]
                if error:
                    raise RuntimeError(error)
        beyond = [whole - call for whole, call in zip(decided[3:], called[3:])]
        print(f"hit {name}: the call {median_ms(called[3:]):.2f} ms, the package beyond it {median_ms(beyond):.2f} ms")
        decided.clear()
        called.clear()


def measure_failures():
    """A port that nobody listens on, and one where nobody answers."""
    with socket.create_server(("127.0.0.1", 0)) as hole, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        for what, port in (("refused", closed.getsockname()[1]), ("black hole", hole.getsockname()[1])):
            address = f"127.0.0.1:{port}"
            begin = time.perf_counter()
            try:
                _service.Server(address, _settings.make_settings(server=address)).reach()
            except NotServed as failure:
                print(f"{what}: {1e3 * (time.perf_counter() - begin):.1f} ms ({failure.reason})")


if __name__ == "__main__":
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    measure_failures()
    measure_hits(sys.argv[1], count)
    measure_start(count)
