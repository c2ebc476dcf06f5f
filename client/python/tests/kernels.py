# SPDX-License-Identifier: Apache-2.0
"""Kernels of every kind that a launcher tells apart, compiled without a GPU: kernels.py NAME… prints one JSON object.

    {"kernels": {NAME: {"seconds": …, "asm": {extension: type}, "metadata": {field: value}, "error": null}}, "status": {…}}
"""
import dataclasses
import json
import sys
import time

import library_hash
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

VERSION = tuple(int(part) for part in triton.__version__.split(".")[:2])


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=-float("inf"))
    top = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + tl.program_id(0) * n + at, top / tl.sum(top, axis=0), mask=at < n)


@triton.jit
def matmul(a, b, c, K, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    k = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for step in range(0, K, BLOCK):
        left = tl.load(a + i[:, None] * K + (k + step)[None, :])
        right = tl.load(b + (k + step)[:, None] * K + j[None, :])
        total += tl.dot(left, right)
    tl.store(c + i[:, None] * K + j[None, :], total.to(tl.float16))


@triton.jit
def copy_tile(source, target):
    target.store([0, 0], source.load([0, 0]))


POINTERS = {"add": ("x", "y", "out"), "softmax": ("x", "out"), "matmul": ("a", "b", "c")}
SIZES = {"add": "n", "softmax": "n", "matmul": "K"}
FUNCTIONS = {"add": add, "softmax": softmax, "matmul": matmul, "copy_tile": copy_tile}
DESCRIPTORS = VERSION >= (3, 5)  # host-side ones, as arguments


def source_of(name, block):
    """The source of one kernel, in the words of the installed Triton."""
    if name == "copy_tile":
        return ASTSource(copy_tile, {"source": "tensordesc<fp16[64,64]>", "target": "tensordesc<fp16[64,64]>"}, {})
    element = "*fp16" if name == "matmul" else "*fp32"
    signature = {**{pointer: element for pointer in POINTERS[name]}, SIZES[name]: "i32"}
    if VERSION >= (3, 3):
        return ASTSource(FUNCTIONS[name], {**signature, "BLOCK": "constexpr"}, {"BLOCK": block})
    if VERSION >= (3, 2):
        return ASTSource(FUNCTIONS[name], signature, {"BLOCK": block})
    names = list(signature)
    return ASTSource(FUNCTIONS[name], {names.index(n): t for n, t in signature.items()}, {len(names): block})


HOPPER = GPUTarget("cuda", 90, 32)


def compile_one(name, block=64, target=HOPPER, **options):
    """What compiling it gave."""
    begin = time.perf_counter()
    try:
        kernel = triton.compile(source_of(name, block), target=target, options=options)
    except Exception as error:
        return {"error": str(error), "type": type(error).__name__}
    metadata = kernel.metadata._asdict()
    metadata["target"] = [metadata["target"].backend, metadata["target"].arch, metadata["target"].warp_size]
    return {"seconds": time.perf_counter() - begin, "asm": {e: type(data).__name__ for e, data in kernel.asm.items()},
            "metadata": metadata, "packed": [type(part).__name__ for part in kernel.packed_metadata], "error": None}


def send_as_newer(name):
    """Kernel `name` goes to the daemon as a Triton to come may print it: its loads are an operation that nobody knows yet."""
    from tritond import _kernel

    ask = _kernel.Kernel._ask

    def ask_for_newer(kernel, label, *rest):
        if label == name:
            kernel._text = kernel._text.replace("tt.load ", "tt.load_of_a_newer_release ")
        return ask(kernel, label, *rest)

    _kernel.Kernel._ask = ask_for_newer


def main(names):
    """`NAME` or `NAME:BLOCK`; `newer:NAME` is sent as a newer release would."""
    library_hash.take()
    done = {}
    for word in names:
        if word.startswith("newer:"):
            word = word[len("newer:"):]
            send_as_newer(word)
        name, _, block = word.partition(":")
        done[word] = compile_one(name, int(block or 64))
    import tritond

    print(json.dumps({"kernels": done, "status": dataclasses.asdict(tritond.status())}))


if __name__ == "__main__":
    main(sys.argv[1:])
