// SPDX-License-Identifier: Apache-2.0
// Flipped bits in the files under a daemon, while it is down and while it runs. What is damaged is compiled again, and
// no wrong byte is ever served.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/fault/daemon_process.h"

namespace tritond::tests {
namespace {

constexpr uint64_t kKernels = 24;

// Every other one lies in a blob file.
v1::CompileRequest KernelOf(uint64_t number) { return NumberedRequest(number, number % 2 == 0 ? 60000 : 0); }

class Damage : public testing::Test {
 protected:
  Damage() { daemon.memory_cache_mb = 0; }
  // Compiles all kernels; how many were hits.
  uint64_t ExpectAllRight(uint64_t begin = 0, uint64_t end = kKernels) {
    Stubs stubs(daemon.address());
    uint64_t hits = 0;
    for (uint64_t number = begin; number < end; ++number) {
      v1::CompileResponse response;
      const grpc::Status status = Compile(stubs, KernelOf(number), &response);
      EXPECT_TRUE(status.ok()) << status.error_message();
      EXPECT_EQ(WrongWith(KernelOf(number), response), "");
      hits += response.cache() == v1::CACHE_STATUS_HIT;
    }
    return hits;
  }
  // Each start writes what the log held into files of its own.
  void Restart() {
    daemon.Terminate();
    ASSERT_TRUE(daemon.Start());
  }
  // The files of the cache whose names have this part.
  std::vector<std::filesystem::path> Files(const std::string& part, const std::string& folder = "cache") const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(daemon.data_dir() + "/" + folder)) {
      if (absl::StrContains(entry.path().filename().string(), part) && entry.file_size() > 0)
        files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }
  void Flip(const std::filesystem::path& path, uint64_t offset, int bit) const {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const char byte = static_cast<char>(file.get() ^ (1 << bit));
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
    ASSERT_TRUE(file.flush());
  }
  void FlipSomewhere(const std::filesystem::path& path) {
    Flip(path, random() % std::filesystem::file_size(path), static_cast<int>(random() % 8));
  }

  // Without a memory tier: every hit reads the disk.
  DaemonProcess daemon;
  std::mt19937_64 random{11};
};

TEST_F(Damage, InAnyFileOfADaemonThatIsDownIsNeverServedAndItStarts) {
  daemon.workers = 1;
  ASSERT_TRUE(daemon.Start());
  EXPECT_EQ(ExpectAllRight(), 0u);
  Restart();
  EXPECT_EQ(ExpectAllRight(), kKernels);
  daemon.Terminate();
  const std::string sound = daemon.folder() + "/sound";
  std::filesystem::copy(daemon.data_dir(), sound, std::filesystem::copy_options::recursive);
  const absl::Time end = absl::Now() + TestTime(absl::Seconds(3));
  uint64_t flipped = 0, lost = 0;
  for (bool first = true; first || absl::Now() < end; first = false) {
    for (const char* part : {".sst", ".blob", "MANIFEST", ".log", "CURRENT", "OPTIONS"}) {
      std::filesystem::remove_all(daemon.data_dir());
      std::filesystem::copy(sound, daemon.data_dir(), std::filesystem::copy_options::recursive);
      const auto files = Files(part);
      if (files.empty()) continue;
      const auto& file = files[random() % files.size()];
      FlipSomewhere(file);
      ASSERT_TRUE(daemon.Start()) << "with a flipped bit in " << file;
      lost += kKernels - ExpectAllRight();
      EXPECT_EQ(ExpectAllRight(), kKernels) << "not kept again after a flipped bit in " << file;
      daemon.Terminate();
      ++flipped;
    }
  }
  std::cout << flipped << " flipped bits, " << lost << " kernels compiled again\n";
  EXPECT_GT(lost, 0u);
}

TEST_F(Damage, InTheTailOfEachKindOfFileIsSurvived) {
  daemon.workers = 1;
  ASSERT_TRUE(daemon.Start());
  ExpectAllRight();
  Restart();
  daemon.Terminate();
  const std::string sound = daemon.folder() + "/sound";
  std::filesystem::copy(daemon.data_dir(), sound, std::filesystem::copy_options::recursive);
  // Footers and what they lead to: a file of which nothing can be read any more.
  for (const char* part : {".sst", ".blob", "MANIFEST"}) {
    for (uint64_t from_end : {1, 20, 40, 100}) {
      std::filesystem::remove_all(daemon.data_dir());
      std::filesystem::copy(sound, daemon.data_dir(), std::filesystem::copy_options::recursive);
      for (const auto& file : Files(part)) {
        if (std::filesystem::file_size(file) > from_end) Flip(file, std::filesystem::file_size(file) - from_end, 3);
      }
      ASSERT_TRUE(daemon.Start()) << part << " " << from_end << " bytes before the end";
      ExpectAllRight();
      EXPECT_EQ(ExpectAllRight(), kKernels) << part << " " << from_end << " bytes before the end";
      daemon.Terminate();
    }
  }
}

TEST_F(Damage, WhileItRunsIsNeverServed) {
  daemon.workers = 1;
  ASSERT_TRUE(daemon.Start());
  ExpectAllRight();
  Restart();
  uint64_t lost = 0;
  const absl::Time end = absl::Now() + TestTime(absl::Seconds(2));
  while (absl::Now() < end || lost == 0) {
    for (const char* part : {".sst", ".blob"}) {
      const auto files = Files(part);
      if (!files.empty()) FlipSomewhere(files[random() % files.size()]);
    }
    lost += kKernels - ExpectAllRight();
    EXPECT_EQ(ExpectAllRight(), kKernels);
    if (absl::Now() > end + absl::Seconds(60)) FAIL() << "no flipped bit was ever noticed";
  }
  std::cout << lost << " kernels compiled again\n";
}

TEST_F(Damage, InAFileThatIsCompactedCostsItsEntriesAlone) {
  daemon.workers = 1;
  ASSERT_TRUE(daemon.Start());
  ExpectAllRight();
  Restart();
  for (const auto& file : Files(".sst")) Flip(file, std::filesystem::file_size(file) / 3, 2);
  // Four files of a level are compacted into one; this makes many more.
  uint64_t next = kKernels;
  for (int i = 0; i < 8; ++i, next += 4) {
    ExpectAllRight(next, next + 4);
    Restart();
  }
  // It mends itself in the background; until then nothing new is kept.
  EXPECT_TRUE(Await([&] { return ExpectAllRight(0, next) == next; })) << daemon.Log();
  Restart();
  EXPECT_EQ(ExpectAllRight(0, next), next) << daemon.Log();
}

TEST_F(Damage, InTheJournalCostsTheDaemonNoStart) {
  daemon.workers = 0;  // So that the jobs stay open.
  ASSERT_TRUE(daemon.Start());
  {
    Stubs stubs(daemon.address());
    for (uint64_t number = 0; number < 20; ++number) {
      grpc::ClientContext context;
      v1::SubmitRequest request;
      *request.mutable_request() = NumberedRequest(number);
      v1::Job job;
      ASSERT_TRUE(stubs.compile->Submit(&context, request, &job).ok());
    }
  }
  Restart();
  daemon.Terminate();
  const std::string sound = daemon.folder() + "/sound";
  std::filesystem::copy(daemon.data_dir(), sound, std::filesystem::copy_options::recursive);
  for (const char* part : {".sst", "MANIFEST", ".log", "CURRENT"}) {
    for (uint64_t third : {0, 1, 2}) {
      std::filesystem::remove_all(daemon.data_dir());
      std::filesystem::copy(sound, daemon.data_dir(), std::filesystem::copy_options::recursive);
      for (const auto& file : Files(part, "journal")) {
        Flip(file, std::filesystem::file_size(file) * third / 3, 5);
      }
      ASSERT_TRUE(daemon.Start()) << "with flipped bits in the journal's " << part;
      daemon.Terminate();
    }
  }
}

}  // namespace
}  // namespace tritond::tests
