// SPDX-License-Identifier: Apache-2.0
#include "cache/store/rocksdb_journal.h"

#include <rocksdb/db.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cache/store/rocksdb_errors.h"

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

}  // namespace

RocksdbJournal::RocksdbJournal(std::string context, std::unique_ptr<rocksdb::DB> db)
    : context_(std::move(context)), db_(std::move(db)) {}

RocksdbJournal::~RocksdbJournal() { db_->Close().PermitUncheckedError(); }

absl::StatusOr<std::unique_ptr<RocksdbJournal>> RocksdbJournal::Open(const std::string& dir, rocksdb::Env* env) {
  const std::string context = absl::StrCat("journal at ", dir);
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return absl::UnavailableError(absl::StrCat(context, ": make the folder: ", error.message()));
  rocksdb::Options options;
  if (env != nullptr) options.env = env;
  options.create_if_missing = true;
  options.write_buffer_size = kWriteBufferBytes;
  options.compression = rocksdb::kNoCompression;
  options.keep_log_file_num = 4;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status opened = rocksdb::DB::Open(options, dir, &db);
  if (!opened.ok()) {
    const absl::Status status = RocksdbOpenError(dir, opened);
    return absl::Status(status.code(), absl::StrCat(context, ": ", status.message()));
  }
  return std::unique_ptr<RocksdbJournal>(new RocksdbJournal(context, std::unique_ptr<rocksdb::DB>(db)));
}

absl::Status RocksdbJournal::Put(absl::string_view name, absl::string_view value) {
  const rocksdb::Status status = db_->Put(Durable(), ToSlice(name), ToSlice(value));
  return status.ok() ? absl::OkStatus() : FromRocksdb(status, absl::StrCat(context_, ": put"));
}

absl::Status RocksdbJournal::Remove(absl::string_view name) {
  const rocksdb::Status status = db_->Delete(Durable(), ToSlice(name));
  return status.ok() ? absl::OkStatus() : FromRocksdb(status, absl::StrCat(context_, ": remove"));
}

absl::Status RocksdbJournal::Visit(absl::string_view prefix, const Visitor& visitor) {
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
  for (it->Seek(ToSlice(prefix)); it->Valid() && it->key().starts_with(ToSlice(prefix)); it->Next()) {
    visitor(ToView(it->key()), ToView(it->value()));
  }
  return it->status().ok() ? absl::OkStatus() : FromRocksdb(it->status(), absl::StrCat(context_, ": visit"));
}

}  // namespace tritond::cache
