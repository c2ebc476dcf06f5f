#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dockerfile_test.py BIN_FOLDER WORKER: walks the steps of deploy/docker/Dockerfile where no engine runs them. The build's
commands are looked up; the bundle that they end in is put together from BIN_FOLDER (with WORKER where there is no
triton-worker); what the last stage copies must be in it; and the last stage's entry point runs as its user, in namespaces in
which its folders are what the image would have, until its health check is content and it is told to stop."""
import importlib.util
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCKERFILE = ROOT / "deploy/docker/Dockerfile"
FORMS = {"FROM", "RUN", "WORKDIR", "COPY", "ENV", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD"}


def read_stages():
    """[{"from", "name", "steps": [(instruction, rest)]}] of the Dockerfile."""
    stages = []
    for line in DOCKERFILE.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        word, rest = line.split(None, 1)
        if word not in FORMS:
            raise ValueError(f"{word} is an instruction that this test does not know")
        if word == "FROM":
            parts = rest.split()
            stages.append({"from": parts[0], "name": parts[2] if len(parts) > 2 else "", "steps": []})
        else:
            stages[-1]["steps"].append((word, rest.strip()))
    return stages


def steps_of(stage, word):
    return [rest for instruction, rest in stage["steps"] if instruction == word]


def make_bundle_folder(binaries, worker, top):
    """What ./dev bundle packs, unpacked."""
    spec = importlib.util.spec_from_file_location("make_bundle", ROOT / "deploy/bundle/make_bundle.py")
    make_bundle = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_bundle)
    with tempfile.TemporaryDirectory() as folder:
        build = pathlib.Path(folder)
        (build / "bin").mkdir()
        for name in make_bundle.PROGRAMS:
            program = binaries / name
            os.symlink(program if program.exists() else worker, build / "bin" / name)
        make_bundle.assemble(build, top)


def inside(plan):
    """In the namespaces: the image's folders over this machine's, then its entry point until its health check is content."""
    import ctypes
    import fcntl
    import socket
    import struct
    libc = ctypes.CDLL(None, use_errno=True)

    def mount(source, target, kind, flags=0):
        if libc.mount(source.encode(), target.encode(), kind.encode(), flags, None) != 0:
            raise OSError(ctypes.get_errno(), f"mount {target}")

    with socket.socket() as one:  # The loopback device of the new network.
        fcntl.ioctl(one, 0x8914, struct.pack("16sh14x", b"lo", 1))
    mount("none", "/", "none", 0x44000)  # Nothing below leaves this namespace: MS_REC | MS_PRIVATE.
    mount("tmpfs", "/opt", "tmpfs")
    for source, target in plan["copies"]:
        shutil.copytree(source, target, symlinks=True)
    mount("tmpfs", "/var/lib", "tmpfs")
    for folder in plan["folders"]:
        os.makedirs(folder)
        if os.getuid() == 0 and plan["switch"]:
            os.chown(folder, plan["uid"], plan["gid"])
        os.chmod(folder, 0o750)
    mount("/opt", "/opt", "none", 0x1020 | 1)  # As under a read-only root: MS_BIND | MS_REMOUNT | MS_RDONLY.

    def become():
        if plan["switch"]:
            os.setgroups([])
            os.setresgid(plan["gid"], plan["gid"], plan["gid"])
            os.setresuid(plan["uid"], plan["uid"], plan["uid"])
        libc.prctl(38, 1, 0, 0, 0)  # No new privileges.

    environment = {**plan["environment"], "HOME": plan["workdir"]}
    daemon = subprocess.Popen(plan["command"], cwd=plan["workdir"], env=environment, preexec_fn=become)
    said = {"healthy": False, "uid": None, "http": {}}
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and daemon.poll() is None and not said["healthy"]:
        check = subprocess.run(plan["health"], cwd=plan["workdir"], env=environment, preexec_fn=become, timeout=30,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        said["healthy"] = check.returncode == 0
        time.sleep(0.1)
    if said["healthy"]:
        said["uid"] = int(re.search(r"^Uid:\s+(\d+)", pathlib.Path(f"/proc/{daemon.pid}/status").read_text(), re.M).group(1))
        for path in ("/healthz", "/"):
            with urllib.request.urlopen(f"http://127.0.0.1:{plan['http']}{path}", timeout=10) as answer:
                said["http"][path] = answer.status
        said["listening"] = [port for port in plan["ports"] if socket.socket().connect_ex(("127.0.0.1", port)) == 0]
    if daemon.poll() is None:
        daemon.send_signal(getattr(signal, plan["stop"]))
        said["exit"] = daemon.wait(timeout=60)
    print("SAID " + json.dumps(said))


class DockerfileTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.build, cls.final, cls.cuda, cls.xpu, cls.default = read_stages()

    def test_both_stages_begin_with_debian_12_and_copy_from_named_ones(self):
        self.assertEqual([self.build["from"], self.final["from"]], ["debian:12", "debian:12-slim"])
        for copy in steps_of(self.final, "COPY"):
            self.assertTrue(copy.startswith(f"--from={self.build['name']} "), copy)

    def test_the_image_with_an_assembler_adds_what_the_build_fetched_where_workers_look(self):
        self.assertEqual([self.cuda["from"], self.cuda["name"]], [self.final["name"], "cuda"])
        self.assertEqual((self.default["from"], self.default["steps"]), (self.final["name"], []))
        source, target = steps_of(self.cuda, "COPY")[0].split()[1:]
        self.assertEqual(source, steps_of(self.build, "WORKDIR")[0] + "/build/cuda")
        program = pathlib.PurePath(json.loads(steps_of(self.final, "ENTRYPOINT")[-1])[0])
        self.assertEqual(target, str(program.parent.parent / "cuda"))
        self.assertEqual(steps_of(self.cuda, "RUN"), [f"{target}/bin/ptxas --version"])
        self.assertIn('mv "$temporary/all/nvidia/cu13/$file" "$build/cuda/$file"', (ROOT / "dev").read_text(encoding="utf-8"))

    def test_the_image_with_a_driver_adds_packages_of_debian_alone(self):
        self.assertEqual([self.xpu["from"], self.xpu["name"]], [self.final["name"], "xpu"])
        self.assertEqual(steps_of(self.xpu, "COPY"), [])
        self.assertTrue(any("apt-get install" in run for run in steps_of(self.xpu, "RUN")), self.xpu)

    def test_the_commands_of_the_build_are_there(self):
        usage = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True).stdout
        words = [shlex.split(command) for run in steps_of(self.build, "RUN") for command in run.split("&&")]
        dev = [command[1] for command in words if command[0] == "./dev"]
        self.assertEqual(dev, ["packages", "bundle"])
        for command in dev:
            self.assertRegex(usage, rf"(?m)^  {command}\s")
        for command in words:
            if command[0] != "./dev":
                self.assertIsNotNone(shutil.which(command[0]), command)
        for copy in steps_of(self.build, "COPY"):
            self.assertTrue((ROOT / copy.split()[0]).exists(), copy)

    def test_the_packages_of_the_build_are_debians(self):
        if not shutil.which("apt-cache"):
            self.skipTest("no apt-cache")
        text = (ROOT / "dev").read_text(encoding="utf-8")
        packages = re.search(r'packages="([^"]*)"', text).group(1).split()
        self.assertGreater(len(packages), 30)
        known = subprocess.run(["apt-cache", "--generate", "pkgnames"], capture_output=True, text=True, check=True).stdout.split()
        if "g++" not in known:
            self.skipTest("apt-get has no lists here")
        self.assertEqual(set(packages) - set(known), set())

    def test_the_image_runs_as_no_root_and_says_what_it_serves(self):
        user = steps_of(self.final, "USER")[-1]
        self.assertRegex(user, r"^[1-9]\d*:[1-9]\d*$")  # Numbers: Kubernetes cannot tell who a name is.
        command = json.loads(steps_of(self.final, "CMD")[-1])
        ports = sorted(int(word.rsplit(":", 1)[1]) for word in command if re.match(r".*:\d+$", word))
        self.assertEqual(ports, sorted(int(port) for port in steps_of(self.final, "EXPOSE")[-1].split()))
        made = " ".join(steps_of(self.final, "RUN"))
        uid, gid = user.split(":")
        self.assertIn(f"--gid {gid} ", made)
        self.assertIn(f"--uid {uid} ", made)

    def plan(self, stage):
        user = steps_of(self.final, "USER")[-1].split(":")
        health = re.search(r"CMD (\[.*\])$", steps_of(self.final, "HEALTHCHECK")[-1]).group(1)
        copies = []
        for copy in steps_of(self.final, "COPY"):
            source, target = copy.split()[1:]
            self.assertTrue(source.startswith("/out/"), source)
            copies.append((str(stage / source[len("/out/"):]), target))
        for source, _ in copies:
            self.assertTrue(os.path.isdir(source), f"the bundle has no {source}")
        command = json.loads(steps_of(self.final, "ENTRYPOINT")[-1]) + json.loads(steps_of(self.final, "CMD")[-1])
        return {"uid": int(user[0]), "gid": int(user[1]), "switch": os.getuid() == 0, "copies": copies,
                "folders": json.loads(steps_of(self.final, "VOLUME")[-1]), "workdir": steps_of(self.final, "WORKDIR")[-1],
                "environment": dict(one.split("=", 1) for one in steps_of(self.final, "ENV")),
                "command": command + ["--workers", "1", "--worker-memory-mb", "2048"], "health": json.loads(health),
                "http": command[command.index("--http") + 1].rsplit(":", 1)[1],
                "ports": [int(port) for port in steps_of(self.final, "EXPOSE")[-1].split()], "stop": steps_of(self.final, "STOPSIGNAL")[-1]}

    def test_the_entry_point_runs_until_its_health_check_is_content(self):
        namespaces = ["unshare", "--mount", "--net"] + ([] if os.getuid() == 0 else ["--user", "--map-root-user"])
        if not shutil.which("unshare") or subprocess.run(namespaces + ["true"], capture_output=True, check=False).returncode:
            self.skipTest("this machine gives no namespaces")
        for tool in ("patchelf", "strip"):
            if not shutil.which(tool):
                self.skipTest(f"no {tool}")
        with tempfile.TemporaryDirectory() as folder:
            stage = pathlib.Path(folder)
            stage.chmod(0o755)
            make_bundle_folder(BINARIES, WORKER, stage / "tritond")
            plan = stage / "plan.json"
            plan.write_text(json.dumps(self.plan(stage)), encoding="utf-8")
            done = subprocess.run(namespaces + [sys.executable, __file__, "--inside", str(plan)], capture_output=True, text=True,
                                  timeout=200, check=False)
            self.assertIn("SAID ", done.stdout, done.stderr)
            said = json.loads(done.stdout.split("SAID ", 1)[1])
            self.assertTrue(said["healthy"], done.stderr)
            self.assertEqual(said["http"], {"/healthz": 200, "/": 200})
            self.assertEqual(said["listening"], [7433, 7434])
            self.assertEqual(said["exit"], 0, done.stderr)
            if os.getuid() == 0:
                self.assertEqual(said["uid"], json.loads(plan.read_text())["uid"])


if __name__ == "__main__":
    if sys.argv[1] == "--inside":
        inside(json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")))
        sys.exit(0)
    BINARIES, WORKER = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
