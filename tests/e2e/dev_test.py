#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./dev on a machine that lacks something: dev_test.py"""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Disk(unittest.TestCase):
    """A copy of ./dev alone, so that it can build nothing, on a disk whose room `df` tells."""

    def run_dev(self, command, free_mb):
        with tempfile.TemporaryDirectory() as folder:
            dev = pathlib.Path(folder, "dev")
            dev.write_text((ROOT / "dev").read_text())
            programs = pathlib.Path(folder, "programs")
            programs.mkdir()
            fakes = {"df": f"printf 'Filesystem 1M-blocks Used Available\\n/dev/x 9000000 1 {free_mb} 1%% /\\n'",
                     "dpkg-query": "echo built >&2; exit 1", "apt-get": "exit 1", "sudo": "exit 1"}
            for name, text in fakes.items():
                (programs / name).write_text(f"#!/bin/sh\n{text}\n")
                (programs / name).chmod(0o755)
            return subprocess.run(["sh", str(dev), command], text=True, capture_output=True, check=False,
                                  env=dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}"))

    def test_says_how_much_is_missing_before_it_starts(self):
        for command in ("build", "test", "demo", "bundle", "wheel", "cross-arm64"):
            done = self.run_dev(command, free_mb=100)
            self.assertEqual(done.returncode, 1, command)
            self.assertRegex(done.stderr, r"^dev: not enough disk: (?:build|build/arm64)/ grows to \d+ MB, and takes \d+ MB with 100 MB free; "
                                          r"free \d+ MB more\n$", command)

    def test_goes_on_with_enough_room(self):
        for command in ("build", "test"):
            done = self.run_dev(command, free_mb=100000)
            self.assertNotIn("not enough disk", done.stderr, command)
            self.assertIn("installing", done.stderr, command)


if __name__ == "__main__":
    unittest.main()
