// SPDX-License-Identifier: Apache-2.0
// The service handles the bytes of callers, of disks and of other machines. This costs it no more than in proportion to
// their size. Each parser and codec has families of inputs of growing size that are the worst for it. One of twice the
// size may cost 2.3 times as much. Add a row for each new parser, and a family for each way to make one slow.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "proto/request_key/request_key.h"
#include "proto/v1/artifact.pb.h"
#include "proto/v1/compile.pb.h"
#include "server/admission/access.h"
#include "server/rpc/wire_check.h"
#include "server/web/http_router.h"
#include "tests/fuzz/service_targets.h"
#include "tests/support/cost_counter.h"

namespace tritond::tests {
namespace {

constexpr double kMostPerDoubling = 2.3;
constexpr int kDoublings = 3;
constexpr double kMost = kMostPerDoubling * kMostPerDoubling * kMostPerDoubling;
// Where time is counted instead of instructions, other work on the machine disturbs, so it is measured again. And the
// largest input may lie in a slower cache than the smallest, which costs this much more once, however it grows.
constexpr int kTries = 4;
constexpr double kSlowerCache = 2;

using Make = std::function<std::string(int size)>;
using Feed = std::function<void(const std::string& bytes)>;

struct Family {
  std::string name;
  int size;  // the smallest of those that are measured: large enough to cost a millisecond or so
  Make make;
  Feed feed;
};
void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }

std::string Repeat(const std::string& text, int count) {
  std::string all;
  all.reserve(text.size() * static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

Feed Target(const std::string& name) {
  for (ServiceTarget& target : ServiceTargets()) {
    if (target.name == name) return target.run;
  }
  ADD_FAILURE() << "there is no target " << name;
  return [](const std::string&) {};
}

std::string Request(const std::function<void(v1::CompileRequest*)>& fill) {
  v1::CompileRequest request;
  request.set_target("cuda:90");
  request.set_ir("module {}");
  fill(&request);
  return request.SerializeAsString();
}
std::string OptionsOf(const std::function<void(google::protobuf::Map<std::string, google::protobuf::Value>*)>& fill) {
  return Request([&](v1::CompileRequest* request) { fill(request->mutable_options()->mutable_fields()); });
}
// Wide lists within each other: each level holds `width` values.
void Nest(google::protobuf::Value* value, int depth, int width) {
  for (int i = 0; i < width; ++i) value->mutable_list_value()->add_values();
  if (depth > 1) Nest(value->mutable_list_value()->mutable_values(0), depth - 1, width);
}

std::vector<Family> RequestFamilies() {
  const Feed run = Target("request");
  return {
      // The largest has as many as the fields of a request allow.
      {"request_many_options", 500,
       [](int n) {
         return OptionsOf([n](auto* options) {
           for (int i = 0; i < n; ++i) (*options)[absl::StrCat("option_", i)].set_number_value(i);
         });
       },
       run},
      {"request_one_option_again_and_again", 8000,
       [](int n) {
         const std::string once = OptionsOf([](auto* options) { (*options)["num_warps"].set_number_value(4); });
         return Repeat(once, n);
       },
       run},
      {"request_options_nested", 300,
       [](int n) { return OptionsOf([n](auto* options) { Nest(&(*options)["deep"], 30, n); }); }, run},
      {"request_option_with_a_long_text", 1 << 18,
       [](int n) {
         return OptionsOf([n](auto* options) { (*options)["text"].set_string_value(Repeat("\"\\\n\x01", n / 4)); });
       },
       run},
      {"request_outputs_again_and_again", 50000,
       [](int n) {
         return Request([n](v1::CompileRequest* request) {
           for (int i = 0; i < n; ++i) request->add_outputs(i % 2 == 0 ? v1::STAGE_BINARY : v1::STAGE_TTIR);
         });
       },
       run},
      {"request_unknown_fields", 50000, [](int n) { return Repeat("\xf8\x7f\x01", n); }, run},
      {"request_long_target", 1 << 19,
       [](int n) {
         return Request([n](v1::CompileRequest* request) { request->set_target("cuda:" + std::string(n, '9')); });
       },
       run},
  };
}

// Texts of which the piece is repeated, between a head and a tail.
struct TextFamily {
  const char* name;
  const char* head;
  const char* piece;
  const char* tail;
  int size = 1 << 18;
};
constexpr TextFamily kTexts[] = {
    {"plain", "", "  %0 = arith.constant 1 : i32\n", ""},
    {"locations", "", "  tt.return loc(\"a.py\":1:2)\n", ""},
    {"location_lines", "", "#loc1 = loc(\"b\")\n", ""},
    {"spaces", "", " ", "x"},
    {"spaces_before_line_ends", "", "    \n", ""},
    {"one_long_string", "\"", "a\\\"", "\""},
    {"string_without_end", "\"", "a ", ""},
    {"comments", "", "// loc(\n", ""},
    {"unclosed_locations", "", " loc(", ""},
    {"nested_location", "a loc", "(", ""},
    {"definitions_without_locations", "", "#loc = ", ""},
    {"locations_kept_for_a_value", "#loc = loc(unknown)\n", "a {b = #loc} loc(#loc)\n", ""},
};

std::vector<Family> TextFamilies() {
  std::vector<Family> families;
  for (const TextFamily& text : kTexts) {
    families.push_back({absl::StrCat("ir_", text.name), text.size,
                        [text](int n) {
                          const std::string piece = text.piece;
                          return Request([&](v1::CompileRequest* request) {
                            request->set_ir(
                                absl::StrCat(text.head, Repeat(piece, n / static_cast<int>(piece.size())), text.tail));
                          });
                        },
                        Target("request")});
  }
  return families;
}

template <typename Message>
Feed Wire() {
  return [](const std::string& bytes) {
    google::protobuf::io::ArrayInputStream input(bytes.data(), static_cast<int>(bytes.size()));
    const server::WireLimits limits{uint64_t{1} << 40, uint64_t{1} << 40, 64};
    server::CheckWire(&input, bytes.size(), *Message::descriptor(), limits).IgnoreError();
  };
}

std::vector<Family> WireFamilies() {
  return {
      {"wire_empty_requests", 100000, [](int n) { return Repeat(std::string("\x0a\x00", 2), n); },
       Wire<v1::CompileBatchRequest>()},
      {"wire_unknown_fields", 100000, [](int n) { return Repeat("\xf8\x7f\x01", n); }, Wire<v1::CompileRequest>()},
      {"wire_groups", 10000, [](int n) { return Repeat("\xfb\x7f\xfb\x7f\xfc\x7f\xfc\x7f", n); },
       Wire<v1::CompileRequest>()},
      {"wire_options_nested", 1000,
       [](int n) { return OptionsOf([n](auto* options) { Nest(&(*options)["deep"], 20, n); }); },
       Wire<v1::CompileRequest>()},
      {"wire_digests", 50000,
       [](int n) {
         v1::FindMissingRequest request;
         for (int i = 0; i < n; ++i) request.add_digests("a");
         return request.SerializeAsString();
       },
       Wire<v1::FindMissingRequest>()},
  };
}

std::vector<Family> RecordFamilies() {
  return {
      {"access_many_tokens", 300,
       [](int n) {
         std::string text = "tokens:\n";
         for (int i = 0; i < n; ++i)
           absl::StrAppend(&text, "  - {sha256: ", proto::Sha256Hex(absl::StrCat(i)), ", role: read}\n");
         return text;
       },
       Target("access")},
      {"access_one_long_name", 1 << 15,
       [](int n) {
         return absl::StrCat("certificates:\n  - {common_name: \"", std::string(n, '*'), "\", role: read}\n");
       },
       Target("access")},
      {"journal_many_details", 3000,
       [](int n) {
         v1::Job job;
         job.set_id("01J");
         job.set_tenant(std::string(static_cast<size_t>(n) * 10, 't'));
         for (int i = 0; i < n; ++i) job.mutable_failure()->add_details()->set_value("details");
         return job.SerializeAsString();
       },
       Target("journal")},
      {"bundle_record_many_artifacts", 2000,
       [](int n) {
         v1::ActionResult result;
         v1::BundleRecord record;
         for (int i = 0; i < n; ++i) {
           result.add_artifacts()->set_digest(proto::Sha256Hex("binary"));
           record.add_blobs()->set_data("binary");
         }
         record.set_signed_result(result.SerializeAsString());
         return record.SerializeAsString();
       },
       Target("bundle-record")},
      {"bundle_garbage", 1 << 18, [](int n) { return std::string(n, 'x'); }, Target("bundle")},
      {"sealed_long", 1 << 18, [](int n) { return std::string(n, 'x'); }, Target("sealed")},
      {"result_many_artifacts", 2000,
       [](int n) {
         v1::ActionResult result;
         for (int i = 0; i < n; ++i) {
           result.add_artifacts()->set_digest(proto::Sha256Hex("binary"));
           result.add_ignored_options(absl::StrCat("option_", i));
           result.add_diagnostics()->set_message("message");
         }
         return result.SerializeAsString();
       },
       Target("result")},
      {"worker_hello_many_targets", 20000, [](int n) { return Repeat(std::string("\x00\x02\x0a\x00", 4), n); },
       Target("worker")},
  };
}

std::string Words(int count, const std::string& word) {
  return absl::StrCat("*", count, "\r\n", Repeat(absl::StrCat("$", word.size(), "\r\n", word, "\r\n"), count));
}

std::vector<Family> RedisFamilies() {
  const Feed run = Target("redis");
  return {
      {"redis_many_requests", 5000, [](int n) { return Repeat(Words(1, "PING"), n); }, run},
      // The largest has as many words as a request may have.
      {"redis_many_words", 4000, [](int n) { return Words(n, "EXISTS"); }, run},
      {"redis_many_empty_words", 8000, [](int n) { return Words(n, ""); }, run},
      {"redis_one_long_word", 1 << 15, [](int n) { return Words(1, std::string(n, 'x')); }, run},
      {"redis_empty_lines", 1 << 17, [](int n) { return Repeat("\r\n", n); }, run},
      {"redis_empty_arrays", 1 << 15, [](int n) { return Repeat("*0\r\n", n); }, run},
      // A line without an end is cut off at its limit; these are as long as they may be.
      {"redis_long_lines", 4, [](int n) { return Repeat("PING" + std::string(16000, ' ') + "\r\n", n); }, run},
      {"redis_lines_of_many_words", 4, [](int n) { return Repeat("EXISTS " + Repeat("k ", 8000) + "\r\n", n); }, run},
  };
}

std::vector<Family> CallerFamilies() {
  static const auto* const kPolicy = [] {
    server::AccessRules rules;
    rules.anonymous.role = server::Role::kNone;
    for (int i = 0; i < 100; ++i) {
      rules.certificates.push_back({absl::StrCat("node-", i, "-*"), {server::Role::kWorker, ""}});
      rules.tokens.push_back({proto::Sha256Hex(absl::StrCat(i)), {server::Role::kRead, ""}});
    }
    return new server::AccessPolicy(rules);
  }();
  static const auto* const kRouter = [] {
    server::HttpRouter::Pages pages;
    pages.page = "<p>page</p>";
    pages.api = [](absl::string_view, const server::WebCaller&) { return server::WebAnswer{}; };
    pages.not_ready = [] { return ""; };
    return new server::HttpRouter(std::move(pages), true);
  }();
  return {
      {"caller_long_token", 1 << 20, [](int n) { return std::string(n, 't'); },
       [](const std::string& token) {
         server::Credentials credentials;
         credentials.encrypted = true;
         credentials.token = token;
         kPolicy->Identify(credentials).status().IgnoreError();
       }},
      {"caller_many_names", 2000, [](int n) { return std::string(n, 'n'); },
       [](const std::string& names) {
         server::Credentials credentials;
         credentials.encrypted = true;
         for (size_t i = 0; i < names.size(); ++i) credentials.common_names.push_back("node-1000000");
         kPolicy->Identify(credentials).status().IgnoreError();
       }},
      {"http_many_headers", 2000, [](int n) { return std::string(n, 'h'); },
       [](const std::string& headers) {
         server::HttpQuery query;
         query.method = "GET";
         query.path = "/api/" + headers;
         for (size_t i = 0; i < headers.size(); ++i) query.headers.emplace(absl::StrCat("x-", i), "value");
         kRouter->Answer(query);
       }},
      {"http_long_authorization", 1 << 11, [](int n) { return "Bearer " + std::string(n, 't'); },
       [](const std::string& header) {
         server::HttpQuery query;
         query.method = "GET";
         query.path = "/api/status";
         query.headers = {{"authorization", header}, {"host", header}};
         for (int i = 0; i < 500; ++i) kRouter->Answer(query);
       }},
  };
}

std::vector<Family> AllFamilies() {
  std::vector<Family> all;
  for (const auto& families :
       {RequestFamilies(), TextFamilies(), WireFamilies(), RecordFamilies(), RedisFamilies(), CallerFamilies()})
    all.insert(all.end(), families.begin(), families.end());
  return all;
}

// How many times as much the largest input costs as the smallest, at the least that was measured. What a slower cache
// may add is taken off.
double GrowthOf(const Make& make, const Feed& run, int size) {
  const CostCounter counter;
  const double scale = counter.counts_instructions() ? 1 : 1 / kSlowerCache;
  const std::string small = make(size), large = make(size << kDoublings);
  double least = 1e300;
  for (int i = 0; i < kTries && least > kMost; ++i) {
    const double before = counter.CostOf([&] { run(small); });
    least = std::min(least, scale * counter.CostOf([&] { run(large); }) / std::max(before, 1.0));
  }
  return least;
}

class LinearCostTest : public testing::TestWithParam<Family> {};

TEST_P(LinearCostTest, TwiceTheSizeCostsAboutTwice) {
  const Family& family = GetParam();
  EXPECT_LT(GrowthOf(family.make, family.feed, family.size), kMost)
      << "at " << (1 << kDoublings) << " times the size; in proportion would be " << (1 << kDoublings);
}

INSTANTIATE_TEST_SUITE_P(Doors, LinearCostTest, testing::ValuesIn(AllFamilies()),
                         [](const auto& family) { return family.param.name; });

TEST(GrowthOf, SeesWhatIsSquare) {
  const Make make = [](int n) { return std::string(n, 'x'); };
  const Feed square = [](const std::string& bytes) {
    volatile int sum = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
      for (size_t j = 0; j < bytes.size(); ++j) sum = sum + 1;
  };
  const Feed once = [](const std::string& bytes) {
    volatile int sum = 0;
    for (int times = 0; times < 10; ++times)
      for (char c : bytes) sum = sum + c;
  };
  EXPECT_GT(GrowthOf(make, square, 1000), kMost);
  EXPECT_LT(GrowthOf(make, once, 100000), kMost);
}

}  // namespace
}  // namespace tritond::tests
