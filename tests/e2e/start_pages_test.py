#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""start_pages_test.py BIN_FOLDER [--write]: the pages in docs/start hold true. Every command that they name is one that the
programs take, and those in ```console blocks do what the pages show, in a folder of their own. --write puts what the commands
print now into the pages, where it differs."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from daemon import free_port  # noqa: E402
from pages import agree, named_files, program_commands, split_commands, steps  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs/start").glob("*.md"))
PORTS = ("127.0.0.1:7433", "127.0.0.1:7434", "127.0.0.1:8433")
REFUSED = "--help for more information"  # how the programs' parsers end their complaints
# tritond as on a page, but on this run's ports.
DAEMON = """#!/bin/sh
case " $* " in
  *" keys "*) exec {program} "$@" ;;
  *" --listen "*) exec {program} "$@" ;;
  *) exec {program} "$@" --listen {listen} --http {http} ;;
esac
"""


class Scratch:
    """A folder that looks like a checkout, with the programs on the PATH. Use as a context manager."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tritond-pages-"))
        self.ports = dict(zip(PORTS, (f"127.0.0.1:{free_port()}" for _ in PORTS)))
        for path in ROOT.iterdir():
            if not path.name.startswith((".", "build")):
                (self.folder / path.name).symlink_to(path)
        programs = self.folder / ".bin"
        programs.mkdir()
        for name in ("triton-client", "triton-worker"):
            (programs / name).symlink_to(BINARIES / name)
        daemon = programs / "tritond"
        daemon.write_text(DAEMON.format(program=BINARIES / "tritond", listen=self.ports[PORTS[0]], http=self.ports[PORTS[1]]),
                          encoding="utf-8")
        daemon.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "TRITOND_SERVER": self.ports[PORTS[0]]}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, name, content):
        for port, free in self.ports.items():
            content = content.replace(port, free)
        (self.folder / name).write_text(content, encoding="utf-8")

    def run(self, commands):
        """[(exit status, lines)] of commands of one shell; those after one that hangs are missing. What they start ends with them."""
        script = "exec 2>&1\n"
        for command in commands:
            for port, free in self.ports.items():
                command = command.replace(port, free)
            script += f"{{ {command}\n}}\nprintf '\\n@@ %d\\n' $?\n"
        shell = subprocess.Popen(["bash", "-c", script], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                                 stdin=subprocess.DEVNULL, text=True, start_new_session=True)
        try:
            text = shell.communicate(timeout=120)[0]
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            text = shell.communicate()[0]
        try:
            os.killpg(shell.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        for port, free in self.ports.items():
            text = text.replace(free, port)
        parts = re.split(r"\n@@ (\d+)\n", text)
        return [(int(status), [line for line in output.splitlines() if line.strip()])
                for output, status in zip(parts[::2], parts[1::2])]


def missing_program(commands):
    """A program that the commands want and this machine lacks, or None."""
    for name in ("curl", "protoc"):
        if any(re.search(rf"\b{name}\b", command) for command in commands) and not shutil.which(name):
            return name
    return None


def can_run(command):
    """Whether this machine has the Python package that a command wants beside the programs."""
    return "client.py" not in command or subprocess.run(["python3", "-c", "import grpc"], capture_output=True, check=False).returncode == 0


def refusal(words, folder):
    """What the real parser complains of in a command; "" when it takes it. The command itself comes to nothing: it ends with a
    setting that is refused later, or without a server."""
    program, words = words[0], [word.strip("[]") for word in words[1:]]
    for flag in ("--config", "--server", "--wait", "--timeout"):
        while flag in words:
            del words[words.index(flag):words.index(flag) + 2]
    if program == "triton-client":
        words = ["--server", "127.0.0.1:1", *words]
    elif program == "triton-worker":
        words += ["--server", "127.0.0.1:1", "--label", "="]
    elif words[:1] != ["keys"]:
        words += ["--log-format", "none of these"]
    done = subprocess.run([str(BINARIES / program), *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60, check=False)
    return done.stderr.strip() if REFUSED in done.stderr else ""


class StartPagesTest(unittest.TestCase):
    def test_every_command_is_one_that_the_programs_take(self):
        count = 0
        with tempfile.TemporaryDirectory() as folder:
            for page in [*PAGES, ROOT / "README.md"]:
                for number, words in program_commands(page.read_text(encoding="utf-8")):
                    with self.subTest(page=page.name, line=number):
                        self.assertEqual(refusal(words, folder), "", words)
                        count += 1
        self.assertGreater(count, 30)

    def test_a_command_that_no_program_takes_is_noticed(self):
        with tempfile.TemporaryDirectory() as folder:
            for line in ("triton-client stats --no-such-flag", "sudo tritond --data-dir x --no-such-flag 2>log &",
                         "echo; /opt/bin/triton-worker --server a:1 --no-such-flag | cat", "triton-client no-such-command",
                         "tritond keys no-such-command", "triton-client compile"):
                with self.subTest(line=line):
                    (words,) = split_commands(line)
                    self.assertIn(REFUSED, refusal(words, folder))

    def test_outputs_agree_but_for_keys_numbers_and_dots(self):
        self.assertTrue(agree(["softmax  hit  1.5 ms  key 0123456789ab"], ["softmax  hit  20.5 ms  key ba9876543210"]))
        self.assertTrue(agree(["b", "a"], ["a", "b"]))
        self.assertTrue(agree(["first", "…", "last … line"], ["first", "x", "y", "last long line"]))
        self.assertFalse(agree(["softmax  hit  1.5 ms"], ["softmax  miss  1.5 ms"]))
        self.assertFalse(agree(["…", "last"], ["last", "but one"]))
        self.assertFalse(agree(["a"], []))

    def test_the_pages_show_what_their_commands_print(self):
        for page in PAGES:
            text = page.read_text(encoding="utf-8")
            wanted = [step for step in steps(text) if can_run(step[1])]
            commands = [command for _, command, _ in wanted]
            with self.subTest(page=page.name):
                if name := missing_program(commands):
                    self.skipTest(f"{page.name}: {name} is not there")
                with Scratch() as scratch:
                    for name, content in named_files(text).items():
                        scratch.write(name, content)
                    results = scratch.run(commands)
                    self.assertEqual(len(results), len(commands), results[-1:])
                if WRITE:
                    page.write_text(rewritten(text, wanted, results), encoding="utf-8")
                    continue
                for (number, command, expected), (status, lines) in zip(wanted, results):
                    self.assertEqual(status, 0, f"{page.name}:{number}: {command}: {lines}")
                    self.assertTrue(agree(expected, lines), f"{page.name}:{number}: {command} printed\n" + "\n".join(lines))


def rewritten(text, wanted, results):
    """The page with the output of each command that printed something else."""
    lines = text.splitlines()
    for (number, _, expected), (_, output) in reversed(list(zip(wanted, results))):
        if not agree(expected, output):
            lines[number:number + len(expected)] = output
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    BINARIES, WRITE = pathlib.Path(sys.argv[1]).resolve(), "--write" in sys.argv
    unittest.main(argv=sys.argv[:1])
