#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the service with a sanitizer and runs its tests: sanitize.py address|thread [CTEST_ARGUMENT…]

    sanitize.py address                  # AddressSanitizer and UndefinedBehaviorSanitizer, in build/asan
    sanitize.py thread -R tests/fault    # ThreadSanitizer, in build/tsan; what follows goes to ctest

What a daemon or a worker of a test reports goes to files of its own (build/asan/reports), since a test may well kill it
and go on. The last lines list them and count the tests; exit status 1 when a test failed or there is any report.

ThreadSanitizer must see every lock. Those of this project and of gRPC are absl::Mutex, and Debian's abseil is built
without it: its sources are fetched (apt-get, as the user, below the build folder), built with the sanitizer once, and
linked by a path that the programs carry.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = "tests/sanitize"
JOBS = str(os.cpu_count())
FOLDERS = "timing;proto;cache;server;workers;client;tests"  # The compiler has its own fuzzers, and MLIR is not instrumented.
DEBIAN = "http://deb.debian.org/debian"
# Mutexes, and what they stand on. The rest of abseil stays as it is: what gRPC does with it would only be noise.
INSTRUMENTED = ["synchronization", "base", "malloc_internal", "spinlock_wait"]
# Debian's libprotobuf is built without the sanitizer, and with it the header makes these fields larger.
MAP_FIELD = """#pragma once
#include <functional>
#include <google/protobuf/message.h>
#include <google/protobuf/map_entry.h>
#pragma push_macro("__SANITIZE_THREAD__")
#undef __SANITIZE_THREAD__
#include_next <google/protobuf/map_field.h>
#pragma pop_macro("__SANITIZE_THREAD__")
"""
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def run(*words, log=None, **more):
    """Runs a command, its output to `log` where that is given; ends the program when it fails."""
    print("sanitize:", " ".join(words), file=sys.stderr)
    with open(log or os.devnull, "w", encoding="utf-8") as out:
        done = subprocess.run(words, check=False, **({"stdout": out, "stderr": subprocess.STDOUT} if log else {}), **more)
    if done.returncode != 0:
        sys.exit(f"sanitize: {words[0]} ended with {done.returncode}" + (f"; see {log}" if log else ""))


def instrumented_abseil(folder):
    """A folder with lib and include, the mutexes of the installed version of abseil built with ThreadSanitizer."""
    prefix = os.path.join(folder, "installed")
    if os.path.exists(os.path.join(prefix, "include/google/protobuf/map_field.h")):
        return prefix
    os.makedirs(os.path.join(folder, "apt/lists/partial"), exist_ok=True)
    with open(os.path.join(folder, "apt/sources.list"), "w", encoding="utf-8") as file:
        file.write(f"deb-src [signed-by={KEYRING}] {DEBIAN} bookworm main\n"
                   f"deb-src [signed-by={KEYRING}] {DEBIAN}-security bookworm-security main\n")
    with open(os.path.join(folder, "apt/apt.conf"), "w", encoding="utf-8") as file:
        file.write(f'Dir::Etc::sourcelist "{folder}/apt/sources.list";\nDir::Etc::sourceparts "-";\n'
                   f'Dir::State::lists "{folder}/apt/lists";\n')
    environment = dict(os.environ, APT_CONFIG=os.path.join(folder, "apt/apt.conf"))
    version = subprocess.run(["dpkg-query", "-W", "-f=${Version}", "libabsl-dev"], capture_output=True, text=True,
                             check=True).stdout
    run("apt-get", "update", log=os.path.join(folder, "update.log"), env=environment)
    run("apt-get", "source", "--download-only", f"abseil={version}", log=os.path.join(folder, "source.log"),
        env=environment, cwd=folder)
    description = glob.glob(os.path.join(folder, "abseil_*.dsc"))[0]
    run("rm", "-rf", "sources", cwd=folder)
    run("dpkg-source", "-x", description, "sources", log=os.path.join(folder, "unpack.log"), cwd=folder)
    built = os.path.join(folder, "build")
    run("cmake", "-S", os.path.join(folder, "sources"), "-B", built, "-G", "Ninja", "-DCMAKE_CXX_STANDARD=17",
        "-DBUILD_SHARED_LIBS=ON", "-DCMAKE_SKIP_RPATH=ON",
        "-DCMAKE_CXX_FLAGS=-fsanitize=thread -O1 -g1 -fno-omit-frame-pointer", log=os.path.join(folder, "configure.log"))
    run("ninja", "-j", JOBS, "-C", built, *INSTRUMENTED, log=os.path.join(folder, "build.log"))
    os.makedirs(os.path.join(prefix, "lib"), exist_ok=True)
    os.makedirs(os.path.join(prefix, "include/google/protobuf"), exist_ok=True)
    for library in INSTRUMENTED:
        for path in glob.glob(os.path.join(built, f"absl/*/libabsl_{library}.so*")):
            shutil.copy2(path, os.path.join(prefix, "lib"), follow_symlinks=False)
    with open(os.path.join(prefix, "include/google/protobuf/map_field.h"), "w", encoding="utf-8") as file:
        file.write(MAP_FIELD)
    return prefix


def configure(kind, build):
    words = ["cmake", "--preset", os.path.basename(build), f"-DTRITOND_FOLDERS={FOLDERS}"]
    if kind == "thread":
        # An rpath of the old kind also holds for the libraries that gRPC needs.
        prefix = instrumented_abseil(os.path.join(build, "abseil"))
        words += [f"-DCMAKE_CXX_FLAGS=-isystem {prefix}/include",
                  f"-DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags,-rpath,{prefix}/lib"]
    run(*words, log=os.path.join(build, "configure.log"), cwd=ROOT)


def options(kind, build):
    """The environment of the tests; what the caller has set comes last and so prevails."""
    reports = os.path.join(build, "reports/report")
    ours = {
        "address": {
            # A test preloads a library, which then stands before the sanitizer's own.
            "ASAN_OPTIONS": f"detect_leaks=1:verify_asan_link_order=0:log_path={reports}",
            "LSAN_OPTIONS": f"suppressions={ROOT}/{HERE}/lsan.supp:print_suppressions=0",
            "UBSAN_OPTIONS": f"print_stacktrace=1:halt_on_error=1:log_path={reports}"},
        "thread": {
            "TSAN_OPTIONS": f"suppressions={ROOT}/{HERE}/tsan.supp:second_deadlock_stack=1:log_path={reports}"}}[kind]
    return {name: f"{value}:{os.environ[name]}" if name in os.environ else value for name, value in ours.items()}


def summaries(build):
    """One line a report: how often, what and where."""
    found = {}
    for path in glob.glob(os.path.join(build, "reports/*")):
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        lines = re.findall(r"^SUMMARY: (.*)|^(.*: runtime error: .*)", text, re.MULTILINE)
        for line in lines or [("a report without a summary: " + path, "")]:
            line = line[0] or line[1]
            found[line] = found.get(line, 0) + 1
    return [f"{count} x {line}" for line, count in sorted(found.items())]


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ("address", "thread"):
        sys.exit(__doc__)
    kind, more = sys.argv[1], sys.argv[2:]
    build = os.path.join(ROOT, "build", {"address": "asan", "thread": "tsan"}[kind])
    os.makedirs(build, exist_ok=True)
    configure(kind, build)
    run("ninja", "-j", JOBS, "-C", build)
    results = os.path.join(build, "test-results")
    run("rm", "-rf", results, os.path.join(build, "reports"))
    os.makedirs(os.path.join(build, "reports"))
    environment = dict(os.environ, **options(kind, build))
    junit = os.path.join(build, "results.xml")
    subprocess.run(["ctest", "--test-dir", build, "--output-on-failure", "--timeout", "900", "--output-junit", junit, *more],
                   check=False, env=environment)
    lines = summaries(build)
    for line in lines:
        print("report:", line)
    counted = subprocess.run([sys.executable, os.path.join(ROOT, "tests/support/count_results.py"), junit, results],
                             check=False)
    sys.exit(1 if lines else counted.returncode)


if __name__ == "__main__":
    main()
