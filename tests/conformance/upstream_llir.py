#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles kernels with the Triton of the Python that runs this, for cuda:90, and keeps its LLVM IR.

    python -m venv build/upstream && build/upstream/bin/pip install triton==3.6.0
    build/upstream/bin/python tests/conformance/upstream_llir.py ../shared/corpus/dev build/upstream/kernels

NAME.ttir and the options of NAME.json give NAME.ll, whose first line tells the bytes of shared memory, the warps, and the bytes of global
scratch memory.
"""
import json
import os
import pathlib
import sys
import tempfile


def main(corpus, out):
    os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp())
    import triton
    from triton.backends.compiler import GPUTarget
    out.mkdir(parents=True, exist_ok=True)
    failed = 0
    for path in sorted(corpus.glob("*.ttir")):
        options = json.loads(path.with_suffix(".json").read_text())["options"]
        wanted = {key: options[key] for key in ("num_warps", "num_stages")}
        try:
            kernel = triton.compile(str(path), target=GPUTarget("cuda", 90, 32), options=wanted)
        except Exception as error:  # one kernel that upstream rejects does not keep the others back
            print(f"{path.stem}: {error}", file=sys.stderr)
            failed += 1
            continue
        text = f"; {kernel.metadata.shared} {kernel.metadata.num_warps} {kernel.metadata.global_scratch_size}\n"
        text += kernel.asm["llir"]
        (out / f"{path.stem}.ll").write_text(text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
