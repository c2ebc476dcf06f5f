// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/wire_check.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpc/byte_buffer_reader.h>
#include <grpcpp/impl/codegen/proto_buffer_reader.h>

#include <climits>

#include "absl/strings/str_cat.h"
#include "server/rpc/status.h"

namespace tritond::server {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// A packed list becomes at most eight bytes for each of its own, a fraction of what a field becomes.
constexpr int kPackedBytesPerField = 8;

// The slices of a message, which stay gRPC's.
class SliceStream final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  // `bytes` must outlive this.
  explicit SliceStream(grpc_byte_buffer* bytes) { grpc_byte_buffer_reader_init(&reader_, bytes); }
  ~SliceStream() override { grpc_byte_buffer_reader_destroy(&reader_); }

  bool Next(const void** data, int* size) override {
    if (backed_up_ == 0) {
      if (grpc_byte_buffer_reader_peek(&reader_, &slice_) == 0) return false;
      backed_up_ = GRPC_SLICE_LENGTH(*slice_);
    }
    *data = GRPC_SLICE_END_PTR(*slice_) - backed_up_;
    *size = static_cast<int>(backed_up_);
    count_ += static_cast<int64_t>(backed_up_);
    backed_up_ = 0;
    return true;
  }
  void BackUp(int count) override {
    backed_up_ = static_cast<size_t>(count);
    count_ -= count;
  }
  bool Skip(int count) override {
    const void* data = nullptr;
    int size = 0;
    while (count > 0 && Next(&data, &size)) {
      if (size > count) BackUp(size - count);
      count -= size;
    }
    return count <= 0;
  }
  int64_t ByteCount() const override { return count_; }

 private:
  grpc_byte_buffer_reader reader_;
  grpc_slice* slice_ = nullptr;
  size_t backed_up_ = 0;  // at the slice's end, not handed out
  int64_t count_ = 0;
};

class Walk {
 public:
  Walk(CodedInputStream& input, const WireLimits& limits) : input_(input), left_(limits.fields), limits_(limits) {}

  enum class Outcome { kFine, kMalformed, kTooMany, kTooDeep };

  // A message, up to the input's limit, or a group, up to its end. `type` null: nothing is known about it.
  Outcome Message(const Descriptor* type, int depth, int group) {
    if (depth > limits_.depth) return Outcome::kTooDeep;
    while (const uint32_t tag = input_.ReadTag()) {
      const int number = WireFormatLite::GetTagFieldNumber(tag);
      if (number == 0) return Outcome::kMalformed;
      if (WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_END_GROUP)
        return number == group ? Outcome::kFine : Outcome::kMalformed;
      if (left_ == 0) return Outcome::kTooMany;
      --left_;
      const Outcome outcome = Field(type == nullptr ? nullptr : type->FindFieldByNumber(number), number,
                                    WireFormatLite::GetTagWireType(tag), depth);
      if (outcome != Outcome::kFine) return outcome;
    }
    return group == 0 && input_.ConsumedEntireMessage() ? Outcome::kFine : Outcome::kMalformed;
  }

 private:
  Outcome Field(const FieldDescriptor* field, int number, WireFormatLite::WireType type, int depth) {
    uint64_t ignored = 0;
    uint32_t ignored_too = 0;
    switch (type) {
      case WireFormatLite::WIRETYPE_VARINT:
        return input_.ReadVarint64(&ignored) ? Outcome::kFine : Outcome::kMalformed;
      case WireFormatLite::WIRETYPE_FIXED64:
        return input_.ReadLittleEndian64(&ignored) ? Outcome::kFine : Outcome::kMalformed;
      case WireFormatLite::WIRETYPE_FIXED32:
        return input_.ReadLittleEndian32(&ignored_too) ? Outcome::kFine : Outcome::kMalformed;
      case WireFormatLite::WIRETYPE_START_GROUP:
        return Message(nullptr, depth + 1, number);
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
        return Delimited(field, depth);
      default:
        return Outcome::kMalformed;
    }
  }

  Outcome Delimited(const FieldDescriptor* field, int depth) {
    uint32_t length = 0;
    if (!input_.ReadVarint32(&length) || length > INT_MAX) return Outcome::kMalformed;
    if (field != nullptr && field->is_packable()) {
      const uint64_t costs = length / kPackedBytesPerField;
      if (costs > left_) return Outcome::kTooMany;
      left_ -= costs;
    }
    if (field == nullptr || field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE)
      return input_.Skip(static_cast<int>(length)) ? Outcome::kFine : Outcome::kMalformed;
    const int64_t end = input_.CurrentPosition() + static_cast<int64_t>(length);
    const CodedInputStream::Limit outer = input_.PushLimit(static_cast<int>(length));
    const Outcome outcome = Message(field->message_type(), depth + 1, 0);
    input_.PopLimit(outer);
    if (outcome != Outcome::kFine) return outcome;
    return input_.CurrentPosition() == end ? Outcome::kFine : Outcome::kMalformed;
  }

  CodedInputStream& input_;
  uint64_t left_;
  const WireLimits& limits_;
};

}  // namespace

absl::Status NotParsed(const Descriptor& type) {
  return WithReason(absl::InvalidArgumentError(absl::StrCat("the request is no ", type.name())), Reason::kBadMessage);
}

absl::Status CheckWire(google::protobuf::io::ZeroCopyInputStream* input, uint64_t size, const Descriptor& type,
                       const WireLimits& limits) {
  if (size > limits.bytes) {
    return WithReason(
        absl::ResourceExhaustedError(absl::StrCat("a ", type.name(), " of ", size, " bytes is larger than the ",
                                                  limits.bytes, " that this method takes: send less at once")),
        Reason::kMessageTooLarge);
  }
  CodedInputStream coded(input);
  coded.SetTotalBytesLimit(INT_MAX);
  switch (Walk(coded, limits).Message(&type, 0, 0)) {
    case Walk::Outcome::kFine:
      return absl::OkStatus();
    case Walk::Outcome::kMalformed:
      return NotParsed(type);
    case Walk::Outcome::kTooMany:
      return WithReason(
          absl::ResourceExhaustedError(absl::StrCat("this ", type.name(), " has more than ", limits.fields,
                                                    " fields, those of its parts included: send less at once")),
          Reason::kTooManyFields);
    case Walk::Outcome::kTooDeep:
      return WithReason(absl::InvalidArgumentError(absl::StrCat("this ", type.name(), " is nested more than ",
                                                                limits.depth, " messages deep")),
                        Reason::kBadMessage);
  }
  return absl::InternalError("a walk without an outcome");
}

absl::Status CheckWire(const grpc::ByteBuffer& bytes, const Descriptor& type, const WireLimits& limits) {
  grpc::ProtoBufferReader reader(const_cast<grpc::ByteBuffer*>(&bytes));  // It does not change them.
  if (!reader.status().ok()) return NotParsed(type);
  return CheckWire(&reader, bytes.Length(), type, limits);
}

absl::Status CheckWire(grpc_byte_buffer* bytes, const Descriptor& type, const WireLimits& limits) {
  SliceStream slices(bytes);
  return CheckWire(&slices, grpc_byte_buffer_length(bytes), type, limits);
}

}  // namespace tritond::server
