// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_CONFIG_H_
#define SERVER_APP_CONFIG_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tritond::server {

// Where the daemon listens when nothing is said: on this machine alone.
inline constexpr char kDefaultListen[] = "127.0.0.1:7433";

// Everything that can be set, with what holds when it is not. The names are those of the command line, with
// underscores.
struct ServerConfig {
  std::string data_dir;                       // must be set
  std::vector<std::string> listen;            // HOST:PORT or unix:PATH; none: kDefaultListen
  std::string unix_socket_mode;               // of the sockets of `listen`, octal; empty: what the umask leaves
  std::string name;                           // what other daemons call this one; empty: HOST:PORT
  std::string http = "127.0.0.1:7434";        // "none": no HTTP
  std::string redis_listen;                   // HOST:PORT; empty: no port for the Redis protocol
  uint64_t redis_max_request_mb = 64;         // of one request
  uint64_t redis_memory_mb = 512;             // of its requests and answers under way
  uint64_t redis_max_stored_mb = 8192;        // of what its clients store; 0: no limit
  uint64_t redis_max_tenant_mb = 0;           // of what the clients of one tenant store; 0: no limit but that of all
  int workers = -1;                           // local workers; negative: one per CPU
  std::string worker_binary;                  // empty: triton-worker beside this program
  std::vector<std::string> worker_arguments;  // more of its command line
  uint64_t worker_memory_mb = 16384;          // 0: no limit
  uint64_t max_connections = 0;               // of clients and workers; 0: as many as descriptors allow
  uint64_t max_ir_bytes = uint64_t{64} << 20;
  uint64_t max_message_mb = 512;
  uint64_t max_incoming_mb = 1024;  // 0: no limit
  int text_threads = 0;             // 0: a quarter of the CPUs
  uint64_t memory_cache_mb = 512;
  uint64_t max_stored_mb = 32768;    // 0: no limit
  std::vector<std::string> cluster;  // HOST:PORT of a shared engine's nodes; none: this daemon keeps to itself
  std::string cluster_user;
  std::string cluster_password_file;
  std::string cluster_tls_ca;  // PEM; not empty: connections to the engine are TLS
  std::string cluster_tls_certificate;
  std::string cluster_tls_key;
  std::string cluster_tls_name;  // in the certificates of all nodes; empty: each node's own host
  double cluster_keep_hours = 720;
  double cluster_lease_seconds = 5;
  double cluster_remember_seconds = 10;  // refusals of the engine, at least; no setting changes it
  bool sync_writes = false;
  uint64_t max_queued = 10000;
  uint64_t max_queued_per_tenant = 5000;
  uint64_t max_queued_mb = 1024;    // 0: no limit
  double hedge_after_seconds = 15;  // 0: never
  double job_time_limit_seconds = 120;
  double heartbeat_seconds = 1;
  double tuning_ticket_seconds = 15;
  double least_ping_seconds = 5;  // peers may ask no more often whether the daemon is there; no setting changes it
  double drain_grace_seconds = 30;
  double exit_when_idle_seconds = 0;  // 0: never
  double error_lifetime_seconds = 60;
  uint64_t max_jobs = 100000;
  uint64_t max_jobs_per_tenant = 50000;
  double keep_jobs_hours = 24;
  int quarantine_kills = 2;
  double worker_wait_seconds = 30;    // 0: nobody waits
  std::string log_format = "text";    // or "json"
  bool metrics_show_tenants = false;  // to callers too who may not see every tenant
  std::string log_calls = "none";     // or "failed" or "all": calls with a line of their own
  std::string tls_certificate;        // PEM; not empty: TCP is TLS
  std::string tls_key;
  std::string tls_client_ca;        // of clients' certificates; empty: they are not asked for any
  std::string reflection = "auto";  // or "on" or "off"; auto: on where neither access rules nor a client authority are
  std::string health = "on";        // or "off": gRPC's health service, which asks nobody who they are
  std::string access_file;          // who may do what; empty: everyone everything
  std::string signing_key;          // PEM; empty: DATA_DIR/signing.key, which is made when it is not there
  std::string trusted_keys;         // public keys whose records count; empty: DATA_DIR/trusted.keys, if it is there
};

// Adds what a YAML file says to `config`. InvalidArgument has a line for each entry that is unknown, of the wrong type
// or set twice, with the file and its line. NotFound when there is no such file.
absl::Status ReadConfigFile(const std::string& path, ServerConfig* config);

// What a command line asks for.
struct CommandLine {
  ServerConfig config;
  std::vector<std::string> problems;  // of the file and the values, a line each; with any of them `config` cannot work
  bool check_only = false;            // --check-config
};

// Flags prevail over the file of --config. On --help, --version, --sample-config and usage errors prints what is due,
// and returns Cancelled with the exit status as its message.
absl::StatusOr<CommandLine> ParseCommandLine(int argc, char** argv);

// A configuration file with every setting, commented out, with its help and its default.
std::string SampleConfig();

// The permissions that unix_socket_mode asks for; 0: none. InvalidArgument when it is no octal mode.
absl::StatusOr<mode_t> UnixSocketMode(const ServerConfig& config);

// The path of the Unix socket in the data folder, which the daemon's own workers use.
std::string LocalSocketPath(const ServerConfig& config);

// What cannot work in the values alone, a line each.
std::vector<std::string> ConfigProblems(const ServerConfig& config);
// InvalidArgument with these lines, when there are any.
absl::Status CheckConfig(const ServerConfig& config);

}  // namespace tritond::server

#endif  // SERVER_APP_CONFIG_H_
