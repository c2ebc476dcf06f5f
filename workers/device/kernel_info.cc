// SPDX-License-Identifier: Apache-2.0
#include "workers/device/kernel_info.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tritond::workers {
namespace {

// Reads entries of one object; remembers the first that is wrong.
class Entries {
 public:
  explicit Entries(const nlohmann::json& object) : object_(object) {}

  template <typename T>
  void Number(const char* name, uint64_t least, uint64_t most, T* to) {
    const auto entry = object_.find(name);
    if (entry == object_.end() || entry->is_null()) return;
    if (!entry->is_number_integer() || entry->get<int64_t>() < 0 || entry->get<uint64_t>() < least ||
        entry->get<uint64_t>() > most) {
      return Complain(name, absl::StrCat("an integer from ", least, " to ", most));
    }
    *to = static_cast<T>(entry->get<uint64_t>());
  }

  void Flag(const char* name, bool* to) {
    const auto entry = object_.find(name);
    if (entry == object_.end() || entry->is_null()) return;
    if (!entry->is_boolean()) return Complain(name, "true or false");
    *to = entry->get<bool>();
  }

  void Text(const char* name, std::string* to) {
    const auto entry = object_.find(name);
    if (entry == object_.end() || !entry->is_string() || entry->get_ref<const std::string&>().empty()) {
      return Complain(name, "a name");
    }
    *to = entry->get<std::string>();
  }

  void Choice(const char* name, std::initializer_list<const char*> choices, std::string* to) {
    const auto entry = object_.find(name);
    if (entry == object_.end() || entry->is_null()) return;
    for (const char* choice : choices)
      if (entry->is_string() && entry->get_ref<const std::string&>() == choice) return to->assign(choice), void();
    Complain(name, absl::StrCat("one of ", absl::StrJoin(choices, ", ")));
  }

  // Non-negative integers below 2^31; nullopt when there is no such entry.
  absl::optional<std::vector<int>> Numbers(const char* name) {
    const auto entry = object_.find(name);
    if (entry == object_.end() || entry->is_null()) return absl::nullopt;
    std::vector<int> numbers;
    if (!entry->is_array()) Complain(name, "a list of integers");
    for (const nlohmann::json& number : *entry) {
      if (!number.is_number_integer() || number.get<int64_t>() < 0 || number.get<int64_t>() > INT32_MAX) {
        Complain(name, "a list of integers");
        break;
      }
      numbers.push_back(number.get<int>());
    }
    return numbers;
  }

  void Complain(const char* name, absl::string_view expected) {
    if (status_.ok()) {
      status_ = absl::InvalidArgumentError(absl::StrCat("kernel metadata: \"", name, "\": expected ", expected));
    }
  }
  const absl::Status& status() const { return status_; }

 private:
  const nlohmann::json& object_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<KernelInfo> ParseKernelInfo(absl::string_view metadata_json) {
  const nlohmann::json object = nlohmann::json::parse(metadata_json.begin(), metadata_json.end(), nullptr, false);
  if (!object.is_object()) return absl::InvalidArgumentError("kernel metadata: expected a JSON object");
  Entries entries(object);
  KernelInfo info;
  entries.Text("name", &info.name);
  entries.Number("shared", 0, 1 << 30, &info.shared);
  entries.Number("num_warps", 1, 64, &info.num_warps);
  entries.Number("num_ctas", 1, 64, &info.num_ctas);
  entries.Number("warp_size", 1, 128, &info.warp_size);
  entries.Number("global_scratch_size", 0, uint64_t{1} << 40, &info.global_scratch_size);
  entries.Number("global_scratch_align", 1, 1 << 20, &info.global_scratch_align);
  entries.Number("profile_scratch_size", 0, uint64_t{1} << 40, &info.profile_scratch_size);
  entries.Number("profile_scratch_align", 1, 1 << 20, &info.profile_scratch_align);
  entries.Choice("grf_mode", {"default", "128", "256", "auto"}, &info.grf_mode);
  entries.Flag("launch_cooperative_grid", &info.launch_cooperative_grid);
  info.parameter_bytes = entries.Numbers("parameter_bytes");
  if (!entries.status().ok()) return entries.status();
  return info;
}

}  // namespace tritond::workers
