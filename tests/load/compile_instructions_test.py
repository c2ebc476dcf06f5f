#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compile_instructions_test.py PROGRAM SOURCE: how many instructions of the processor a compile takes.

PROGRAM is compile-repeatedly, SOURCE the project's folder. valgrind counts instructions, which are nearly the same each
time and on every machine, as times are not. A warm compile from TTIR to PTX is what two compiles take more than one.
It fails where a kernel takes 10 % more than compile_instructions.json says. --update writes the file anew.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

TARGET = "cuda:90"
MOST_GROWTH = 1.10
KERNELS = ["examples/softmax.ttir", "examples/layer_norm.ttir", "../shared/corpus/dev/matmul_f16.ttir"]


def instructions(program, kernel, times):
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", program, kernel,
               TARGET, str(times)]
    # The assembler's library has nothing to do: no other program is looked for, either.
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
    found = re.search(r"I +refs: +([\d,]+)", done.stderr)
    if done.returncode != 0 or not found:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return int(found[1].replace(",", ""))


def warm_compile(program, kernel):
    return instructions(program, kernel, 2) - instructions(program, kernel, 1)


class CompileInstructions(unittest.TestCase):
    program = source = None

    def test_do_not_grow(self):
        known = json.loads((self.source / "tests/load/compile_instructions.json").read_text())
        for name in KERNELS:
            kernel = self.source / name
            with self.subTest(kernel.stem):
                if not kernel.exists():
                    self.skipTest(f"{name} is not there")
                count, before = warm_compile(self.program, kernel), known[kernel.stem]
                print(f"{kernel.stem}: {count / 1e6:.1f} million instructions, {count / before:.3f} of what is known")
                self.assertLess(count, MOST_GROWTH * before, "a compile takes more instructions; see the docstring")


def main():
    update = "--update" in sys.argv
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed")
        sys.exit(77)
    program, source = [argument for argument in sys.argv[1:] if argument != "--update"]
    source = pathlib.Path(source)
    if update:
        counts = {(source / name).stem: warm_compile(program, source / name) for name in KERNELS}
        (source / "tests/load/compile_instructions.json").write_text(json.dumps(counts, indent=2) + "\n")
        return
    CompileInstructions.program, CompileInstructions.source = program, source
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
