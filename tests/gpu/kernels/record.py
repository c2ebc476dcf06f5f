# SPDX-License-Identifier: Apache-2.0
"""Records the launches of a Triton program: what was compiled, the arguments, and what the tensors held before.

A grid without programs launches nothing. Without a GPU tensors have shapes and no values, and kernels are compiled and not launched.
"""
from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import re
import typing

import torch
import triton
from triton.runtime.autotuner import Autotuner, Config
from triton.runtime.jit import JITFunction

import dump

Arguments = typing.Any


@dataclasses.dataclass
class Launch:
    """The first launch of a kernel with these options and specialisations."""

    name: str  # the function's, and a digest of its TTIR and options
    call: str  # the call of the program that made it
    built: typing.Any  # upstream's kernel
    grid: tuple[int, int, int]
    arguments: list[Arguments]  # as upstream's kernel takes them
    values: list[tuple[str, Arguments]]  # kinds and values of what is no constexpr
    before: dict[torch.Tensor, torch.Tensor]  # bytes of the tensors' storages, and a copy of what they held


def flat(kind: typing.Any, value: Arguments) -> list[tuple[str, Arguments]]:
    """Tuples are their elements; what the kernel was compiled for is not passed."""
    if isinstance(kind, tuple):
        return [one for k, v in zip(kind, value) for one in flat(k, v)]
    return [] if kind == "constexpr" else [(kind, value)]


def held(arguments: typing.Iterable[Arguments]) -> dict[torch.Tensor, torch.Tensor]:
    """The storages behind tensors and descriptors, as bytes, with copies."""
    found: dict[int, torch.Tensor] = {}
    for value in arguments:
        value = getattr(value, "base", value) if hasattr(value, "block_shape") else value
        if isinstance(value, tuple):
            found.update({b.data_ptr(): b for b in held(value)})
        elif isinstance(value, torch.Tensor) and value.is_cuda:
            storage = value.untyped_storage()
            found[storage.data_ptr()] = torch.empty(0, dtype=torch.uint8, device=value.device).set_(storage)
    return {bytes_: bytes_.clone() for bytes_ in found.values()}


class Recorder:
    """Sees the launches while it is on. `few`: as many configurations of @triton.autotune are tried."""

    def __init__(self, few: int) -> None:
        self.launches: dict[str, Launch] = {}
        self.call = ""
        self.values = torch.cuda.is_available()
        self._few = few
        self._seen: set[tuple[typing.Any, ...]] = set()
        self._paused = False

    @contextlib.contextmanager
    def on(self) -> typing.Iterator[None]:
        """Launches and searches inside come here."""
        run, bench, prune = JITFunction.run, Autotuner._bench, Autotuner.prune_configs
        JITFunction.run = lambda kernel, *args, **kwargs: self._run(run, kernel, args, kwargs)
        Autotuner._bench = lambda tuner, *args, **kwargs: self._bench(bench, tuner, args, kwargs)
        Autotuner.prune_configs = lambda tuner, kwargs: self._prune(prune, tuner, kwargs)
        try:
            yield
        finally:
            JITFunction.run, Autotuner._bench, Autotuner.prune_configs = run, bench, prune

    def _run(self, run: typing.Callable[..., typing.Any], kernel: JITFunction, args: tuple[Arguments, ...],
             kwargs: dict[str, typing.Any]) -> typing.Any:
        if self._paused or kwargs.get("warmup"):
            return run(kernel, *args, **kwargs) if self.values else None
        asked = {name: value for name, value in kwargs.items() if name not in ("grid", "warmup")}
        device = triton.runtime.driver.active.get_current_device()
        binder = kernel.device_caches[device][-1]
        bound, specialization, options = binder(*args, debug=False, **asked)
        key = (kernel, str(specialization), str(options))
        if key in self._seen:
            return run(kernel, *args, **kwargs) if self.values else None
        self._seen.add(key)
        before = held(bound.values()) if self.values else {}
        grid = kwargs["grid"](bound) if callable(kwargs["grid"]) else kwargs["grid"]
        built = run(kernel, *args, **{**kwargs, "warmup": not self.values})
        built = built.result() if hasattr(built, "result") else built
        if built and all(grid):
            self._keep(built, (*grid, 1, 1)[:3], bound, before)
        return built

    def _keep(self, built: typing.Any, grid: tuple[int, int, int], bound: dict[str, Arguments], before: dict[torch.Tensor, torch.Tensor]) -> None:
        signature = built.src.signature
        values = [one for name, kind in signature.items() for one in flat(kind, bound[name])]
        digest = hashlib.sha256((dump.text(built) + json.dumps(dump.options(built), sort_keys=True)).encode()).hexdigest()
        name = re.sub(r"\W", "_", built.src.fn.__name__)[:60] + "_" + digest[:6]
        if name not in self.launches:
            self.launches[name] = Launch(name, self.call, built, grid, list(bound.values()), values, before)

    def _prune(self, prune: typing.Callable[..., list[Config]], tuner: Autotuner, kwargs: dict[str, typing.Any]) -> list[Config]:
        configs = prune(tuner, kwargs)
        few = min(len(configs), self._few if self.values else 1)
        return [configs[i * len(configs) // few] for i in range(few)]

    def _bench(self, bench: typing.Callable[..., typing.Any], tuner: Autotuner, args: tuple[Arguments, ...],
               kwargs: dict[str, typing.Any]) -> typing.Any:
        if not self.values:
            return [1.0] * 3
        self._paused = True
        try:
            return bench(tuner, *args, **kwargs)
        finally:
            self._paused = False
