// SPDX-License-Identifier: Apache-2.0
#include "server/app/access_file.h"

#include <pwd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <initializer_list>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace tritond::server {
namespace {

absl::Status CheckNames(const YAML::Node& node, std::initializer_list<const char*> known) {
  if (!node.IsMap()) return absl::InvalidArgumentError("must be a map");
  for (const auto& pair : node) {
    const std::string name = pair.first.as<std::string>();
    if (std::find(known.begin(), known.end(), name) == known.end())
      return absl::InvalidArgumentError(absl::StrCat("unknown entry ", name));
  }
  return absl::OkStatus();
}

absl::StatusOr<Caller> ReadCaller(const YAML::Node& node) {
  absl::StatusOr<Role> role = ParseRole(node["role"].as<std::string>(""));
  if (!role.ok()) return role.status();
  return Caller{*role, node["tenant"].as<std::string>("")};
}

absl::Status ReadToken(const YAML::Node& node, AccessRules* rules) {
  absl::Status status = CheckNames(node, {"sha256", "role", "tenant"});
  if (!status.ok()) return status;
  const std::string digest = node["sha256"].as<std::string>("");
  const bool is_digest = digest.size() == 64 && digest.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_digest) return absl::InvalidArgumentError("sha256 must be 64 lowercase hexadecimal digits");
  absl::StatusOr<Caller> caller = ReadCaller(node);
  if (!caller.ok()) return caller.status();
  rules->tokens.push_back({digest, *std::move(caller)});
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> UserNamed(const std::string& name) {
  uint32_t uid = 0;
  if (absl::SimpleAtoi(name, &uid)) return uid;
  passwd entry{};
  passwd* found = nullptr;
  char buffer[16384];
  if (getpwnam_r(name.c_str(), &entry, buffer, sizeof(buffer), &found) != 0 || found == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("this machine has no user ", name));
  return found->pw_uid;
}

absl::Status ReadUser(const YAML::Node& node, AccessRules* rules) {
  absl::Status status = CheckNames(node, {"user", "role", "tenant"});
  if (!status.ok()) return status;
  absl::StatusOr<uint32_t> uid = UserNamed(node["user"].as<std::string>(""));
  if (!uid.ok()) return uid.status();
  absl::StatusOr<Caller> caller = ReadCaller(node);
  if (!caller.ok()) return caller.status();
  rules->users.push_back({*uid, *std::move(caller)});
  return absl::OkStatus();
}

absl::Status ReadCertificate(const YAML::Node& node, AccessRules* rules) {
  absl::Status status = CheckNames(node, {"common_name", "role", "tenant"});
  if (!status.ok()) return status;
  const std::string name = node["common_name"].as<std::string>("");
  if (name.empty()) return absl::InvalidArgumentError("common_name is missing");
  absl::StatusOr<Caller> caller = ReadCaller(node);
  if (!caller.ok()) return caller.status();
  rules->certificates.push_back({name, *std::move(caller)});
  return absl::OkStatus();
}

absl::Status ReadRole(const YAML::Node& node, Role* role) {
  if (!node) return absl::OkStatus();
  absl::StatusOr<Role> read = ParseRole(node.as<std::string>());
  if (read.ok()) *role = *read;
  return read.status();
}

template <typename Read>
absl::Status ReadList(const YAML::Node& list, const char* name, Read read, AccessRules* rules) {
  if (!list || list.IsNull()) return absl::OkStatus();
  if (!list.IsSequence()) return absl::InvalidArgumentError(absl::StrCat(name, " must be a list"));
  for (size_t i = 0; i < list.size(); ++i) {
    absl::Status status = read(list[i], rules);
    if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat(name, "[", i, "]: ", status.message()));
  }
  return absl::OkStatus();
}

absl::Status ReadRules(const YAML::Node& root, AccessRules* rules) {
  // A file that a full disk or a truncation has emptied must not be a rule of its own.
  if (root.IsNull()) return absl::InvalidArgumentError("is empty");
  rules->anonymous = rules->unix_socket = {Role::kNone, ""};
  absl::Status status = CheckNames(root, {"anonymous", "unix", "users", "tokens", "certificates"});
  status.Update(ReadRole(root["anonymous"], &rules->anonymous.role));
  status.Update(ReadRole(root["unix"], &rules->unix_socket.role));
  if (!status.ok()) return status;
  status = ReadList(root["users"], "users", ReadUser, rules);
  if (status.ok()) status = ReadList(root["tokens"], "tokens", ReadToken, rules);
  if (status.ok()) status = ReadList(root["certificates"], "certificates", ReadCertificate, rules);
  return status;
}

}  // namespace

absl::StatusOr<AccessRules> ReadAccessFile(const std::string& path) {
  try {  // yaml-cpp reports by exception; it ends here.
    AccessRules rules;
    absl::Status status = ReadRules(YAML::LoadFile(path), &rules);
    if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", status.message()));
    return rules;
  } catch (const YAML::BadFile&) {
    return absl::NotFoundError(absl::StrCat("cannot read ", path));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", error.what()));
  }
}

}  // namespace tritond::server
