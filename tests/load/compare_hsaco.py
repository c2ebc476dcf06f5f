#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_hsaco.py FOLDER FIGURES ARCH: AMD code of ours beside upstream's, as a Markdown table.

FOLDER holds NAME.hsaco and NAME.json, as `triton-client prebuild --target hip:ARCH` writes them. FIGURES is a JSON list of what
upstream's compiler made of the same kernels, as upstream_hsaco.py writes it. Instructions are counted in the code as it
lies there, whatever runs how often; loops that are unrolled count for more. Kernels whose launch both describe unlike
(lanes of a wave, threads of a block, bytes of arguments) are named below the table. Needs llvm-readelf and llvm-objdump
22. Exits with 1 when a kernel is missing.
"""
import argparse
import collections
import json
import math
import pathlib
import re
import subprocess
import sys

TOOLS = pathlib.Path("/usr/lib/llvm-22/bin")


def run(tool, *arguments):
    return subprocess.run([str(TOOLS / tool), *arguments], capture_output=True, text=True, check=True).stdout


# Instructions that no wave's work needs: padding of the code.
PADDING = ("s_nop", "s_code_end")


def figures_of(binary):
    """What the list of figures tells, of a hsaco; `lds` is not in it, for launches give it."""
    notes = run("llvm-readelf", "--notes", str(binary))
    fields = {name: int(value) for name, value in re.findall(r"\.(\w+):\s+(\d+)$", notes, re.M)}
    names = re.findall(r"^\t([a-z]\w+)", run("llvm-objdump", "-d", "--no-show-raw-insn", str(binary)), re.M)
    matrix = collections.Counter(re.sub(r"_e(32|64)$", "", name) for name in names if "mfma" in name or "wmma" in name)
    return {"vgpr": fields["vgpr_count"], "agpr": fields.get("agpr_count"), "sgpr": fields["sgpr_count"],
            "spill": fields["vgpr_spill_count"] + fields["sgpr_spill_count"],
            "scratch": fields["private_segment_fixed_size"], "matrix": dict(matrix),
            "instructions": sum(name not in PADDING for name in names),
            "wave": fields["wavefront_size"], "threads": fields["max_flat_workgroup_size"],
            "kernarg": fields["kernarg_segment_size"]}


# Registers beside upstream's from which on a kernel is an outlier.
OUTLIER = 1.3
# What a launcher must know of a code object. Both have to say the same.
LAUNCH = ("wave", "threads", "kernarg")


def ours_of(folder, kernel):
    """The figures of FOLDER/KERNEL.hsaco, or None if there is no such file."""
    binary = folder / f"{kernel}.hsaco"
    if not binary.exists():
        return None
    return figures_of(binary) | {"lds": json.loads(binary.with_suffix(".json").read_text())["shared"]}


def is_outlier(ours, theirs):
    return ours["spill"] > 0 or ours["vgpr"] >= OUTLIER * theirs["vgpr"]


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def row_of(kernel, ours, theirs):
    """A row of the table. `theirs` is None if upstream refused the kernel."""
    def pair(name):
        return f"{ours[name]} / {theirs[name]}" if theirs else f"{ours[name]}"

    ratio = f"{ours['instructions'] / theirs['instructions']:.2f}" if theirs else "refused"
    matrix = " / ".join(str(sum(figures["matrix"].values())) for figures in (ours, theirs) if figures)
    return f"| {kernel} | {pair('instructions')} | {ratio} | {pair('vgpr')} | {pair('spill')} | {pair('lds')} | {matrix} |"


def print_summary(pairs, refused):
    """`pairs`: (kernel, ours, theirs) of what both compiled."""
    def total(name):
        return " / ".join(str(sum(figures[name] for figures in side)) for side in list(zip(*pairs))[1:])

    print(f"\nBoth compiled {len(pairs)} kernels; upstream refused {refused}. Geometric means of ours to theirs: instructions "
          f"{mean([ours['instructions'] / theirs['instructions'] for _, ours, theirs in pairs]):.2f}, VGPRs "
          f"{mean([ours['vgpr'] / theirs['vgpr'] for _, ours, theirs in pairs]):.2f}.")
    if pairs:
        print(f"Sums of ours / theirs: spills {total('spill')}, bytes of LDS {total('lds')}.")
    for kernel, ours, theirs in pairs:
        unlike = [f"{name} {ours[name]} / {theirs[name]}" for name in LAUNCH if name in theirs and ours[name] != theirs[name]]
        if unlike:
            print(f"- {kernel}: {', '.join(unlike)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("figures", type=pathlib.Path)
    parser.add_argument("arch")
    parser.add_argument("--outliers", action="store_true", help="only kernels that spill or use many registers")
    options = parser.parse_args()
    rows = [row for row in json.loads(options.figures.read_text()) if row["arch"] == options.arch]
    print("| kernel | instructions | ratio | VGPRs | spills | LDS | matrix instructions |\n|---|---|---|---|---|---|---|")
    pairs, refused, missing = [], 0, 0
    for theirs in sorted(rows, key=lambda row: row["kernel"]):
        kernel, ours = theirs["kernel"], ours_of(options.folder, theirs["kernel"])
        is_refused = "failed" in theirs
        refused += is_refused
        if ours is None:
            missing += 1
            print(f"compare_hsaco: no {options.folder / kernel}.hsaco", file=sys.stderr)
            continue
        if not is_refused:
            pairs.append((kernel, ours, theirs))
        if not options.outliers or (not is_refused and is_outlier(ours, theirs)):
            print(row_of(kernel, ours, None if is_refused else theirs))
    print_summary(pairs, refused)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
