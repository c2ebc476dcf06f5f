# SPDX-License-Identifier: Apache-2.0
"""Measures the configurations of a search in turns, in place of Triton's own benchmark.

Triton measures one configuration after the other, an eighth of a second each, however slow it is beside the others. A GPU that
gets hot clocks down meanwhile, so that later configurations look slower than they are. Here a visit takes a millisecond or two, and
each round visits all configurations that may still win. They are compared within rounds. Only where the program leaves the
benchmark to Triton: a benchmark of its own may mean something else by "fast".
"""
from __future__ import annotations

import contextlib
import math
import statistics
import typing

_VISIT_MS = 1.0
_MOST_RUNS = 10  # of a visit
_ROUNDS = 12  # beyond the first one
_FEWEST_ROUNDS = 4  # where kernels are so slow that each configuration then has had _ENOUGH_MS, about what Triton gives it
_ENOUGH_MS = 100.0
# A configuration leaves when its median is so many times the best one's: after the first round, the second one, and so on. The
# last number holds from then on. A clock that a power limit sets goes up and down by a third within a round.
_LEAVES = (1.5, 1.25, 1.25, 1.1)


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


def leveled(visits: typing.Mapping[str, typing.Sequence[typing.Sequence[float]]]) -> dict[str, list[float]]:
    """All times of each configuration, from equally many rounds, as if the device had been equally fast in all of them.

    How fast it was in a round, the round's configurations tell together. The first round only counts alone: it wakes the device.
    """
    rounds = {name: [statistics.median(visit) for visit in there[1:] or there] for name, there in visits.items()}
    usual = {name: statistics.median(medians) or 1.0 for name, medians in rounds.items()}
    levels = [statistics.median(shares) or 1.0
              for shares in zip(*([median / usual[name] for median in medians] for name, medians in rounds.items()))]
    return {name: [time / level for level, visit in zip(levels, there[1:] or there) for time in visit]
            for name, there in visits.items()}


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
        multiples_of: dict[str, list[float]] = {}  # of those that have left: times as multiples of the best one's median then
        visits: dict[str, list[list[float]]] = {name: [] for name in configs}
        left, best = list(configs), 0.0
        with self._hearing():
            for number in range(1 + _ROUNDS):
                for name in left if number % 2 == 0 else list(reversed(left)):
                    self._heard = []
                    results[name] = self._measure(configs[name])
                    visits[name].append(self._heard)
                # Without times the autotuner has found that the configuration does not run.
                times = leveled({name: visits[name] for name in left if self._answered(visits[name])})
                medians = {name: statistics.median(times[name]) for name in times}
                best = min(medians.values(), default=best)
                limit = best * _LEAVES[min(number, len(_LEAVES) - 1)]
                for name in times:
                    multiples_of[name] = [time / best if best > 0 else 1.0 for time in times[name]]
                left = [name for name in times if medians[name] <= limit]
                if len(left) < 2:
                    break
                if number >= _FEWEST_ROUNDS and best * sum(map(len, visits[left[0]])) >= _ENOUGH_MS:
                    break
        # Whoever has left does so many times worse than the best one, whatever the clock did since.
        for name, multiples in multiples_of.items():
            if self._answered(visits[name]):
                results[name] = quantiles_of([multiple * best for multiple in multiples], self._quantiles)
        return results

    @staticmethod
    def _answered(visits: list[list[float]]) -> bool:
        return bool(visits) and bool(visits[-1])

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
