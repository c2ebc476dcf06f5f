# SPDX-License-Identifier: Apache-2.0
"""@triton.autotune through the daemon: configurations compile at the same time, and one process of the cluster measures.

Triton's autotuner stays as it is: it prunes, asks for one configuration's time after the other, chooses, resets, and keeps what it
always keeps. Here only each answer to "how long does this configuration take" may be one that another process has measured, or
that was measured in turns (_turns). What goes wrong here costs time: then the configuration is measured.
"""
from __future__ import annotations

import functools
import logging
import math
import os
import threading
import typing
import weakref

from tritond import _install, _precompile
from tritond._errors import NotServed
from tritond._status import counts

if typing.TYPE_CHECKING:
    from tritond import _schema
    from tritond._tuning_desk import Desk
    from tritond._tuning_key import Program

_log = logging.getLogger("tritond")
_MOST_AT_ONCE = 64
_MOST_RELAYS = 8
# The search that each autotuner is in. Not an attribute: programs copy and pickle autotuners.
_searches: weakref.WeakKeyDictionary[typing.Any, Search] = weakref.WeakKeyDictionary()


def prune_configs(original: typing.Any) -> typing.Any:
    """Autotuner.prune_configs, with which a search begins."""

    @functools.wraps(original)
    def prune(self: typing.Any, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        configs = original(self, *args, **kwargs)
        session = _install.current_session()
        _searches.pop(self, None)
        if session is not None and session.settings.tuning and len(configs) > 1:
            _searches[self] = Search(list(configs), session)
        return configs

    return prune


def bench(original: typing.Any) -> typing.Any:
    """Autotuner._bench, which gives one configuration's time."""

    @functools.wraps(original)
    def bench_one(self: typing.Any, *args: typing.Any, config: typing.Any, **meta: typing.Any) -> typing.Any:
        search = _searches.get(self)

        def measure(config: typing.Any) -> typing.Any:
            return original(self, *args, config=config, **meta)

        if search is None or not search.has(config):
            return measure(config)
        return search.time(self, config, args, meta, measure)

    return bench_one


class Search:
    """The times of the configurations that one key of one function has. Belongs to the thread that began it."""

    def __init__(self, configs: list[typing.Any], session: _install.Session) -> None:
        self._autotuner: typing.Any = None  # while it measures
        self._session = session
        self._configs = configs
        self._texts: dict[int, str] = {}  # by the configuration's id
        self._times: dict[str, typing.Any] = {}
        self._owner = (os.getpid(), threading.get_ident())
        self._left = len(configs)
        self._begun = False
        self._desk: Desk | None = None
        self._stored: dict[str, typing.Any] = {}
        self._turned: dict[str, typing.Any] = {}  # measured in turns

    def has(self, config: typing.Any) -> bool:
        """Whether this is one of the search's, asked for by whom it belongs to."""
        return (os.getpid(), threading.get_ident()) == self._owner and any(config is one for one in self._configs)

    def time(self, autotuner: typing.Any, config: typing.Any, args: tuple[typing.Any, ...], meta: dict[str, typing.Any],
             measure: typing.Callable[[typing.Any], typing.Any]) -> typing.Any:
        """What Triton's benchmark gives for the configuration, here or elsewhere."""
        try:
            if not self._begun:
                self._begun, self._autotuner = True, autotuner
                self._guard(lambda: self._begin(args, meta))
                self._measure_in_turns(measure)
            text = self._texts.get(id(config), "")
            known = self._stored.get(text, self._turned.get(text))
            result = measure(config) if known is None else known
        except BaseException:
            self._end(lambda desk: desk.abandon())
            raise
        self._times[text] = result
        self._left -= 1
        if self._left == 0:
            self._finish()
        return result

    def _measure_in_turns(self, measure: typing.Callable[[typing.Any], typing.Any]) -> None:
        """Measures all configurations at once. Without names nothing is known of a configuration later."""
        from tritond import _turns

        if not self._stored and self._texts and _turns.fits(self._autotuner):
            self._turned = _turns.Turns(self._autotuner, measure).run({self._texts[id(config)]: config for config in self._configs})

    def _guard(self, step: typing.Callable[[], None]) -> None:
        """Runs what must not break the program."""
        from tritond._tuning_key import NotShared

        try:
            step()
        except (NotShared, NotServed):
            pass
        except Exception as error:
            _log.debug("tritond: a search is not shared: %s: %s", type(error).__name__, error)

    def _begin(self, args: tuple[typing.Any, ...], meta: dict[str, typing.Any]) -> None:
        from tritond import _tuning_desk, _tuning_key

        function = _tuning_key.jit_function(self._autotuner)
        conflict = any(meta.keys() & config.kwargs.keys() for config in self._configs)
        if function is None or conflict or meta.get("warmup") or _install.has_hook() or _looks_on(function):
            return
        service = self._session.service()
        program = self._name(args, meta)
        self._desk = _tuning_desk.Desk(service.line(program.function) if program else None, self._session.settings.tuning_wait)
        if program and program.source and self._take(program, self._desk.acquire(program.key())):
            return
        kernels = self._compile(args, meta)
        if program is None or None in kernels.values() or not any(kernels.values()):
            return
        key = program.key([kernels[text] or "" for text in program.configurations])
        stored = self._desk.acquire(key)
        if self._take(program, stored):
            self._end(lambda desk: desk.store(_without_time(stored)))  # under the source's name too

    def _name(self, args: tuple[typing.Any, ...], meta: dict[str, typing.Any]) -> Program | None:
        from tritond import _tuning_key

        try:
            texts = {id(config): _tuning_key.configuration_text(config) for config in self._configs}
            program = _tuning_key.name_program(self._autotuner, [texts[id(config)] for config in self._configs], args, meta)
        except _tuning_key.NotShared:
            return None
        self._texts = texts
        return program

    def _take(self, program: Program, stored: _schema.Message | None) -> bool:
        """Uses a stored tuning, if it is one for these configurations."""
        if stored is None or len(stored.timings) != len(program.configurations):
            return False
        times = {text: list(timing.milliseconds) for text, timing in zip(program.configurations, stored.timings)}
        if times.get(stored.winner) != min(times.values()) or len({len(time) for time in times.values()}) != 1:
            return False
        self._stored = {text: time if len(time) > 1 else time[0] for text, time in times.items()}
        return True

    def _compile(self, args: tuple[typing.Any, ...], meta: dict[str, typing.Any]) -> dict[str, str | None]:
        """Has all configurations compiled; the names of their kernels, as Job's, by the configurations' texts."""
        from triton.runtime.driver import driver  # type: ignore[import-not-found, unused-ignore]

        from tritond._transport import grpc_is_usable

        active = driver.active
        device = active.get_current_device()
        set_device = getattr(active, "set_current_device", None)

        def compile_one(config: typing.Any) -> typing.Any:
            if set_device is not None:
                set_device(device)  # each thread has its own
            return self._autotuner.fn.run(*args, **{**meta, **config.all_kwargs(), "warmup": True})

        with _precompile.Group(_MOST_AT_ONCE if grpc_is_usable() else _MOST_RELAYS, self._session.settings.timeout) as group:
            for config in self._configs:
                arguments = {**self._autotuner.nargs, **meta, **config.all_kwargs()}
                prepare = functools.partial(config.pre_hook, arguments) if config.pre_hook else None
                if not group.add(prepare, functools.partial(compile_one, config)):
                    break
            group.wait()
        names = [job.kernel for job in group.jobs] + [None] * (len(self._configs) - len(group.jobs))
        return {self._texts.get(id(config), ""): name for config, name in zip(self._configs, names)}

    def _finish(self) -> None:
        """All configurations have their time."""
        _searches.pop(self._autotuner, None)
        if self._stored:
            counts.add_tuned("shared")
            return
        shared = False

        def store(desk: Desk) -> None:
            nonlocal shared
            tuning = self._measured()
            if tuning is None:
                desk.abandon()
            else:
                shared = desk.store(tuning)

        self._end(store)
        counts.add_tuned("measured" if shared else "alone")

    def _measured(self) -> _schema.Message | None:
        """The ProgramTuning of what was measured; None where the benchmark gives something else than numbers."""
        from tritond import _schema

        numbers = {text: _numbers(time) for text, time in self._times.items()}
        if "" in numbers or len({len(time) for time in numbers.values()}) != 1:
            return None
        winner = min((self._texts[id(config)] for config in self._configs), key=numbers.__getitem__)
        if not all(math.isfinite(number) for number in numbers[winner]):
            return None  # none of them runs here, now
        tuning = _schema.ProgramTuning(winner=winner)
        for text in sorted(numbers):
            tuning.timings.add(milliseconds=numbers[text])
        return tuning

    def _end(self, step: typing.Callable[[Desk], typing.Any]) -> None:
        desk, self._desk = self._desk, None
        if desk is not None:
            self._guard(lambda: step(desk))


def _numbers(time: typing.Any) -> list[float]:
    return [float(number) for number in time] if isinstance(time, (list, tuple)) else [float(time)]


def _without_time(tuning: _schema.Message) -> _schema.Message:
    tuning.ClearField("created")
    return tuning


def _looks_on(function: typing.Any) -> bool:
    """Whether somebody is told of each compile or run of the function: a compile ahead would be one more."""
    import triton  # type: ignore[import-not-found, unused-ignore]

    runtime = getattr(getattr(triton, "knobs", None), "runtime", None)
    hooks = [getattr(runtime, "jit_cache_hook", None), getattr(runtime, "jit_post_compile_hook", None),
             getattr(function, "cache_hook", None), getattr(function, "compiled_hook", None)]
    return any(hook is not None for hook in hooks) or bool(getattr(function, "pre_run_hooks", None))
