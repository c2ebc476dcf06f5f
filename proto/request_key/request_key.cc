// SPDX-License-Identifier: Apache-2.0
#include "proto/request_key/request_key.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

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

v1::Stage InputOf(const v1::CompileRequest& request) {
  return request.input() == v1::STAGE_UNSPECIFIED ? v1::STAGE_TTIR : request.input();
}

std::vector<int> OutputsOf(const v1::CompileRequest& request) {
  std::vector<int> outputs(request.outputs().begin(), request.outputs().end());
  if (outputs.empty()) outputs.push_back(v1::STAGE_BINARY);
  std::sort(outputs.begin(), outputs.end());
  outputs.erase(std::unique(outputs.begin(), outputs.end()), outputs.end());
  return outputs;
}

bool GlobalScratchOf(const v1::LaunchAbi& abi) { return !abi.has_global_scratch() || abi.global_scratch(); }
bool ProfileScratchOf(const v1::LaunchAbi& abi) { return !abi.has_profile_scratch() || abi.profile_scratch(); }

uint32_t DescriptorFlagsOf(const v1::LaunchAbi& abi) { return abi.has_descriptor_flags() ? abi.descriptor_flags() : 1; }

std::string IrDigest(const v1::CompileRequest& request) {
  const v1::Stage input = InputOf(request);
  const bool is_mlir = input == v1::STAGE_TTIR || input == v1::STAGE_TTGIR;
  if (!is_mlir || request.debug_info()) return Sha256Hex(request.ir());
  return Sha256Hex(StripLocations(request.ir()));
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

void Canonicalize(v1::CompileRequest* request) {
  request->set_input(InputOf(*request));
  const std::vector<int> outputs = OutputsOf(*request);
  request->clear_outputs();
  for (int output : outputs) request->add_outputs(static_cast<v1::Stage>(output));
  v1::LaunchAbi* abi = request->mutable_abi();
  abi->set_global_scratch(GlobalScratchOf(*abi));
  abi->set_profile_scratch(ProfileScratchOf(*abi));
  abi->set_descriptor_flags(DescriptorFlagsOf(*abi));
}

void KeepKeyFields(v1::CompileRequest* request) {
  request->clear_priority();
  request->clear_tenant();
  request->clear_client_version();
  request->clear_label();
  request->clear_cache_mode();
  request->clear_delivery();
}

std::vector<KeyPart> KeyParts(const v1::CompileRequest& request, absl::string_view build_id) {
  return {
      {"schema", absl::StrCat(kKeySchemaVersion)},
      {"build_id", std::string(build_id)},
      {"target", request.target()},
      {"options", CanonicalOptions(request.options())},
      {"outputs", absl::StrJoin(OutputsOf(request), ",")},
      {"abi.global_scratch", GlobalScratchOf(request.abi()) ? "1" : "0"},
      {"abi.profile_scratch", ProfileScratchOf(request.abi()) ? "1" : "0"},
      {"abi.descriptor_flags", absl::StrCat(DescriptorFlagsOf(request.abi()))},
      {"input", absl::StrCat(static_cast<int>(InputOf(request)))},
      {"debug_info", request.debug_info() ? "1" : "0"},
      {"ir", IrDigest(request)},
  };
}

std::string RequestKey(const v1::CompileRequest& request, absl::string_view build_id) {
  // Every part is written with its length, so that no two lists of parts give the same text.
  std::string text;
  for (const KeyPart& part : KeyParts(request, build_id)) {
    absl::StrAppend(&text, part.name, " ", part.value.size(), "\n", part.value, "\n");
  }
  return Sha256Hex(text);
}

}  // namespace tritond::proto
