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
#include <rocksdb/table.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cache/store/rocksdb_errors.h"

namespace tritond::cache {
namespace {

constexpr uint64_t kMinBlobBytes = uint64_t{32} << 10;
constexpr uint64_t kWriteBufferBytes = uint64_t{32} << 20;
constexpr uint64_t kBlockCacheBytes = uint64_t{32} << 20;

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

class RocksdbStore::Database final {
 public:
  Database(std::string context, std::unique_ptr<rocksdb::DB> db, std::vector<rocksdb::ColumnFamilyHandle*> keyspaces,
           bool sync_writes)
      : context(std::move(context)), db(std::move(db)), keyspaces(std::move(keyspaces)) {
    write_options.sync = sync_writes;
  }
  ~Database() {
    for (rocksdb::ColumnFamilyHandle* keyspace : keyspaces) db->DestroyColumnFamilyHandle(keyspace);
    db->Close().PermitUncheckedError();  // Unflushed entries are in the log; nothing is left to save.
  }

  const std::string context;  // "rocksdb at DIR"
  const std::unique_ptr<rocksdb::DB> db;
  const std::vector<rocksdb::ColumnFamilyHandle*> keyspaces;  // Those asked for, in order, then the others.
  const rocksdb::ReadOptions read_options;
  rocksdb::WriteOptions write_options;
};

absl::StatusOr<std::vector<std::unique_ptr<RocksdbStore>>> RocksdbStore::Open(const std::string& dir,
                                                                              absl::Span<const std::string> keyspaces,
                                                                              const RocksdbOptions& options) {
  const std::string context = absl::StrCat("rocksdb at ", dir);
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return absl::UnavailableError(absl::StrCat(context, ": make the folder: ", error.message()));

  // RocksDB insists on opening every column family there is. Listing fails on a new folder, which then has none.
  const rocksdb::Options db_options = DatabaseOptions(options);
  std::vector<std::string> names(keyspaces.begin(), keyspaces.end());
  std::vector<std::string> existing;
  rocksdb::DB::ListColumnFamilies(db_options, dir, &existing).PermitUncheckedError();
  existing.push_back(rocksdb::kDefaultColumnFamilyName);
  for (const std::string& name : existing) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }

  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, db_options);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status opened = rocksdb::DB::Open(db_options, dir, families, &handles, &db);
  if (!opened.ok()) return RocksdbOpenError(dir, opened);

  auto database =
      std::make_shared<Database>(context, std::unique_ptr<rocksdb::DB>(db), std::move(handles), options.sync_writes);
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
  const rocksdb::Status status =
      database_->db->Get(database_->read_options, database_->keyspaces[keyspace_], KeySlice(key), &value);
  if (status.IsNotFound()) return absl::NotFoundError("not on disk");
  if (!status.ok()) return FromRocksdb(status, absl::StrCat(database_->context, ": get ", key.ToHex()));
  return Blob(std::move(value));
}

absl::Status RocksdbStore::Put(const Digest& key, Blob value) {
  const rocksdb::Status status = database_->db->Put(database_->write_options, database_->keyspaces[keyspace_],
                                                    KeySlice(key), rocksdb::Slice(value.data(), value.size()));
  if (status.ok()) return absl::OkStatus();
  return FromRocksdb(status, absl::StrCat(database_->context, ": put ", key.ToHex()));
}

absl::StatusOr<std::vector<Digest>> RocksdbStore::FindMissing(absl::Span<const Digest> keys) {
  std::vector<Digest> missing;
  for (const Digest& key : keys) {
    rocksdb::PinnableSlice value;
    const rocksdb::Status status =
        database_->db->Get(database_->read_options, database_->keyspaces[keyspace_], KeySlice(key), &value);
    if (status.IsNotFound() || status.IsCorruption()) {
      missing.push_back(key);
    } else if (!status.ok()) {
      return FromRocksdb(status, absl::StrCat(database_->context, ": find ", key.ToHex()));
    }
  }
  return missing;
}

absl::Status RocksdbStore::Remove(const Digest& key) {
  const rocksdb::Status status =
      database_->db->Delete(database_->write_options, database_->keyspaces[keyspace_], KeySlice(key));
  if (status.ok()) return absl::OkStatus();
  return FromRocksdb(status, absl::StrCat(database_->context, ": remove ", key.ToHex()));
}

absl::StatusOr<std::vector<Digest>> RocksdbStore::List() {
  std::vector<Digest> keys;
  rocksdb::ReadOptions options = database_->read_options;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> it(database_->db->NewIterator(options, database_->keyspaces[keyspace_]));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const rocksdb::Slice key = it->key();
    absl::StatusOr<Digest> digest = Digest::FromBytes(absl::string_view(key.data(), key.size()));
    if (digest.ok()) keys.push_back(*digest);
  }
  if (!it->status().ok()) return FromRocksdb(it->status(), absl::StrCat(database_->context, ": list"));
  return keys;
}

StoreStats RocksdbStore::Stats() const {
  const auto property = [this](const std::string& name) {
    uint64_t value = 0;
    database_->db->GetIntProperty(database_->keyspaces[keyspace_], name, &value);
    return static_cast<int64_t>(value);
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
