# SPDX-License-Identifier: Apache-2.0
"""Times every kernel that a program launches beside upstream Triton's.

    python3 program.py PROGRAM dump FOLDER [--only RE] [--part I/N]
    python3 program.py PROGRAM times BUILD... [--only RE] [--kernels RE]

PROGRAM is a Python file whose CASES are functions that call operators. `dump` writes each kernel's TTIR and options for
`triton-client prebuild FOLDER --target cuda:90 --out-dir BUILD`, with a GPU or without one. Without one nothing is launched: tensors have
no values, and searches of @triton.autotune take their first configuration. Set TRITON_CACHE_AUTOTUNING=1, so that `times` takes what
`dump` found.

`times` runs the calls again, and then each kernel on what its tensors held when it was first launched: upstream twice, each build once.
Then they run in turns. A row gives each build's difference from upstream, its time, and upstream's time over it.
"""
from __future__ import annotations

import argparse
import contextlib
import importlib.util
import pathlib
import re
import sys
import traceback
import typing

import torch
import triton
from torch._subclasses.fake_tensor import FakeTensorMode

import dump
import record
import times

TOLERANCE = 1e-2


def calls(program: pathlib.Path, only: str, part: tuple[int, int]) -> list[typing.Callable[[], typing.Any]]:
    """The calls of a program whose names match, every part[1]-th of them from part[0] on."""
    sys.path.insert(0, str(program.parent))
    spec = importlib.util.spec_from_file_location(program.stem, program)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[program.stem] = module
    spec.loader.exec_module(module)
    return [call for call in module.CASES if re.search(only, call.__name__)][part[0]::part[1]]


def recorded(program: pathlib.Path, recorder: record.Recorder, only: str, part: tuple[int, int]) -> typing.Iterator[list[record.Launch]]:
    """The kernels that each call launched first."""
    with contextlib.ExitStack() as stack:
        if not recorder.values:
            triton.runtime.driver.set_active(dump.NoGpu())
            stack.enter_context(FakeTensorMode(allow_non_fake_inputs=True))
        for call in calls(program, only, part):
            known = set(recorder.launches)
            recorder.call = call.__name__
            torch.manual_seed(0)
            try:
                with recorder.on():
                    call()
                if recorder.values:
                    torch.cuda.synchronize()
            except Exception as failure:  # noqa: BLE001 -- the others go on
                at, said = traceback.extract_tb(failure.__traceback__)[-1], str(failure).splitlines() or [""]
                print(f"{call.__name__:40} failed: {type(failure).__name__} {said[0][:150]!r} {said[-1][-150:]!r} ({at.filename}:{at.lineno})", flush=True)
                if recorder.values and times.lost(failure):
                    print("the context is lost: run the others with --only")
                    return
            yield [launch for name, launch in recorder.launches.items() if name not in known]


def difference(found: dict[torch.Tensor, torch.Tensor], wanted: dict[torch.Tensor, torch.Tensor], launch: record.Launch) -> float:
    """The largest of all tensors: the norm of the difference over the norm of what upstream changed; for integers the share that differs."""
    worst = 0.0
    for kind, value in launch.values:
        value = getattr(value, "base", value)
        if not isinstance(value, torch.Tensor):
            continue
        pairs = [(found[b].view(value.dtype), wanted[b].view(value.dtype), launch.before[b].view(value.dtype))
                 for b in found if b.data_ptr() == value.untyped_storage().data_ptr() and b.numel() % value.element_size() == 0]
        for ours, theirs, before in pairs:
            if value.dtype.is_floating_point:
                ours, theirs, before = ours.float(), theirs.float(), before.float()
                finite = torch.isfinite(theirs)
                same = torch.where(finite, torch.isfinite(ours), (ours == theirs) | (ours.isnan() & theirs.isnan()))
                if not same.all():
                    return float("inf")
                changed = finite & ((ours != before) | (theirs != before))
                if changed.any():
                    off, norm = (ours - theirs)[changed].double().norm(), theirs[changed].double().norm()
                    worst = max(worst, (off / norm.clamp_min(1e-30)).item())
            else:
                changed = ((ours != before) | (theirs != before)).sum().item()
                worst = max(worst, (ours != theirs).sum().item() / max(1, changed))
    return worst


def ran(launch: record.Launch, start: typing.Callable[[], typing.Any]) -> dict[torch.Tensor, torch.Tensor]:
    """What the tensors hold after a run on what they held at first. Some were made in inference mode."""
    with torch.inference_mode():
        for storage, before in launch.before.items():
            storage.copy_(before)
    start()
    torch.cuda.synchronize()
    return {storage: storage.clone() for storage in launch.before}


def measure(launch: record.Launch, builds: list[pathlib.Path], rounds: int) -> list[float]:
    """Prints a kernel's row. Upstream's time over each build's; 0 where the build differs."""
    def upstream() -> None:
        launch.built[launch.grid](*launch.arguments)

    ours = [times.launcher(build, launch.name, launch.grid, launch.values) for build in builds]
    wanted = ran(launch, upstream)
    noise = difference(ran(launch, upstream), wanted, launch)
    errors = [difference(ran(launch, start), wanted, launch) for start, _ in ours]
    ran(launch, upstream)
    *mine, theirs = times.times_us([start for start, _ in ours] + [upstream], rounds)
    right = [e <= max(TOLERANCE, 2 * noise) for e in errors]
    columns = times.columns(errors, mine, theirs, right, [registers for _, registers in ours])
    print(f"{launch.call[:32]:32} {launch.name:42} {columns} | {noise:8.1e} {theirs:9.1f} {launch.built.n_regs:3}", flush=True)
    return [theirs / us if good else 0.0 for us, good in zip(mine, right)]


def timed(launches: typing.Iterable[record.Launch], builds: list[pathlib.Path], rounds: int) -> list[list[float]]:
    """Rows of what a call launched; what they held is given back."""
    ratios = []
    for launch in launches:
        try:
            ratios.append(measure(launch, builds, rounds))
        except Exception as failure:  # noqa: BLE001 -- the others go on
            print(f"{launch.call[:32]:32} {launch.name:42} failed: {failure!r}"[:300].replace("\n", " "), flush=True)
            ratios.append([0.0] * len(builds))
            if times.lost(failure):
                raise SystemExit("the context is lost: run the others with --only") from failure
        launch.before, launch.arguments, launch.values = {}, [], []
        torch.cuda.empty_cache()
    return ratios


def main() -> int:
    """0 where all kernels ran and gave what upstream's gave."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("what", choices=("dump", "times"))
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--only", default="", help="calls")
    parser.add_argument("--kernels", default="")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--few", type=int, default=4, help="configurations of @triton.autotune that are tried")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    part = tuple(int(n) for n in args.part.split("/"))
    recorder = record.Recorder(args.few)
    triton.set_allocator(lambda size, _align, _stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    ratios: list[list[float]] = []
    for launches in recorded(args.program.resolve(), recorder, args.only, (part[0], part[1])):
        if args.what == "dump":
            args.folders[0].mkdir(parents=True, exist_ok=True)
            for launch in launches:
                dump.write(launch.built, launch.name, args.folders[0])
                launch.before, launch.arguments, launch.values = {}, [], []
        else:
            ratios += timed([one for one in launches if re.search(args.kernels, one.name)], args.folders, args.rounds)
    print(f"{len(recorder.launches)} kernels")
    return times.summary(args.folders, ratios, "same")


if __name__ == "__main__":
    sys.exit(main())
