#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs tests of the Python package in an environment of their own: run_tests.py BUILD_FOLDER SUITE [REQUIREMENT…]

    run_tests.py build newest grpcio protobuf                       # settings and service, with what is newest
    run_tests.py build triton triton==3.6.0 grpcio protobuf         # all that needs a real Triton, and the daemon of BUILD_FOLDER
    run_tests.py build triton-release triton==3.6.0 grpcio protobuf # of that, what differs from one Triton to the next
    run_tests.py build lint mypy ruff

The package is built as a wheel and installed. Environments stay in BUILD_FOLDER/python and are made again when their
requirements change. Exit status 77, after one line, where PyPI, pip or protoc is not there.
"""
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parent
SKIP = 77
SUITES = {
    "newest": ["settings_test", "service_test"],
    "oldest": ["settings_test", "service_test"],
    "triton": ["hook_test", "tuning_test", "daemon_test"],
    "triton-release": ["hook_test", "tuning_test.SearchTest", "tuning_test.ProcessTest", "daemon_test.DaemonTest"],
    "wheels": ["wheel_test"],
    "lint": [],
}


class Absent(Exception):
    """Something that a machine may lack."""


def clean_environment(*prefixes):
    """The environment without what names other modules: pip would take those of PYTHONPATH for installed."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", *prefixes))}


def run(*command):
    return subprocess.run([str(word) for word in command], check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=clean_environment())


def make_environment(folder, requirements):
    """The interpreter of a virtual environment with `requirements`. Debian's venv may lack pip, so the outer one installs."""
    python = folder / "bin" / "python"
    stamp = folder / "requirements.txt"
    if python.exists() and stamp.exists() and stamp.read_text() == "\n".join(requirements):
        return python
    shutil.rmtree(folder, ignore_errors=True)
    if run(sys.executable, "-m", "pip", "--version").returncode != 0:
        raise Absent("pip is not there")
    if (made := run(sys.executable, "-m", "venv", "--without-pip", folder)).returncode != 0:
        raise Absent(f"python3 -m venv: {made.stdout.strip().splitlines()[-1:]}")
    done = run(sys.executable, "-m", "pip", "--python", python, "install", "--no-compile", *requirements)
    if done.returncode != 0:
        raise Absent(f"pip could not install {' '.join(requirements)}: {(done.stdout.strip().splitlines() or ['?'])[-1]}")
    stamp.write_text("\n".join(requirements))
    return python


def install_package(python, wheels):
    """Builds the wheel and installs it, without what it depends on."""
    if not shutil.which("protoc"):
        raise Absent("protoc is not there")
    shutil.rmtree(wheels, ignore_errors=True)
    built = run(sys.executable, PACKAGE / "packaging" / "backend.py", wheels)
    if built.returncode != 0:
        raise RuntimeError(f"the wheel cannot be built:\n{built.stdout}")
    done = run(sys.executable, "-m", "pip", "--python", python, "install", "--force-reinstall", "--no-deps", "--no-index",
               *wheels.glob("tritond-[0-9]*.whl"))
    if done.returncode != 0:
        raise RuntimeError(f"the wheel cannot be installed:\n{done.stdout}")


def check_lint(python):
    status = 0
    for command in ([python, "-m", "mypy"], [python, "-m", "ruff", "check", "."]):
        status |= subprocess.run([str(word) for word in command], cwd=PACKAGE, check=False).returncode
    return status


def main():
    build, suite, requirements = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3:]
    folder = build / "python" / "-".join(["env", suite.partition("-")[0], *(r.replace("=", "") for r in requirements[:1])])
    try:
        python = make_environment(folder, requirements)
        if suite == "lint":
            return check_lint(python)
        install_package(python, folder / "wheels")
    except Absent as reason:
        print(f"skipped: {reason}")
        return SKIP
    environment = clean_environment("TRITON")
    environment["TRITOND_BUILD"] = str(build)
    environment["TRITOND_OUTER_PYTHON"] = sys.executable
    return subprocess.run([str(python), "-m", "unittest", "-v", *SUITES[suite]], cwd=HERE, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
