# SPDX-License-Identifier: Apache-2.0
"""Measures the configurations of a search in turns, in place of Triton's own benchmark.

Triton measures one configuration after the other, an eighth of a second each, however slow it is beside the others. A GPU that
gets hot clocks down meanwhile, so that later configurations look slower than they are. Here a visit takes a few milliseconds, and
each round visits all configurations that may still win. Only where the program leaves the benchmark to Triton: a benchmark of its
own may mean something else by "fast".
"""
from __future__ import annotations

import contextlib
import math
import typing

_VISIT_MS = 5.0
_MOST_RUNS = 10  # of a visit
_ROUNDS = 6
# A configuration leaves when its median is so many times the best one's: behind the first round, whose clocks are any, and behind
# the others.
_LEAVES = (1.25, 1.1)


def fits(autotuner: typing.Any) -> bool:
    """Whether the autotuner measures with Triton's own benchmark, on a device that has what visits need."""
    import triton.testing  # type: ignore[import-not-found, unused-ignore]
    from triton.runtime.driver import driver  # type: ignore[import-not-found, unused-ignore]

    own, active = vars(autotuner), driver.active
    if "_do_bench" not in own or own["_do_bench"] is not None:
        return False
    needed = ("get_device_interface", "get_empty_cache_for_benchmark", "clear_cache", "get_benchmarker")
    return all(hasattr(active, name) for name in needed) and active.get_benchmarker() is triton.testing.do_bench


def visit(call: typing.Callable[[], typing.Any]) -> list[float]:
    """Milliseconds that a few calls take on the device, its last cache emptied before each; one more call goes before."""
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
    if times[0] < _VISIT_MS:
        times += run(min(_MOST_RUNS - 1, math.ceil(_VISIT_MS / max(times[0], 1e-3))))
    return times


def quantiles_of(times: typing.Sequence[float], quantiles: typing.Sequence[float]) -> list[float]:
    """The nearest of `times` to each quantile."""
    ordered = sorted(times)
    return [ordered[round(quantile * (len(ordered) - 1))] for quantile in quantiles]


class Turns:
    """One search of an autotuner. `measure` asks it for one configuration's time."""

    def __init__(self, autotuner: typing.Any, measure: typing.Callable[[typing.Any], typing.Any]) -> None:
        self._autotuner = autotuner
        self._measure = measure
        self._quantiles: typing.Sequence[float] = ()
        self._heard: list[float] = []  # of the visit under way

    def run(self, configs: typing.Mapping[str, typing.Any]) -> dict[str, typing.Any]:
        """What the benchmark gives for each configuration, by the names that they have here."""
        results: dict[str, typing.Any] = {}
        times: dict[str, list[float]] = {}
        left = list(configs)
        with self._hearing():
            for number in range(1 + _ROUNDS):
                for name in left if number % 2 == 0 else list(reversed(left)):
                    self._heard = []
                    result = self._measure(configs[name])
                    # Beyond the first round only the others count: until then no clock is what it will be. Without times the
                    # autotuner has found that the configuration does not run.
                    times[name] = self._heard if number <= 1 else times[name] + self._heard
                    results[name] = quantiles_of(times[name], self._quantiles) if self._heard else result
                medians = {name: quantiles_of(times[name], (0.5,))[0] for name in left if times[name]}
                limit = min(medians.values(), default=math.inf) * _LEAVES[0 if number == 0 else 1]
                left = [name for name, median in medians.items() if median <= limit]
                if len(left) < 2:
                    break
        return results

    def _bench(self, call: typing.Callable[[], typing.Any], quantiles: typing.Sequence[float]) -> list[float]:
        self._quantiles, self._heard = quantiles, visit(call)
        return quantiles_of(self._heard, quantiles)

    @contextlib.contextmanager
    def _hearing(self) -> typing.Iterator[None]:
        """Meanwhile the autotuner's benchmark is a visit. Its property keeps what it finds under this name."""
        own = vars(self._autotuner)
        before = own.get("do_bench")
        own["do_bench"] = self._bench
        try:
            yield
        finally:
            if before is None:
                del own["do_bench"]
            else:
                own["do_bench"] = before
