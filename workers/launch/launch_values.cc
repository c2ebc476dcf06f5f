// SPDX-License-Identifier: Apache-2.0
#include "workers/launch/launch_values.h"

#include <cstring>

#include "workers/device/buffer_contents.h"

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
      return absl::InvalidArgumentError("a fill names the digest of an artifact, and only a daemon has artifacts");
  }
  return made;
}

}  // namespace

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

absl::StatusOr<std::string> ContentsOf(const v1::Buffer& buffer, const v1::Fill& fill) {
  const absl::StatusOr<ElementType> type = ElementType::Parse(buffer.type());
  if (!type.ok()) return type.status();
  const bool is_poisoned = buffer.role() == v1::Buffer::ROLE_OUTPUT || buffer.role() == v1::Buffer::ROLE_SCRATCH;
  const auto made = FillOf(fill, is_poisoned ? Fill::Kind::kPoison : Fill::Kind::kConstant);
  return made.ok() ? MakeContents(*type, buffer.elements(), *made) : made.status();
}

bool IsOutput(const v1::Buffer& buffer) {
  return buffer.role() == v1::Buffer::ROLE_OUTPUT || buffer.role() == v1::Buffer::ROLE_IN_OUT;
}

}  // namespace tritond::workers
