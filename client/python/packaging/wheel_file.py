# SPDX-License-Identifier: Apache-2.0
"""Writes a wheel: a zip with a RECORD (PyPA's binary distribution format). Equal contents give equal bytes."""
import base64
import hashlib
import pathlib
import zipfile

EPOCH = (1980, 1, 1, 0, 0, 0)


class WheelFile:
    """One wheel in the making. Use as a context manager; leaving it writes METADATA's companions WHEEL and RECORD."""

    def __init__(self, folder, distribution, version, tag, pure):
        self.name = f"{distribution}-{version}-{tag}.whl"
        self._info = f"{distribution}-{version}.dist-info"
        self._tag, self._pure = tag, pure
        self._zip = zipfile.ZipFile(pathlib.Path(folder) / self.name, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self._record = []

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.add_info("WHEEL", f"Wheel-Version: 1.0\nGenerator: tritond\nRoot-Is-Purelib: {str(self._pure).lower()}\n"
                                   f"Tag: {self._tag}\n")
            rows = sorted(self._record) + [f"{self._info}/RECORD,,"]
            self._write(f"{self._info}/RECORD", ("\n".join(rows) + "\n").encode(), 0o644)
        self._zip.close()

    def add(self, path, data, mode=0o644):
        """A file at `path` below site-packages."""
        data = data.encode() if isinstance(data, str) else data
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._record.append(f"{path},sha256={digest},{len(data)}")
        self._write(path, data, mode)

    def add_info(self, name, text):
        """A file of the metadata folder."""
        self.add(f"{self._info}/{name}", text)

    def _write(self, path, data, mode):
        entry = zipfile.ZipInfo(path, EPOCH)
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(entry, data)
