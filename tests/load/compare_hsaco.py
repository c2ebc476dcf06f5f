#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_hsaco.py FOLDER FIGURES ARCH: AMD code of ours beside upstream's, as a Markdown table.

FOLDER holds NAME.hsaco, as `triton-client prebuild --target hip:ARCH` writes them. FIGURES is a JSON list of what upstream's
compiler made of the same kernels: kernel, arch, instructions, vgpr, spill, lds and matrix (instructions by name). Instructions
are counted in the code as it lies there, whatever runs how often; loops that are unrolled count for more. Needs
llvm-readelf and llvm-objdump 22. Exits with 1 when a kernel is missing.
"""
import argparse
import json
import math
import pathlib
import re
import subprocess
import sys

TOOLS = pathlib.Path("/usr/lib/llvm-22/bin")


def run(tool, *arguments):
    return subprocess.run([str(TOOLS / tool), *arguments], capture_output=True, text=True, check=True).stdout


def figures_of(binary):
    """What upstream's list tells, of a hsaco."""
    notes = run("llvm-readelf", "--notes", str(binary))
    fields = {name: int(value) for name, value in re.findall(r"\.(\w+):\s+(\d+)$", notes, re.M)}
    names = re.findall(r"^\t([a-z]\w+)", run("llvm-objdump", "-d", "--no-show-raw-insn", str(binary)), re.M)
    names = [name for name in names if name not in ("s_nop", "s_code_end")]
    return {"instructions": len(names), "vgpr": fields["vgpr_count"],
            "spill": fields["vgpr_spill_count"] + fields["sgpr_spill_count"],
            "matrix": sum("mfma" in name or "wmma" in name for name in names)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("figures", type=pathlib.Path)
    parser.add_argument("arch")
    options = parser.parse_args()
    rows = [row for row in json.loads(options.figures.read_text()) if row["arch"] == options.arch]
    print("| kernel | instructions | ratio | VGPRs | spills | matrix instructions |\n|---|---|---|---|---|---|")
    ratios, missing = [], 0
    for theirs in sorted(rows, key=lambda row: row["kernel"]):
        binary = options.folder / f"{theirs['kernel']}.hsaco"
        if not binary.exists():
            missing += 1
            print(f"compare_hsaco: no {binary}", file=sys.stderr)
            continue
        ours = figures_of(binary)
        if "failed" in theirs:
            print(f"| {theirs['kernel']} | {ours['instructions']} / refused | | {ours['vgpr']} | {ours['spill']} | {ours['matrix']} |")
            continue
        ratios.append(ours["instructions"] / theirs["instructions"])
        pairs = [f"{ours[name]} / {theirs[name]}" for name in ("vgpr", "spill")]
        print(f"| {theirs['kernel']} | {ours['instructions']} / {theirs['instructions']} | {ratios[-1]:.2f} | {pairs[0]} | {pairs[1]} | "
              f"{ours['matrix']} / {sum(theirs['matrix'].values())} |")
    if ratios:
        print(f"\ngeometric mean of {len(ratios)} ratios: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
