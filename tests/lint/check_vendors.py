#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_vendors.py ROOT: code that serves all devices names no vendor, none of its products and none of its instructions.

Comments may: they say where a fact comes from. Tests may: they need some target. Exits with 1 and a line for each
place where code does.
"""
import pathlib
import re
import sys

FOLDERS = ["compiler/layout", "compiler/analysis", "compiler/passes", "compiler/lowering", "compiler/driver"]
WORDS = re.compile(
    r"nvidia|cuda|nvvm|(?<![a-z])ptx|cubin|wgmma|nvmma|ldmatrix|stmatrix|(?<![a-z])sm_?\d\d|compute_?capability|"
    r"(?<![a-z])amd|rocm|(?<![a-z])hip(?![a-z])|hsaco|gfx\d|mfma|wmma|(?<![a-z])intel(?!l)|dpasencoding|xpu|"
    r"level_zero", re.IGNORECASE)


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda match: "\n" * match.group(0).count("\n"), text, flags=re.DOTALL)


def is_test(path):
    return "test" in path.parts or "_test" in path.name or path.name.startswith("test_")


def findings(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cc", ".h", ".td") or is_test(path.relative_to(root)):
                continue
            for number, line in enumerate(without_comments(path.read_text()).splitlines(), 1):
                match = WORDS.search(line)
                if match:
                    yield f"{path.relative_to(root)}:{number}: names '{match.group(0)}': {line.strip()}"


def main():
    found = list(findings(pathlib.Path(sys.argv[1])))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
