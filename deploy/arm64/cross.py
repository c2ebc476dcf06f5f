#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cross.py [FOLDER] [-- TARGET…]: builds the daemon and the command line for Debian 12 on arm64 into FOLDER (build/arm64), with this
machine's clang and protoc. Arm's libraries come from Debian into FOLDER/sysroot, by apt with folders of its own: it needs no root,
and changes nothing outside FOLDER. TARGETs are ninja's; without them the programs and the tests' fake worker.

The compile worker is not among them: it takes LLVM and MLIR for arm64. Workers on x86-64 attach to an arm64 daemon over TCP.
`./dev cross-arm64` installs what this takes, builds, and runs tests/e2e/arm64_test.py under qemu.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = """libc6-dev libstdc++-12-dev zlib1g-dev libgrpc-dev libgrpc++-dev libprotobuf-dev libabsl-dev libssl-dev libzstd-dev
  librocksdb-dev libhiredis-dev prometheus-cpp-dev libspdlog-dev libcpp-httplib-dev libcli11-dev libyaml-cpp-dev nlohmann-json3-dev
  libseccomp-dev libboost-dev libboost-context-dev libgtest-dev libgmock-dev libbenchmark-dev""".split()
FOLDERS = "timing;proto;cache;workers;server;client;tests"
PROGRAMS = ["bin/tritond", "bin/triton-client", "bin/triton-worker-fake"]
# In Debian's files for CMake libraries stand by their absolute paths.
ABSOLUTE = re.compile(r'(?m)(^|["; ])/usr/(lib|include)')


def run(*command, **options):
    print("cross:", *command, file=sys.stderr)
    subprocess.run([str(word) for word in command], check=True, **options)


def download(folder):
    """The packages with all that they need, as files in FOLDER/apt."""
    apt = folder / "apt"
    for name in ("lists/partial", "archives/partial"):
        (apt / name).mkdir(parents=True, exist_ok=True)
    (apt / "status").touch()
    settings = ['APT::Architecture "arm64";', 'APT::Architectures { "arm64"; };', 'Debug::NoLocking "true";', f'Dir::State "{apt}";',
                f'Dir::State::status "{apt}/status";', f'Dir::Cache "{apt}";']
    (apt / "apt.conf").write_text("\n".join(settings) + "\n", encoding="utf-8")
    environment = {**os.environ, "APT_CONFIG": str(apt / "apt.conf")}
    run("apt-get", "-q", "update", env=environment)
    run("apt-get", "-q", "install", "-y", "--download-only", "--no-install-recommends", *PACKAGES, env=environment)
    return sorted((apt / "archives").glob("*.deb"))


def make_sysroot(folder):
    """Unpacks the packages once; programs that a build runs are this machine's own."""
    sysroot = folder / "sysroot"
    if (sysroot / "complete").exists():
        return sysroot
    for package in download(folder):
        run("dpkg", "--extract", package, sysroot)
    for path in (sysroot / "usr/lib").rglob("*.cmake"):
        text = path.read_text(encoding="utf-8")
        path.write_text(ABSOLUTE.sub(rf"\1{sysroot}/usr/\2", text), encoding="utf-8")
    (sysroot / "usr/bin").mkdir(exist_ok=True)
    for program in [pathlib.Path("/usr/bin/protoc"), *pathlib.Path("/usr/bin").glob("grpc_*_plugin")]:
        link = sysroot / "usr/bin" / program.name
        link.unlink(missing_ok=True)
        link.symlink_to(program)
    (sysroot / "complete").touch()
    return sysroot


def main():
    words = sys.argv[1:]
    targets = words[words.index("--") + 1:] if "--" in words else PROGRAMS
    folder = pathlib.Path(words[0] if words and words[0] != "--" else ROOT / "build/arm64").resolve()
    sysroot = make_sysroot(folder)
    environment = {**os.environ, "ARM64_SYSROOT": str(sysroot)}
    run("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DTRITOND_FOLDERS={FOLDERS}",
        f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/deploy/arm64/toolchain.cmake", env=environment, stdout=subprocess.DEVNULL)
    run("ninja", "-C", folder, *targets, env=environment)


if __name__ == "__main__":
    main()
