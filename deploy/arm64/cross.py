#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cross.py [FOLDER] [--worker] [--jobs N] [-- TARGET…]: builds the daemon and the command line for Debian 12 on arm64 into FOLDER
(build/arm64), with this machine's clang, protoc and mlir-tblgen. Arm's libraries come from Debian into FOLDER/sysroot, by apt with
folders of its own: it needs no root, and changes nothing outside FOLDER. TARGETs are ninja's; without them the programs and the
tests' fake worker.

With --worker the compile worker too. It takes LLVM and MLIR for arm64 (1.5 GB in FOLDER) and half an hour of a core.
`./dev cross-arm64 [worker]` installs what this takes, builds, and runs tests/e2e/arm64_test.py under qemu.
"""
import argparse
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
WORKER_PACKAGES = ["llvm-22-dev", "libmlir-22-dev", "mlir-22-tools", "liblld-22-dev"]
LLVM = "usr/lib/llvm-22"
# In Debian's files for CMake libraries stand by their absolute paths.
ABSOLUTE = re.compile(r'(?m)(^|["; ])/usr/(lib|include)')


def run(*command, **options):
    print("cross:", *command, file=sys.stderr)
    subprocess.run([str(word) for word in command], check=True, **options)


def download(folder, packages):
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
    run("apt-get", "-q", "install", "-y", "--download-only", "--no-install-recommends", *packages, env=environment)
    return sorted((apt / "archives").glob("*.deb"))


def own_programs(worker):
    """(folder in the sysroot, program of this machine) of what a build runs."""
    programs = [("usr/bin", pathlib.Path("/usr/bin/protoc"))]
    programs += [("usr/bin", path) for path in pathlib.Path("/usr/bin").glob("grpc_*_plugin")]
    return programs + ([(f"{LLVM}/bin", pathlib.Path(f"/{LLVM}/bin/mlir-tblgen"))] if worker else [])


def make_sysroot(folder, worker):
    """Unpacks the packages once; programs that a build runs are this machine's own."""
    sysroot = folder / "sysroot"
    complete = sysroot / ("complete-with-worker" if worker else "complete")
    if complete.exists():
        return sysroot
    for package in download(folder, PACKAGES + (WORKER_PACKAGES if worker else [])):
        run("dpkg", "--extract", package, sysroot)
    for path in (sysroot / "usr/lib").rglob("*.cmake"):
        text = path.read_text(encoding="utf-8")
        path.write_text(ABSOLUTE.sub(rf"\1{sysroot}/usr/\2", text), encoding="utf-8")
    for path in (sysroot / "usr/lib").rglob("*.so"):  # An absolute link would lead out of the sysroot.
        if path.is_symlink() and os.readlink(path).startswith("/"):
            target = sysroot / os.readlink(path)[1:]
            path.unlink()
            path.symlink_to(target)
    for place, program in own_programs(worker):
        link = sysroot / place / program.name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(program.resolve())
    complete.touch()
    return sysroot


def main():
    parser = argparse.ArgumentParser(description="builds for Debian 12 on arm64")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=ROOT / "build/arm64")
    parser.add_argument("--worker", action="store_true", help="the compile worker, too")
    parser.add_argument("--jobs", type=int, help="compilers at once; without it ninja decides")
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    arguments, targets = parser.parse_args(words[:at]), words[at + 1:]
    folder = arguments.folder.resolve()
    sysroot = make_sysroot(folder, arguments.worker)
    environment = {**os.environ, "ARM64_SYSROOT": str(sysroot)}
    folders = FOLDERS.replace("proto;", "proto;compiler;") if arguments.worker else FOLDERS
    run("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DTRITOND_FOLDERS={folders}",
        f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/deploy/arm64/toolchain.cmake", f"-DTRITOND_LLVM_PREFIX={sysroot / LLVM}",
        env=environment, stdout=subprocess.DEVNULL)
    jobs = ["-j", arguments.jobs] if arguments.jobs else []
    run("ninja", "-C", folder, *jobs, *(targets or PROGRAMS + (["bin/triton-worker"] if arguments.worker else [])), env=environment)


if __name__ == "__main__":
    main()
