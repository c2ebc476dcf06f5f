#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_vendors.py ROOT: code that serves all devices names no vendor, none of its products and none of its instructions.

A vendor is whoever has a folder in compiler/targets; words that its folder does not tell are listed here. Comments may
name them: they say where a fact comes from. Tests may: they need some target. Exits with 1 and a line for each place
where code does.
"""
import pathlib
import re
import sys

FOLDERS = ["compiler/layout", "compiler/analysis", "compiler/dots", "compiler/encoding",
           "compiler/pipelining", "compiler/passes", "compiler/lowering", "compiler/driver"]
WORDS = re.compile(
    r"nvidia|cuda|nvvm|(?<![a-z])ptx|cubin|wgmma|nvmma|ldmatrix|stmatrix|(?<![a-z])sm_?\d\d|compute_?capability|"
    r"(?<![a-z])amd|rocm|(?<![a-z])hip(?![a-z])|hsaco|gfx\d|mfma|wmma|(?<![a-z])intel(?!l)|dpasencoding|xpu|"
    r"level_zero", re.IGNORECASE)
# Folders of compiler/targets that belong to no vendor.
NO_VENDORS = {"host", "emulated", "test"}


def vendor_names(root):
    """A pattern for the names of the folders of compiler/targets, as code spells names; None when there are none."""
    folders = (root / "compiler/targets").iterdir()
    names = sorted(path.name for path in folders if path.is_dir() and path.name not in NO_VENDORS)
    forms = [rf"(?<![A-Za-z]){name}(?![a-z])|{name.capitalize()}(?![a-z])|(?<![A-Z]){name.upper()}(?![A-Za-z])"
             for name in names]
    return re.compile("|".join(forms)) if forms else None


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda match: "\n" * match.group(0).count("\n"), text, flags=re.DOTALL)


def is_test(path):
    return "test" in path.parts or "_test" in path.name or path.name.startswith("test_")


def findings(root):
    vendors = vendor_names(root)
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cc", ".h", ".td") or is_test(path.relative_to(root)):
                continue
            for number, line in enumerate(without_comments(path.read_text()).splitlines(), 1):
                match = WORDS.search(line) or (vendors and vendors.search(line))
                if match:
                    yield f"{path.relative_to(root)}:{number}: names '{match.group(0)}': {line.strip()}"


def main():
    found = list(findings(pathlib.Path(sys.argv[1])))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
