// SPDX-License-Identifier: Apache-2.0
#include "client/cli/message_json.h"

#include <google/protobuf/util/json_util.h>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace tritond::client {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using Json = nlohmann::ordered_json;

void MakeNumbers(const Descriptor& type, Json* object);

void MakeNumber(const FieldDescriptor& field, Json* value) {
  int64_t number;
  uint64_t natural;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      if (value->is_string() && absl::SimpleAtoi(value->get<std::string>(), &number)) *value = number;
      return;
    case FieldDescriptor::CPPTYPE_UINT64:
      if (value->is_string() && absl::SimpleAtoi(value->get<std::string>(), &natural)) *value = natural;
      return;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MakeNumbers(*field.message_type(), value);
    default:
      return;
  }
}

// Those of google.protobuf (times, free-form structures) have forms of their own.
void MakeNumbers(const Descriptor& type, Json* object) {
  if (!object->is_object() || absl::StartsWith(type.full_name(), "google.protobuf.")) return;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const auto at = object->find(field.name());
    if (at == object->end()) continue;
    if (field.is_map()) {
      for (auto& entry : at->items()) MakeNumber(*field.message_type()->map_value(), &entry.value());
    } else if (field.is_repeated()) {
      for (Json& element : *at) MakeNumber(field, &element);
    } else {
      MakeNumber(field, &*at);
    }
  }
}

}  // namespace

std::string MessageJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string text;
  // Fails only for Any messages of unknown types, which then have no text.
  if (!google::protobuf::util::MessageToJsonString(message, &text, options).ok()) return "{}";
  Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) return text;
  MakeNumbers(*message.GetDescriptor(), &object);
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tritond::client
