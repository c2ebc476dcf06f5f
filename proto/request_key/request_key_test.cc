// SPDX-License-Identifier: Apache-2.0
#include "proto/request_key/request_key.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace tritond::proto {
namespace {

v1::CompileRequest Request(const std::string& ir) {
  v1::CompileRequest request;
  request.set_target("cuda:90");
  request.set_ir(ir);
  (*request.mutable_options()->mutable_fields())["num_warps"].set_number_value(4);
  return request;
}

PreparedRequest Prepared(const v1::CompileRequest& request) {
  absl::StatusOr<PreparedRequest> prepared = Prepare(request);
  EXPECT_TRUE(prepared.ok()) << prepared.status();
  return *std::move(prepared);
}

std::string Key(const v1::CompileRequest& request) { return Prepared(request).Key("build-1"); }

TEST(CanonicalOptions, SortsAndPrintsIntegersAsIntegers) {
  google::protobuf::Struct options;
  auto& fields = *options.mutable_fields();
  fields["num_warps"].set_number_value(4);
  fields["arch"].set_string_value("sm\"90\n");
  fields["scale"].set_number_value(0.5);
  fields["maxnreg"].set_null_value(google::protobuf::NULL_VALUE);
  fields["debug"].set_bool_value(false);
  fields["libs"].mutable_list_value()->add_values()->set_number_value(1);
  fields["none"].mutable_list_value();
  EXPECT_EQ(CanonicalOptions(options),
            R"({"arch":"sm\"90\u000a","debug":false,"libs":[1],"maxnreg":null,"none":[],"num_warps":4,"scale":0.5})");
}

TEST(RequestKey, DefaultsCountAsWhatTheyStandFor) {
  const v1::CompileRequest explicit_request = Prepared(Request("module {}")).message();
  EXPECT_EQ(explicit_request.input(), v1::STAGE_TTIR);
  EXPECT_TRUE(explicit_request.abi().global_scratch());
  EXPECT_EQ(explicit_request.abi().descriptor_flags(), 1u);
  EXPECT_EQ(Key(Request("module {}")), Key(explicit_request));
  EXPECT_EQ(Key(explicit_request).size(), 64u);
}

TEST(RequestKey, EverythingThatChangesTheBytesChangesIt) {
  const std::string base = Key(Request("module {}"));
  auto changed = [&](auto change) {
    v1::CompileRequest request = Request("module {}");
    change(request);
    return Key(request) != base;
  };
  EXPECT_TRUE(changed([](auto& r) { r.set_target("cuda:90a"); }));
  EXPECT_TRUE(changed([](auto& r) { r.set_ir("module { {}}"); }));
  EXPECT_TRUE(changed([](auto& r) { r.set_input(v1::STAGE_TTGIR); }));
  EXPECT_TRUE(changed([](auto& r) { r.set_debug_info(true); }));
  EXPECT_TRUE(changed([](auto& r) { r.add_outputs(v1::STAGE_ASM); }));
  EXPECT_TRUE(changed([](auto& r) { r.mutable_abi()->set_profile_scratch(false); }));
  EXPECT_TRUE(changed([](auto& r) { r.mutable_abi()->set_global_scratch(false); }));
  EXPECT_TRUE(changed([](auto& r) { r.mutable_abi()->set_descriptor_flags(0); }));
  EXPECT_TRUE(changed([](auto& r) { r.mutable_abi()->set_host_tensor_maps(true); }));
  EXPECT_TRUE(changed([](auto& r) { (*r.mutable_options()->mutable_fields())["num_warps"].set_number_value(8); }));
  EXPECT_NE(Prepared(Request("module {}")).Key("build-2"), base);
}

// Devices of one family whose code is not the same: what is made for one may run on the other and compute nonsense.
TEST(RequestKey, NearlyEqualTargetsHaveKeysOfTheirOwn) {
  std::set<std::string> keys;
  const std::vector<std::string> targets = {"cuda:70",  "cuda:80",  "cuda:90",   "cuda:90a", "cuda:100", "cuda:100a",
                                            "cuda:103", "cuda:120", "cuda:120a", "cuda:121", "host",     "hip:gfx942"};
  for (const std::string& target : targets) {
    v1::CompileRequest request = Request("module {}");
    request.set_target(target);
    keys.insert(Key(request));
  }
  EXPECT_EQ(keys.size(), targets.size());
}

// Something else than the default.
void SetField(const google::protobuf::FieldDescriptor& field, v1::CompileRequest* request) {
  using Field = google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& reflection = *request->GetReflection();
  switch (field.cpp_type()) {
    case Field::CPPTYPE_STRING:
      return reflection.SetString(request, &field, "something else");
    case Field::CPPTYPE_BOOL:
      return reflection.SetBool(request, &field, true);
    case Field::CPPTYPE_ENUM:
      // The last one is no default.
      if (field.is_repeated()) return reflection.AddEnumValue(request, &field, field.enum_type()->value_count() - 1);
      return reflection.SetEnumValue(request, &field, field.enum_type()->value_count() - 1);
    case Field::CPPTYPE_MESSAGE:
      if (field.name() == "options") return (*request->mutable_options()->mutable_fields())["k"].set_bool_value(true);
      if (field.name() == "abi") return request->mutable_abi()->set_global_scratch(false);
      [[fallthrough]];
    default:
      FAIL() << "say what another value of " << field.name() << " is";
  }
}

// A field that is added later is in neither list, and somebody has to decide.
TEST(RequestKey, EachFieldOfARequestCountsOrSaysHowToServe) {
  const std::set<std::string> serving = {"priority", "tenant", "client_version", "label", "cache_mode", "delivery"};
  const std::string base = Key(Request("module {}"));
  const google::protobuf::Descriptor& fields = *v1::CompileRequest::descriptor();
  for (int i = 0; i < fields.field_count(); ++i) {
    v1::CompileRequest request = Request("module {}");
    SetField(*fields.field(i), &request);
    EXPECT_EQ(Key(request) == base, serving.count(fields.field(i)->name()) > 0) << fields.field(i)->name();
    KeepKeyFields(&request);
    EXPECT_EQ(request.SerializeAsString() == Request("module {}").SerializeAsString(),
              serving.count(fields.field(i)->name()) > 0)
        << fields.field(i)->name();
  }
}

TEST(RequestKey, HowToServeDoesNotCount) {
  v1::CompileRequest request = Request("module {}");
  request.set_priority(v1::PRIORITY_PREBUILD);
  request.set_tenant("ci");
  request.set_label("k");
  request.set_client_version("9");
  request.set_cache_mode(v1::CACHE_MODE_REFRESH);
  request.set_delivery(v1::DELIVERY_DIGESTS);
  EXPECT_EQ(Key(request), Key(Request("module {}")));
}

TEST(RequestKey, OrderAndRepetitionOfOutputsDoNotCount) {
  v1::CompileRequest a = Request("module {}");
  a.add_outputs(v1::STAGE_BINARY);
  a.add_outputs(v1::STAGE_ASM);
  v1::CompileRequest b = Request("module {}");
  b.add_outputs(v1::STAGE_ASM);
  b.add_outputs(v1::STAGE_BINARY);
  b.add_outputs(v1::STAGE_ASM);
  EXPECT_EQ(Key(a), Key(b));
}

TEST(RequestKey, DebugInfoPutsLocationsIntoTheKey) {
  v1::CompileRequest a = Request("module {} loc(\"k.py\":1:2)");
  v1::CompileRequest b = Request("module {} loc(\"k.py\":9:2)");
  EXPECT_EQ(Key(a), Key(b));
  a.set_debug_info(true);
  b.set_debug_info(true);
  EXPECT_NE(Key(a), Key(b));
}

// Equal keys mean equal messages: what a worker is given depends on nothing else.
TEST(PreparedRequest, RequestsWithOneKeyHaveOneMessage) {
  v1::CompileRequest plain = Request("module {\n}\n");
  (*plain.mutable_options()->mutable_fields())["zero"].set_number_value(0);
  (*plain.mutable_options()->mutable_fields())["none"].set_null_value(google::protobuf::NULL_VALUE);
  v1::CompileRequest other = Request("// kernel\nmodule { // here\n\n}  loc(\"k.py\":1:2)");
  (*other.mutable_options()->mutable_fields())["zero"].set_number_value(-0.0);
  (*other.mutable_options()->mutable_fields())["none"];  // No kind of value.
  other.GetReflection()->MutableUnknownFields(&other)->AddVarint(1000, 7);
  ASSERT_EQ(Key(plain), Key(other));
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(Prepared(plain).message(), Prepared(other).message()));
  EXPECT_EQ(Prepared(other).message().GetReflection()->GetUnknownFields(Prepared(other).message()).field_count(), 0);
}

TEST(PreparedRequest, IsUnchangedForACanonicalRequest) {
  v1::CompileRequest request = Request("module {\n  a.b loc(#loc)\n}\n#loc = loc(unknown)\n");
  const PreparedRequest once = Prepared(request), twice = Prepared(once.message());
  EXPECT_EQ(once.Key("b"), twice.Key("b"));
  EXPECT_EQ(once.message().ir(), twice.message().ir());
  EXPECT_EQ(once.source().ToSource({2, 3}), (TextPlace{2, 3}));
  EXPECT_TRUE(twice.source().empty());
}

// The store follows a location that spans lines for MLIR, and a comment for a reader of lines.
TEST(PreparedRequest, TextThatACommentHidesFromALocationIsInTheKey) {
  const auto kernel = [](const std::string& hidden) {
    return Request("module {\n  tt.store %p, %c : !tt.ptr<i32> loc(unknown // (\n)\n" + hidden + "  // )\n}\n");
  };
  EXPECT_NE(Key(kernel("")), Key(kernel("  tt.store %p, %d : !tt.ptr<i32>\n")));
  EXPECT_THAT(Prepared(kernel("  tt.store %p, %d : !tt.ptr<i32>\n")).message().ir(), testing::HasSubstr("%d"));
}

TEST(PreparedRequest, TextsThatAreNoMlirStayAsTheyAre) {
  v1::CompileRequest request = Request("; \x01 loc( \r\n\n");
  request.set_input(v1::STAGE_LLIR);
  EXPECT_EQ(Prepared(request).message().ir(), request.ir());
  request.set_input(v1::STAGE_TTIR);
  EXPECT_EQ(Prepare(request).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(PreparedRequest, KeepsLocationsWithDebugInfo) {
  v1::CompileRequest request = Request("module {  // a comment\n} loc(\"k.py\":1:2)");
  request.set_debug_info(true);
  EXPECT_EQ(Prepared(request).message().ir(), "module {\n} loc(\"k.py\":1:2)");
}

// The corpus lies beside the project; tests run in the project's root.
std::vector<std::string> CorpusTexts() {
  std::vector<std::string> texts;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("../shared/corpus", error)) {
    if (entry.path().extension() != ".ttir") continue;
    std::ifstream file(entry.path());
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

TEST(RequestKey, RealKernelsKeepTheirKeyWhenLinesMove) {
  const std::vector<std::string> texts = CorpusTexts();
  if (texts.empty()) GTEST_SKIP() << "no corpus at ../shared/corpus";
  const std::regex position(R"(\.py":(\d+):(\d+))");
  for (const std::string& text : texts) {
    const std::string moved = std::regex_replace(text, position, "_elsewhere.py\":1$1:$2");
    ASSERT_NE(moved, text);
    EXPECT_EQ(Key(Request(text)), Key(Request(moved)));
    const std::string stripped = Prepared(Request(text)).message().ir();
    EXPECT_EQ(stripped.find("loc("), std::string::npos);
    EXPECT_EQ(stripped.find("#loc"), std::string::npos);
    EXPECT_EQ(std::count(stripped.begin(), stripped.end(), '{'), std::count(stripped.begin(), stripped.end(), '}'));
    EXPECT_EQ(Prepared(Request(stripped)).message().ir(), stripped);
  }
}

TEST(RequestKey, RealKernelsDifferFromEachOther) {
  const std::vector<std::string> texts = CorpusTexts();
  if (texts.empty()) GTEST_SKIP() << "no corpus at ../shared/corpus";
  std::vector<std::string> keys, stripped;
  for (const std::string& text : texts) {
    keys.push_back(Key(Request(text)));
    stripped.push_back(Prepared(Request(text)).message().ir());
  }
  for (auto* list : {&keys, &stripped}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  EXPECT_EQ(keys.size(), stripped.size());
  EXPECT_GT(keys.size(), 1u);
}

}  // namespace
}  // namespace tritond::proto
