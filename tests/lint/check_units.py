#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_units.py [ROOT]: `systemd-analyze verify` of deploy/systemd, drop-ins included, with the programs replaced by one that every machine has. Exit
status 1 when it complains, 77 where there is no systemd-analyze."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)) + "/../..")
    if not shutil.which("systemd-analyze"):
        print("check_units: skipped, no systemd-analyze (Debian: apt-get install systemd)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        units, dropins = [], []
        source = root / "deploy/systemd"
        for path in sorted([*source.glob("*.service"), *source.glob("*.service.d/*.conf")]):
            text = re.sub(r"^ExecStart=/opt/tritond/bin/\S+", "ExecStart=/bin/true", path.read_text(encoding="utf-8"), flags=re.M)
            name = str(path.relative_to(source)).replace("@.", "@1.")
            copy = pathlib.Path(folder) / name
            copy.parent.mkdir(exist_ok=True)
            copy.write_text(text, encoding="utf-8")
            (units if path.suffix == ".service" else dropins).append(name)
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no"] + [f"{folder}/{name}" for name in units],
                              capture_output=True, text=True, check=False)
    complaints = [line for line in done.stderr.splitlines() if any(name in line for name in units + dropins)]
    print("\n".join(complaints) if complaints else f"units: {len(units)} ok, {len(dropins)} drop-ins")
    return 1 if complaints or done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
