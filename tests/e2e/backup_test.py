#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""backup_test.py BIN_FOLDER WORKER: what docs/operations.md says of backups. Results of one daemon are served by another one over
a copy of its data folder, without a worker. WORKER may be a fake."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from daemon import Daemon  # noqa: E402

LEFT_OUT = ("tritond.sock", "worker.token")
TARGET = "cuda:90"


class BackupTest(unittest.TestCase):
    def setUp(self):
        self.old = self.enterContext(Daemon(BINARIES, worker=WORKER)).start()
        self.new = self.enterContext(Daemon(BINARIES, worker=WORKER))
        self.kernel = self.old.folder / "kernel.ttir"
        self.kernel.write_text("module {}", encoding="utf-8")
        self.made = self.compile(self.old)
        self.assertEqual(self.made["cache"], "miss")

    def compile(self, daemon):
        code, line = daemon.compile(self.kernel, TARGET, "-o", daemon.folder / "kernel.cubin")
        self.assertEqual((code, line["error"]), (0, None), daemon.log())
        return line

    def is_served_by_the_new_one(self):
        """The same bytes, and nobody there who could make them anew."""
        self.assertEqual(self.new.workers(), [])
        line = self.compile(self.new)
        self.assertEqual(line["cache"], "hit")
        self.assertEqual((line["key"], line["artifacts"]), (self.made["key"], self.made["artifacts"]))
        self.assertEqual((self.new.folder / "kernel.cubin").read_bytes(), (self.old.folder / "kernel.cubin").read_bytes())

    def job_ids(self, daemon):
        return [line.split()[0] for line in daemon.client("jobs").stdout.splitlines()[1:]]

    def test_a_copy_of_a_stopped_daemon_has_its_results_and_jobs(self):
        submitted = self.old.client("submit", self.kernel, "--target", "hip:gfx942")  # waits: no worker has it
        self.assertEqual(submitted.returncode, 0, submitted.stderr)
        self.assertEqual(self.old.stop(), 0)
        archive, data = self.old.folder / "backup.tar", self.new.folder / "data"
        left_out = [f"--exclude={name}" for name in LEFT_OUT]
        subprocess.run(["tar", "-C", self.old.folder / "data", *left_out, "-cf", archive, "."], check=True)
        data.mkdir(mode=0o700)
        subprocess.run(["tar", "-C", data, "--no-same-owner", "-xf", archive], check=True)
        self.new.start(workers=0)
        self.is_served_by_the_new_one()
        self.assertEqual(self.job_ids(self.new), [submitted.stdout.strip()])
        self.assertEqual(self.new.stop(), 0)

    def test_a_snapshot_of_a_running_daemon_has_its_results(self):
        os.kill(self.old.process.pid, signal.SIGSTOP)  # All files at one moment, as a snapshot of the file system has them.
        try:
            shutil.copytree(self.old.folder / "data", self.new.folder / "data", ignore=shutil.ignore_patterns(*LEFT_OUT))
        finally:
            os.kill(self.old.process.pid, signal.SIGCONT)
        self.new.start(workers=0)
        self.is_served_by_the_new_one()
        self.assertEqual(self.compile(self.old)["cache"], "hit")

    def test_without_the_key_of_its_daemon_no_result_is_believed(self):
        self.assertEqual(self.old.stop(), 0)
        shutil.copytree(self.old.folder / "data", self.new.folder / "data", ignore=shutil.ignore_patterns(*LEFT_OUT, "signing.key"))
        self.new.start(workers=1)
        self.assertEqual(self.compile(self.new)["cache"], "miss")


if __name__ == "__main__":
    BINARIES, WORKER = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
