// SPDX-License-Identifier: Apache-2.0
#include "proto/request_key/request_key.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "proto/request_key/canonical_text.h"

namespace tritond::proto {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

void AppendJsonString(absl::string_view text, std::string* out) {
  out->push_back('"');
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(static_cast<char>(c));
    } else if (c < 0x20) {
      absl::StrAppendFormat(out, "\\u%04x", c);
    } else {
      out->push_back(static_cast<char>(c));
    }
  }
  out->push_back('"');
}

void AppendJsonNumber(double number, std::string* out) {
  constexpr double kExactIntegers = 9007199254740992.0;  // 2^53
  if (std::trunc(number) == number && std::abs(number) <= kExactIntegers) {
    absl::StrAppend(out, static_cast<int64_t>(number));
  } else {
    absl::StrAppendFormat(out, "%.17g", number);
  }
}

void AppendJson(const Struct& object, std::string* out);

void AppendJson(const Value& value, std::string* out) {
  switch (value.kind_case()) {
    case Value::kNumberValue:
      return AppendJsonNumber(value.number_value(), out);
    case Value::kStringValue:
      return AppendJsonString(value.string_value(), out);
    case Value::kBoolValue:
      return static_cast<void>(out->append(value.bool_value() ? "true" : "false"));
    case Value::kStructValue:
      return AppendJson(value.struct_value(), out);
    case Value::kListValue: {
      const char* separator = "[";
      for (const Value& element : value.list_value().values()) {
        out->append(separator);
        AppendJson(element, out);
        separator = ",";
      }
      out->append(value.list_value().values().empty() ? "[]" : "]");
      return;
    }
    case Value::kNullValue:
    case Value::KIND_NOT_SET:
      return static_cast<void>(out->append("null"));
  }
}

void AppendJson(const Struct& object, std::string* out) {
  std::vector<std::pair<absl::string_view, const Value*>> fields;
  fields.reserve(object.fields().size());
  for (const auto& [name, value] : object.fields()) fields.emplace_back(name, &value);
  std::sort(fields.begin(), fields.end());
  out->push_back('{');
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i != 0) out->push_back(',');
    AppendJsonString(fields[i].first, out);
    out->push_back(':');
    AppendJson(*fields[i].second, out);
  }
  out->push_back('}');
}

// Leaves one message for each text that AppendJson gives.
void CanonicalizeOptions(Struct* options);

void CanonicalizeOption(Value* value) {
  switch (value->kind_case()) {
    case Value::kNumberValue:
      if (value->number_value() == 0) value->set_number_value(0);  // No sign.
      if (std::isnan(value->number_value())) value->set_number_value(std::numeric_limits<double>::quiet_NaN());
      break;
    case Value::kStructValue:
      CanonicalizeOptions(value->mutable_struct_value());
      break;
    case Value::kListValue:
      for (Value& element : *value->mutable_list_value()->mutable_values()) CanonicalizeOption(&element);
      break;
    case Value::kNullValue:  // Of this enum other numbers are null, too.
    case Value::KIND_NOT_SET:
      value->set_null_value(google::protobuf::NULL_VALUE);
      break;
    case Value::kStringValue:
    case Value::kBoolValue:
      break;
  }
}

void CanonicalizeOptions(Struct* options) {
  for (auto& [name, value] : *options->mutable_fields()) CanonicalizeOption(&value);
}

void CanonicalizeOutputs(v1::CompileRequest* request) {
  std::vector<int> outputs(request->outputs().begin(), request->outputs().end());
  if (outputs.empty()) outputs.push_back(v1::STAGE_BINARY);
  std::sort(outputs.begin(), outputs.end());
  outputs.erase(std::unique(outputs.begin(), outputs.end()), outputs.end());
  request->clear_outputs();
  for (int output : outputs) request->add_outputs(static_cast<v1::Stage>(output));
}

void FillDefaults(v1::CompileRequest* request) {
  if (request->input() == v1::STAGE_UNSPECIFIED) request->set_input(v1::STAGE_TTIR);
  v1::LaunchAbi* abi = request->mutable_abi();
  if (!abi->has_global_scratch()) abi->set_global_scratch(true);
  if (!abi->has_profile_scratch()) abi->set_profile_scratch(true);
  if (!abi->has_descriptor_flags()) abi->set_descriptor_flags(1);
  if (!abi->has_host_tensor_maps()) abi->set_host_tensor_maps(false);
  request->mutable_options();
}

bool IsMlir(const v1::CompileRequest& request) {
  return request.input() == v1::STAGE_TTIR || request.input() == v1::STAGE_TTGIR;
}

}  // namespace

std::string Sha256Hex(absl::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), size));
}

std::string CanonicalOptions(const Struct& options) {
  std::string out;
  AppendJson(options, &out);
  return out;
}

absl::StatusOr<PreparedRequest> Prepare(v1::CompileRequest request) {
  request.DiscardUnknownFields();  // They are in no key.
  FillDefaults(&request);
  CanonicalizeOutputs(&request);
  CanonicalizeOptions(request.mutable_options());
  SourceMap source;
  if (IsMlir(request)) {
    const SourceLocations locations = request.debug_info() ? SourceLocations::kKeep : SourceLocations::kDrop;
    absl::StatusOr<CanonicalText> canonical = CanonicalizeText(request.ir(), locations);
    if (!canonical.ok()) return canonical.status();
    request.set_ir(std::move(canonical->text));
    source = std::move(canonical->source);
  }
  return PreparedRequest(std::move(request), std::move(source));
}

PreparedRequest::PreparedRequest(v1::CompileRequest canonical, SourceMap source)
    : message_(std::move(canonical)),
      options_(CanonicalOptions(message_.options())),
      ir_digest_(Sha256Hex(message_.ir())),
      size_bytes_(message_.ByteSizeLong()),
      source_(std::move(source)) {}

void KeepKeyFields(v1::CompileRequest* request) {
  request->clear_priority();
  request->clear_tenant();
  request->clear_client_version();
  request->clear_label();
  request->clear_cache_mode();
  request->clear_delivery();
}

std::vector<KeyPart> PreparedRequest::KeyParts(absl::string_view build_id) const {
  const v1::LaunchAbi& abi = message_.abi();
  return {
      {"schema", absl::StrCat(kKeySchemaVersion)},
      {"build_id", std::string(build_id)},
      {"target", message_.target()},
      {"options", options_},
      {"outputs", absl::StrJoin(message_.outputs(), ",")},
      {"abi.global_scratch", abi.global_scratch() ? "1" : "0"},
      {"abi.profile_scratch", abi.profile_scratch() ? "1" : "0"},
      {"abi.descriptor_flags", absl::StrCat(abi.descriptor_flags())},
      {"abi.host_tensor_maps", abi.host_tensor_maps() ? "1" : "0"},
      {"input", absl::StrCat(static_cast<int>(message_.input()))},
      {"debug_info", message_.debug_info() ? "1" : "0"},
      {"ir", ir_digest_},
  };
}

std::string PreparedRequest::Key(absl::string_view build_id) const {
  // Every part is written with its length, so that no two lists of parts give the same text.
  std::string text;
  for (const KeyPart& part : KeyParts(build_id)) {
    absl::StrAppend(&text, part.name, " ", part.value.size(), "\n", part.value, "\n");
  }
  return Sha256Hex(text);
}

}  // namespace tritond::proto
