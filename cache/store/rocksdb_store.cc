// SPDX-License-Identifier: Apache-2.0
//
// Each keyspace is a column family: its own files and its own estimates, one write-ahead log. The choices below are
// for values that are written once, read rarely (the memory tier answers the rest) and incompressible to copy around:
//
//   * values of kMinBlobBytes and more go to blob files, smaller ones stay in the tables, where reading is faster:
//     blob files are checked with a CRC-32C that portable builds of RocksDB compute in software;
//   * tables are checked with XXH3;
//   * a blob cache that is small beside the memory tier, which holds whole values already: it spares what that tier has
//     let go a second check of its file;
//   * no row or large block cache.
#include "cache/store/rocksdb_store.h"

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cache/store/rocksdb_database.h"
#include "cache/store/rocksdb_errors.h"

namespace tritond::cache {
namespace {

constexpr uint64_t kMinBlobBytes = uint64_t{32} << 10;
constexpr uint64_t kWriteBufferBytes = uint64_t{32} << 20;
constexpr uint64_t kBlockCacheBytes = uint64_t{32} << 20;
constexpr uint64_t kBlobCacheBytes = uint64_t{64} << 20;

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
  result.max_open_files = options.open_files;
  result.create_missing_column_families = true;
  result.write_buffer_size = kWriteBufferBytes;
  result.compression = BestCompression();
  result.enable_blob_files = true;
  result.min_blob_size = kMinBlobBytes;
  result.blob_cache = rocksdb::NewLRUCache(kBlobCacheBytes);
  result.blob_compression_type = result.compression;
  result.enable_blob_garbage_collection = true;
  result.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return result;
}

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<RocksdbStore>>> RocksdbStore::Open(const std::string& dir,
                                                                              absl::Span<const std::string> keyspaces,
                                                                              const RocksdbOptions& options) {
  auto database =
      RocksdbDatabase::Open(dir, DatabaseOptions(options), {keyspaces.begin(), keyspaces.end()}, options.log);
  if (!database.ok()) return database.status();
  const std::shared_ptr<RocksdbDatabase> shared = *std::move(database);
  std::vector<std::unique_ptr<RocksdbStore>> stores;
  for (size_t i = 0; i < keyspaces.size(); ++i) {
    stores.push_back(std::unique_ptr<RocksdbStore>(new RocksdbStore(shared, options.sync_writes, static_cast<int>(i))));
  }
  return stores;
}

RocksdbStore::RocksdbStore(std::shared_ptr<RocksdbDatabase> database, bool sync_writes, int keyspace)
    : database_(std::move(database)), sync_writes_(sync_writes), keyspace_(keyspace) {}

RocksdbStore::~RocksdbStore() = default;

absl::StatusOr<Blob> RocksdbStore::Get(const Digest& key) {
  std::string value;
  const rocksdb::Status status = database_->With(keyspace_, [&](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
    return db.Get(rocksdb::ReadOptions(), family, KeySlice(key), &value);
  });
  if (status.IsNotFound() || MeansFullDisk(status)) return absl::NotFoundError("not on disk");
  if (!status.ok()) return FromRocksdb(status, absl::StrCat(database_->context(), ": get ", key.ToHex()));
  return Blob(std::move(value));
}

absl::Status RocksdbStore::Put(const Digest& key, Blob value) {
  rocksdb::WriteOptions write_options;
  write_options.sync = sync_writes_;
  const rocksdb::Status status = database_->With(keyspace_, [&](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
    return db.Put(write_options, family, KeySlice(key), rocksdb::Slice(value.data(), value.size()));
  });
  if (status.ok()) return absl::OkStatus();
  return FromRocksdb(status, absl::StrCat(database_->context(), ": put ", key.ToHex()));
}

absl::StatusOr<std::vector<Digest>> RocksdbStore::FindMissing(absl::Span<const Digest> keys) {
  std::vector<Digest> missing;
  for (const Digest& key : keys) {
    const rocksdb::Status status =
        database_->With(keyspace_, [&](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
          rocksdb::PinnableSlice value;
          return db.Get(rocksdb::ReadOptions(), family, KeySlice(key), &value);
        });
    if (status.IsNotFound() || status.IsCorruption() || MeansFullDisk(status)) {
      missing.push_back(key);
    } else if (!status.ok()) {
      return FromRocksdb(status, absl::StrCat(database_->context(), ": find ", key.ToHex()));
    }
  }
  return missing;
}

absl::Status RocksdbStore::Remove(const Digest& key) {
  rocksdb::WriteOptions write_options;
  write_options.sync = sync_writes_;
  const rocksdb::Status status = database_->With(keyspace_, [&](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
    return db.Delete(write_options, family, KeySlice(key));
  });
  if (status.ok()) return absl::OkStatus();
  return FromRocksdb(status, absl::StrCat(database_->context(), ": remove ", key.ToHex()));
}

absl::StatusOr<std::vector<Digest>> RocksdbStore::List() {
  std::vector<Digest> keys;
  rocksdb::ReadOptions options;
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
  if (!status.ok() && !MeansFullDisk(status)) return FromRocksdb(status, absl::StrCat(database_->context(), ": list"));
  return keys;
}

std::string RocksdbStore::Trouble() const { return database_->Trouble(); }

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
