# SPDX-License-Identifier: Apache-2.0
"""The messages of proto/v1, made at run time.

Generated code fits a few releases of protobuf only, and registers its files for the whole process under names that other
packages use too. Here the description of the messages (schema.bin, a FileDescriptorSet) goes into a pool of its own, which every
release of protobuf from 3.9 on takes and nobody else sees.
"""
from __future__ import annotations

import os
import typing

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# Messages have no static type: they are made here.
Message = typing.Any

# tritond.v1.Stage
TTIR, TTGIR, LLIR, ASM, BINARY = 1, 2, 3, 4, 5
CACHE_STATUS = {1: "hit", 2: "miss", 3: "joined"}
COMPILE = "/tritond.v1.CompileService/Compile"
DESCRIBE = "/tritond.v1.CompileService/Describe"
FETCH = "/tritond.v1.ArtifactService/Fetch"
ACQUIRE_TUNING = "/tritond.v1.AutotuneService/AcquireProgramTuning"
RENEW_TUNING = "/tritond.v1.AutotuneService/RenewProgramTuning"
STORE_TUNING = "/tritond.v1.AutotuneService/StoreProgramTuning"
ABANDON_TUNING = "/tritond.v1.AutotuneService/AbandonProgramTuning"


def _load_classes() -> dict[str, typing.Any]:
    """The class of every message, by full name. All of them are made and kept: protobuf 4.22 and 4.23 free a class that
    no Python variable holds, and crash when a message of it is asked for."""
    files = descriptor_pb2.FileDescriptorSet()
    with open(os.path.join(os.path.dirname(__file__), "schema.bin"), "rb") as file:
        files.ParseFromString(file.read())
    pool = descriptor_pool.DescriptorPool()
    for description in files.file:
        pool.AddSerializedFile(description.SerializeToString())
    library: typing.Any = message_factory  # releases differ in what it has
    make = getattr(library, "GetMessageClass", None)
    if make is None:  # protobuf before 4.22
        make = library.MessageFactory(pool).GetPrototype
    classes: dict[str, typing.Any] = {}
    waiting = [d for file in files.file for d in pool.FindFileByName(file.name).message_types_by_name.values()]
    while waiting:
        descriptor = waiting.pop()
        classes[descriptor.full_name] = make(descriptor)
        waiting.extend(descriptor.nested_types)
    return classes


_classes = _load_classes()
CompileRequest = _classes["tritond.v1.CompileRequest"]
CompileResponse = _classes["tritond.v1.CompileResponse"]
CompileFailure = _classes["tritond.v1.CompileFailure"]
DescribeRequest = _classes["tritond.v1.DescribeRequest"]
DescribeResponse = _classes["tritond.v1.DescribeResponse"]
FetchRequest = _classes["tritond.v1.FetchRequest"]
FetchResponse = _classes["tritond.v1.FetchResponse"]
ProgramTuning = _classes["tritond.v1.ProgramTuning"]
ProgramTuningKey = _classes["tritond.v1.ProgramTuningKey"]
AcquireProgramTuningRequest = _classes["tritond.v1.AcquireProgramTuningRequest"]
AcquireProgramTuningResponse = _classes["tritond.v1.AcquireProgramTuningResponse"]
RenewProgramTuningRequest = _classes["tritond.v1.RenewProgramTuningRequest"]
RenewProgramTuningResponse = _classes["tritond.v1.RenewProgramTuningResponse"]
StoreProgramTuningRequest = _classes["tritond.v1.StoreProgramTuningRequest"]
StoreProgramTuningResponse = _classes["tritond.v1.StoreProgramTuningResponse"]
AbandonProgramTuningRequest = _classes["tritond.v1.AbandonProgramTuningRequest"]
AbandonProgramTuningResponse = _classes["tritond.v1.AbandonProgramTuningResponse"]
RpcStatus = _classes["google.rpc.Status"]
ErrorInfo = _classes["google.rpc.ErrorInfo"]
RetryInfo = _classes["google.rpc.RetryInfo"]
BadRequest = _classes["google.rpc.BadRequest"]


def set_value(value: Message, content: typing.Any) -> None:
    """Fills a google.protobuf.Value. TypeError for what JSON has no form for."""
    if content is None:
        value.null_value = 0
    elif isinstance(content, bool):
        value.bool_value = content
    elif isinstance(content, (int, float)):
        value.number_value = content
    elif isinstance(content, str):
        value.string_value = content
    elif isinstance(content, (list, tuple)):
        value.list_value.SetInParent()
        for element in content:
            set_value(value.list_value.values.add(), element)
    else:
        raise TypeError(f"{type(content).__name__} has no form in JSON")


def find_detail(details: bytes, message_class: typing.Any) -> Message | None:
    """The detail of this class in a serialized google.rpc.Status (the trailer grpc-status-details-bin); None without one."""
    try:
        for detail in RpcStatus.FromString(details).details:
            if detail.type_url.rpartition("/")[2] == message_class.DESCRIPTOR.full_name:
                return message_class.FromString(detail.value)
    except Exception:  # damaged details: the code and the message still hold
        return None
    return None
