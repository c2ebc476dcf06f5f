# SPDX-License-Identifier: Apache-2.0
"""Daemons that answer, refuse, are not there, and come back; processes that fork."""
import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import grpc
from fake_daemon import EXHAUSTED, INVALID, UNAVAILABLE, UNIMPLEMENTED, FakeDaemon, Refusal

from tritond import _schema, _transport
from tritond._errors import NotServed
from tritond._service import Service
from tritond._settings import make_settings


def request_of(text=b"module {}", target="cuda:90"):
    return _schema.CompileRequest(target=target, ir=text, outputs=[2, 5], label="k")


def service_of(*addresses, **settings):
    return Service(make_settings(server=",".join(addresses), **settings))


def diagnosis(diagnostics):
    return "; ".join(d.message for d in diagnostics)


def compile_with(service, text=b"module {}", target="cuda:90"):
    return service.compile(request_of(text, target), diagnosis)


def free_address():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


class TestAnswers(unittest.TestCase):
    def test_an_answer_has_every_output(self):
        with FakeDaemon() as daemon:
            answer = compile_with(service_of(daemon.address))
        self.assertEqual((answer.cache, answer.artifacts), ("miss", {2: b"stage 2 of k", 5: b"stage 5 of k"}))

    def test_what_is_too_large_for_one_message_is_fetched(self):
        with FakeDaemon(inline_bytes=3) as daemon:
            answer = compile_with(service_of(daemon.address))
        self.assertEqual(answer.artifacts[5], b"stage 5 of k")

    def test_a_token_travels_as_a_header(self):
        with FakeDaemon() as daemon:
            compile_with(service_of(daemon.address, token="secret"))
            self.assertEqual(daemon.headers["authorization"], "Bearer secret")

    def test_a_series_of_kernels_costs_one_look_whether_the_daemon_is_there(self):
        with FakeDaemon() as daemon:
            service = service_of(daemon.address)
            for i in range(20):
                compile_with(service, b"%d" % i)
            self.assertEqual((daemon.describes, len(daemon.requests)), (1, 20))

    def test_threads_share_a_connection(self):
        with FakeDaemon() as daemon:
            service = service_of(daemon.address)
            threads = [threading.Thread(target=compile_with, args=(service, b"%d" % i)) for i in range(16)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual((daemon.describes, len(daemon.requests)), (1, 16))


class TestTls(unittest.TestCase):
    def test_a_server_is_known_by_its_authority_and_a_token_travels(self):
        with tempfile.TemporaryDirectory() as folder:
            key, certificate = f"{folder}/key.pem", f"{folder}/cert.pem"
            command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                       "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate]
            try:
                subprocess.run(command, check=True, capture_output=True)
            except (OSError, subprocess.CalledProcessError) as error:
                self.skipTest(f"openssl: {error}")
            with open(key, "rb") as private, open(certificate, "rb") as public:
                credentials = grpc.ssl_server_credentials([(private.read(), public.read())])
            with FakeDaemon("127.0.0.1:0", credentials=credentials) as daemon:
                compile_with(service_of(daemon.address, tls_ca=certificate, token="secret"))
                self.assertEqual(daemon.headers["authorization"], "Bearer secret")
                for settings in ({}, {"tls": True}):
                    with self.assertRaises(NotServed) as caught:
                        compile_with(service_of(daemon.address, **settings))
                    self.assertEqual(caught.exception.reason, "unreachable", caught.exception.message)


class Cable:
    """A TCP port that forwards to a Unix socket until it is cut: then it swallows everything."""

    def __init__(self, address):
        self._path = address.replace("unix:", "")
        self._cut = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        self._cut.set()

    def _accept(self):
        while True:
            here, _ = self._listener.accept()
            there = socket.socket(socket.AF_UNIX)
            there.connect(self._path)
            for source, sink in ((here, there), (there, here)):
                threading.Thread(target=self._forward, args=(source, sink), daemon=True).start()

    def _forward(self, source, sink):
        with source, sink, contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if not self._cut.is_set():
                    sink.sendall(data)


class TestRefusals(unittest.TestCase):
    def refuse(self, refusal, **settings):
        def answer(_):
            raise refusal

        with FakeDaemon() as daemon:
            daemon.compile = answer
            with self.assertRaises(NotServed) as caught:
                compile_with(service_of(daemon.address, **settings))
            return caught.exception, len(daemon.requests)

    def test_each_answer_has_its_reason(self):
        failure = _schema.CompileFailure(key="k")
        failure.diagnostics.add(severity=1, message="the kernel needs 40000 bytes of shared memory, but cuda:90 has 30000 a block")
        for refusal, reason, silent in (
                (Refusal(UNIMPLEMENTED, "no such op", "UNIMPLEMENTED"), "unimplemented", False),
                (Refusal(INVALID, "bad", "BAD_REQUEST"), "invalid", False),
                (Refusal(INVALID, "which?", "UNKNOWN_TARGET"), "target", True),
                (Refusal(UNAVAILABLE, "drains", "DRAINING"), "draining", False),
                (Refusal(EXHAUSTED, "full", "QUEUE_FULL", [_schema.RetryInfo()]), "busy", False),
                (Refusal(EXHAUSTED, "too much", "LIMIT", [failure]), "limits", False)):
            with self.subTest(reason):
                caught, calls = self.refuse(refusal)
                self.assertEqual((caught.reason, caught.silent, calls), (reason, silent, 1))

    def test_a_limit_has_its_numbers(self):
        failure = _schema.CompileFailure(key="k")
        failure.diagnostics.add(severity=1, message="the kernel needs 40000 bytes of shared memory, but cuda:90 has 30000 a block")
        caught, _ = self.refuse(Refusal(EXHAUSTED, "too much", "LIMIT", [failure]))
        self.assertEqual(caught.over_limit, (40000, 30000))

    def test_where_local_compiles_are_errors_a_busy_daemon_is_asked_again(self):
        with FakeDaemon() as daemon:
            def answer(_):
                daemon.compile = lambda _: {}
                raise Refusal(EXHAUSTED, "full", "QUEUE_FULL", [_schema.RetryInfo()])

            daemon.compile = answer
            compile_with(service_of(daemon.address, on_failure="error"))
            self.assertEqual(len(daemon.requests), 2)


class TestReach(unittest.TestCase):
    def refused_after(self, service):
        begin = time.monotonic()
        with self.assertRaises(NotServed) as caught:
            compile_with(service)
        return caught.exception, time.monotonic() - begin

    def test_nobody_listening_is_known_at_once_and_then_left_alone(self):
        for address in (free_address(), "unix:/nowhere/s"):
            service = service_of(address)
            failure, seconds = self.refused_after(service)
            self.assertEqual(failure.reason, "unreachable")
            self.assertLess(seconds, 0.25)
            failure, seconds = self.refused_after(service)
            self.assertEqual((failure.reason, failure.silent), ("resting", True))
            self.assertLess(seconds, 0.05)
            self.assertIn(address, service.resting())

    def test_a_black_hole_is_known_in_a_second(self):
        with socket.socket() as hole:
            hole.bind(("127.0.0.1", 0))
            hole.listen(8)
            failure, seconds = self.refused_after(service_of(f"127.0.0.1:{hole.getsockname()[1]}"))
        self.assertEqual(failure.reason, "no answer", failure.message)
        self.assertLess(seconds, 1.25)

    def test_a_cable_that_is_cut_in_the_middle_of_a_compile_is_noticed(self):
        with FakeDaemon() as daemon:
            cable, arrived, go_on = Cable(daemon.address), threading.Event(), threading.Event()

            def answer(_):
                arrived.set()
                go_on.wait(30)
                return {}

            daemon.compile = answer
            threading.Thread(target=lambda: arrived.wait(30) and cable.cut()).start()
            failure, seconds = self.refused_after(service_of(cable.address))
            go_on.set()
        self.assertIn(failure.reason, ("unreachable", "no answer"))
        self.assertLess(seconds, 15)

    def test_a_daemon_that_was_started_anew_is_used_at_once(self):
        with FakeDaemon() as daemon:
            service = service_of(daemon.address)
            compile_with(service)
            daemon.stop()
            daemon.start()
            compile_with(service, b"2")
            self.assertEqual(len(daemon.requests), 2)

    def test_a_daemon_that_comes_back_is_used_after_its_rest(self):
        with FakeDaemon() as daemon:
            service = service_of(daemon.address)
            compile_with(service)
            daemon.stop()
            self.refused_after(service)
            daemon.start()
            time.sleep(service.resting()[daemon.address])
            compile_with(service)
            self.assertEqual(service.resting(), {})

    def test_the_next_daemon_takes_over(self):
        with FakeDaemon() as daemon:
            service = service_of(free_address(), daemon.address, free_address())
            for i in range(8):
                compile_with(service, b"%d" % i)
            self.assertEqual(len(daemon.requests), 8)

    def test_each_kernel_has_its_daemon_whatever_its_lines_are(self):
        with FakeDaemon() as one, FakeDaemon() as two:
            for addresses, line in (((one.address, two.address), b"1"), ((two.address, one.address), b"2")):
                service = service_of(*addresses)
                for i in range(16):
                    compile_with(service, b"%%%d = x loc(#loc%s)\n#loc = loc(\"f.py\":%s:1)\n" % (i, line, line))
            self.assertEqual(len(one.requests) + len(two.requests), 32)
            self.assertGreater(len(one.requests), 2)
            for daemon in (one, two):
                kernels = [request.ir.split(b" ")[0] for request in daemon.requests]
                self.assertEqual(sorted(kernels[: len(kernels) // 2]), sorted(kernels[len(kernels) // 2:]))


_FORK = """
import os, sys, threading, time
sys.path.insert(0, {tests!r})
import service_test
from service_test import compile_with, service_of
service = service_of({address!r})
compile_with(service, b"parent")
stop = threading.Event()
def busy():
    while not stop.is_set():
        compile_with(service, b"busy")
threads = [threading.Thread(target=busy) for _ in range({threads})]
[t.start() for t in threads]
children = []
for i in range(3):
    pid = os.fork()
    if pid == 0:
        answer = compile_with(service, b"child")
        again = compile_with(service, b"child")
        sys.exit(0 if answer.artifacts[5] == b"stage 5 of k" else 3)
    children.append(pid)
codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
stop.set()
[t.join() for t in threads]
compile_with(service, b"parent")
print(codes)
"""


class TestFork(unittest.TestCase):
    def fork_with(self, threads):
        with FakeDaemon() as daemon:
            code = _FORK.format(tests=os.path.dirname(os.path.abspath(__file__)), address=daemon.address, threads=threads)
            child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd="/",
                                     start_new_session=True)
            try:
                out, _ = child.communicate(timeout=60)
            finally:
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGKILL)
            kernels = [bytes(request.ir) for request in daemon.requests]
        self.assertEqual(out.strip(), "[0, 0, 0]")
        self.assertEqual((kernels.count(b"child"), kernels.count(b"parent")), (6, 2))

    def test_children_and_the_parent_compile_after_a_fork(self):
        self.fork_with(threads=0)

    def test_children_compile_after_a_fork_amid_calls(self):
        self.fork_with(threads=4)

    def test_a_child_of_a_process_without_grpc_has_grpc_itself(self):
        self.assertTrue(_transport.grpc_is_usable())
        pid = os.fork()
        if pid == 0:
            os._exit(0 if not _transport.grpc_is_usable() else 1)  # this process has imported it
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)


if __name__ == "__main__":
    unittest.main()
