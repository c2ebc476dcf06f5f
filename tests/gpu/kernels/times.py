# SPDX-License-Identifier: Apache-2.0
"""Times kernels beside upstream Triton's: `python3 times.py MODULE DUMP BUILD... [--only RE] [--rounds N]`.

DUMP is what dump.py wrote, a BUILD holds what `triton-client prebuild DUMP --target cuda:90 --out-dir BUILD` made of it. All builds and
upstream run in turns, in short bursts, on the same inputs. A row gives each build's error, its time, and upstream's time over it.
"""
from __future__ import annotations

import argparse
import ctypes
import importlib
import json
import math
import pathlib
import re
import statistics
import sys
import time
import typing

import torch
import triton

Launch = typing.Callable[[], typing.Any]
CUDA: typing.Any = ctypes.CDLL("libcuda.so.1") if torch.cuda.is_available() else None
C_TYPES = {"i1": ctypes.c_int8, "u1": ctypes.c_int8, "i8": ctypes.c_int8, "u8": ctypes.c_uint8, "i16": ctypes.c_int16, "u16": ctypes.c_uint16,
           "i32": ctypes.c_int32, "u32": ctypes.c_uint32, "i64": ctypes.c_int64, "u64": ctypes.c_uint64, "fp32": ctypes.c_float,
           "fp64": ctypes.c_double}
DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
REGISTERS = 4  # CU_FUNC_ATTRIBUTE_NUM_REGS
MAP_BYTES, MAP_ALIGNMENT = 128, 64
HOST_TYPES = {8: 10, 9: 8, 10: 9}  # from PTX's numbers of element types to CUtensorMapDataType
L2_PROMOTION = 2  # CU_TENSOR_MAP_L2_PROMOTION_L2_128B


def check(code: int, what: str) -> None:
    """RuntimeError where the driver's call failed."""
    if code:
        text = ctypes.c_char_p()
        CUDA.cuGetErrorString(code, ctypes.byref(text))
        raise RuntimeError(f"{what}: {text.value.decode() if text.value else code}")


def load(cubin: bytes, meta: dict[str, typing.Any]) -> tuple[ctypes.c_void_p, int]:
    """The kernel, and its registers a thread."""
    module, function, registers = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
    check(CUDA.cuModuleLoadData(ctypes.byref(module), cubin), "cuModuleLoadData")
    check(CUDA.cuModuleGetFunction(ctypes.byref(function), module, meta["name"].encode()), "cuModuleGetFunction")
    if meta["shared"] > 48 * 1024:
        check(CUDA.cuFuncSetAttribute(function, DYNAMIC_SHARED, meta["shared"]), "cuFuncSetAttribute")
    check(CUDA.cuFuncGetAttribute(ctypes.byref(registers), REGISTERS, function), "cuFuncGetAttribute")
    return function, registers.value


def tensor_map(value: typing.Any, entry: dict[str, typing.Any]) -> typing.Any:
    """A CUtensorMap of the descriptor, as its entry of tensordesc_meta asks for."""
    space = (ctypes.c_uint8 * (MAP_BYTES + MAP_ALIGNMENT))()
    at = -ctypes.addressof(space) % MAP_ALIGNMENT
    made = (ctypes.c_uint8 * MAP_BYTES).from_buffer(space, at)
    rank, bytes_each = len(value.shape), entry["elem_size"]
    sizes = (ctypes.c_uint64 * rank)(*reversed(value.shape))
    strides = (ctypes.c_uint64 * max(1, rank - 1))(*(n * bytes_each for n in reversed(value.strides[:-1])))
    box, ones = (ctypes.c_uint32 * rank)(*reversed(entry["block_size"])), (ctypes.c_uint32 * rank)(*[1] * rank)
    kind = HOST_TYPES.get(entry["elem_type"], entry["elem_type"])
    check(CUDA.cuTensorMapEncodeTiled(ctypes.byref(made), kind, rank, ctypes.c_void_p(value.base.data_ptr()), sizes, strides, box, ones, 0,
                                      entry["swizzle"], L2_PROMOTION, int(value.padding == "nan")), "cuTensorMapEncodeTiled")
    return made


def descriptor(value: typing.Any, entry: dict[str, typing.Any] | None) -> list[typing.Any]:
    """A map by value, or base, shape, strides and padding; shape and strides follow."""
    again = [ctypes.c_int32(n) for n in value.shape] + [ctypes.c_int64(n) for n in value.strides]
    if entry:
        return [tensor_map(value, entry), *again]
    sizes = [ctypes.c_int64(n) for n in (*value.shape, *value.strides)]
    return [ctypes.c_void_p(value.base.data_ptr()), *sizes, ctypes.c_int8(value.padding == "nan"), *again]


def parameters(kind: str, value: typing.Any, entries: list[typing.Any]) -> list[typing.Any]:
    """An argument as the kernel takes it. `entries`: those of tensordesc_meta that are left."""
    if kind.startswith("tensordesc"):
        return descriptor(value, entries.pop(0) if entries else None)
    return [ctypes.c_void_p(value.data_ptr()) if kind.startswith("*") else C_TYPES[kind](value)]


def launcher(build: pathlib.Path, name: str, grid: tuple[int, ...], arguments: list[tuple[str, typing.Any]]) -> tuple[Launch, int]:
    """A launch of a build's binary with arguments of these kinds, and its registers a thread."""
    meta = json.loads((build / f"{name}.json").read_text())
    function, registers = load((build / f"{name}.cubin").read_bytes(), meta)
    ctas = meta.get("num_ctas", 1)
    blocks = (grid[0] * ctas, *grid[1:], 1, 1)[:3]
    entries = list(meta.get("tensordesc_meta") or [])
    values = [v for kind, value in arguments for v in parameters(kind, value, entries)]
    scratch = torch.empty(max(1, meta.get("global_scratch_size", 0) * math.prod(blocks)), dtype=torch.uint8, device="cuda")
    values += [ctypes.c_void_p(scratch.data_ptr()), ctypes.c_void_p(0)]
    packed = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values])

    def launch(_keep: tuple[typing.Any, ...] = (values, scratch)) -> None:
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        check(CUDA.cuLaunchKernel(function, *blocks, 32 * meta["num_warps"], 1, 1, meta["shared"], stream, packed, None), "cuLaunchKernel")

    return launch, registers


def reset(case: typing.Any) -> None:
    """Outputs hold nothing that could pass for a result."""
    for t in case.outputs:
        t.fill_(float("nan")) if t.dtype.is_floating_point and t.element_size() > 1 and not case.accumulate else t.zero_()


def error(case: typing.Any, expected: typing.Sequence[torch.Tensor]) -> float:
    """The largest norm of a difference over the norm of its reference."""
    worst = 0.0
    for out, ref in zip(case.outputs, expected):
        if not torch.isfinite(out.float()).all():
            return float("inf")
        ref = ref.reshape(out.shape).double()
        worst = max(worst, ((out.double() - ref).norm() / ref.norm().clamp_min(1e-30)).item())
    return worst


def captured(launch: Launch, repeat: int) -> torch.cuda.CUDAGraph:
    """A graph of `repeat` launches, replayed once."""
    launch()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(repeat):
            launch()
    graph.replay()
    torch.cuda.synchronize()
    return graph


def times_us(launches: list[Launch], rounds: int) -> list[float]:
    """The median time of a launch of each, in microseconds; they run in turns."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def timed(graph: torch.cuda.CUDAGraph) -> float:
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        return start.elapsed_time(end)

    repeat = max(3, min(20, int(3.0 / max(timed(captured(launches[0], 1)), 1e-3))))
    graphs: list[torch.cuda.CUDAGraph] = [captured(launch, repeat) for launch in launches]
    rows: list[list[float]] = [[] for _ in launches]
    for _ in range(rounds):
        for graph, row in zip(graphs, rows):
            time.sleep(0.01)
            row.append(timed(graph) * 1e3 / repeat)
    return [statistics.median(row) for row in rows]


def columns(errors: list[float], mine: list[float], theirs: float, right: list[bool], registers: list[int]) -> str:
    """Each build's error, time, upstream's time over it, `!` where it is wrong, and registers."""
    return " | ".join(f"{e:8.1e} {us:9.1f} {theirs / us:6.2f}{' ' if good else '!'} {n:3}"
                      for e, us, good, n in zip(errors, mine, right, registers))


def lost(failure: Exception) -> bool:
    """Whether the CUDA context is lost with it."""
    return re.search("illegal|unspecified|misaligned", repr(failure)) is not None


def summary(builds: list[pathlib.Path], ratios: list[list[float]], word: str) -> int:
    """Prints a line for each build; 0 where all results are `word`."""
    for build, column in zip(builds, zip(*ratios)):
        good = [r for r in column if r]
        print(f"{build}: {word} {len(good)} of {len(column)}, upstream's time over ours {statistics.geometric_mean(good or [1e-9]):.3f}, "
              f"least {min(good, default=0):.2f}")
    return 0 if all(all(row) for row in ratios) else 1


def measure(make: typing.Callable[[], typing.Any], dump: pathlib.Path, builds: list[pathlib.Path], rounds: int) -> list[float]:
    """Prints a case's row. Upstream's time over each build's; 0 where the build is wrong."""
    case = make()
    case.name = make.__name__
    # What a case names among its constants may be an argument all the same.
    named = {**case.constexprs, **dict(zip([n for n in case.kernel.arg_names if n not in case.constexprs], case.args))}
    arguments = [(kind, named[name]) for name, kind in json.loads((dump / f"{case.name}.json").read_text())["params"]]
    expected = [t.clone() for t in case.reference()]
    ours = [launcher(build, case.name, case.grid, arguments) for build in builds]
    errors = []
    for launch, _ in ours:
        reset(case)
        launch()
        torch.cuda.synchronize()
        errors.append(error(case, expected))
    reset(case)
    built = case.kernel[case.grid](*case.args, **case.constexprs, **case.options)
    torch.cuda.synchronize()
    theirs_error = error(case, expected)
    *mine, theirs = times_us([launch for launch, _ in ours] + [lambda: case.kernel[case.grid](*case.args, **case.constexprs, **case.options)],
                             rounds)
    right = [e <= case.rtol or e <= 1.1 * theirs_error for e in errors]
    ours_text = columns(errors, mine, theirs, right, [registers for _, registers in ours])
    print(f"{case.name:32} {ours_text} | {theirs_error:8.1e} {theirs:9.1f} {built.n_regs:3}", flush=True)
    return [theirs / us if good else 0.0 for us, good in zip(mine, right)]


def main() -> int:
    """0 where all cases ran and are right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module")
    parser.add_argument("dump", type=pathlib.Path)
    parser.add_argument("builds", nargs="+", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    triton.set_allocator(lambda size, _align, _stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    torch.manual_seed(0)
    ratios: list[list[float]] = []
    for make in importlib.import_module(args.module).CASES:
        if not re.search(args.only, make.__name__):
            continue
        try:
            ratios.append(measure(make, args.dump, args.builds, args.rounds))
        except Exception as failure:  # noqa: BLE001 -- the others go on
            print(f"{make.__name__:32} failed: {failure!r}"[:300], flush=True)
            ratios.append([0.0] * len(args.builds))
            if lost(failure):
                print("the context is lost: run the others with --only")
                break
        torch.cuda.empty_cache()
    return summary(args.builds, ratios, "right")


if __name__ == "__main__":
    sys.exit(main())
