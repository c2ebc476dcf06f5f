# SPDX-License-Identifier: Apache-2.0
"""What the installed Triton expects of a compiled kernel, read from its sources.

Version numbers do not tell: forks with equal numbers differ. The launcher's source does: which hidden parameters it passes, and the
compiler's, which metadata it fills in.
"""
from __future__ import annotations

import dataclasses
import inspect
import os
import re

_METADATA = re.compile(r"""metadata\[["'](\w+)["']\]\s*[-+*|]?=[^=]""")
_DESCRIPTOR_FLAG = re.compile(r"""\.append\(["']i1["']\)""")


@dataclasses.dataclass(frozen=True)
class LaunchAbi:
    """Hidden parameters of a kernel, as LaunchAbi of proto/v1/compile.proto, and the metadata that its compile makes."""

    global_scratch: bool
    profile_scratch: bool
    descriptor_flags: int
    metadata_fields: frozenset[str]


def read_abi(compiler_source: str, driver_source: str) -> LaunchAbi:
    """The record of a Triton with these sources."""
    return LaunchAbi(
        global_scratch="global_scratch" in driver_source,
        profile_scratch="profile_scratch" in driver_source,
        descriptor_flags=min(2, len(_DESCRIPTOR_FLAG.findall(driver_source))),
        metadata_fields=frozenset(_METADATA.findall(compiler_source)),
    )


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


_probed: dict[str, LaunchAbi] = {}


def probe_abi(backend_class: type) -> LaunchAbi:
    """The record of the installed Triton's backend. OSError when its sources are not there."""
    # Up to 3.3 the class's module is not in sys.modules, so inspect.getfile() knows nothing of it.
    functions = [inspect.unwrap(f) for f in vars(backend_class).values() if inspect.isfunction(f)]
    folder = os.path.dirname(next(f.__code__.co_filename for f in functions if f.__name__ == "pack_metadata"))
    if folder not in _probed:
        shared = os.path.join(os.path.dirname(folder), "driver.py")  # where newer releases expand descriptors
        drivers = [os.path.join(folder, "driver.py")] + ([shared] if os.path.exists(shared) else [])
        _probed[folder] = read_abi(_read(os.path.join(folder, "compiler.py")), "\n".join(_read(path) for path in drivers))
    return _probed[folder]
