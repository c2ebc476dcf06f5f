# SPDX-License-Identifier: Apache-2.0
"""Writes down what is compiled, as a manifest for `triton-client prebuild`: a line a kernel, its IR in a file beside it."""
from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import typing

from tritond._abi import LaunchAbi
from tritond._errors import TritondError

_VARIABLE = "TRITOND_RECORD"
_OUTPUTS = {2: "ttgir", 3: "llir", 4: "asm", 5: "binary"}  # tritond.v1.Stage, in the words of triton-client


class RecordingError(TritondError):
    """The manifest or an IR file cannot be written: somebody who records wants to know."""


def is_on() -> bool:
    """Whether kernels are recorded now."""
    return bool(os.environ.get(_VARIABLE))


def record(name: str, target: str, text: str, options: dict[str, typing.Any], outputs: list[int],
           abi: LaunchAbi, debug_info: bool) -> None:
    """Adds a kernel to the manifest that TRITOND_RECORD names; once, however many processes compile it.

    RecordingError when it cannot be written.
    """
    manifest = os.environ.get(_VARIABLE)
    if not manifest:
        return
    entry = {
        "target": target,
        "options": {option: list(value) if isinstance(value, tuple) else value for option, value in options.items()},
        "emit": [_OUTPUTS[output] for output in outputs],
        "launch_abi": "both" if abi.profile_scratch else "global" if abi.global_scratch else "none",
        "descriptor_flags": abi.descriptor_flags,
        "debug_info": debug_info,
    }
    if abi.host_tensor_maps:
        entry["host_tensor_maps"] = True
    identity = hashlib.sha256((json.dumps(entry, sort_keys=True) + text).encode()).hexdigest()[:16]
    called = f"{''.join(c if c.isalnum() or c in '_-' else '_' for c in name)[:100]}-{identity}"
    folder = os.path.splitext(manifest)[0] + ".kernels"
    path = os.path.join(folder, called + ".ttir")
    line = json.dumps({"file": os.path.join(os.path.basename(folder), called + ".ttir"), "name": called, **entry})
    try:
        os.makedirs(folder, exist_ok=True)
        _add(manifest, line, path, text)
    except OSError as error:
        raise RecordingError(f"cannot record kernel {name}: {error}") from error


def _add(manifest: str, line: str, path: str, text: str) -> None:
    with open(manifest, "a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # until it is closed
        if os.path.exists(path):
            return
        with open(path + ".part", "w", encoding="utf-8") as part:
            part.write(text)
        os.replace(path + ".part", path)
        file.write(line + "\n")


@contextlib.contextmanager
def recording(path: str | os.PathLike[str]) -> typing.Iterator[None]:
    """Records every kernel that this process, and those that it starts, compile meanwhile, with or without a daemon.

    Kernels are compiled meanwhile though Triton's cache has them; those that the process has loaded already are not. Adds to a
    manifest that is there. OSError when the manifest cannot be written.
    """
    from tritond import _install
    from tritond._watch import when_imported

    path = os.path.abspath(os.fspath(path))
    with open(path, "a", encoding="utf-8"):
        pass
    before = {name: os.environ.get(name) for name in (_VARIABLE, "TRITON_ALWAYS_COMPILE")}
    os.environ.update({_VARIABLE: path, "TRITON_ALWAYS_COMPILE": "1"})
    when_imported("triton.backends", _install.attach)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if not _install.is_installed() and not is_on():
            _install.detach()
