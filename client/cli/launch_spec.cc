// SPDX-License-Identifier: Apache-2.0
#include "client/cli/launch_spec.h"

#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/cli/compile_options.h"
#include "client/cli/session.h"
#include "workers/device/element_type.h"

namespace tritond::client {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using workers::ElementType;

absl::Status Wrong(absl::string_view what) { return absl::InvalidArgumentError(what); }

absl::Status CheckNames(const json& entry, const std::set<std::string>& known) {
  for (const auto& [name, value] : entry.items()) {
    if (known.count(name) == 0) return Wrong(absl::StrCat("unknown entry \"", name, "\""));
  }
  return absl::OkStatus();
}

// JSON has no numbers for these.
bool ReadNumber(const json& value, double* number) {
  if (value == "nan") *number = NAN;
  if (value == "inf") *number = HUGE_VAL;
  if (value == "-inf") *number = -HUGE_VAL;
  if (value.is_boolean()) *number = value.get<bool>();
  if (value.is_number()) *number = value.get<double>();
  return value.is_number() || value.is_boolean() || value == "nan" || value == "inf" || value == "-inf";
}

bool AppendValue(const ElementType& type, const json& value, std::string* bytes) {
  char element[8] = {};
  double number = 0;
  if (value.is_number_integer()) {
    type.EncodeInteger(value.is_number_unsigned() ? static_cast<int64_t>(value.get<uint64_t>()) : value.get<int64_t>(),
                       element);
  } else if (ReadNumber(value, &number)) {
    type.Encode(number, element);
  } else {
    return false;
  }
  bytes->append(element, type.bytes());
  return true;
}

// A list of numbers, or of such lists.
bool AppendValues(const ElementType& type, const json& values, std::string* bytes) {
  for (const json& value : values) {
    if (value.is_array() ? !AppendValues(type, value, bytes) : !AppendValue(type, value, bytes)) return false;
  }
  return true;
}

absl::Status ParseWord(const std::string& word, v1::Fill* fill) {
  if (word == "zeros") {
    fill->set_zeros(true);
  } else if (word == "ones") {
    fill->set_constant(1);
  } else if (word == "arange") {
    fill->set_arange(true);
  } else {
    return Wrong(absl::StrCat("\"", word, "\": expected zeros, ones, arange, numbers or an object"));
  }
  return absl::OkStatus();
}

absl::Status ParseRandom(const json& entry, v1::Fill* fill) {
  const bool is_uniform = entry.contains("uniform");
  const json& ends = entry[is_uniform ? "uniform" : "normal"];
  if (!ends.is_array() || ends.size() != 2 || !ends[0].is_number() || !ends[1].is_number()) {
    return Wrong("\"uniform\" and \"normal\" take two numbers: [low, high], [mean, deviation]");
  }
  if (is_uniform) {
    fill->mutable_uniform()->set_low(ends[0].get<double>());
    fill->mutable_uniform()->set_high(ends[1].get<double>());
  } else {
    fill->mutable_normal()->set_mean(ends[0].get<double>());
    fill->mutable_normal()->set_standard_deviation(ends[1].get<double>());
  }
  const json seed = entry.value("seed", json(0));
  if (!seed.is_number_unsigned()) return Wrong("\"seed\": expected a number of at least 0");
  fill->set_seed(seed.get<uint64_t>());
  return absl::OkStatus();
}

absl::Status ParseFill(const json& entry, const ElementType& type, const fs::path& folder, v1::Fill* fill) {
  double number = 0;
  if (ReadNumber(entry, &number)) {
    fill->set_constant(number);
    return absl::OkStatus();
  }
  if (entry.is_string()) return ParseWord(entry.get<std::string>(), fill);
  if (entry.is_array()) {
    std::string bytes;
    if (!AppendValues(type, entry, &bytes)) return Wrong("a list holds what is no number");
    fill->set_data(std::move(bytes));
    return absl::OkStatus();
  }
  if (!entry.is_object()) return Wrong("expected a word, a number, a list or an object");
  const bool is_random = entry.contains("uniform") || entry.contains("normal");
  if (entry.size() - entry.count("seed") != 1 || (entry.contains("seed") && !is_random)) {
    return Wrong("expected one of constant, values, file, uniform, normal; the last two with a seed");
  }
  if (is_random) return ParseRandom(entry, fill);
  if (entry.contains("constant") && entry["constant"].is_primitive()) {
    return ParseFill(entry["constant"], type, folder, fill);
  }
  if (entry.contains("values") && entry["values"].is_array()) return ParseFill(entry["values"], type, folder, fill);
  if (!entry.contains("file") || !entry["file"].is_string()) {
    return Wrong("expected one of constant, values, file, uniform, normal");
  }
  auto bytes = ReadFile((folder / entry["file"].get<std::string>()).string());
  if (!bytes.ok()) return bytes.status();
  fill->set_data(*std::move(bytes));
  return absl::OkStatus();
}

absl::Status ParseRole(const json& entry, v1::Buffer* buffer) {
  const json role = entry.value("role", json("inout"));
  if (role == "in") buffer->set_role(v1::Buffer::ROLE_INPUT);
  if (role == "out") buffer->set_role(v1::Buffer::ROLE_OUTPUT);
  if (role == "inout") buffer->set_role(v1::Buffer::ROLE_IN_OUT);
  if (role == "scratch") buffer->set_role(v1::Buffer::ROLE_SCRATCH);
  if (buffer->role() != v1::Buffer::ROLE_UNSPECIFIED) return absl::OkStatus();
  return Wrong("\"role\": expected in, out, inout or scratch");
}

// From "shape", else from what the data gives.
absl::Status ParseShape(const json& entry, const ElementType& type, LaunchArgument* to) {
  v1::Buffer* buffer = to->argument.mutable_buffer();
  if (!entry.contains("shape")) {
    const std::string& data = buffer->fill().has_data() ? buffer->fill().data() : buffer->reference().data();
    if (data.empty()) return Wrong("\"shape\" is missing");
    to->shape = {data.size() / type.bytes()};
  } else {
    const json shape = entry["shape"].is_array() ? entry["shape"] : json::array({entry["shape"]});
    for (const json& size : shape) {
      if (!size.is_number_unsigned()) return Wrong("\"shape\": expected a list of sizes");
      to->shape.push_back(size.get<uint64_t>());
    }
  }
  uint64_t elements = 1;
  for (const uint64_t size : to->shape) {
    if (__builtin_mul_overflow(elements, size, &elements)) return Wrong("\"shape\" is too large");
  }
  buffer->set_elements(elements);
  for (const v1::Fill* fill : {&buffer->fill(), &buffer->reference()}) {
    if (!fill->has_data() || fill->data().size() == elements * type.bytes()) continue;
    return Wrong(absl::StrCat(fill->data().size(), " bytes of data for ", elements, " elements of ", type.name()));
  }
  return absl::OkStatus();
}

absl::Status ParseBuffer(const json& entry, const ElementType& type, const fs::path& folder, LaunchArgument* to) {
  if (absl::Status status = CheckNames(
          entry, {"name", "type", "shape", "role", "fill", "expect", "absolute_tolerance", "relative_tolerance"});
      !status.ok()) {
    return status;
  }
  v1::Buffer* buffer = to->argument.mutable_buffer();
  buffer->set_type(type.name());
  if (absl::Status status = ParseRole(entry, buffer); !status.ok()) return status;
  const auto parse = [&](const char* name, v1::Fill* fill) {
    const absl::Status status = ParseFill(entry[name], type, folder, fill);
    return status.ok() ? status : Wrong(absl::StrCat("\"", name, "\": ", status.message()));
  };
  absl::Status status;
  if (entry.contains("fill")) status.Update(parse("fill", buffer->mutable_fill()));
  if (entry.contains("expect")) status.Update(parse("expect", buffer->mutable_reference()));
  if (status.ok()) status = ParseShape(entry, type, to);
  for (const char* name : {"absolute_tolerance", "relative_tolerance"}) {
    const json tolerance = entry.value(name, json(0));
    if (!tolerance.is_number() || tolerance.get<double>() < 0) {
      status.Update(Wrong(absl::StrCat("\"", name, "\": expected a number of at least 0")));
      continue;
    }
    (name[0] == 'a' ? buffer->set_absolute_tolerance(tolerance.get<double>())
                    : buffer->set_relative_tolerance(tolerance.get<double>()));
  }
  return status;
}

absl::Status ParseScalar(const json& entry, const ElementType& type, LaunchArgument* to) {
  if (absl::Status status = CheckNames(entry, {"name", "type", "value"}); !status.ok()) return status;
  v1::Scalar* scalar = to->argument.mutable_scalar();
  scalar->set_type(type.name());
  const json value = entry.value("value", json());
  double number = 0;
  if (value.is_number_integer()) {
    scalar->set_integer(value.is_number_unsigned() ? static_cast<int64_t>(value.get<uint64_t>())
                                                   : value.get<int64_t>());
  } else if (ReadNumber(value, &number)) {
    scalar->set_real(number);
  } else {
    return Wrong("\"value\": expected a number");
  }
  return absl::OkStatus();
}

absl::Status ParseArgument(const json& entry, const fs::path& folder, LaunchArgument* to) {
  if (!entry.is_object() || !entry.contains("type") || !entry["type"].is_string()) {
    return Wrong("expected an object with \"type\"");
  }
  if (entry.contains("name")) {
    if (!entry["name"].is_string()) return Wrong("\"name\": expected text");
    to->name = entry["name"].get<std::string>();
  }
  const std::string name = entry["type"].get<std::string>();
  absl::string_view element = name;
  const bool is_buffer = absl::ConsumePrefix(&element, "*");
  const auto type = ElementType::Parse(element);
  if (!type.ok()) return type.status();
  return is_buffer ? ParseBuffer(entry, *type, folder, to) : ParseScalar(entry, *type, to);
}

}  // namespace

absl::StatusOr<std::vector<LaunchArgument>> ParseArguments(const json& args, const fs::path& folder) {
  if (!args.is_array()) return Wrong("\"args\": expected a list");
  std::vector<LaunchArgument> arguments;
  for (const json& entry : args) {
    LaunchArgument argument;
    argument.name = absl::StrCat("arg", arguments.size());
    const absl::Status status = ParseArgument(entry, folder, &argument);
    if (!status.ok()) return Wrong(absl::StrCat("args[", arguments.size(), "]: ", status.message()));
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

absl::StatusOr<v1::Grid> ParseGrid(const json& sizes) {
  if (!sizes.is_array() || sizes.empty() || sizes.size() > 3) return Wrong("\"grid\": expected one to three numbers");
  uint32_t size[3] = {1, 1, 1};
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!sizes[i].is_number_unsigned() || sizes[i].get<uint64_t>() - 1 >= INT32_MAX) {
      return Wrong("\"grid\": expected positive integers");
    }
    size[i] = sizes[i].get<uint32_t>();
  }
  v1::Grid grid;
  grid.set_x(size[0]);
  grid.set_y(size[1]);
  grid.set_z(size[2]);
  return grid;
}

absl::StatusOr<json> ParseOptionsEntry(const json& entry, const fs::path& folder) {
  if (entry.is_null()) return json::object();
  if (!entry.is_string()) return ParseOptionsFile(entry.dump());
  auto text = ReadFile((folder / entry.get<std::string>()).string());
  if (!text.ok()) return text.status();
  return ParseOptionsFile(*text);
}

}  // namespace tritond::client
