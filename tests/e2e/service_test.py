#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""service_test.py BIN_FOLDER WORKER: a daemon as operators configure and run it: its configuration is checked before a start, SIGHUP
reloads files, and the service manager hears how it stands. Starts a daemon with WORKER, which may be a fake."""
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from daemon import Daemon, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "deploy/systemd/tritond.yaml"


class ConfigTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def tritond(self, *words):
        return subprocess.run([BINARIES / "tritond", *map(str, words)], capture_output=True, text=True, timeout=60, check=False)

    def check(self, text, *words):
        """(exit status, its complaints) for a configuration file."""
        path = self.folder / "tritond.yaml"
        path.write_text(text, encoding="utf-8")
        done = self.tritond("--check-config", "--config", path, "--worker-binary", WORKER, *words)
        self.assertFalse((self.folder / "data").exists(), "the data folder is left alone")
        return done.returncode, done.stderr.splitlines()

    def test_the_sample_has_the_settings_that_exist(self):
        done = self.tritond("--sample-config")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(SAMPLE.read_text(encoding="utf-8"), done.stdout,
                         "settings have changed: tritond --sample-config > deploy/systemd/tritond.yaml")
        settings = re.findall(r"^#(\w+): ", done.stdout, re.MULTILINE)
        flags = re.findall(r"^ +--([\w-]+)", self.tritond("--help").stdout, re.MULTILINE)
        others = {"config", "check-config", "sample-config", "version"}
        self.assertEqual(settings, [flag.replace("-", "_") for flag in flags if flag not in others])

    def test_the_sample_is_valid_with_and_without_its_lines(self):
        text = SAMPLE.read_text(encoding="utf-8")
        data = ["--data-dir", self.folder / "data"]
        self.assertEqual(self.check(text, *data), (0, []))
        self.assertEqual(self.check(re.sub(r"^#(\w)", r"\1", text, flags=re.MULTILINE), *data), (0, []))

    def test_every_problem_has_its_line(self):
        (self.folder / "access.yaml").write_text("unix: emperor\n", encoding="utf-8")
        (self.folder / "key.pem").write_text("no key\n", encoding="utf-8")
        status, lines = self.check(f"""
wokers: 3
http: nowhere
access_file: {self.folder}/access.yaml
signing_key: {self.folder}/key.pem
trusted_keys: {self.folder}/trusted.keys
tls_certificate: {self.folder}/cert.pem
tls_key: {self.folder}/key.pem
cluster_password_file: {self.folder}/password
cluster_tls_ca: {self.folder}/engine.pem
""", "--data-dir", self.folder / "data")
        self.assertEqual(status, 2)
        for part in ("tritond.yaml:2: unknown setting wokers; did you mean workers?", "--http nowhere", "access.yaml: ", "key.pem: ",
                     "trusted.keys: ", "cert.pem: ", "cannot read " + str(self.folder / "password"),
                     f"--cluster-tls-…: TLS to the engine: the authorities of {self.folder}/engine.pem: "):
            self.assertEqual(len([line for line in lines if part in line]), 1, (part, lines))
        self.assertEqual(len(lines), 8, lines)
        self.assertTrue(all(line.startswith("tritond: ") for line in lines), lines)

    def test_a_daemon_does_not_start_with_them(self):
        done = self.tritond("--data-dir", self.folder / "data", "--http", "nowhere", "--max-jobs", "0")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(len(done.stderr.splitlines()), 2, done.stderr)


class ServiceTest(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon(BINARIES, worker=WORKER)
        self.addCleanup(self.daemon.__exit__)
        self.access = self.daemon.folder / "access.yaml"
        self.access.write_text("anonymous: admin\nunix: admin\n", encoding="utf-8")
        self.daemon.arguments = ["--access-file", str(self.access)]
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.manager.close)
        self.manager.bind(str(self.daemon.folder / "notify"))
        self.manager.settimeout(30)
        self.daemon.start(environment={"NOTIFY_SOCKET": str(self.daemon.folder / "notify"), "WATCHDOG_USEC": "60000000"})

    def hear(self):
        """The next state that the service manager is told, those of the watchdog apart."""
        while True:
            state = self.manager.recv(4096).decode()
            if state != "WATCHDOG=1":
                return state

    def test_the_service_manager_hears_how_it_stands(self):
        self.assertEqual(self.hear(), "READY=1")
        self.assertEqual(self.manager.recv(4096).decode(), "WATCHDOG=1")
        self.daemon.process.send_signal(signal.SIGHUP)
        self.assertRegex(self.hear(), r"^RELOADING=1\nMONOTONIC_USEC=\d+$")
        self.assertEqual(self.hear(), "READY=1")
        self.assertEqual(self.daemon.stop(), 0)
        self.assertEqual(self.hear(), "STOPPING=1")

    def test_sighup_reloads_and_says_what_is_not_in_use(self):
        self.assertEqual(self.daemon.client("stats").returncode, 0)
        self.access.write_text("anonymous: none\nunix: emperor\n", encoding="utf-8")
        self.daemon.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "but the access rules from before stay in force" in self.daemon.log(), 30, "the broken file is reported")
        self.assertEqual(self.daemon.client("stats").returncode, 0)
        self.access.write_text("anonymous: none\nunix: none\n", encoding="utf-8")
        self.daemon.process.send_signal(signal.SIGHUP)
        whole = re.compile(r" reloaded the signing key, the trusted keys, the access file; other settings take a restart")
        wait_until(lambda: whole.search(self.daemon.log()), 30, "the sound file is taken")
        self.assertEqual(self.daemon.client("stats").returncode, 1)
        self.assertIn(f"{self.access} has changed and is in force", self.daemon.log())
        self.assertIsNone(self.daemon.process.poll())


class WithoutWorkersTest(unittest.TestCase):
    def make_daemon(self, *arguments):
        daemon = Daemon(BINARIES, worker=WORKER, arguments=arguments)
        self.addCleanup(daemon.__exit__)
        return daemon

    def write_kernel(self, daemon):
        path = daemon.folder / "kernel.ttir"
        path.write_text("module {}", encoding="utf-8")
        return path

    def test_an_imported_bundle_answers(self):
        maker, server = self.make_daemon(), self.make_daemon()
        maker.start()
        kernel, bundle = self.write_kernel(maker), maker.folder / "bundle"
        made = maker.compile(kernel, "cuda:90")[1]
        self.assertEqual(maker.client("bundle", "export", bundle).returncode, 0)
        server.trust(maker)
        server.start(workers=0)
        done = server.client("bundle", "import", bundle)
        self.assertEqual(done.returncode, 0, done.stderr)
        status, line = server.compile(kernel, "cuda:90")
        self.assertEqual((status, line["cache"], line["key"]), (0, "hit", made["key"]))
        self.assertIn("stored results alone", server.client("stats").stdout)

    def test_a_wait_for_a_worker_is_said_and_ends(self):
        daemon = self.make_daemon("--worker-wait-seconds", "4")
        daemon.start(workers=1)
        self.assertEqual(daemon.stop(), 0)
        daemon.start(workers=0)
        start = time.monotonic()
        done = daemon.client("compile", self.write_kernel(daemon), "--target", "cuda:90")
        self.assertLess(time.monotonic() - start, 40)  # Of which four are the limit.
        self.assertEqual(done.returncode, 1, done.stdout)
        notice = f"triton-client: waits for a worker: none for cuda:90 is attached to {daemon.address}"
        self.assertEqual(done.stderr.count(notice), 1, done.stderr)
        self.assertIn("no worker for cuda:90 is attached", done.stdout + done.stderr)


if __name__ == "__main__":
    BINARIES, WORKER = pathlib.Path(sys.argv[1]), sys.argv[2]
    unittest.main(argv=sys.argv[:1])
