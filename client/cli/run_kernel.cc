// SPDX-License-Identifier: Apache-2.0
#include "client/cli/run_kernel.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "workers/device/element_type.h"
#include "workers/launch/launch_values.h"

namespace tritond::client {
namespace {

using workers::ElementType;

// The bytes of a buffer that `fill` describes.
absl::StatusOr<std::string> Contents(const LaunchArgument& argument, const v1::Fill& fill) {
  auto contents = workers::ContentsOf(argument.argument.buffer(), fill);
  if (contents.ok()) return contents;
  return absl::InvalidArgumentError(absl::StrCat(argument.name, ": ", contents.status().message()));
}

// The buffers of one run, on the device and as they shall begin.
class Buffers {
 public:
  Buffers(workers::Device& device, const std::vector<LaunchArgument>& arguments)
      : device_(device), arguments_(arguments) {}

  absl::Status Make() {
    for (const LaunchArgument& argument : arguments_) {
      if (!argument.argument.has_buffer()) {
        auto scalar = workers::ScalarOf(argument.argument.scalar());
        if (!scalar.ok()) return scalar.status();
        values_.push_back(*scalar);
        continue;
      }
      auto contents = Contents(argument, argument.argument.buffer().fill());
      if (!contents.ok()) return contents.status();
      auto buffer = device_.Allocate(contents->size());
      if (!buffer.ok()) return buffer.status();
      values_.push_back(workers::Argument::Pointer(*buffer));
      buffers_.push_back({&argument, *std::move(buffer), *std::move(contents)});
    }
    return absl::OkStatus();
  }

  absl::Status Fill() {
    for (const Entry& entry : buffers_) {
      if (absl::Status status = device_.CopyIn(entry.buffer, 0, entry.contents); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<BufferResult>> Read() const {
    std::vector<BufferResult> results;
    for (const Entry& entry : buffers_) {
      BufferResult result{entry.argument, std::string(entry.contents.size(), '\0'), {}};
      absl::Status status =
          device_.CopyOut(entry.buffer, 0, absl::MakeSpan(result.contents.data(), result.contents.size()));
      if (!status.ok()) return status;
      const v1::Buffer& buffer = entry.argument->argument.buffer();
      if (buffer.has_reference()) {
        const auto expected = Contents(*entry.argument, buffer.reference());
        if (!expected.ok()) return expected.status();
        result.comparison = workers::Compare(*ElementType::Parse(buffer.type()), result.contents, *expected,
                                             {buffer.absolute_tolerance(), buffer.relative_tolerance()});
      }
      results.push_back(std::move(result));
    }
    return results;
  }

  const std::vector<workers::Argument>& values() const { return values_; }

 private:
  struct Entry {
    const LaunchArgument* argument;
    workers::Buffer buffer;
    std::string contents;
  };

  workers::Device& device_;
  const std::vector<LaunchArgument>& arguments_;
  std::vector<Entry> buffers_;
  std::vector<workers::Argument> values_;
};

// "[2, 17]" of element 1041 of a buffer of 1024 columns.
std::string Position(const std::vector<uint64_t>& shape, uint64_t index) {
  std::vector<uint64_t> position(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    position[i] = index % std::max<uint64_t>(shape[i], 1);
    index /= std::max<uint64_t>(shape[i], 1);
  }
  return absl::StrCat("[", absl::StrJoin(position, ", "), "]");
}

std::vector<std::string> Head(const BufferResult& result, int head) {
  const ElementType type = *ElementType::Parse(result.argument->argument.buffer().type());
  std::vector<std::string> texts;
  for (size_t at = 0; at < result.contents.size() && static_cast<int>(texts.size()) < head; at += type.bytes()) {
    texts.push_back(type.Text(&result.contents[at]));
  }
  return texts;
}

}  // namespace

bool RunResult::IsAsExpected() const {
  return std::none_of(buffers.begin(), buffers.end(), [](const BufferResult& result) {
    return result.comparison.has_value() && result.comparison->wrong > 0;
  });
}

absl::StatusOr<RunResult> RunKernel(workers::Device& device, const workers::Kernel& kernel, const v1::Grid& grid,
                                    const std::vector<LaunchArgument>& arguments, int repeat) {
  Buffers buffers(device, arguments);
  if (absl::Status status = buffers.Make(); !status.ok()) return status;
  workers::TimingOptions once;
  once.warmup = 0;
  once.samples = 1;
  RunResult result;
  for (int i = 0; i < repeat; ++i) {
    if (absl::Status status = buffers.Fill(); !status.ok()) return status;
    const auto times = device.Time(kernel, workers::Grid{grid.x(), grid.y(), grid.z()}, buffers.values(), once);
    if (!times.ok()) return times.status();
    result.times.push_back(times->front());
  }
  auto read = buffers.Read();
  if (!read.ok()) return read.status();
  result.buffers = *std::move(read);
  return result;
}

std::string BufferLine(const BufferResult& result, int head) {
  const LaunchArgument& argument = *result.argument;
  const v1::Buffer& buffer = argument.argument.buffer();
  std::string line =
      absl::StrCat("  ", argument.name, "  ", buffer.type(), "[", absl::StrJoin(argument.shape, ", "), "]");
  if (workers::IsOutput(buffer)) {
    absl::StrAppend(&line, "  ", absl::StrJoin(Head(result, head), " "));
    if (buffer.elements() > static_cast<uint64_t>(head)) absl::StrAppend(&line, " …");
  }
  if (!result.comparison.has_value()) return line;
  const workers::Comparison& comparison = *result.comparison;
  const std::string error = absl::StrFormat("largest error %.3g", comparison.largest_error);
  if (comparison.wrong == 0) return absl::StrCat(line, "  as expected, ", error);
  const ElementType type = *ElementType::Parse(buffer.type());
  return absl::StrCat(line, "  WRONG: ", comparison.wrong, " of ", buffer.elements(), " elements, first ",
                      Position(argument.shape, comparison.first_wrong), " = ",
                      type.Text(&result.contents[comparison.first_wrong * type.bytes()]), "; ", error);
}

nlohmann::ordered_json BufferJson(const BufferResult& result, int head) {
  nlohmann::ordered_json values = nlohmann::ordered_json::array();
  for (const std::string& text : Head(result, head)) {
    const auto value = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
    values.push_back(value.is_discarded() ? nlohmann::ordered_json(text) : value);  // "nan" and "inf" stay text
  }
  nlohmann::ordered_json object = {{"name", result.argument->name},
                                   {"type", result.argument->argument.buffer().type()},
                                   {"shape", result.argument->shape},
                                   {"head", values},
                                   {"wrong", nullptr},
                                   {"largest_error", nullptr}};
  if (result.comparison.has_value()) {
    object["wrong"] = result.comparison->wrong;
    object["largest_error"] = result.comparison->largest_error;
  }
  return object;
}

}  // namespace tritond::client
