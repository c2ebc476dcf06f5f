# SPDX-License-Identifier: Apache-2.0
"""A short look at each configuration of a search, so that only promising ones are measured at length.

Triton's own benchmark takes an eighth of a second for each configuration, however slow that is beside the others. A look takes a few
milliseconds. Only where the program leaves the benchmark to Triton: a benchmark of its own may mean something else by "fast".
"""
from __future__ import annotations

import contextlib
import math
import typing

# Clocks that change and noise make a look wrong by a few percent. What takes so many times as long as the fastest is not the fastest.
_PROMISING = 1.25
_LOOK_MS = 5.0
_MOST_RUNS = 10


def fits(autotuner: typing.Any) -> bool:
    """Whether the autotuner measures with Triton's own benchmark, on a device that can be looked at."""
    import triton.testing  # type: ignore[import-not-found, unused-ignore]
    from triton.runtime.driver import driver  # type: ignore[import-not-found, unused-ignore]

    own, active = vars(autotuner), driver.active
    if "_do_bench" not in own or own["_do_bench"] is not None:
        return False
    needed = ("get_device_interface", "get_empty_cache_for_benchmark", "clear_cache", "get_benchmarker")
    return all(hasattr(active, name) for name in needed) and active.get_benchmarker() is triton.testing.do_bench


def look(call: typing.Callable[[], typing.Any], quantiles: typing.Sequence[float]) -> list[float]:
    """The quantiles of the milliseconds that a few calls take on the device, its last cache emptied before each."""
    from triton.runtime.driver import driver  # type: ignore[import-not-found, unused-ignore]

    active = driver.active
    interface = active.get_device_interface()
    cache = active.get_empty_cache_for_benchmark()

    def run(count: int) -> list[float]:
        pairs = [(interface.Event(enable_timing=True), interface.Event(enable_timing=True)) for _ in range(count)]
        for begin, end in pairs:
            active.clear_cache(cache)
            begin.record()
            call()
            end.record()
        interface.synchronize()
        return [begin.elapsed_time(end) for begin, end in pairs]

    call()
    times = run(1)
    if times[0] < _LOOK_MS:
        times += run(min(_MOST_RUNS - 1, math.ceil(_LOOK_MS / max(times[0], 1e-3))))
    times.sort()
    return [times[round(quantile * (len(times) - 1))] for quantile in quantiles]


@contextlib.contextmanager
def looking(autotuner: typing.Any) -> typing.Iterator[None]:
    """Meanwhile the autotuner's benchmark is a look."""
    own = vars(autotuner)
    before = own.get("do_bench")  # its property keeps what it found here
    own["do_bench"] = look
    try:
        yield
    finally:
        if before is None:
            del own["do_bench"]
        else:
            own["do_bench"] = before


def hopeless(times: typing.Mapping[str, typing.Any]) -> dict[str, typing.Any]:
    """Of these looks, by configuration, those that need no measurement."""
    fastest = min((time[0] for time in times.values()), default=math.inf)
    return {text: time for text, time in times.items() if not time[0] <= fastest * _PROMISING or math.isinf(time[0])}
