// SPDX-License-Identifier: Apache-2.0
#include "cache/store/rocksdb_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/cache_contract.h"

namespace tritond::cache {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

std::unique_ptr<RocksdbStore> OpenStore(const std::string& dir, const RocksdbOptions& options = {}) {
  auto stores = RocksdbStore::Open(dir, {"test"}, options);
  EXPECT_EQ(stores.status(), absl::OkStatus());
  return stores.ok() ? std::move(stores->front()) : nullptr;
}

CacheMaker Maker(bool sync_writes) {
  return {[sync_writes](const std::string& dir) {
    RocksdbOptions options;
    options.sync_writes = sync_writes;
    return OpenStore(dir, options);
  }};
}

INSTANTIATE_TEST_SUITE_P(RocksdbStore, CacheContract, testing::Values(Maker(false)));
INSTANTIATE_TEST_SUITE_P(RocksdbStoreWithSyncWrites, CacheContract, testing::Values(Maker(true)));

// Bytes that no compression shrinks.
std::string Noise(size_t size) {
  std::string bytes;
  for (Digest next = Digest::Of("noise"); bytes.size() < size; next = Digest::Of(next.bytes())) {
    bytes.append(next.bytes().data(), next.bytes().size());
  }
  bytes.resize(size);
  return bytes;
}

std::vector<fs::path> FilesWith(const std::string& dir, const std::string& extension) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(dir)) {
    if (entry.path().extension() == extension && entry.file_size() > 0) files.push_back(entry.path());
  }
  return files;
}

void FlipBit(const fs::path& file, uint64_t offset) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(offset);
  const char byte = static_cast<char>(stream.get());
  stream.seekp(offset);
  stream.put(static_cast<char>(byte ^ 0x10));
  ASSERT_TRUE(stream.good());
}

TEST(RocksdbStore, EntriesSurviveReopening) {
  const TempDir dir;
  const std::string large = Noise(200000);
  ASSERT_EQ(OpenStore(dir.path())->Put(Digest::Of("small"), Blob("value")), absl::OkStatus());
  ASSERT_EQ(OpenStore(dir.path())->Put(Digest::Of("large"), Blob(large)), absl::OkStatus());
  auto store = OpenStore(dir.path());
  EXPECT_EQ(store->Get(Digest::Of("small"))->bytes(), "value");
  EXPECT_EQ(store->Get(Digest::Of("large"))->bytes(), large);
}

TEST(RocksdbStore, RemovalSurvivesReopening) {
  const TempDir dir;
  ASSERT_EQ(OpenStore(dir.path())->Put(Digest::Of("key"), Blob("value")), absl::OkStatus());
  ASSERT_EQ(OpenStore(dir.path())->Remove(Digest::Of("key")), absl::OkStatus());
  EXPECT_TRUE(absl::IsNotFound(OpenStore(dir.path())->Get(Digest::Of("key")).status()));
}

TEST(RocksdbStore, KeyspacesAreApartAndShareADatabase) {
  const TempDir dir;
  const Digest key = Digest::Of("key");
  auto stores = RocksdbStore::Open(dir.path(), {"a", "b"}, {});
  ASSERT_EQ(stores.status(), absl::OkStatus());
  ASSERT_EQ((*stores)[0]->Put(key, Blob("in a")), absl::OkStatus());
  EXPECT_TRUE(absl::IsNotFound((*stores)[1]->Get(key).status()));
  ASSERT_EQ((*stores)[1]->Put(key, Blob("in b")), absl::OkStatus());
  (*stores)[0].reset();
  EXPECT_EQ((*stores)[1]->Get(key)->bytes(), "in b");
}

TEST(RocksdbStore, UnnamedKeyspaceIsKept) {
  const TempDir dir;
  const Digest key = Digest::Of("key");
  ASSERT_EQ((*RocksdbStore::Open(dir.path(), {"a", "b"}, {}))[1]->Put(key, Blob("in b")), absl::OkStatus());
  ASSERT_EQ(RocksdbStore::Open(dir.path(), {"a"}, {}).status(), absl::OkStatus());
  EXPECT_EQ((*RocksdbStore::Open(dir.path(), {"b"}, {}))[0]->Get(key)->bytes(), "in b");
}

TEST(RocksdbStore, MakesItsFolderAndParents) {
  const TempDir dir;
  EXPECT_EQ(RocksdbStore::Open(dir.path() + "/some/where", {"a"}, {}).status(), absl::OkStatus());
}

TEST(RocksdbStore, FolderThatCannotBeMadeIsNamed) {
  const TempDir dir;
  std::ofstream(dir.path() + "/file") << "in the way";
  const absl::Status status = RocksdbStore::Open(dir.path() + "/file/db", {"a"}, {}).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), StartsWith("rocksdb at " + dir.path() + "/file/db: "));
}

TEST(RocksdbStore, SecondOpenInOneProcessSaysSo) {
  const TempDir dir;
  const auto first = OpenStore(dir.path());
  const absl::Status status = RocksdbStore::Open(dir.path(), {"test"}, {}).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(status.message(), "rocksdb at " + dir.path() + ": lock held by this process");
}

// Locks a database's folder as RocksDB does, in a process of its own: the lock is one between processes. The child
// makes only system calls, as a fork of a process with threads must, and ends with this object.
class LockingProcess final {
 public:
  explicit LockingProcess(const std::string& dir) {
    const std::string file = dir + "/LOCK";
    EXPECT_EQ(pipe(answer_), 0);
    EXPECT_EQ(pipe(hold_), 0);
    pid_ = fork();
    if (pid_ == 0) Hold(file.c_str());
    close(answer_[1]);
    close(hold_[0]);
    EXPECT_EQ(read(answer_[0], &locked_, 1), 1);
  }
  ~LockingProcess() {
    close(hold_[1]);
    close(answer_[0]);
    waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }
  // False when someone else has the lock.
  bool locked() const { return locked_ == 'y'; }

 private:
  [[noreturn]] void Hold(const char* file) {
    close(hold_[1]);
    const int fd = ::open(file, O_RDWR);
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    const char locked = fd >= 0 && fcntl(fd, F_SETLK, &lock) == 0 ? 'y' : 'n';
    if (write(answer_[1], &locked, 1) != 1) _exit(1);
    char end;
    _exit(read(hold_[0], &end, 1) == 0 ? 0 : 1);
  }

  int answer_[2];
  int hold_[2];
  pid_t pid_;
  char locked_ = '?';
};

TEST(RocksdbStore, FolderOpenInAnotherProcessNamesThatProcess) {
  const TempDir dir;
  OpenStore(dir.path());  // Makes the database and closes it.
  const LockingProcess holder(dir.path());
  ASSERT_TRUE(holder.locked());
  const absl::Status status = RocksdbStore::Open(dir.path(), {"test"}, {}).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(status.message(), "rocksdb at " + dir.path() + ": lock held by pid " + std::to_string(holder.pid()));
}

TEST(RocksdbStore, FailedSecondOpenLeavesTheLockInPlace) {
  const TempDir dir;
  const auto first = OpenStore(dir.path());
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(RocksdbStore::Open(dir.path(), {"test"}, {}).ok());
  EXPECT_FALSE(LockingProcess(dir.path()).locked());
}

// Opening flushes what the log holds, so after a second open the entry is in a table or blob file.
void PutAndFlush(const std::string& dir, const Digest& key, const std::string& value) {
  ASSERT_EQ(OpenStore(dir)->Put(key, Blob(value)), absl::OkStatus());
  OpenStore(dir);
}

void ExpectDamagedThenReplaceable(const std::string& dir, const Digest& key) {
  auto store = OpenStore(dir);
  const absl::Status status = store->Get(key).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("rocksdb at " + dir));
  EXPECT_THAT(*store->FindMissing({key}), testing::ElementsAre(key));
  ASSERT_EQ(store->Remove(key), absl::OkStatus());
  EXPECT_TRUE(absl::IsNotFound(store->Get(key).status()));
  ASSERT_EQ(store->Put(key, Blob("anew")), absl::OkStatus());
  EXPECT_EQ(store->Get(key)->bytes(), "anew");
}

TEST(RocksdbStore, FlippedBitInABlobFileIsDataLoss) {
  const TempDir dir;
  const Digest key = Digest::Of("key");
  PutAndFlush(dir.path(), key, Noise(100000));
  const std::vector<fs::path> files = FilesWith(dir.path(), ".blob");
  ASSERT_EQ(files.size(), 1u);
  FlipBit(files[0], 50000);
  ExpectDamagedThenReplaceable(dir.path(), key);
}

TEST(RocksdbStore, FlippedBitInATableIsDataLoss) {
  const TempDir dir;
  const Digest key = Digest::Of("key");
  PutAndFlush(dir.path(), key, Noise(20000));
  const std::vector<fs::path> files = FilesWith(dir.path(), ".sst");
  ASSERT_EQ(files.size(), 1u);
  FlipBit(files[0], 10000);
  ExpectDamagedThenReplaceable(dir.path(), key);
}

TEST(RocksdbStore, ADatabaseThatDoesNotOpenKeepsItsSoundEntries) {
  const TempDir dir;
  const std::string path = dir.path() + "/db";
  PutAndFlush(path, Digest::Of("key"), "value");
  std::ofstream(path + "/CURRENT", std::ios::trunc) << "nonsense";
  RocksdbOptions options;
  std::string said;
  options.log = [&](const std::string& text) { said += text; };
  auto store = OpenStore(path, options);
  const absl::StatusOr<Blob> value = store->Get(Digest::Of("key"));
  ASSERT_TRUE(value.ok()) << value.status() << said;
  EXPECT_EQ(value->bytes(), "value");
  EXPECT_THAT(said, HasSubstr("rocksdb at " + path + " was damaged"));
  EXPECT_THAT(said, HasSubstr("1 records kept"));
}

TEST(RocksdbStore, AnUnreadableDatabaseStartsEmpty) {
  const TempDir dir;
  const std::string path = dir.path() + "/db";
  PutAndFlush(path, Digest::Of("key"), "value");
  for (const char* part : {".sst", "MANIFEST", "CURRENT", ".log"}) {
    for (const fs::path& file : FilesWith(path, part)) std::ofstream(file, std::ios::trunc) << "nonsense";
  }
  auto store = OpenStore(path);
  EXPECT_TRUE(absl::IsNotFound(store->Get(Digest::Of("key")).status()));
  ASSERT_EQ(store->Put(Digest::Of("key"), Blob("anew")), absl::OkStatus());
}

TEST(RocksdbStore, DamageThatACompactionMeetsIsMendedWhileItIsUsed) {
  const TempDir dir;
  const std::string path = dir.path() + "/db";
  const auto key = [](int i) { return Digest::Of(std::to_string(i)); };
  for (int i = 0; i < 20; ++i)
    ASSERT_EQ(OpenStore(path)->Put(key(i), Blob(Noise(i % 2 == 0 ? 6000 : 50000))), absl::OkStatus());
  OpenStore(path);
  // In the first block of values of the largest table.
  std::vector<fs::path> tables = FilesWith(path, ".sst");
  std::sort(tables.begin(), tables.end(),
            [](const fs::path& a, const fs::path& b) { return fs::file_size(a) < fs::file_size(b); });
  FlipBit(tables.back(), 3000);
  // Opening makes a table of each entry, and four tables are compacted.
  RocksdbOptions options;
  options.log = [](const std::string& text) { std::clog << text << "\n"; };
  for (int i = 20; i < 40; ++i) {
    auto store = OpenStore(path, options);
    store->Put(key(i), Blob(Noise(6000))).IgnoreError();
  }
  auto store = OpenStore(path, options);
  const absl::Time give_up = absl::Now() + absl::Seconds(20);
  while (!store->Put(Digest::Of("last"), Blob("value")).ok()) ASSERT_LT(absl::Now(), give_up);
  int kept = 0;
  for (int i = 0; i < 20; ++i) {
    const absl::StatusOr<Blob> value = store->Get(key(i));
    if (!value.ok()) continue;
    EXPECT_EQ(value->bytes(), Noise(i % 2 == 0 ? 6000 : 50000));
    ++kept;
  }
  EXPECT_GE(kept, 12);
  EXPECT_LT(kept, 20);
}

// A process killed in the middle of a Put leaves the files as they are, with a log that ends in half a record.
TEST(RocksdbStore, InterruptedWriteLeavesTheEarlierEntriesAndNoHalfOne) {
  const TempDir live, copy;
  const std::string value = Noise(50000);
  {
    auto store = OpenStore(live.path());
    ASSERT_EQ(store->Put(Digest::Of("done"), Blob(value)), absl::OkStatus());
    ASSERT_EQ(store->Put(Digest::Of("interrupted"), Blob(value)), absl::OkStatus());
    fs::copy(live.path(), copy.path(), fs::copy_options::recursive);
  }
  const std::vector<fs::path> logs = FilesWith(copy.path(), ".log");
  ASSERT_EQ(logs.size(), 1u);
  ASSERT_GT(fs::file_size(logs[0]), 2 * value.size());
  fs::resize_file(logs[0], fs::file_size(logs[0]) - value.size() / 2);
  auto store = OpenStore(copy.path());
  EXPECT_EQ(store->Get(Digest::Of("done"))->bytes(), value);
  EXPECT_TRUE(absl::IsNotFound(store->Get(Digest::Of("interrupted")).status()));
  ASSERT_EQ(store->Put(Digest::Of("interrupted"), Blob(value)), absl::OkStatus());
  EXPECT_EQ(store->Get(Digest::Of("interrupted"))->bytes(), value);
}

// A file system that can run out of space.
class FillableEnv final : public rocksdb::EnvWrapper {
 public:
  FillableEnv() : EnvWrapper(rocksdb::Env::Default()) {}

  const char* Name() const override { return "FillableEnv"; }

  rocksdb::Status NewWritableFile(const std::string& name, std::unique_ptr<rocksdb::WritableFile>* result,
                                  const rocksdb::EnvOptions& options) override {
    const rocksdb::Status status = EnvWrapper::NewWritableFile(name, result, options);
    if (status.ok()) *result = std::make_unique<File>(std::move(*result), full_);
    return status;
  }

  void Fill() { full_ = true; }

 private:
  class File final : public rocksdb::WritableFileWrapper {
   public:
    File(std::unique_ptr<rocksdb::WritableFile> file, const std::atomic<bool>& full)
        : WritableFileWrapper(file.get()), file_(std::move(file)), full_(full) {}

    rocksdb::Status Append(const rocksdb::Slice& data) override {
      return full_ ? rocksdb::Status::NoSpace("the disk is full") : file_->Append(data);
    }
    rocksdb::Status Append(const rocksdb::Slice& data, const rocksdb::DataVerificationInfo&) override {
      return Append(data);
    }

   private:
    const std::unique_ptr<rocksdb::WritableFile> file_;
    const std::atomic<bool>& full_;
  };

  std::atomic<bool> full_{false};
};

TEST(RocksdbStore, FullDiskIsResourceExhaustedAndReadingGoesOn) {
  const TempDir dir;
  FillableEnv env;
  RocksdbOptions options;
  options.env = &env;
  auto store = OpenStore(dir.path(), options);
  ASSERT_EQ(store->Put(Digest::Of("before"), Blob("value")), absl::OkStatus());
  env.Fill();
  const absl::Status status = store->Put(Digest::Of("after"), Blob(Noise(5000000)));
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(store->Get(Digest::Of("before"))->bytes(), "value");
}

TEST(RocksdbStore, StatsGrowWithEntries) {
  const TempDir dir;
  auto store = OpenStore(dir.path());
  const StoreStats before = store->Stats();
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(store->Put(Digest::Of(std::to_string(i)), Blob(Noise(1000))), absl::OkStatus());
  }
  EXPECT_EQ(before.entries, 0);
  EXPECT_EQ(store->Stats().entries, 100);
  EXPECT_GT(store->Stats().size_bytes, before.size_bytes + 50000);
}

TEST(RocksdbStore, RepetitiveValuesAreCompressedOnDisk) {
  const TempDir dir;
  std::string text;  // Like assembly; long enough for a file of its own.
  while (text.size() < 1'000'000) text += "  add.s32 %r1, %r2, %r3;\n";
  ASSERT_EQ(OpenStore(dir.path())->Put(Digest::Of("asm"), Blob(text)), absl::OkStatus());
  EXPECT_EQ(OpenStore(dir.path())->Get(Digest::Of("asm"))->bytes(), text);  // Opening moved it out of the log.
  uint64_t bytes = 0;
  for (const char* extension : {".sst", ".blob", ".log"})
    for (const fs::path& file : FilesWith(dir.path(), extension)) bytes += fs::file_size(file);
  EXPECT_LT(bytes, text.size() / 10);
  bool zstd = false;
  for (const auto& entry : fs::directory_iterator(dir.path())) {
    if (entry.path().filename().string().rfind("OPTIONS", 0) != 0) continue;
    std::ifstream file(entry.path());
    const std::string options{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    zstd = zstd || options.find("blob_compression_type=kZSTD") != std::string::npos;
  }
  EXPECT_TRUE(zstd);
}

}  // namespace
}  // namespace tritond::cache
