// SPDX-License-Identifier: Apache-2.0
#include "cache/store/rocksdb_journal.h"

#include <rocksdb/db.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cache/store/rocksdb_errors.h"
#include "cache/store/rocksdb_salvage.h"

namespace tritond::cache {
namespace {

constexpr uint64_t kWriteBufferBytes = uint64_t{8} << 20;

rocksdb::Slice ToSlice(absl::string_view bytes) { return {bytes.data(), bytes.size()}; }
absl::string_view ToView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

rocksdb::WriteOptions Durable() {
  rocksdb::WriteOptions options;
  options.sync = true;
  return options;
}

// Opens and reads everything once: a journal is small, and damage is better met now than by a compaction later.
rocksdb::Status OpenSound(const rocksdb::Options& options, const std::string& dir, std::unique_ptr<OpenRocksdb>* db) {
  const rocksdb::Status opened = OpenRocksdb::Open(options, dir, {}, db);
  if (!opened.ok()) return opened;
  const std::unique_ptr<rocksdb::Iterator> it((*db)->db().NewIterator(rocksdb::ReadOptions()));
  for (it->SeekToFirst(); it->Valid();) it->Next();
  return it->status();
}

}  // namespace

RocksdbJournal::RocksdbJournal(std::string context, std::unique_ptr<OpenRocksdb> db)
    : context_(std::move(context)), db_(std::move(db)) {}

RocksdbJournal::~RocksdbJournal() = default;

absl::StatusOr<std::unique_ptr<RocksdbJournal>> RocksdbJournal::Open(const std::string& dir, rocksdb::Env* env,
                                                                     const Log& log) {
  const std::string context = absl::StrCat("journal at ", dir);
  std::error_code error;
  FinishReplacement(dir);
  std::filesystem::create_directories(dir, error);
  if (error) return absl::UnavailableError(absl::StrCat(context, ": make the folder: ", error.message()));
  rocksdb::Options options;
  if (env != nullptr) options.env = env;
  options.create_if_missing = true;
  options.write_buffer_size = kWriteBufferBytes;
  options.compression = rocksdb::kNoCompression;
  options.keep_log_file_num = 4;
  std::unique_ptr<OpenRocksdb> db;
  rocksdb::Status opened = OpenSound(options, dir, &db);
  if (MeansDamage(opened)) {
    db.reset();
    absl::StatusOr<Salvage> salvage = SalvageRocksdb(options, dir, {});
    if (!salvage.ok()) return salvage.status();
    if (log) log(absl::StrCat(context, " was damaged (", opened.ToString(), "): ", salvage->ToString()));
    opened = OpenSound(options, dir, &db);
  }
  if (!opened.ok()) {
    const absl::Status status = RocksdbOpenError(dir, opened);
    return absl::Status(status.code(), absl::StrCat(context, ": ", status.message()));
  }
  RemoveLeftovers(dir);
  return std::unique_ptr<RocksdbJournal>(new RocksdbJournal(context, std::move(db)));
}

absl::Status RocksdbJournal::Put(absl::string_view name, absl::string_view value) {
  const rocksdb::Status status = db_->db().Put(Durable(), ToSlice(name), ToSlice(value));
  return status.ok() ? absl::OkStatus() : FromRocksdb(status, absl::StrCat(context_, ": put"));
}

absl::Status RocksdbJournal::Remove(absl::string_view name) {
  const rocksdb::Status status = db_->db().Delete(Durable(), ToSlice(name));
  return status.ok() ? absl::OkStatus() : FromRocksdb(status, absl::StrCat(context_, ": remove"));
}

absl::Status RocksdbJournal::Visit(absl::string_view prefix, const Visitor& visitor) {
  const std::unique_ptr<rocksdb::Iterator> it(db_->db().NewIterator(rocksdb::ReadOptions()));
  for (it->Seek(ToSlice(prefix)); it->Valid() && it->key().starts_with(ToSlice(prefix)); it->Next()) {
    visitor(ToView(it->key()), ToView(it->value()));
  }
  return it->status().ok() ? absl::OkStatus() : FromRocksdb(it->status(), absl::StrCat(context_, ": visit"));
}

}  // namespace tritond::cache
