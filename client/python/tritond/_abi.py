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
_MAKE_DESCRIPTOR = re.compile(r"^def make_tensordesc_arg\(.*?(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
_MAP_ENTRY = re.compile(r"""metadata\[["'](\w+)["']\]""")
_MAP_ENTRIES = {"swizzle", "elem_size", "elem_type", "block_size", "fp4_padded"}  # that the daemon gives
_FIRST_WITH_MAPS = 90  # compute capability


@dataclasses.dataclass(frozen=True)
class LaunchAbi:
    """How a kernel is launched, as LaunchAbi of proto/v1/compile.proto, and the metadata that its compile makes."""

    global_scratch: bool
    profile_scratch: bool
    descriptor_flags: int
    host_tensor_maps: bool
    metadata_fields: frozenset[str]

    def for_kernel(self, target: str, takes_descriptors: bool) -> LaunchAbi:
        """The same without what is of no use to a kernel, so that it has the key of other launchers' requests."""
        number = re.match(r"cuda:(\d+)", target)
        has_maps = takes_descriptors and number is not None and int(number.group(1)) >= _FIRST_WITH_MAPS
        return dataclasses.replace(self, host_tensor_maps=self.host_tensor_maps and has_maps)


def _makes_maps(compiler_source: str, driver_source: str) -> bool:
    """Whether the launcher makes a tensor map of one descriptor and passes the parts of another."""
    made = _MAKE_DESCRIPTOR.search(driver_source)
    if made is None or "tensordesc_meta" not in _METADATA.findall(compiler_source):
        return False
    entries = set(_MAP_ENTRY.findall(made.group(0)))
    return "metadata is None" in made.group(0) and bool(entries) and entries <= _MAP_ENTRIES


def read_abi(compiler_source: str, driver_source: str) -> LaunchAbi:
    """The record of a Triton with these sources."""
    return LaunchAbi(
        global_scratch="global_scratch" in driver_source,
        profile_scratch="profile_scratch" in driver_source,
        descriptor_flags=min(2, len(_DESCRIPTOR_FLAG.findall(driver_source))),
        host_tensor_maps=_makes_maps(compiler_source, driver_source),
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
