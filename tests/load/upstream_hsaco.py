#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""upstream_hsaco.py CORPUS OUT.json ARCH...: figures of upstream's AMD code, for compare_hsaco.py.

    python3 -m venv build/upstream && build/upstream/bin/pip install triton==3.6.0
    build/upstream/bin/python tests/load/upstream_hsaco.py ../shared/corpus/inductor build/inductor.json gfx942 gfx1100

Compiles each NAME.ttir of CORPUS with the options of NAME.json and the Triton of the Python that runs this. No GPU is
needed. OUT.json is a list with an entry for each kernel and chip: its figures, or with `failed` what upstream said.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import tempfile

from compare_hsaco import figures_of

# The options of a kernel that AMD's backend has, too.
OPTIONS = ("num_warps", "num_stages", "enable_fp_fusion")


def options_of(path):
    """Those beside NAME.ttir: the file, or its entry `options`."""
    known = json.loads(path.with_suffix(".json").read_text())
    known = known.get("options", known)
    return {name: known[name] for name in OPTIONS if known.get(name) is not None}


def figures(path, arch, binary):
    from triton import compile as compile_kernel
    from triton.backends.compiler import GPUTarget
    target = GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32)
    try:
        kernel = compile_kernel(str(path), target=target, options=options_of(path))
    except Exception as error:  # one kernel that upstream rejects does not keep the others back
        return {"failed": f"{type(error).__name__}: {error}"[:160]}
    binary.write_bytes(kernel.asm["hsaco"])
    return figures_of(binary) | {"lds": kernel.metadata.shared}


def row_of(path, arch, binary, limit):
    """An entry of the list. In a process of its own: upstream's compiler ends it on some kernels, and others take over `limit` seconds."""
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    child = fork.Process(target=lambda: sender.send(figures(path, arch, binary)))
    child.start()
    sender.close()
    try:
        made = receiver.recv() if receiver.poll(limit) else {"failed": f"no result in {limit:g} s"}
    except EOFError:
        made = {"failed": "the compiler ended"}
    child.kill()
    child.join()
    return {"kernel": path.stem, "arch": arch} | made


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("archs", nargs="+")
    parser.add_argument("--limit", type=float, default=600, help="seconds for a kernel; default 600")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        binary = pathlib.Path(folder) / "kernel.hsaco"
        rows = [row_of(path, arch, binary, options.limit)
                for arch in options.archs for path in sorted(options.corpus.glob("*.ttir"))]
    options.out.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")


if __name__ == "__main__":
    main()
