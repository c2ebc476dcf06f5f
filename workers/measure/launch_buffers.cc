// SPDX-License-Identifier: Apache-2.0
#include "workers/measure/launch_buffers.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tritond::workers {
namespace {

absl::StatusOr<Fill> FillOf(const v1::Fill& fill, Fill::Kind without) {
  Fill made;
  made.kind = without;
  made.seed = fill.seed();
  switch (fill.kind_case()) {
    case v1::Fill::KIND_NOT_SET:
      break;
    case v1::Fill::kZeros:
      made.kind = Fill::Kind::kConstant;
      break;
    case v1::Fill::kConstant:
      made.kind = Fill::Kind::kConstant;
      made.first = fill.constant();
      break;
    case v1::Fill::kUniform:
      made.kind = Fill::Kind::kUniform;
      made.first = fill.uniform().low();
      made.second = fill.uniform().high();
      break;
    case v1::Fill::kNormal:
      made.kind = Fill::Kind::kNormal;
      made.first = fill.normal().mean();
      made.second = fill.normal().standard_deviation();
      break;
    case v1::Fill::kArange:
      made.kind = Fill::Kind::kArange;
      break;
    case v1::Fill::kData:
      made.kind = Fill::Kind::kBytes;
      made.bytes = fill.data();
      break;
    case v1::Fill::kDigest:
      return absl::InvalidArgumentError("a fill names a digest; the daemon puts the bytes in its place");
  }
  return made;
}

absl::StatusOr<Argument> ScalarOf(const v1::Scalar& scalar) {
  const auto type = ElementType::Parse(scalar.type());
  if (!type.ok()) return type.status();
  char bytes[8] = {};
  if (scalar.value_case() == v1::Scalar::kInteger) {
    type->EncodeInteger(scalar.integer(), bytes);
  } else {
    type->Encode(scalar.real(), bytes);
  }
  const auto read = [&](auto value) {
    std::memcpy(&value, bytes, sizeof(value));
    return Argument::Scalar(value);
  };
  if (type->bytes() == 1) return read(uint8_t{0});
  if (type->bytes() == 2) return read(uint16_t{0});
  return type->bytes() == 4 ? read(uint32_t{0}) : read(uint64_t{0});
}

}  // namespace

absl::StatusOr<std::unique_ptr<LaunchBuffers>> LaunchBuffers::Make(Device& device, const v1::Launch& launch) {
  std::unique_ptr<LaunchBuffers> made(new LaunchBuffers(device));
  for (int i = 0; i < launch.arguments_size(); ++i) {
    if (const absl::Status status = made->Add(launch.arguments(i)); !status.ok())
      return absl::Status(status.code(), absl::StrCat("launch.arguments[", i, "]: ", status.message()));
  }
  return made;
}

absl::Status LaunchBuffers::Add(const v1::Argument& argument) {
  if (!argument.has_buffer()) {
    absl::StatusOr<Argument> scalar = ScalarOf(argument.scalar());
    if (scalar.ok()) arguments_.push_back(*scalar);
    return scalar.status();
  }
  absl::StatusOr<Entry> entry = MakeEntry(argument.buffer());
  if (!entry.ok()) return entry.status();
  entry->name = absl::StrCat("argument ", arguments_.size());
  arguments_.push_back(Argument::Pointer(entry->buffer));
  buffers_.push_back(*std::move(entry));
  return absl::OkStatus();
}

absl::StatusOr<LaunchBuffers::Entry> LaunchBuffers::MakeEntry(const v1::Buffer& buffer) const {
  const absl::StatusOr<ElementType> type = ElementType::Parse(buffer.type());
  if (!type.ok()) return type.status();
  Entry entry{"", buffer.role(), *type, {buffer.absolute_tolerance(), buffer.relative_tolerance()}, {}, "", false, ""};
  const bool poisoned = buffer.role() == v1::Buffer::ROLE_OUTPUT || buffer.role() == v1::Buffer::ROLE_SCRATCH;
  const auto fill = FillOf(buffer.fill(), poisoned ? Fill::Kind::kPoison : Fill::Kind::kConstant);
  if (!fill.ok()) return fill.status();
  absl::StatusOr<std::string> contents = MakeContents(*type, buffer.elements(), *fill);
  if (!contents.ok()) return contents.status();
  entry.contents = *std::move(contents);
  entry.has_reference = entry.IsOutput() && buffer.has_reference();
  if (entry.has_reference) {
    const auto expected = FillOf(buffer.reference(), Fill::Kind::kConstant);
    if (!expected.ok()) return expected.status();
    absl::StatusOr<std::string> reference = MakeContents(*type, buffer.elements(), *expected);
    if (!reference.ok())
      return absl::Status(reference.status().code(), absl::StrCat("reference: ", reference.status().message()));
    entry.reference = *std::move(reference);
  }
  absl::StatusOr<Buffer> allocated = device_.Allocate(entry.contents.size());
  if (!allocated.ok()) return allocated.status();
  entry.buffer = *std::move(allocated);
  return entry;
}

absl::Status LaunchBuffers::FillAll() {
  for (const Entry& entry : buffers_) {
    if (absl::Status status = device_.CopyIn(entry.buffer, 0, entry.contents); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LaunchBuffers::FillInOut() {
  for (const Entry& entry : buffers_) {
    if (entry.role != v1::Buffer::ROLE_IN_OUT) continue;
    if (absl::Status status = device_.CopyIn(entry.buffer, 0, entry.contents); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> LaunchBuffers::ReadOutputs() {
  std::vector<std::string> outputs;
  for (const Entry& entry : buffers_) {
    if (!entry.IsOutput()) continue;
    std::string& output = outputs.emplace_back(entry.contents.size(), '\0');
    const absl::Status status = device_.CopyOut(entry.buffer, 0, {output.data(), output.size()});
    if (!status.ok()) return status;
  }
  return outputs;
}

namespace {

std::string Describe(const std::string& name, const ElementType& type, const Comparison& comparison,
                     const std::string& actual, const std::string& expected) {
  const uint64_t at = comparison.first_wrong * type.bytes();
  return absl::StrCat(name, ": ", comparison.wrong, " of ", actual.size() / type.bytes(), " elements differ, first [",
                      comparison.first_wrong, "]: ", type.Text(actual.data() + at), ", expected ",
                      type.Text(expected.data() + at));
}

}  // namespace

std::string LaunchBuffers::DifferenceFromReferences(const std::vector<std::string>& outputs) const {
  size_t output = 0;
  for (const Entry& entry : buffers_) {
    if (!entry.IsOutput()) continue;
    const std::string& actual = outputs[output++];
    if (!entry.has_reference) continue;
    const Comparison comparison = Compare(entry.type, actual, entry.reference, entry.tolerance);
    if (comparison.wrong > 0) return Describe(entry.name, entry.type, comparison, actual, entry.reference);
  }
  return "";
}

std::string LaunchBuffers::Difference(const std::vector<std::string>& outputs,
                                      const std::vector<std::string>& expected) const {
  size_t output = 0;
  for (const Entry& entry : buffers_) {
    if (!entry.IsOutput()) continue;
    const size_t i = output++;
    const Comparison comparison = Compare(entry.type, outputs[i], expected[i], entry.tolerance);
    if (comparison.wrong > 0) return Describe(entry.name, entry.type, comparison, outputs[i], expected[i]);
  }
  return "";
}

bool LaunchBuffers::HasAllReferences() const {
  return std::all_of(buffers_.begin(), buffers_.end(),
                     [](const Entry& entry) { return !entry.IsOutput() || entry.has_reference; });
}

bool LaunchBuffers::IsPoison(const std::vector<std::string>& outputs) {
  bool any = false;
  for (const std::string& output : outputs) {
    if (output.find_first_not_of('\xFF') != std::string::npos) return false;
    any |= !output.empty();
  }
  return any;
}

}  // namespace tritond::workers
