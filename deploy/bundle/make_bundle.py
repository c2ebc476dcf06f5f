#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_bundle.py BUILD_FOLDER TARBALL: the programs and the shared libraries that they need, for any x86-64 Linux with the same
or a newer glibc.

    tritond/bin/{tritond,triton-worker,triton-client}   stripped; they find ../lib by $ORIGIN
    tritond/lib/*.so*                                    everything but glibc, which the machine brings
    tritond/cuda/…                                       NVIDIA's device library, where the build has it
    tritond/amdgcn/bitcode/…                             AMD's device libraries and their licence, where Debian's package is installed

The tarball is unpacked into a folder of its own and its programs are run there with an empty environment before this
says that it is done.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

PROGRAMS = ("tritond", "triton-worker", "triton-client")
GLIBC = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|anl|nsl|mvec|BrokenLocale)\.so\..*)$")
LIMIT_MIB = 45
AMD_DEVICE_LIBRARIES = [pathlib.Path(path) for path in (
    "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc", "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ockl.bc",
    "/usr/share/doc/rocm-device-libs/copyright")]


def run(*command, **kwargs):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, **kwargs).stdout


def libraries_of(program):
    """{name: path} of every shared library that the program loads, glibc's own left out."""
    found = {}
    for line in run("ldd", program).splitlines():
        match = re.match(r"\s*(\S+) => (\S+)", line)
        if not match or GLIBC.match(match.group(1)):
            continue
        if match.group(2) == "not":
            raise RuntimeError(f"{program}: {match.group(1)} not found")
        found[match.group(1)] = match.group(2)
    return found


def assemble(build, top):
    (top / "bin").mkdir(parents=True)
    (top / "lib").mkdir()
    libraries = {}
    for name in PROGRAMS:
        libraries.update(libraries_of(build / "bin" / name))
        shutil.copy(build / "bin" / name, top / "bin" / name)
        run("strip", top / "bin" / name)
        run("patchelf", "--set-rpath", "$ORIGIN/../lib", top / "bin" / name)
    for name, path in libraries.items():
        target = top / "lib" / name
        shutil.copy(os.path.realpath(path), target)
        target.chmod(0o755)
        run("strip", "--strip-unneeded", target)
        run("patchelf", "--set-rpath", "$ORIGIN", target)
    device_library = build / "cuda/nvvm/libdevice/libdevice.10.bc"
    if device_library.exists():
        target = top / "cuda/nvvm/libdevice"
        target.mkdir(parents=True)
        shutil.copy(device_library, target)
    if all(path.exists() for path in AMD_DEVICE_LIBRARIES):
        (top / "amdgcn/bitcode").mkdir(parents=True)
        for path in AMD_DEVICE_LIBRARIES:
            shutil.copy(path, top / "amdgcn/bitcode")


def pack(top, tarball):
    """Equal trees give equal tarballs. xz takes a third less than gzip."""
    run("tar", "-C", top.parent, "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "-cJf", tarball,
        top.name, env={**os.environ, "XZ_OPT": "-6 -T0"})


def check(tarball):
    """Every program answers from another folder, with an empty environment and only the bundle's libraries."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(tarball) as archive:
            archive.extractall(folder)
        for name in PROGRAMS:
            program = pathlib.Path(folder) / "tritond/bin" / name
            run(program, "--version", cwd="/", env={})
            for library, path in libraries_of(program).items():
                if not os.path.realpath(path).startswith(os.path.realpath(folder)):
                    raise RuntimeError(f"{name} loads {library} from {path}")


def report(name, make, limit, unit_bytes, unit):
    """Makes a package and tells its size: the exit status. `make` gives the path of what it made; `limit` is in units."""
    try:
        path = make()
    except subprocess.CalledProcessError as error:
        print(f"{name}: {' '.join(error.cmd)}: {error.stderr or error.returncode}", file=sys.stderr)
        return 1
    except (RuntimeError, OSError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    size = path.stat().st_size / unit_bytes
    print(f"{os.path.relpath(path)}: {size:.1f} {unit}")
    if size > limit:
        print(f"{name}: larger than {limit} {unit}", file=sys.stderr)
        return 1
    return 0


def make(build, tarball):
    with tempfile.TemporaryDirectory() as folder:
        assemble(build, pathlib.Path(folder) / "tritond")
        pack(pathlib.Path(folder) / "tritond", tarball)
    check(tarball)
    return tarball


def main():
    build, tarball = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    return report("bundle", lambda: make(build, tarball), LIMIT_MIB, 1 << 20, "MiB")


if __name__ == "__main__":
    sys.exit(main())
