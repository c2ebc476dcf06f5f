# SPDX-License-Identifier: Apache-2.0
"""Triton programs compile through a tritond daemon: each kernel once for the whole cluster.

The variable TRITOND_SERVER switches it on without a line of code; the functions here do the same from a program. Nothing is
connected, and neither gRPC nor protobuf is imported, before the first kernel is compiled.
"""
from __future__ import annotations

import typing

__version__ = "0.1.0"
__all__ = ["LocalCompileError", "Status", "TritondError", "install", "recording", "status", "uninstall"]

if typing.TYPE_CHECKING:
    from tritond._errors import LocalCompileError, TritondError
    from tritond._install import install, uninstall
    from tritond._recording import recording
    from tritond._status import Status, status

_HOMES = {
    "LocalCompileError": "_errors",
    "TritondError": "_errors",
    "install": "_install",
    "recording": "_recording",
    "Status": "_status",
    "status": "_status",
    "uninstall": "_install",
}


def __getattr__(name: str) -> typing.Any:
    """Imports what is asked for when it is asked for: the interpreter's start must not pay for it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tritond' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"tritond.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
