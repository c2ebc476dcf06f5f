#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compile_instructions_test.py PROGRAM SOURCE: how many instructions of the processor compiles take, from TTIR to PTX.

PROGRAM is compile-repeatedly, SOURCE the project's folder. valgrind counts instructions, which are nearly the same each
time and on every machine, as times are not. What counts is the difference between a process that compiles each kernel
three times and one that does so once: the start of a process also hashes the machine's toolkits. The test fails at 10 %
more. compile_instructions.json has what is known; --update writes it anew.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

TARGET, TIMES = "cuda:90", 3
MOST_GROWTH = 1.1
KERNELS = ["examples/softmax.ttir", "examples/layer_norm.ttir"]
MORE_KERNELS = ["../shared/corpus/dev/matmul_f16.ttir"]


def instructions(program, kernels, times):
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", program, TARGET,
               str(times), *kernels]
    done = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"I +refs: +([\d,]+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return int(found[1].replace(",", ""))


def main():
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed")
        sys.exit(77)
    update = "--update" in sys.argv
    program, source = [argument for argument in sys.argv[1:] if argument != "--update"]
    source = pathlib.Path(source)
    file = source / "tests/load/compile_instructions.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    more = [name for name in MORE_KERNELS if (source / name).exists()]
    for names in [KERNELS, KERNELS + more] if update and more else [KERNELS + more]:
        kernels = [source / name for name in names]
        key = " ".join(kernel.stem for kernel in kernels)
        count = instructions(program, kernels, TIMES) - instructions(program, kernels, 1)
        if update:
            known[key] = count
            continue
        print(f"{key}: {count / 1e6:.1f} million instructions, {count / known[key]:.3f} of what is known")
        if count > MOST_GROWTH * known[key]:
            sys.exit("compiles take more instructions than they did: see the docstring")
    if update:
        file.write_text(json.dumps(known, indent=2) + "\n")


if __name__ == "__main__":
    main()
