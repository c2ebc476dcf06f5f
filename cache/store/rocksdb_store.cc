// SPDX-License-Identifier: Apache-2.0
//
// Each keyspace is a column family: its own files and its own estimates, one write-ahead log. The choices below are
// for values that are written once, read rarely (the memory tier answers the rest) and incompressible to copy around:
//
//   * values of kMinBlobBytes and more go to blob files, smaller ones stay in the tables, where reading is faster:
//     blob files are checked with a CRC-32C that portable builds of RocksDB compute in software;
//   * tables are checked with XXH3;
//   * no row, blob or large block cache: the memory tier above holds whole values already.
#include "cache/store/rocksdb_store.h"

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "cache/store/rocksdb_errors.h"
#include "cache/store/rocksdb_salvage.h"

namespace tritond::cache {
namespace {

constexpr uint64_t kMinBlobBytes = uint64_t{32} << 10;
constexpr uint64_t kWriteBufferBytes = uint64_t{32} << 20;
constexpr uint64_t kBlockCacheBytes = uint64_t{32} << 20;
constexpr absl::Duration kOpenAgain = absl::Seconds(10);

rocksdb::Slice KeySlice(const Digest& key) { return {key.bytes().data(), key.bytes().size()}; }

rocksdb::CompressionType BestCompression() {
  const auto supported = rocksdb::GetSupportedCompressions();
  const bool zstd = std::find(supported.begin(), supported.end(), rocksdb::kZSTD) != supported.end();
  return zstd ? rocksdb::kZSTD : rocksdb::kNoCompression;
}

rocksdb::Options DatabaseOptions(const RocksdbOptions& options) {
  rocksdb::BlockBasedTableOptions table;
  table.checksum = rocksdb::kXXH3;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.block_cache = rocksdb::NewLRUCache(kBlockCacheBytes);

  rocksdb::Options result;
  if (options.env != nullptr) result.env = options.env;
  result.create_if_missing = true;
  result.create_missing_column_families = true;
  result.write_buffer_size = kWriteBufferBytes;
  result.compression = BestCompression();
  result.enable_blob_files = true;
  result.min_blob_size = kMinBlobBytes;
  result.blob_compression_type = result.compression;
  result.enable_blob_garbage_collection = true;
  result.keep_log_file_num = 4;
  result.max_log_file_size = size_t{8} << 20;
  result.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return result;
}

}  // namespace

// The open database, which replaces itself when a compaction has met damage: from then on RocksDB writes nothing any
// more. A thread of its own copies what is sound into a new one, while reads go on, and swaps the two.
class RocksdbStore::Database final {
 public:
  Database(std::string dir, const RocksdbOptions& options)
      : context(absl::StrCat("rocksdb at ", dir)), dir_(std::move(dir)), log_(options.log) {
    write_options.sync = options.sync_writes;
    options_ = DatabaseOptions(options);
    options_.listeners.push_back(std::make_shared<Listener>(*this));
  }
  ~Database() {
    {
      absl::MutexLock lock(&state_mu_);
      closing_ = true;
    }
    if (mender_.joinable()) mender_.join();
    opened_.reset();
  }

  absl::Status Open(absl::Span<const std::string> keyspaces) {
    keyspaces_.assign(keyspaces.begin(), keyspaces.end());
    absl::MutexLock lock(&mu_);
    rocksdb::Status status = OpenRocksdb::Open(options_, dir_, keyspaces_, &opened_);
    if (MeansDamage(status)) {
      absl::StatusOr<Salvage> salvage = SalvageRocksdb(options_, dir_, keyspaces_);
      if (!salvage.ok()) return salvage.status();
      Log(absl::StrCat("was damaged (", status.ToString(), "): ", salvage->ToString()));
      status = OpenRocksdb::Open(options_, dir_, keyspaces_, &opened_);
    }
    if (!status.ok()) return RocksdbOpenError(dir_, status);
    RemoveLeftovers(dir_);
    mender_ = std::thread([this] { MendLoop(); });
    return absl::OkStatus();
  }

  // Calls `use(db, family)` with the database held in place; returns what it returns.
  template <typename Use>
  auto With(int keyspace, Use use) {
    absl::ReaderMutexLock lock(&mu_);
    using Result = decltype(use(opened_->db(), opened_->family(keyspace)));
    if (opened_ != nullptr) return use(opened_->db(), opened_->family(keyspace));
    if constexpr (std::is_same_v<Result, rocksdb::Status>) {
      return rocksdb::Status::IOError("the database could not be opened again");
    } else {
      return Result();
    }
  }

  const std::string context;  // "rocksdb at DIR"
  const rocksdb::ReadOptions read_options;
  rocksdb::WriteOptions write_options;

 private:
  class Listener final : public rocksdb::EventListener {
   public:
    explicit Listener(Database& database) : database_(database) {}
    void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* error) override {
      if (!error->IsCorruption()) return;  // A full disk is RocksDB's to recover from.
      absl::MutexLock lock(&database_.state_mu_);
      database_.damage_ = error->ToString();
    }

   private:
    Database& database_;
  };

  void MendLoop() {
    const auto wanted = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_mu_) { return closing_ || !damage_.empty(); };
    absl::Duration again = absl::InfiniteDuration();
    while (true) {
      std::string damage;
      {
        absl::MutexLock lock(&state_mu_);
        state_mu_.AwaitWithTimeout(absl::Condition(&wanted), again);
        if (closing_) return;
        damage = std::move(damage_);
        damage_.clear();
      }
      again = Mend(damage) ? absl::InfiniteDuration() : kOpenAgain;
    }
  }

  // False when the database is not open afterwards.
  bool Mend(const std::string& damage) {
    const std::string by = ReplacementOf(dir_);
    {
      absl::ReaderMutexLock lock(&mu_);
      if (opened_ != nullptr) {
        // Without room for a copy an empty cache is worth more than one that keeps nothing new.
        absl::StatusOr<Salvage> salvage = CopySound(*opened_, options_, by);
        Log(absl::StrCat(
            "met damage (", damage,
            "): ", salvage.ok() ? salvage->ToString() : absl::StrCat("starts empty, ", salvage.status().ToString())));
      }
    }
    absl::MutexLock lock(&mu_);
    absl::Status replaced;
    if (opened_ != nullptr) {
      opened_.reset();
      replaced = ReplaceRocksdb(dir_, by);
    }
    const rocksdb::Status status = OpenRocksdb::Open(options_, dir_, keyspaces_, &opened_);
    if (!status.ok()) Log(absl::StrCat("cannot be opened again: ", status.ToString(), "; ", replaced.ToString()));
    return status.ok();
  }

  void Log(const std::string& text) const {
    if (log_) log_(absl::StrCat(context, " ", text));
  }

  const std::string dir_;
  const std::function<void(const std::string&)> log_;
  rocksdb::Options options_;
  std::vector<std::string> keyspaces_;
  absl::Mutex mu_;  // Held for reading while the database is used, for writing while it is replaced.
  std::unique_ptr<OpenRocksdb> opened_ ABSL_GUARDED_BY(mu_);
  absl::Mutex state_mu_;
  bool closing_ ABSL_GUARDED_BY(state_mu_) = false;
  std::string damage_ ABSL_GUARDED_BY(state_mu_);  // what is to be mended
  std::thread mender_;
};

absl::StatusOr<std::vector<std::unique_ptr<RocksdbStore>>> RocksdbStore::Open(const std::string& dir,
                                                                              absl::Span<const std::string> keyspaces,
                                                                              const RocksdbOptions& options) {
  std::error_code error;
  FinishReplacement(dir);
  std::filesystem::create_directories(dir, error);
  if (error) return absl::UnavailableError(absl::StrCat("rocksdb at ", dir, ": make the folder: ", error.message()));
  auto database = std::make_shared<Database>(dir, options);
  const absl::Status opened = database->Open(keyspaces);
  if (!opened.ok()) return opened;
  std::vector<std::unique_ptr<RocksdbStore>> stores;
  for (size_t i = 0; i < keyspaces.size(); ++i) {
    stores.push_back(std::unique_ptr<RocksdbStore>(new RocksdbStore(database, static_cast<int>(i))));
  }
  return stores;
}

RocksdbStore::RocksdbStore(std::shared_ptr<Database> database, int keyspace)
    : database_(std::move(database)), keyspace_(keyspace) {}

RocksdbStore::~RocksdbStore() = default;

absl::StatusOr<Blob> RocksdbStore::Get(const Digest& key) {
  std::string value;
  const rocksdb::Status status = database_->With(keyspace_, [&](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
    return db.Get(database_->read_options, family, KeySlice(key), &value);
  });
  if (status.IsNotFound()) return absl::NotFoundError("not on disk");
  if (!status.ok()) return FromRocksdb(status, absl::StrCat(database_->context, ": get ", key.ToHex()));
  return Blob(std::move(value));
}

absl::Status RocksdbStore::Put(const Digest& key, Blob value) {
  const rocksdb::Status status = database_->With(keyspace_, [&](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
    return db.Put(database_->write_options, family, KeySlice(key), rocksdb::Slice(value.data(), value.size()));
  });
  if (status.ok()) return absl::OkStatus();
  return FromRocksdb(status, absl::StrCat(database_->context, ": put ", key.ToHex()));
}

absl::StatusOr<std::vector<Digest>> RocksdbStore::FindMissing(absl::Span<const Digest> keys) {
  std::vector<Digest> missing;
  for (const Digest& key : keys) {
    const rocksdb::Status status =
        database_->With(keyspace_, [&](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
          rocksdb::PinnableSlice value;
          return db.Get(database_->read_options, family, KeySlice(key), &value);
        });
    if (status.IsNotFound() || status.IsCorruption()) {
      missing.push_back(key);
    } else if (!status.ok()) {
      return FromRocksdb(status, absl::StrCat(database_->context, ": find ", key.ToHex()));
    }
  }
  return missing;
}

absl::Status RocksdbStore::Remove(const Digest& key) {
  const rocksdb::Status status = database_->With(keyspace_, [&](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
    return db.Delete(database_->write_options, family, KeySlice(key));
  });
  if (status.ok()) return absl::OkStatus();
  return FromRocksdb(status, absl::StrCat(database_->context, ": remove ", key.ToHex()));
}

absl::StatusOr<std::vector<Digest>> RocksdbStore::List() {
  std::vector<Digest> keys;
  rocksdb::ReadOptions options = database_->read_options;
  options.fill_cache = false;
  const rocksdb::Status status = database_->With(keyspace_, [&](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
    const std::unique_ptr<rocksdb::Iterator> it(db.NewIterator(options, family));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      const rocksdb::Slice key = it->key();
      absl::StatusOr<Digest> digest = Digest::FromBytes(absl::string_view(key.data(), key.size()));
      if (digest.ok()) keys.push_back(*digest);
    }
    return it->status();
  });
  if (!status.ok()) return FromRocksdb(status, absl::StrCat(database_->context, ": list"));
  return keys;
}

StoreStats RocksdbStore::Stats() const {
  const auto property = [this](const std::string& name) {
    return database_->With(keyspace_, [&](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
      uint64_t value = 0;
      db.GetIntProperty(family, name, &value);
      return static_cast<int64_t>(value);
    });
  };
  StoreStats stats;
  stats.store = "rocksdb";
  stats.entries = property(rocksdb::DB::Properties::kEstimateNumKeys);
  stats.size_bytes = property(rocksdb::DB::Properties::kCurSizeAllMemTables) +
                     property(rocksdb::DB::Properties::kTotalSstFilesSize) +
                     property(rocksdb::DB::Properties::kTotalBlobFileSize);
  return stats;
}

}  // namespace tritond::cache
