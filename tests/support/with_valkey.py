#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""with_valkey.py PROGRAM [ARGUMENT…]: runs a test of the engine with Valkey in Redis' place. The test starts programs by Redis'
names; here these are Valkey's. Exit status 77 where no Valkey is installed (Debian: valkey-server, from bookworm-backports)."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

NAMES = {"redis-server": "valkey-server", "redis-cli": "valkey-cli"}


def main():
    programs = {name: shutil.which(program) for name, program in NAMES.items()}
    if not all(programs.values()):
        print("with_valkey: skipped, no valkey-server and valkey-cli")
        return 77
    with tempfile.TemporaryDirectory(prefix="tritond-valkey-") as folder:
        for name, program in programs.items():
            (pathlib.Path(folder) / name).symlink_to(program)
        print(subprocess.run([programs["redis-server"], "--version"], capture_output=True, text=True, check=True).stdout.strip())
        sys.stdout.flush()
        path = f"{folder}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(sys.argv[1:], env={**os.environ, "PATH": path}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
