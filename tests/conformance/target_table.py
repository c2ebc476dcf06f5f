#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""target_table.py BUILD DEVICE...: the conformance suite on each device, as the Markdown table of docs/targets.md.

    python3 tests/conformance/target_table.py build emulated:hip:gfx942 emulated:xpu:pvc

BUILD is the build folder. A case is right when its target compiled it and the device computed what it should, or when
the target refused it in the words that the case expects. A case that says that it is not for the device is skipped. Programs run one after the other, with low priority; all of
them take minutes a device. --only=corpus_test,dot_test: these alone. Exits with 1 when a case failed; the first line of
what it said is below the table.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAMS = ["every_op_test", "corpus_test", "inductor_test", "atomics_test", "control_flow_test", "convert_test",
            "descriptor_test", "dot_test", "elementwise_test", "masks_test", "math_test", "memory_test", "pipeline_test",
            "prefetch_test", "program_order_test", "reduce_scan_test", "shape_test", "sort_test"]


def run(build, program, device):
    """[(case, what became of it, why)] of the cases that ran."""
    command = [str(build / "tests" / "conformance-tests"), f"tests/conformance/{program}"]
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        environment = dict(os.environ, TRITOND_CONFORMANCE_DEVICES=device)
        done = subprocess.run(["nice", "-n", "10", *command, f"--gtest_output=json:{report}"], env=environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not report.exists():
            return [(program, "WRONG", f"ended with status {done.returncode}")]
        suites = json.loads(report.read_text())["testsuites"]
    cases = []
    for suite in suites:
        for case in suite["testsuite"]:
            name = f"{suite['name']}.{case['name']}"
            failures = [failure["failure"] for failure in case.get("failures", [])]
            if case.get("result") == "SKIPPED":
                cases.append((name, "skipped", ""))
            elif case.get("result") == "COMPLETED":
                cases.append((name, "WRONG", explain(failures[0])) if failures else (name, "right", ""))
    return cases


def explain(failure):
    """The line with a status's code, or the start of the failure."""
    lines = failure.splitlines()
    return next((line for line in lines if re.search(r"\b[A-Z]+_[A-Z_]+: ", line)), " ".join(lines[:3]))[:200]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("devices", nargs="+")
    parser.add_argument("--only", default=",".join(PROGRAMS))
    options = parser.parse_args()
    programs = options.only.split(",")
    counts, failures = collections.Counter(), []
    for device in options.devices:
        for program in programs:
            for case, outcome, why in run(options.build.resolve(), program, device):
                counts[program, device, outcome] += 1
                if why:
                    failures.append(f"- {device}, {program}, {case}: {why}")
    print("| | " + " | ".join(options.devices) + " |\n|---|" + "---|" * len(options.devices))
    for program in programs:
        cells = []
        for device in options.devices:
            numbers = [(counts[program, device, outcome], outcome) for outcome in ("right", "skipped", "WRONG")]
            cells.append(", ".join(f"{number} {outcome}" for number, outcome in numbers if number) or "–")
        print(f"| {program} | " + " | ".join(cells) + " |")
    print("\n".join([""] + failures) if failures else "")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
