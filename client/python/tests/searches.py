# SPDX-License-Identifier: Apache-2.0
"""A program with @triton.autotune, run without a GPU: searches.py '{"stages": 2, …}' prints one JSON object.

    {"measured": [times], "winner": [num_warps, num_stages], "launches": [[num_warps, num_stages]], "status": {…}}

The device is made up. A launch notes its configuration, and the benchmark's clock goes by it.
"""
import dataclasses
import inspect
import json
import os
import sys
import threading
import time
import types
import warnings

import library_hash
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.runtime import autotuner
from triton.runtime.driver import driver
from triton.runtime.errors import OutOfResources

WARPS = (1, 2, 4, 8)
LOADED = 5 if "n_max_threads" in inspect.getsource(triton.compiler.CompiledKernel) else 4  # what loading a binary gives
OWN_BENCHMARK = "do_bench" in autotuner.Autotuner.__init__.__code__.co_varnames


class Tensor:
    """What a launcher asks of a tensor, and what reset_to_zero and restore_value do to one."""

    dtype = "float32"

    def __init__(self, events=None):
        self.events = [] if events is None else events

    def data_ptr(self):
        return 4096

    def zero_(self):
        self.events.append("zero")

    def clone(self):
        self.events.append("clone")
        return self

    def copy_(self, _):
        self.events.append("copy")


def milliseconds(warps, stages):
    """8 warps and many stages are fast."""
    return 100.0 / warps - stages * 0.01


class Event:
    def __init__(self, device):
        self.device = device
        self.at = 0.0

    def record(self):
        self.at = self.device.clock_ms

    def elapsed_time(self, end):
        return end.at - self.at


class Device:
    """Triton's driver of a GPU that is not there."""

    def __init__(self):
        self.utils = self
        self.launches = []
        self.clock_ms = 0.0
        self.slowness = lambda launches: 1.0  # by how many launches there were
        self.too_large = None  # a configuration that does not run
        self.threads = set()

    def launcher_cls(self, source, metadata):
        def launch(*_):
            self.launches.append((metadata.num_warps, metadata.num_stages))
            if (metadata.num_warps, metadata.num_stages) == self.too_large:
                raise OutOfResources(2, 1, "shared memory")
            self.clock_ms += milliseconds(metadata.num_warps, metadata.num_stages) * self.slowness(len(self.launches))

        return launch

    def get_device_properties(self, _):
        return {"max_shared_mem": 232448}

    def load_binary(self, *_):
        return (1, 2, 32, 0, 1024)[:LOADED]

    def unload_module(self, _):
        pass

    def get_current_device(self):
        return 0

    def set_current_device(self, _):
        self.threads.add(threading.get_ident())

    def get_current_stream(self, _):
        return 0

    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)

    def get_benchmarker(self):
        import triton.testing

        return triton.testing.do_bench

    # What Triton's own benchmark asks for. Its clock is that of the launches.

    def get_device_interface(self):
        return self

    def synchronize(self):
        pass

    def get_empty_cache_for_benchmark(self):
        return None

    def clear_cache(self, _):
        pass

    def Event(self, enable_timing):
        return Event(self)


def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


def spelled(left, right, result, n, BLOCK: tl.constexpr):
    # The same in other words; its name is made the same below.
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(result + index, tl.load(left + index, mask=index < n) + tl.load(right + index, mask=index < n), mask=index < n)


class Program:
    """An autotuned function on a device of its own. `stages`: that many times four configurations. `default_benchmark`: Triton's
    measures, and not `bench`. `until`: a file that each measurement waits for."""

    def __init__(self, stages=2, seconds=0.0, until=None, function=add, warps=WARPS, configs=None, model="Test GPU",
                 default_benchmark=False, **arguments):
        from tritond import _device

        _device.identify = lambda backend, device: (model, "1.0")
        self.device = Device()
        self.measured = []
        self.failure = None  # what the benchmark raises
        self.seconds = seconds
        self.until = until
        driver.set_active(self.device)
        warnings.simplefilter("ignore")  # Triton's own, about options that go
        configs = configs or [triton.Config({"BLOCK": 128}, num_warps=w, num_stages=s) for w in warps for s in range(1, stages + 1)]
        settings = {"do_bench": self.bench} if OWN_BENCHMARK and not default_benchmark else {}
        if not OWN_BENCHMARK:  # Triton 3.0 and 3.1
            autotuner.do_bench = self.bench
            sys.modules.setdefault("torch", types.SimpleNamespace(cuda=types.SimpleNamespace(is_available=lambda: False)))
        self.function = triton.autotune(configs=configs, key=["n"], **settings, **arguments)(triton.jit(function))
        if settings and vars(self.function).get("do_bench", self.bench) != self.bench:
            self.function.do_bench = self.bench  # Triton 3.2's decorator takes it and passes it to nobody

    def bench(self, call, quantiles=None, **_):
        call()
        if self.failure is not None:
            raise self.failure
        time.sleep(self.seconds)
        while self.until and not os.path.exists(self.until):
            time.sleep(0.02)
        warps, stages = self.device.launches[-1]
        self.measured.append((warps, stages))
        return [milliseconds(warps, stages)] * 3

    def run(self, n=1000, grid=(8,), **arguments):
        x, y, out = arguments.pop("tensors", None) or (Tensor(), Tensor(), Tensor())
        self.function[grid](x, y, out, n, **arguments)
        return [self.function.best_config.num_warps, self.function.best_config.num_stages]


def main(settings):
    library_hash.take()
    renamed = settings.pop("renamed", False)
    if renamed:
        spelled.__name__ = spelled.__qualname__ = "add"
    begin = time.monotonic()
    program = Program(function=spelled if renamed else add, **settings)
    winner = program.run()
    import tritond

    print(json.dumps({"measured": program.measured, "winner": winner, "launches": program.device.launches,
                      "seconds": time.monotonic() - begin, "status": dataclasses.asdict(tritond.status())}))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]) if len(sys.argv) > 1 else {})
