#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where clang-format would change a file. `check_format.py --fix` lets it; more arguments are the files to look at."""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main():
    words = sys.argv[1:]
    fix = "--fix" in words
    files = [word for word in words if word != "--fix"]
    if not files:
        listed = subprocess.run(["git", "ls-files", "*.cc", "*.h"], cwd=ROOT, capture_output=True, text=True)
        if listed.returncode != 0:
            print("not a git checkout; nothing to look at")
            return 77
        files = listed.stdout.split()
    if not files:
        return 0
    mode = ["-i"] if fix else ["--dry-run", "-Werror"]
    done = subprocess.run(["clang-format", *mode, *files], cwd=ROOT, capture_output=True, text=True)
    wrong = sorted({line.split(":")[0] for line in done.stderr.splitlines() if "-Wclang-format-violations" in line})
    for path in wrong:
        print(f"{path}: clang-format would change it (tests/lint/check_format.py --fix)")
    if done.returncode != 0 and not wrong:
        print(done.stderr.strip())
    return 1 if done.returncode != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
