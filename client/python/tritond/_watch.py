# SPDX-License-Identifier: Apache-2.0
"""Calls a function when a module is imported, without importing it."""
from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
import typing


class _Watch(importlib.abc.MetaPathFinder):
    """Stands in sys.meta_path until its module is imported; the module itself is found and run by whoever else would."""

    def __init__(self, name: str, call: typing.Callable[[], None]) -> None:
        self.name = name
        self._call = call

    def find_spec(
        self,
        fullname: str,
        path: typing.Sequence[str] | None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec: importlib.machinery.ModuleSpec | None = None
            if finder is not self and find is not None:
                spec = find(fullname, path, target)
            if spec is not None and spec.loader is not None:
                self._follow(spec.loader)
                return spec
        return None

    def _follow(self, loader: typing.Any) -> None:
        """Has `loader` make the call once its module has run. The module is importable while the call runs."""
        run = loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            run(module)
            loader.exec_module = run
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            self._call()

        loader.exec_module = exec_module


def when_imported(name: str, call: typing.Callable[[], None]) -> None:
    """Calls `call` after the first import of module `name`; at once where it is imported already. Twice is once."""
    if name in sys.modules:
        call()
    elif not any(isinstance(finder, _Watch) and finder.name == name for finder in sys.meta_path):
        sys.meta_path.insert(0, _Watch(name, call))
