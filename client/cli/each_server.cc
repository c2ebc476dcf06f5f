// SPDX-License-Identifier: Apache-2.0
#include "client/cli/each_server.h"

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tritond::client {

bool HasSeveralServers(const Session& session) { return absl::StrContains(session.server.address, ","); }

int AskEach(const Session& session, Answers needed,
            const std::function<absl::Status(Client& client, const std::string& address)>& ask) {
  const std::vector<std::string> addresses = absl::StrSplit(session.server.address, ',');
  std::set<std::string> seen;
  for (const std::string& address : addresses) {
    if (seen.insert(address).second) continue;
    return session.Usage(absl::InvalidArgumentError(absl::StrCat("server ", address, " is named twice")));
  }
  int code = kDone;
  bool answered = false;
  for (const std::string& address : addresses) {
    Session one = session;
    one.server.address = address;
    auto client = one.Connect();
    if (absl::IsInvalidArgument(client.status())) return one.Usage(client.status());
    absl::Status status = client.status();
    if (status.ok()) {
      status = ask(**client, address);
      if (!status.ok() && addresses.size() > 1) {
        const absl::Status bare = status;
        status = absl::Status(bare.code(), absl::StrCat(address, ": ", bare.message()));
        bare.ForEachPayload(
            [&](absl::string_view type, const absl::Cord& payload) { status.SetPayload(type, payload); });
      }
    }
    if (status.ok()) {
      answered = true;
    } else {
      code = one.Fail(status);
    }
  }
  return answered && needed == Answers::kOne ? kDone : code;
}

std::string WithServer(const Session& session, const std::string& address, const std::string& json) {
  if (!HasSeveralServers(session)) return json;
  nlohmann::ordered_json object = {{"server", address}};
  object.update(nlohmann::ordered_json::parse(json, nullptr, /*allow_exceptions=*/false));
  return object.dump();
}

}  // namespace tritond::client
