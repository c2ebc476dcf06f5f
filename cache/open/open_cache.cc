// SPDX-License-Identifier: Apache-2.0
#include "cache/open/open_cache.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "cache/layer/guarded_cache.h"
#include "cache/layer/metered_cache.h"
#include "cache/layer/read_through_cache.h"
#include "cache/layer/sealed_cache.h"
#include "cache/layer/shared_cache.h"
#include "cache/layer/verified_cache.h"
#include "cache/store/cluster_leases.h"
#include "cache/store/cluster_store.h"
#include "cache/store/cluster_streams.h"
#include "cache/store/memory_store.h"
#include "cache/store/redis_cluster.h"
#include "cache/store/rocksdb_journal.h"
#include "cache/store/rocksdb_store.h"

namespace tritond::cache {
namespace {

constexpr char kResults[] = "results";
constexpr char kBlobs[] = "blobs";
constexpr char kTunings[] = "tunings";
constexpr char kClientRecords[] = "client_records";
constexpr char kClientValues[] = "client_values";
// Of tunings that are kept in memory where there is no disk.
constexpr uint64_t kTuningBytes = uint64_t{16} << 20;

// The stores there are, fastest first.
enum class StoreKind { kMemory, kRocksdb };

using StatsSource = std::function<StoreStats()>;

// One store's share in both caches.
struct Tier {
  std::unique_ptr<Cache> results;
  std::unique_ptr<Cache> blobs;
  std::unique_ptr<Cache> tunings;                        // null: not here
  std::unique_ptr<Cache> client_records, client_values;  // likewise
  StatsSource results_stats;
  StatsSource blobs_stats;
  std::function<std::string()> trouble;  // null: it has none
  Cache* unguarded_results = nullptr;    // null: they have no guard
};

// Puts a guard before the cache, where there is one.
std::unique_ptr<Cache> Guarded(std::unique_ptr<Cache> cache, RecordGuard* guard) {
  if (guard == nullptr) return cache;
  return std::make_unique<GuardedCache>(std::move(cache), *guard);
}

std::vector<StoreKind> WantedStores(const CacheConfig& config) {
  std::vector<StoreKind> kinds;
  if (config.memory_bytes > 0) kinds.push_back(StoreKind::kMemory);
  if (!config.data_dir.empty()) kinds.push_back(StoreKind::kRocksdb);
  return kinds;
}

template <typename Store>
StatsSource StatsOf(const Store* store) {
  return [store] { return store->Stats(); };
}

// Memory needs no verification: what is put there was checked on its way.
Tier OpenMemory(const CacheConfig& config, prometheus::Registry& registry) {
  const uint64_t results_bytes = config.memory_bytes / 8;
  auto results = std::make_unique<MemoryStore>(results_bytes);
  auto blobs = std::make_unique<MemoryStore>(config.memory_bytes - results_bytes);
  Tier tier;
  tier.results_stats = StatsOf(results.get());
  tier.blobs_stats = StatsOf(blobs.get());
  tier.results = std::make_unique<MeteredCache>(std::move(results), absl::StrCat(kResults, "/memory"), registry);
  tier.blobs = std::make_unique<MeteredCache>(std::move(blobs), absl::StrCat(kBlobs, "/memory"), registry);
  return tier;
}

absl::StatusOr<Tier> OpenRocksdb(const CacheConfig& config, prometheus::Registry& registry) {
  RocksdbOptions options;
  options.sync_writes = config.sync_writes;
  options.log = config.log;
  options.open_files = config.open_files;
  std::vector<std::string> keyspaces{kResults, kBlobs, kTunings};
  if (config.client_values) keyspaces.insert(keyspaces.end(), {kClientRecords, kClientValues});
  auto stores = RocksdbStore::Open(absl::StrCat(config.data_dir, "/cache"), keyspaces, options);
  if (!stores.ok()) return stores.status();
  Tier tier;
  tier.trouble = [store = (*stores)[0].get()] { return store->Trouble(); };
  tier.results_stats = StatsOf((*stores)[0].get());
  tier.blobs_stats = StatsOf((*stores)[1].get());
  auto sealed = std::make_unique<SealedCache>(std::move((*stores)[0]));
  tier.unguarded_results = sealed.get();
  tier.results = std::make_unique<MeteredCache>(Guarded(std::move(sealed), config.own_guard),
                                                absl::StrCat(kResults, "/rocksdb"), registry);
  tier.blobs = std::make_unique<MeteredCache>(std::make_unique<VerifiedCache>(std::move((*stores)[1])),
                                              absl::StrCat(kBlobs, "/rocksdb"), registry);
  tier.tunings = std::make_unique<SealedCache>(std::move((*stores)[2]));
  if (config.client_values) {
    const auto open = [&registry](std::unique_ptr<RocksdbStore> store, const char* name) {
      return std::make_unique<MeteredCache>(std::make_unique<SealedCache>(std::move(store)),
                                            absl::StrCat(name, "/rocksdb"), registry);
    };
    tier.client_records = open(std::move((*stores)[3]), kClientRecords);
    tier.client_values = open(std::move((*stores)[4]), kClientValues);
  }
  return tier;
}

absl::StatusOr<Tier> OpenTier(StoreKind kind, const CacheConfig& config, prometheus::Registry& registry) {
  switch (kind) {
    case StoreKind::kMemory:
      return OpenMemory(config, registry);
    case StoreKind::kRocksdb:
      return OpenRocksdb(config, registry);
  }
  return absl::InternalError("a store kind without a case");
}

// One keyspace of the engine.
std::unique_ptr<Cache> ShareKeyspace(const std::shared_ptr<RedisCluster>& engine, const CacheConfig::Cluster& config,
                                     const char* keyspace) {
  return std::make_unique<ClusterStore>(engine, keyspace, config.lifetime);
}

// Puts what the cluster shares beside the daemon's own. Nodes that do not answer are the engine's client's to avoid.
void JoinCluster(const CacheConfig::Cluster& config, RecordGuard* guard, prometheus::Registry& registry,
                 OpenedCache* opened) {
  RedisOptions options;
  options.nodes = config.nodes;
  options.user = config.user;
  options.password = config.password;
  options.tls = config.tls;
  options.remember_refusals = config.remember_refusals;
  // Shared by what is built here.
  const auto engine = std::make_shared<RedisCluster>(options);
  auto sealed = std::make_unique<SealedCache>(ShareKeyspace(engine, config, kResults));
  auto results =
      std::make_unique<MeteredCache>(Guarded(std::move(sealed), guard), absl::StrCat(kResults, "/cluster"), registry);
  auto blobs = std::make_unique<MeteredCache>(std::make_unique<VerifiedCache>(ShareKeyspace(engine, config, kBlobs)),
                                              absl::StrCat(kBlobs, "/cluster"), registry);
  opened->shared_results = results.get();
  opened->shared_blobs = blobs.get();
  // Errors are counted by the shared meters.
  const auto ignore = [](const absl::Status&) {};
  opened->results = std::make_unique<SharedCache>(std::move(opened->results), std::move(results), ignore);
  opened->blobs = std::make_unique<SharedCache>(std::move(opened->blobs), std::move(blobs), ignore);
  opened->tunings = std::make_unique<SharedCache>(
      std::move(opened->tunings), std::make_unique<SealedCache>(ShareKeyspace(engine, config, kTunings)), ignore);
  opened->tuning_leases = std::make_unique<ClusterLeases>(engine, kTunings, config.lifetime, SealedCache::Seal);
  opened->leases = std::make_unique<ClusterLeases>(engine, kResults, config.lifetime, SealedCache::Seal);
  opened->jobs = std::make_unique<ClusterStreams>(engine);
  opened->engine_nodes = [engine] { return engine->Nodes(); };
}

// Puts `fast` before `slow`, which is null for the slowest store.
std::unique_ptr<Cache> Before(std::unique_ptr<Cache> fast, std::unique_ptr<Cache> slow) {
  if (slow == nullptr) return fast;
  return std::make_unique<ReadThroughCache>(std::move(fast), std::move(slow));
}

}  // namespace

absl::Status CheckEngineNode(const std::string& node) { return RedisCluster::CheckAddress(node); }

absl::Status CheckEngineTls(const RedisTls& tls) { return RedisConnection::CheckTls(tls); }

absl::StatusOr<OpenedCache> OpenCache(const CacheConfig& config, prometheus::Registry& registry) {
  const std::vector<StoreKind> kinds = WantedStores(config);
  if (kinds.empty()) return absl::InvalidArgumentError("open cache: neither a data folder nor memory to keep it in");
  if (config.client_values && config.data_dir.empty())
    return absl::InvalidArgumentError("open cache: what clients store takes a data folder");

  for (const std::string& node : config.cluster.nodes) {
    const absl::Status named = CheckEngineNode(node);
    if (!named.ok()) return named;
  }
  if (absl::Status tls = CheckEngineTls(config.cluster.tls); !tls.ok()) return tls;

  OpenedCache opened;
  opened.trouble = [] { return std::string(); };
  opened.engine_nodes = [] { return std::vector<EngineNode>(); };
  std::vector<std::pair<std::string, StatsSource>> sources;  // Slowest first, like the loop.
  for (auto kind = kinds.rbegin(); kind != kinds.rend(); ++kind) {
    absl::StatusOr<Tier> tier = OpenTier(*kind, config, registry);
    if (!tier.ok()) return absl::Status(tier.status().code(), absl::StrCat("open cache: ", tier.status().message()));
    opened.results = Before(std::move(tier->results), std::move(opened.results));
    opened.blobs = Before(std::move(tier->blobs), std::move(opened.blobs));
    if (tier->tunings != nullptr) opened.tunings = std::move(tier->tunings);
    if (tier->client_records != nullptr) opened.client_records = std::move(tier->client_records);
    if (tier->client_values != nullptr) opened.client_values = std::move(tier->client_values);
    if (tier->trouble) opened.trouble = std::move(tier->trouble);
    if (tier->unguarded_results != nullptr) opened.stored_results = tier->unguarded_results;
    sources.emplace_back(kBlobs, std::move(tier->blobs_stats));
    sources.emplace_back(kResults, std::move(tier->results_stats));
  }
  if (opened.tunings == nullptr) opened.tunings = std::make_unique<MemoryStore>(kTuningBytes);
  opened.results = std::make_unique<MeteredCache>(std::move(opened.results), kResults, registry);
  opened.blobs = std::make_unique<MeteredCache>(std::move(opened.blobs), kBlobs, registry);
  opened.own_results = opened.results.get();
  opened.own_blobs = opened.blobs.get();
  if (!config.cluster.nodes.empty()) JoinCluster(config.cluster, config.engine_guard, registry, &opened);
  opened.stats = [sources] {
    std::vector<StoreStats> all;
    for (auto source = sources.rbegin(); source != sources.rend(); ++source) {
      all.push_back(source->second());
      all.back().cache = source->first;
    }
    return all;
  };
  return opened;
}

absl::StatusOr<std::unique_ptr<Journal>> OpenJournal(const std::string& data_dir,
                                                     const std::function<void(const std::string&)>& log,
                                                     int open_files) {
  return RocksdbJournal::Open(absl::StrCat(data_dir, "/journal"), nullptr, log, open_files);
}

}  // namespace tritond::cache
