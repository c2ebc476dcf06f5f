// SPDX-License-Identifier: Apache-2.0
#include "server/tunings/tuning_key.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace tritond::server {
namespace {

v1::ProgramTuningKey Key() {
  v1::ProgramTuningKey key;
  key.set_function("matmul");
  key.add_configurations("a");
  key.add_configurations("b");
  key.add_kernels(std::string(64, '1'));
  key.add_kernels("");
  key.set_target("cuda:90");
  key.add_arguments("M=4096");
  key.set_device_model("NVIDIA H200");
  key.set_driver("580");
  key.set_triton_version("3.6.0");
  key.set_benchmark("do_bench");
  return key;
}

v1::ProgramTuningKey SourceKey() {
  v1::ProgramTuningKey key = Key();
  key.clear_kernels();
  key.set_source(std::string(64, '2'));
  return key;
}

v1::ProgramTuning Tuning() {
  v1::ProgramTuning tuning;
  tuning.set_winner("b");
  tuning.add_timings()->add_milliseconds(std::numeric_limits<double>::infinity());
  tuning.add_timings()->add_milliseconds(0.5);
  return tuning;
}

std::string WrongField(const v1::ProgramTuningKey& key) {
  const std::vector<Violation> wrong = CheckTuningKey(key);
  return wrong.empty() ? "" : wrong[0].field;
}

std::string WrongField(const v1::ProgramTuning& tuning) {
  const std::vector<Violation> wrong = CheckTuning(Key(), tuning);
  return wrong.empty() ? "" : wrong[0].field;
}

TEST(TuningKey, CompleteKeysAreRight) {
  EXPECT_EQ(WrongField(Key()), "");
  EXPECT_EQ(WrongField(SourceKey()), "");
}

TEST(TuningKey, EachFieldThatIsWrongIsNamed) {
  const auto wrong = [](auto change) {
    v1::ProgramTuningKey key = Key();
    change(key);
    return WrongField(key);
  };
  EXPECT_EQ(wrong([](auto& key) { key.clear_function(); }), "key.function");
  EXPECT_EQ(wrong([](auto& key) { key.set_function(std::string(2000, 'x')); }), "key.function");
  EXPECT_EQ(wrong([](auto& key) { key.set_configurations(1, "a"); }), "key.configurations");
  EXPECT_EQ(wrong([](auto& key) { key.set_configurations(0, "c"); }), "key.configurations");
  EXPECT_EQ(wrong([](auto& key) { key.set_configurations(1, std::string(5000, 'x')); }), "key.configurations");
  EXPECT_EQ(wrong([](auto& key) { key.clear_configurations(); }), "key.configurations");
  EXPECT_EQ(wrong([](auto& key) { key.clear_kernels(); }), "key.kernels");
  EXPECT_EQ(wrong([](auto& key) { key.set_source(std::string(64, '2')); }), "key.kernels");
  EXPECT_EQ(wrong([](auto& key) { key.add_kernels(""); }), "key.kernels");
  EXPECT_EQ(wrong([](auto& key) { key.set_kernels(1, std::string(64, 'A')); }), "key.kernels");
  EXPECT_EQ(wrong([](auto& key) { key.set_target("CUDA 90"); }), "key.target");
  EXPECT_EQ(wrong([](auto& key) { key.add_arguments(std::string(5000, 'x')); }), "key.arguments");
  EXPECT_EQ(wrong([](auto& key) { key.clear_device_model(); }), "key.device_model");
  EXPECT_EQ(wrong([](auto& key) { key.clear_driver(); }), "key.driver");
  EXPECT_EQ(wrong([](auto& key) { key.clear_triton_version(); }), "key.triton_version");
  EXPECT_EQ(wrong([](auto& key) { key.clear_benchmark(); }), "key.benchmark");
  v1::ProgramTuningKey source = SourceKey();
  source.set_source("short");
  EXPECT_EQ(WrongField(source), "key.source");
}

TEST(TuningKey, ListsAreBounded) {
  v1::ProgramTuningKey key = SourceKey();
  key.clear_configurations();
  for (int i = 0; i < 1025; ++i) key.add_configurations(std::to_string(100000 + i));
  EXPECT_EQ(WrongField(key), "key.configurations");
  key = SourceKey();
  for (int i = 0; i < 256; ++i) key.add_arguments("x");
  EXPECT_EQ(WrongField(key), "key.arguments");
}

TEST(TuningKey, AWinnerIsOneOfTheKeys) {
  EXPECT_EQ(WrongField(Tuning()), "");
  v1::ProgramTuning tuning = Tuning();
  tuning.set_winner("c");
  EXPECT_EQ(WrongField(tuning), "tuning.winner");
}

TEST(TuningKey, TimingsAreNumbersOneForEachConfiguration) {
  v1::ProgramTuning tuning = Tuning();
  tuning.add_timings()->add_milliseconds(1);
  EXPECT_EQ(WrongField(tuning), "tuning.timings");
  for (const double number : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    tuning = Tuning();
    tuning.mutable_timings(0)->set_milliseconds(0, number);
    EXPECT_EQ(WrongField(tuning), "tuning.timings");
  }
  tuning = Tuning();
  tuning.mutable_timings(0)->clear_milliseconds();
  EXPECT_EQ(WrongField(tuning), "tuning.timings");
  tuning = Tuning();
  for (int i = 0; i < 8; ++i) tuning.mutable_timings(0)->add_milliseconds(1);
  EXPECT_EQ(WrongField(tuning), "tuning.timings");
}

TEST(TuningKey, EveryFieldAndTheTenantBelongToTheName) {
  std::set<cache::Digest> names = {DigestOf(Key(), "", "build"), DigestOf(Key(), "tenant", "build")};
  int changes = 0;
  const auto change = [&](auto how) {
    v1::ProgramTuningKey key = Key();
    how(key);
    names.insert(DigestOf(key, "", "build"));
    ++changes;
  };
  change([](auto& key) { key.set_function("other"); });
  change([](auto& key) { key.set_configurations(1, "c"); });
  change([](auto& key) { key.set_kernels(1, std::string(64, '3')); });
  change([](auto& key) { key.set_target("cuda:100"); });
  change([](auto& key) { key.set_arguments(0, "M=1"); });
  change([](auto& key) { key.set_arguments(0, "M=40961:x"); });
  change([](auto& key) { key.set_device_model("NVIDIA H100"); });
  change([](auto& key) { key.set_driver("570"); });
  change([](auto& key) { key.set_triton_version("3.7.0"); });
  change([](auto& key) { key.set_benchmark("mine"); });
  EXPECT_EQ(names.size(), 2u + changes);
}

TEST(TuningKey, TheCompilerCountsWhereTheSourceNamesTheProgram) {
  EXPECT_EQ(DigestOf(Key(), "", "one"), DigestOf(Key(), "", "two"));
  EXPECT_NE(DigestOf(SourceKey(), "", "one"), DigestOf(SourceKey(), "", "two"));
}

}  // namespace
}  // namespace tritond::server
