# SPDX-License-Identifier: Apache-2.0
"""A daemon in this process that answers what a test tells it to. Needs no compiler: artifacts are made up."""
import concurrent.futures
import hashlib
import json
import os
import tempfile

import grpc

from tritond import _schema

INVALID, EXHAUSTED, UNIMPLEMENTED, UNAVAILABLE = (
    grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.UNAVAILABLE)
_FORMATS = {2: "ttgir", 3: "llir", 4: "ptx", 5: "cubin"}
METADATA = {"name": "kernel", "shared": 64, "num_warps": 4, "tmem_size": 0, "global_scratch_size": 0, "global_scratch_align": 1,
            "profile_scratch_size": 0, "profile_scratch_align": 1, "tensordesc_meta": [], "cluster_dims": [1, 1, 1]}


class Refusal(Exception):
    """What a call is answered with: a code, a reason of ErrorInfo and further details."""

    def __init__(self, code, message, reason="", details=()):
        super().__init__(message)
        self.code, self.message, self.reason, self.details = code, message, reason, details

    def trailer(self):
        status = _schema.RpcStatus(code=self.code.value[0], message=self.message)
        info = [_schema.ErrorInfo(reason=self.reason, domain="tritond")] if self.reason else []
        for message in [*info, *self.details]:
            detail = status.details.add()
            detail.type_url = f"type.googleapis.com/{type(message).DESCRIPTOR.full_name}"
            detail.value = message.SerializeToString()
        return status.SerializeToString()


class FakeDaemon(grpc.GenericRpcHandler):
    """Listens on a Unix socket of its own, or on `address`. `compile` may be replaced: request -> metadata, or Refusal."""

    def __init__(self, address=None, targets=("cuda:90",), inline_bytes=1 << 30, credentials=None):
        self._folder = tempfile.TemporaryDirectory(prefix="tritond-fake-")
        self.address = address or f"unix:{self._folder.name}/s"
        self.targets = targets
        self.inline_bytes = inline_bytes
        self.requests = []
        self.describes = 0
        self.headers = {}
        self.compile = lambda request: METADATA
        self.methods = {}  # further ones: path -> function of the request's bytes and the context
        self._stored = {}
        self._credentials = credentials
        self._server = None
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self._folder.cleanup()

    def start(self):
        self._server = grpc.server(concurrent.futures.ThreadPoolExecutor(16), handlers=(self,))
        if self._credentials:
            port = self._server.add_secure_port(self.address, self._credentials)
            self.address = self.address.replace(":0", f":{port}")
        elif not self._server.add_insecure_port(self.address):
            raise OSError(f"cannot listen on {self.address}")
        self._server.start()

    def stop(self):
        self._server.stop(0).wait()
        path = self.address.replace("unix:", "")
        if os.path.exists(path):
            os.unlink(path)

    def service(self, details):
        methods = {_schema.DESCRIBE: self._describe, _schema.COMPILE: self._compile}
        self.headers = dict(details.invocation_metadata)
        if details.method == _schema.FETCH:
            return grpc.unary_stream_rpc_method_handler(self._fetch)
        method = methods.get(details.method) or self.methods.get(details.method)
        return grpc.unary_unary_rpc_method_handler(method) if method else None

    def _describe(self, _, context):
        self.describes += 1
        answer = _schema.DescribeResponse(version="fake", max_ir_bytes=1 << 20)
        for name in self.targets:
            answer.targets.add(name=name, build_id="b", binary_format="cubin", binary_available=True, attached=True)
        return answer.SerializeToString()

    def _compile(self, data, context):
        request = _schema.CompileRequest.FromString(data)
        self.requests.append(request)
        try:
            if request.target not in self.targets:
                raise Refusal(INVALID, f"no target {request.target}", "UNKNOWN_TARGET")
            metadata = self.compile(request)
        except Refusal as refusal:
            context.set_trailing_metadata((("grpc-status-details-bin", refusal.trailer()),))
            context.abort(refusal.code, refusal.message)
        answer = _schema.CompileResponse(key="k", cache=2)
        answer.result.metadata_json = json.dumps(metadata)
        for stage in request.outputs:
            blob = f"stage {stage} of {request.label}".encode()
            digest = hashlib.sha256(blob).hexdigest()
            self._stored[digest] = blob
            answer.result.artifacts.add(kind=stage, format=_FORMATS[stage], digest=digest, size_bytes=len(blob))
            if len(blob) <= self.inline_bytes:
                answer.blobs.add(digest=digest, data=blob)
        return answer.SerializeToString()

    def _fetch(self, data, context):
        request = _schema.FetchRequest.FromString(data)
        blob = self._stored[request.digest]
        half = len(blob) // 2
        for offset, part in ((0, blob[:half]), (half, blob[half:])):
            yield _schema.FetchResponse(offset=offset, data=part, total_size_bytes=len(blob)).SerializeToString()
