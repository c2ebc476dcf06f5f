// SPDX-License-Identifier: Apache-2.0
#include "cache/store/rocksdb_journal.h"

#include <rocksdb/db.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "cache/store/rocksdb_database.h"
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

rocksdb::Status ReadAll(RocksdbDatabase& database) {
  return database.With(0, [](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
    const std::unique_ptr<rocksdb::Iterator> it(db.NewIterator(rocksdb::ReadOptions(), family));
    for (it->SeekToFirst(); it->Valid();) it->Next();
    return it->status();
  });
}

}  // namespace

RocksdbJournal::RocksdbJournal(std::string context, std::unique_ptr<RocksdbDatabase> db)
    : context_(std::move(context)), db_(std::move(db)) {}

RocksdbJournal::~RocksdbJournal() = default;

absl::StatusOr<std::unique_ptr<RocksdbJournal>> RocksdbJournal::Open(const std::string& dir, rocksdb::Env* env,
                                                                     const Log& log, int open_files) {
  const std::string context = absl::StrCat("journal at ", dir);
  rocksdb::Options options;
  if (env != nullptr) options.env = env;
  options.create_if_missing = true;
  options.max_open_files = open_files;
  options.write_buffer_size = kWriteBufferBytes;
  options.compression = rocksdb::kNoCompression;
  for (const bool salvaged : {false, true}) {
    absl::StatusOr<std::unique_ptr<RocksdbDatabase>> db =
        RocksdbDatabase::Open(dir, options, {rocksdb::kDefaultColumnFamilyName}, log);
    if (!db.ok()) return absl::Status(db.status().code(), absl::StrCat(context, ": ", db.status().message()));
    // Everything is read once: a journal is small, and damage is better met now than by a compaction later.
    const rocksdb::Status sound = ReadAll(**db);
    // What cannot be mended for want of space is looked at again when there is some.
    if (sound.ok() || !(*db)->Trouble().empty())
      return std::unique_ptr<RocksdbJournal>(new RocksdbJournal(context, *std::move(db)));
    if (salvaged || !MeansDamage(sound)) return FromRocksdb(sound, context);
    db->reset();
    absl::StatusOr<Salvage> salvage = SalvageRocksdb(options, dir, {});
    if (!salvage.ok()) return salvage.status();
    if (log) log(absl::StrCat(context, " was damaged (", sound.ToString(), "): ", salvage->ToString()));
  }
  return absl::InternalError("a loop that returns came to its end");
}

absl::Status RocksdbJournal::Put(absl::string_view name, absl::string_view value) {
  const rocksdb::Status status = db_->With(0, [&](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
    return db.Put(Durable(), family, ToSlice(name), ToSlice(value));
  });
  return status.ok() ? absl::OkStatus() : FromRocksdb(status, absl::StrCat(context_, ": put"));
}

absl::Status RocksdbJournal::Remove(absl::string_view name) {
  const rocksdb::Status status = db_->With(0, [&](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
    return db.Delete(Durable(), family, ToSlice(name));
  });
  return status.ok() ? absl::OkStatus() : FromRocksdb(status, absl::StrCat(context_, ": remove"));
}

absl::StatusOr<std::string> RocksdbJournal::Get(absl::string_view name) {
  std::string value;
  const rocksdb::Status status = db_->With(0, [&](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
    rocksdb::ReadOptions options;
    options.fill_cache = false;  // Each record is read once.
    return db.Get(options, family, ToSlice(name), &value);
  });
  if (status.IsNotFound()) return absl::NotFoundError(absl::StrCat(context_, ": no record ", name));
  if (!status.ok()) return FromRocksdb(status, absl::StrCat(context_, ": get"));
  return value;
}

std::string RocksdbJournal::Trouble() const { return db_->Trouble(); }

absl::Status RocksdbJournal::Visit(absl::string_view prefix, const Visitor& visitor) {
  const rocksdb::Status status = db_->With(0, [&](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
    const std::unique_ptr<rocksdb::Iterator> it(db.NewIterator(rocksdb::ReadOptions(), family));
    for (it->Seek(ToSlice(prefix)); it->Valid() && it->key().starts_with(ToSlice(prefix)); it->Next()) {
      visitor(ToView(it->key()), ToView(it->value()));
    }
    return it->status();
  });
  if (MeansFullDisk(status)) return absl::OkStatus();  // There was no room to make one.
  return status.ok() ? absl::OkStatus() : FromRocksdb(status, absl::StrCat(context_, ": visit"));
}

}  // namespace tritond::cache
