# SPDX-License-Identifier: Apache-2.0
"""Puts the daemon into Triton's backends, and takes it out.

Every backend's add_stages is replaced by one that calls it and then takes its stages over. Triton's own hook for that (
knobs.runtime.add_stages_inspection_hook, from 3.6 on) is left to users: there is one of it, and from 3.7 on each launch calls it.
The backend's hash is extended, so that Triton's caches, which stay in front, keep the two compilers' kernels apart.
"""
from __future__ import annotations

import functools
import logging
import sys
import threading
import typing

from tritond import _recording
from tritond._errors import NotServed, TritondError
from tritond._kernel import Kernel
from tritond._settings import Settings, make_settings
from tritond._watch import when_imported

if typing.TYPE_CHECKING:
    from tritond._service import Service

_log = logging.getLogger("tritond")
_lock = threading.RLock()
_session: Session | None = None
_installed = False
_originals: list[tuple[type, str, typing.Any, typing.Any]] = []


def current_session() -> Session | None:
    """What compiles go to; None while off, or where kernels are only recorded."""
    return _session


def is_installed() -> bool:
    """Whether compiles of this process are meant to go to a daemon."""
    return _installed


def install(server: str | None = None, *, on_failure: str | None = None,
            reach_timeout: float | None = None, timeout: float | None = None,
            token: str | None = None, token_file: str | None = None, tls: bool | None = None,
            tls_ca: str | None = None, tls_cert: str | None = None, tls_key: str | None = None,
            tenant: str | None = None, debug_info: bool | None = None, any_build: bool | None = None,
            tuning: bool | None = None, tuning_wait: float | None = None) -> None:
    """Has this process and its forks compile through `server`; again, with other settings, from the next kernel on.

    What is not given comes from the environment (docs/python.md lists the variables); times are seconds. Connects to nothing.
    ValueError when a value makes no sense or there is no server, OSError for a file that cannot be read.
    """
    global _session, _installed
    settings = make_settings(server=server, on_failure=on_failure, reach_timeout=reach_timeout, timeout=timeout, token=token,
                             token_file=token_file, tls=tls, tls_ca=tls_ca, tls_cert=tls_cert, tls_key=tls_key, tenant=tenant,
                             debug_info=debug_info, any_build=any_build, tuning=tuning, tuning_wait=tuning_wait)
    if not settings.servers:
        raise ValueError("no server: pass one to install(), or set TRITOND_SERVER")
    with _lock:
        _session = Session(settings)
        _installed = True
    when_imported("triton.backends", attach)
    when_imported("triton.runtime.autotuner", attach_tuning)


def uninstall() -> None:
    """Compiles of this process are Triton's own again. Kernels that it has keep working. Nothing to do: nothing is done."""
    global _session, _installed
    with _lock:
        _session, _installed = None, False
        if not _recording.is_on():
            detach()


def install_from_environment() -> None:
    """For tritond.pth. A wrong variable must not keep a program from starting: it is an error in the log, or, where
    on_failure is "error", an exception."""
    import os

    try:
        if os.environ.get("TRITOND_SERVER") and not _installed:
            install()
        else:
            when_imported("triton.backends", attach)
    except (OSError, ValueError) as error:
        if os.environ.get("TRITOND_ON_FAILURE") == "error":
            raise TritondError(f"tritond: {error}") from error
        _log.error("tritond: kernels are compiled locally: %s", error)


def attach() -> None:
    """Replaces the methods of every backend of the installed Triton. Twice is once."""
    from triton.backends import backends  # type: ignore[import-not-found, unused-ignore]

    with _lock:
        if any(owner is backend.compiler for owner, *_ in _originals for backend in backends.values()):
            return
        for backend in backends.values():
            _replace(backend.compiler, "add_stages", _add_stages)
            _replace(backend.compiler, "hash", _hash)


def attach_tuning() -> None:
    """The same for the autotuner of the installed Triton; nothing while that is being imported, or this package is off."""
    from tritond import _tuning

    Autotuner = getattr(sys.modules.get("triton.runtime.autotuner"), "Autotuner", None)
    with _lock:
        if Autotuner is None or not _installed or any(owner is Autotuner for owner, *_ in _originals):
            return
        _replace(Autotuner, "prune_configs", _tuning.prune_configs)
        _replace(Autotuner, "_bench", _tuning.bench)


def detach() -> None:
    """Puts the original methods back where nobody has replaced ours."""
    with _lock:
        for owner, name, original, ours in _originals:
            if vars(owner).get(name) is ours:
                setattr(owner, name, original)
        _originals.clear()


def _replace(owner: type, name: str, make: typing.Callable[[typing.Any], typing.Any]) -> None:
    original = vars(owner).get(name)
    if original is None:
        return
    ours = make(original)
    setattr(owner, name, ours)
    _originals.append((owner, name, original, ours))


def _add_stages(original: typing.Any) -> typing.Any:
    @functools.wraps(original)
    def add_stages(self: typing.Any, stages: dict[str, typing.Any], options: typing.Any, *more: typing.Any,
                   **named: typing.Any) -> None:
        original(self, stages, options, *more, **named)
        session = _session
        if (session is not None or _recording.is_on()) and not has_hook():
            Kernel(self, options, stages, session).take_over(stages)

    return add_stages


def _hash(original: typing.Any) -> typing.Any:
    @functools.wraps(original)
    def hash_of_backend(self: typing.Any) -> str:
        text: str = original(self)
        return f"{text}-tritond" if _session is not None else text

    return hash_of_backend


def has_hook() -> bool:
    """Whether the user looks into, or changes, Triton's own stages: they are his then."""
    import triton  # type: ignore[import-not-found, unused-ignore]

    runtime = getattr(getattr(triton, "knobs", None), "runtime", None)
    return getattr(runtime, "add_stages_inspection_hook", None) is not None


class Session:
    """Settings, and the connections that are made with them when the first kernel comes."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._made: Service | None = None

    def resting(self) -> dict[str, float]:
        """As Service's."""
        return self._made.resting() if self._made else {}

    def service(self) -> Service:
        """Imports protobuf. NotServed when it is missing or does not fit."""
        with _lock:
            if self._made is None:
                try:
                    from tritond._service import Service
                except ImportError as error:
                    raise NotServed("package", f"a package is missing or does not fit: {error}") from error
                self._made = Service(self.settings)
            return self._made
