#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles kernels with the Triton of the Python that runs this, and keeps its LLVM IR.

    python -m venv build/upstream && build/upstream/bin/pip install triton==3.6.0
    build/upstream/bin/python tests/conformance/upstream_llir.py ../shared/corpus/dev build/upstream/kernels [TARGET...]

NAME.ttir and the options of NAME.json give TARGET/NAME.ll, whose first line tells the bytes of shared memory, the warps, and the bytes of
global scratch memory. No TARGET: all those of TARGETS.
"""
import json
import os
import pathlib
import sys
import tempfile

TARGETS = ["cuda:90", "hip:gfx90a", "hip:gfx942", "hip:gfx950", "hip:gfx1100", "hip:gfx1201"]


def gpu_target(name):
    from triton.backends.compiler import GPUTarget
    backend, arch = name.split(":")
    if backend == "cuda":
        return GPUTarget("cuda", int(arch), 32)
    return GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32)


def compile_all(corpus, out, target):
    import triton
    out.mkdir(parents=True, exist_ok=True)
    failed = 0
    for path in sorted(corpus.glob("*.ttir")):
        options = json.loads(path.with_suffix(".json").read_text())["options"]
        wanted = {key: options[key] for key in ("num_warps", "num_stages")}
        try:
            kernel = triton.compile(str(path), target=gpu_target(target), options=wanted)
        except Exception as error:  # one kernel that upstream rejects does not keep the others back
            print(f"{target} {path.stem}: {error}", file=sys.stderr)
            failed += 1
            continue
        scratch = getattr(kernel.metadata, "global_scratch_size", 0)
        text = f"; {kernel.metadata.shared} {kernel.metadata.num_warps} {scratch}\n" + kernel.asm["llir"]
        (out / f"{path.stem}.ll").write_text(text)
    return failed


def main(corpus, out, targets):
    os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp())
    failed = sum(compile_all(corpus, out / target.replace(":", "_"), target) for target in targets)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:] or TARGETS))
