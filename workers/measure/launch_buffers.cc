// SPDX-License-Identifier: Apache-2.0
#include "workers/measure/launch_buffers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "workers/launch/launch_values.h"

namespace tritond::workers {
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
  entry->pinned = device_.Pin(entry->contents);
  arguments_.push_back(Argument::Pointer(entry->buffer));
  buffers_.push_back(*std::move(entry));
  return absl::OkStatus();
}

absl::StatusOr<LaunchBuffers::Entry> LaunchBuffers::MakeEntry(const v1::Buffer& buffer) const {
  const absl::StatusOr<ElementType> type = ElementType::Parse(buffer.type());
  if (!type.ok()) return type.status();
  Entry entry{"", buffer.role(), *type, {buffer.absolute_tolerance(), buffer.relative_tolerance()}, {}, "", false, ""};
  absl::StatusOr<std::string> contents = ContentsOf(buffer, buffer.fill());
  if (!contents.ok()) return contents.status();
  entry.contents = *std::move(contents);
  entry.has_reference = entry.IsOutput() && buffer.has_reference();
  if (entry.has_reference) {
    absl::StatusOr<std::string> reference = ContentsOf(buffer, buffer.reference());
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

absl::StatusOr<absl::Span<const std::string>> LaunchBuffers::ReadOutputs() {
  size_t next = 0;
  for (const Entry& entry : buffers_) {
    if (!entry.IsOutput()) continue;
    if (outputs_.size() == next) {
      outputs_.emplace_back(entry.contents.size(), '\0');
      pinned_outputs_.push_back(device_.Pin(outputs_.back()));
    }
    std::string& output = outputs_[next++];
    const absl::Status status = device_.CopyOut(entry.buffer, 0, {output.data(), output.size()});
    if (!status.ok()) return status;
  }
  return absl::MakeConstSpan(outputs_);
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

std::string LaunchBuffers::DifferenceFromReferences(absl::Span<const std::string> outputs) const {
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

std::string LaunchBuffers::Difference(absl::Span<const std::string> outputs,
                                      absl::Span<const std::string> expected) const {
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

bool LaunchBuffers::IsPoison(absl::Span<const std::string> outputs) {
  bool any = false;
  for (const std::string& output : outputs) {
    if (output.find_first_not_of('\xFF') != std::string::npos) return false;
    any |= !output.empty();
  }
  return any;
}

}  // namespace tritond::workers
