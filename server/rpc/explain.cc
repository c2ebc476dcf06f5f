// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/request_key/request_key.h"
#include "server/errors/parse_digest.h"
#include "server/rpc/authorizer.h"
#include "server/rpc/reactors.h"
#include "server/rpc/rpcs.h"

namespace tritond::server {
namespace {

constexpr char kAbsent[] = "(absent)";

// A stored result's request, serialized, with the build that compiled it.
struct StoredRequest {
  std::string key;
  cache::Blob bytes;
  std::string build_id;
};

absl::Status NotKept(const std::string& key) {
  return absl::NotFoundError(absl::StrCat("the request of ", key, " is not stored; compile it again to have it"));
}

// May block on the network.
absl::StatusOr<StoredRequest> Find(CompileBroker& broker, const std::string& key) {
  absl::StatusOr<std::shared_ptr<const StoredResult>> result = broker.FindStored(key);
  if (!result.ok()) return absl::NotFoundError(absl::StrCat("no result is stored under ", key));
  const v1::ActionResult& action = (*result)->action;
  absl::StatusOr<cache::Digest> digest = cache::Digest::FromHex(action.request().digest());
  if (!digest.ok()) return NotKept(key);
  absl::StatusOr<cache::Blob> bytes = broker.blobs().Get(*digest);
  if (!bytes.ok()) return NotKept(key);
  return StoredRequest{key, *std::move(bytes), action.build_id()};
}

absl::StatusOr<proto::PreparedRequest> Read(const StoredRequest& stored) {
  v1::CompileRequest request;
  if (!request.ParseFromArray(stored.bytes.data(), static_cast<int>(stored.bytes.size()))) return NotKept(stored.key);
  absl::StatusOr<proto::PreparedRequest> prepared = proto::Prepare(std::move(request));
  return prepared.ok() ? std::move(prepared) : NotKept(stored.key);
}

void Add(v1::ExplainResponse* response, const std::string& name, const std::string& a, const std::string& b) {
  v1::ExplainResponse::Part& part = *response->add_parts();
  part.set_name(name);
  part.set_a(a);
  part.set_b(b);
  part.set_differs(a != b);
}

// Each option for itself, those of both requests.
void AddOptions(v1::ExplainResponse* response, const std::string& a, const std::string& b) {
  const auto parse = [](const std::string& text) {
    return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  };
  const nlohmann::json options_a = parse(a), options_b = parse(b);
  std::set<std::string> names;
  for (const auto* options : {&options_a, &options_b})
    for (const auto& item : options->items()) names.insert(item.key());
  const auto text = [](const nlohmann::json& options, const std::string& name) {
    return options.contains(name) ? options[name].dump() : kAbsent;
  };
  for (const std::string& name : names) Add(response, "options." + name, text(options_a, name), text(options_b, name));
}

// The first line in which two texts differ; two requests with different keys may have none, when only their locations
// differ and those count.
void AddFirstDifference(v1::ExplainResponse* response, const std::string& a, const std::string& b) {
  const std::vector<std::string> lines_a = absl::StrSplit(a, '\n'), lines_b = absl::StrSplit(b, '\n');
  const auto line = [](const std::vector<std::string>& lines, size_t i) {
    return i < lines.size() ? absl::StrCat("line ", i + 1, ": ", lines[i]) : "(its end)";
  };
  for (size_t i = 0; i < std::max(lines_a.size(), lines_b.size()); ++i) {
    if (i < lines_a.size() && i < lines_b.size() && lines_a[i] == lines_b[i]) continue;
    return Add(response, "ir.first_difference", line(lines_a, i), line(lines_b, i));
  }
}

absl::Status Compare(const StoredRequest& stored_a, const StoredRequest& stored_b, v1::ExplainResponse* response) {
  absl::StatusOr<proto::PreparedRequest> a = Read(stored_a);
  if (!a.ok()) return a.status();
  absl::StatusOr<proto::PreparedRequest> b = Read(stored_b);
  if (!b.ok()) return b.status();
  const std::vector<proto::KeyPart> parts_a = a->KeyParts(stored_a.build_id);
  const std::vector<proto::KeyPart> parts_b = b->KeyParts(stored_b.build_id);
  for (size_t i = 0; i < parts_a.size(); ++i) {
    if (parts_a[i].name == "options") {
      AddOptions(response, parts_a[i].value, parts_b[i].value);
      continue;
    }
    Add(response, parts_a[i].name, parts_a[i].value, parts_b[i].value);
    if (parts_a[i].name == "ir" && parts_a[i].value != parts_b[i].value)
      AddFirstDifference(response, a->message().ir(), b->message().ir());
  }
  return absl::OkStatus();
}

}  // namespace

// Requests come from the stores, where reading may block, and are compared where texts are read.
grpc::ServerUnaryReactor* Explain(CompileBroker& broker, const Caller& caller, grpc::CallbackServerContext* context,
                                  const v1::ExplainRequest* request, v1::ExplainResponse* response) {
  absl::Status keys = ParseDigest("key_a", request->key_a()).status();
  keys.Update(ParseDigest("key_b", request->key_b()).status());
  if (!keys.ok()) return FinishNow(context, keys);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  broker.RunBlocking([&broker, reactor, request, response, whose = TurnOf(caller, *context)] {
    absl::StatusOr<StoredRequest> a = Find(broker, request->key_a());
    if (!a.ok()) return reactor->Finish(ToGrpc(a.status()));
    absl::StatusOr<StoredRequest> b = Find(broker, request->key_b());
    if (!b.ok()) return reactor->Finish(ToGrpc(b.status()));
    const uint64_t bytes = a->bytes.size() + b->bytes.size();
    broker.texts().Run(whose, bytes,
                       [reactor, response, a = *std::move(a), b = *std::move(b)](const absl::Status& status) {
                         reactor->Finish(ToGrpc(status.ok() ? Compare(a, b, response) : status));
                       });
  });
  return reactor;
}

}  // namespace tritond::server
