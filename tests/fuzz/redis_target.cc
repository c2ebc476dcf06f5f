// SPDX-License-Identifier: Apache-2.0
#include <prometheus/registry.h>

#include "absl/strings/str_cat.h"
#include "cache/store/memory_store.h"
#include "server/redis/redis_client.h"
#include "tests/fuzz/service_targets.h"

namespace tritond::tests {
namespace {

constexpr uint64_t kStoreBytes = 1 << 20;
constexpr uint64_t kRequestBytes = 4 << 20;

// What a parser makes of bytes that come `piece` at a time: the requests, and the problem that ends them.
struct Read {
  std::vector<server::RedisRequest> requests;
  std::string problem;
};

Read ReadIn(absl::string_view bytes, size_t piece) {
  server::RequestParser parser;
  Read read;
  while (!bytes.empty()) {
    absl::string_view input = bytes.substr(0, piece);
    bytes.remove_prefix(input.size());
    for (auto state = parser.Read(&input); state != server::RequestParser::State::kNeedsBytes;
         state = parser.Read(&input)) {
      if (state == server::RequestParser::State::kMalformed) {
        read.problem = parser.problem();
        return read;
      }
      if (state == server::RequestParser::State::kRequest) {
        read.requests.push_back(parser.Take());
      } else if (parser.needed_bytes() <= kRequestBytes) {
        parser.GiveRoom(parser.needed_bytes());
      } else {
        parser.Skip(server::RedisRequest::Kind::kTooLarge);
      }
    }
    Require(input.empty(), "a parser that needs bytes has taken all there were");
  }
  return read;
}

bool IsSame(const Read& a, const Read& b) {
  if (a.problem != b.problem || a.requests.size() != b.requests.size()) return false;
  for (size_t i = 0; i < a.requests.size(); ++i)
    if (a.requests[i].kind != b.requests[i].kind || a.requests[i].words != b.requests[i].words) return false;
  return true;
}

// Lives as long as the process: making its metrics costs more than most inputs.
struct Door {
  cache::MemoryStore records{kStoreBytes}, values{kStoreBytes};
  server::ValueStore store{records, values, server::TenantIndex::Limits{kStoreBytes, 0},
                           [] { return absl::FromUnixSeconds(1800000000); }};
  server::AccessPolicy access{server::AccessRules()};
  prometheus::Registry registry;
  server::RedisMetrics metrics{registry, server::RedisClient::CommandNames()};
  server::ByteBudget budget{kStoreBytes};
  server::RedisParts parts{store, access, metrics, budget, kRequestBytes, "version"};
};

void RunRequests(Read read) {
  static auto* const door = new Door;
  server::RedisClient client(door->parts, 1, {});
  for (server::RedisRequest& request : read.requests) {
    server::RedisAnswer answer;
    uint64_t bytes = 0;
    auto progress = server::RedisClient::Progress::kMore;
    while (progress != server::RedisClient::Progress::kDone) {
      progress = client.Run(request, /*without_room=*/true, &answer);
      Require(progress != server::RedisClient::Progress::kNoRoom, "who is to do without room does not ask for it");
      for (const cache::Blob& piece : answer.out.Take()) bytes += piece.size();
      answer.holds.clear();
    }
    Require(bytes > 0, "a request has an answer");
    if (client.ends()) break;
  }
  Require(door->budget.held() == 0, "no answer keeps its memory");
}

// From the wire to the store, without a socket.
void RunRedis(const std::string& bytes) {
  Read whole = ReadIn(bytes, bytes.size());
  Require(IsSame(whole, ReadIn(bytes, 1)), "requests are the same byte by byte");
  Require(IsSame(whole, ReadIn(bytes, 7)), "and in other pieces");
  RunRequests(std::move(whole));
}

}  // namespace

ServiceTarget RedisTarget() {
  const std::string array =
      "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nva\r\nl\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*3\r\n$4\r\nMGET\r\n$1\r\nk\r\n$"
      "0\r\n\r\n";
  const std::string options =
      "*7\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n$2\r\nEX\r\n$2\r\n10\r\n$2\r\nNX\r\n$2\r\nXX\r\n*2\r\n$3\r\nDEL\r\n$"
      "1\r\nk\r\n";
  const std::string lines =
      "PING\r\nHELLO 3 AUTH default token SETNAME me\r\nCLIENT SETINFO LIB-NAME x\r\nINFO\r\nSETEX k 5 v\r\nEXISTS "
      "k\r\nQUIT\r\n";
  const std::string large = absl::StrCat("*2\r\n$4\r\nPING\r\n$40000\r\n", std::string(40000, 'x'), "\r\n");
  return {"redis", {array, options, lines, large, "*2\r\n$4\r\nPING\r\n$5000000\r\n"}, RunRedis};
}

}  // namespace tritond::tests
