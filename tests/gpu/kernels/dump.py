# SPDX-License-Identifier: Apache-2.0
"""Compiles the cases of a module with upstream Triton, without a GPU: `python3 dump.py MODULE FOLDER`.

Writes NAME.ttir, NAME.json (options and parameters) for the daemon, and upstream's NAME.up.ptx and NAME.up.cubin to compare with.
"""
from __future__ import annotations

import importlib
import json
import pathlib
import re
import sys
import typing

import triton
from triton.backends.compiler import GPUTarget


class NoGpu:
    """As much of Triton's driver as compiles for an H100 or H200 need."""

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, _device: int) -> int:
        return 0

    def map_python_to_cpp_type(self, kind: str) -> str:
        return kind


def text(built: typing.Any) -> str:
    """A kernel's TTIR. Its locations name files without their folders."""
    return re.sub(r'"(?:/[^"/]+)+/([^"/]+)"', r'"\1"', built.asm["ttir"])


def options(built: typing.Any, num_warps: int | None = None) -> dict[str, typing.Any]:
    """What it was compiled with. Upstream counts warps that it adds for partitions, too; `num_warps` are the source's."""
    found = {name: value for name, value in built.metadata._asdict().items() if isinstance(value, (int, float, str, bool, type(None)))}
    return {**found, "num_warps": num_warps or found["num_warps"]}


def write(built: typing.Any, name: str, folder: pathlib.Path, num_warps: int | None = None) -> None:
    """NAME.ttir, NAME.json, NAME.up.ptx and NAME.up.cubin."""
    parameters = [(parameter, kind) for parameter, kind in built.src.signature.items() if kind != "constexpr"]
    stem = folder / name
    stem.with_suffix(".json").write_text(json.dumps({"case": name, "params": parameters, "options": options(built, num_warps)}, indent=1))
    stem.with_suffix(".ttir").write_text(text(built))
    stem.with_suffix(".up.ptx").write_text(built.asm["ptx"])
    stem.with_suffix(".up.cubin").write_bytes(built.asm["cubin"])


def dump(make: typing.Callable[[], typing.Any], folder: pathlib.Path) -> None:
    """Compiles one case."""
    case = make()
    built = case.kernel.warmup(*case.args, grid=case.grid, **case.constexprs, **case.options)
    write(built, make.__name__, folder, case.options.get("num_warps", 4))


def main() -> int:
    """0 where all cases compile."""
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    triton.runtime.driver.set_active(NoGpu())
    failed = 0
    for make in importlib.import_module(sys.argv[1]).CASES:
        try:
            dump(make, folder)
        except Exception as error:  # noqa: BLE001 -- the others go on
            failed += 1
            print(f"{make.__name__}: {error!r}"[:500])
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
