// SPDX-License-Identifier: Apache-2.0
// One table of settings serves the file and the command line. yaml-cpp and CLI11 report by exception; none leaves this
// file.
#include "server/app/config.h"

#include <yaml-cpp/yaml.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cache/open/open_cache.h"

namespace tritond::server {
namespace {

// gRPC counts a message's bytes in an int.
constexpr uint64_t kMostMessageMb = 2047;
// Redis itself takes no larger string.
constexpr uint64_t kMostRedisRequestMb = 512;

// Calls `visit(name, help, field)` for each setting.
template <typename Visit>
void ForEachSetting(ServerConfig* config, Visit visit) {
  visit("data_dir", "Folder for the cache, the local socket and what survives a restart", config->data_dir);
  visit("listen", "HOST:PORT or unix:PATH for clients and workers; may be repeated (default 127.0.0.1:7433)",
        config->listen);
  visit(
      "unix_socket_mode",
      "Who may connect to the Unix sockets of --listen, octal as chmod takes it, 0660 say; else what the umask leaves",
      config->unix_socket_mode);
  visit("name", "What results and the status pages of other daemons call this one (default: this host and port)",
        config->name);
  visit("http", "HOST:PORT of the status page and /metrics, or none", config->http);
  visit("redis_listen",
        "HOST:PORT on which clients of the Redis protocol share values of their own (default: none), under the TLS and "
        "access rules of --listen",
        config->redis_listen);
  visit("redis_max_request_mb", "Largest request taken there, 1 to 512", config->redis_max_request_mb);
  visit("redis_memory_mb",
        "Memory of the requests and answers that are under way there; further ones wait. At least that of two of the "
        "largest",
        config->redis_memory_mb);
  visit("redis_max_stored_mb", "Values kept there, before compression; those that are used least go first; 0: no limit",
        config->redis_max_stored_mb);
  visit("workers", "Worker processes on this machine; negative: one per CPU", config->workers);
  visit("worker_binary", "Their program (default: triton-worker beside this one)", config->worker_binary);
  visit("worker_arguments", "More of their command line; may be repeated", config->worker_arguments);
  visit("worker_memory_mb", "Most memory of one worker; 0: no limit", config->worker_memory_mb);
  visit(
      "max_connections",
      "Connections of clients and workers; of more, silent ones are closed, then those of peers that have most; 0: as "
      "many as the limit of open files allows, at most 16384",
      config->max_connections);
  visit("max_ir_bytes", "Largest IR taken", config->max_ir_bytes);
  visit("max_message_mb",
        "Largest message taken, of clients and of workers, whose results come in one; at least that of the largest IR",
        config->max_message_mb);
  visit("max_incoming_mb",
        "Memory of gRPC's, for messages that come in: beyond it those who send them lose their calls. Requests that "
        "wait to be read may hold a quarter of it; further ones are refused with a delay. At least that of two of the "
        "largest; 0: no limit",
        config->max_incoming_mb);
  visit("text_threads",
        "Threads that read the IR of requests beyond 64 KiB: so many for IR of up to 1 MiB, and as many, of lower "
        "priority, for larger; 0: a quarter of the CPUs",
        config->text_threads);
  visit("memory_cache_mb", "Memory for the cache's first tier", config->memory_cache_mb);
  visit("max_stored_mb", "Results and artifacts kept, before compression; the least valuable go first; 0: no limit",
        config->max_stored_mb);
  visit("cluster",
        "HOST:PORT of a node of the engine that shares results between daemons (Redis protocol with hash slots); "
        "may be repeated",
        config->cluster);
  visit("cluster_user", "The engine's user", config->cluster_user);
  visit("cluster_password_file", "A file with the password", config->cluster_password_file);
  visit("cluster_keep_hours", "How long results stay in the engine", config->cluster_keep_hours);
  visit("cluster_lease_seconds", "How soon another daemon takes over what a lost one compiled",
        config->cluster_lease_seconds);
  visit("sync_writes", "Flush each stored result to disk before it is answered", config->sync_writes);
  visit("max_queued", "Compiles that may wait; further ones are refused with a delay", config->max_queued);
  visit("max_queued_per_tenant", "Of one tenant's", config->max_queued_per_tenant);
  visit("max_queued_mb",
        "Memory of the requests that wait or run; further ones are refused with a delay; at least that of the largest "
        "IR; 0: no limit",
        config->max_queued_mb);
  visit("hedge_after_seconds",
        "A compile that has run this long, and far longer than usual, is begun on a second worker too, "
        "if another idle one is left; 0: never",
        config->hedge_after_seconds);
  visit("job_time_limit_seconds", "Wall time of one compile", config->job_time_limit_seconds);
  visit("tuning_ticket_seconds",
        "How soon another program may measure a tuning when the one that measures is not heard of",
        config->tuning_ticket_seconds);
  visit("heartbeat_seconds", "Between signs of life of a worker; three missed, and it is lost",
        config->heartbeat_seconds);
  visit("drain_grace_seconds", "How long running compiles may go on after SIGTERM", config->drain_grace_seconds);
  visit("exit_when_idle_seconds",
        "End, as after SIGTERM, when nobody has asked for a kernel for so long and none waits or runs; 0: never",
        config->exit_when_idle_seconds);
  visit("error_lifetime_seconds", "How long compile errors are remembered", config->error_lifetime_seconds);
  visit("max_jobs", "Submitted jobs that have not ended; further ones are refused", config->max_jobs);
  visit("max_jobs_per_tenant", "Of one tenant's", config->max_jobs_per_tenant);
  visit("keep_jobs_hours", "How long submitted jobs that have ended are listed", config->keep_jobs_hours);
  visit("tls_certificate",
        "This server's certificate chain, PEM: TCP is then TLS; renewed files are taken as they come",
        config->tls_certificate);
  visit("tls_key", "Its private key, PEM", config->tls_key);
  visit("tls_client_ca", "Authorities of clients' and workers' certificates, PEM", config->tls_client_ca);
  visit("access_file", "YAML file that says who may do what; a changed file is taken as it comes", config->access_file);
  visit(
      "signing_key",
      "This daemon's Ed25519 key, PEM, which signs its results (default: signing.key in the data folder, made at first "
      "start); daemons of a cluster share one key, or trust each other's",
      config->signing_key);
  visit("trusted_keys",
        "List of the public keys whose results count besides this daemon's own (default: trusted.keys in the data "
        "folder, if it is there); a changed file is taken as it comes; see tritond keys --help",
        config->trusted_keys);
  visit("reflection",
        "gRPC's reflection, which asks nobody for credentials: on, off, or auto: on unless --access-file or "
        "--tls-client-ca is set",
        config->reflection);
  visit("health", "gRPC's health service, which asks nobody for credentials: on or off", config->health);
  visit("metrics_show_tenants",
        "Show /metrics by tenant to everybody, where access rules would keep tenants' names from them",
        config->metrics_show_tenants);
  visit("log_format", "text, or json for one object a line", config->log_format);
  visit("log_calls", "Calls that have a line of their own in the log: none, failed, all", config->log_calls);
  visit("quarantine_kills", "A kernel that killed so many workers is not compiled again for an hour",
        config->quarantine_kills);
}

// The most that a size in MiB may be: counted in bytes it still fits.
constexpr uint64_t kMostMb = uint64_t{1} << 40;

std::string FlagName(std::string name) {
  for (char& c : name) c = c == '_' ? '-' : c;
  return "--" + name;
}

// HOST:PORT with a port of digits: gRPC would take the port of HTTPS where there is none.
bool IsHostAndPort(absl::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos) return false;
  const absl::string_view host = address.substr(0, colon);
  int port = 0;
  if (host.find(':') != absl::string_view::npos && (host.front() != '[' || host.back() != ']')) return false;
  return address.size() - colon <= 6 && absl::SimpleAtoi(address.substr(colon + 1), &port) && port >= 0 &&
         port <= 65535 && absl::ascii_isdigit(address[colon + 1]);
}

absl::Status CheckAddresses(const ServerConfig& config) {
  for (const std::string& address : config.listen) {
    const bool is_unix = absl::StartsWith(address, "unix:") && address.size() > 5;
    if (is_unix || IsHostAndPort(address)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--listen ", address, ": must be HOST:PORT, an IPv6 address in brackets, or unix:PATH"));
  }
  if (!config.http.empty() && config.http != "none" && !IsHostAndPort(config.http))
    return absl::InvalidArgumentError(absl::StrCat("--http ", config.http, ": must be HOST:PORT, or none"));
  if (!config.redis_listen.empty() && !IsHostAndPort(config.redis_listen))
    return absl::InvalidArgumentError(absl::StrCat("--redis-listen ", config.redis_listen, ": must be HOST:PORT"));
  return UnixSocketMode(config).status();
}

// A certificate and its key, with or without a client authority, or none of the three.
absl::Status CheckTls(const ServerConfig& config) {
  const auto missing = [](absl::string_view set, absl::string_view absent, absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat(set, " is set without ", absent, ": TLS takes both. Set ", absent, " to ", what));
  };
  if (!config.tls_client_ca.empty() && config.tls_certificate.empty() && config.tls_key.empty()) {
    return absl::InvalidArgumentError(
        "--tls-client-ca is set without --tls-certificate and --tls-key: client certificates come over TLS only. Set "
        "these two to the server's certificate and key");
  }
  if (config.tls_certificate.empty() && !config.tls_key.empty())
    return missing("--tls-key", "--tls-certificate", "the certificate chain of this key");
  if (config.tls_key.empty() && !config.tls_certificate.empty())
    return missing("--tls-certificate", "--tls-key", "the private key of this certificate");
  return absl::OkStatus();
}

// Times that are no numbers or negative, and sizes too large to be counted in bytes.
absl::Status CheckNumbers(ServerConfig config) {
  absl::Status status;
  ForEachSetting(&config, [&status](const char* name, const char*, const auto& field) {
    using Field = std::decay_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, double>) {
      if (!std::isfinite(field) || field < 0)
        status.Update(
            absl::InvalidArgumentError(absl::StrCat(FlagName(name), " must be a number that is not negative")));
    } else if constexpr (std::is_same_v<Field, uint64_t>) {
      if (absl::EndsWith(name, "_mb") && field > kMostMb)
        status.Update(absl::InvalidArgumentError(absl::StrCat(FlagName(name), " must be at most ", kMostMb)));
    }
  });
  return status;
}

template <typename Field>
void ReadField(const YAML::Node& node, Field* field) {
  *field = node.as<Field>();
}

void ReadField(const YAML::Node& node, std::vector<std::string>* field) {
  *field = node.IsSequence() ? node.as<std::vector<std::string>>() : std::vector<std::string>{node.as<std::string>()};
}

absl::Status ReadEntry(const std::string& name, const YAML::Node& node, ServerConfig* config) {
  bool known = false;
  ForEachSetting(config, [&](const char* setting, const char*, auto& field) {
    if (name != setting) return;
    known = true;
    ReadField(node, &field);
  });
  return known ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrCat("unknown setting ", name));
}

}  // namespace

absl::Status ReadConfigFile(const std::string& path, ServerConfig* config) {
  std::string entry;
  try {
    const YAML::Node root = YAML::LoadFile(path);
    if (!root.IsMap() && !root.IsNull())
      return absl::InvalidArgumentError(absl::StrCat(path, ": must be a map of settings"));
    for (const auto& pair : root) {
      entry = pair.first.as<std::string>();
      absl::Status status = ReadEntry(entry, pair.second, config);
      if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", status.message()));
    }
  } catch (const YAML::BadFile&) {
    return absl::NotFoundError(absl::StrCat("cannot read ", path));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", entry, entry.empty() ? "" : ": ", error.what()));
  }
  return absl::OkStatus();
}

absl::StatusOr<ServerConfig> ParseCommandLine(int argc, char** argv) {
  ServerConfig config;
  // The file first, so that flags prevail.
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    std::string path;
    if (argument == "--config" && i + 1 < argc) path = argv[i + 1];
    if (argument.rfind("--config=", 0) == 0) path = argument.substr(9);
    if (path.empty()) continue;
    absl::Status status = ReadConfigFile(path, &config);
    if (!status.ok()) return status;
  }
  CLI::App app("tritond compiles GPU kernels for a cluster, each once.");
  std::string config_path;
  app.add_option("--config", config_path, "YAML file with any of these settings, underscores in their names");
  ForEachSetting(&config, [&](const char* name, const char* help, auto& field) {
    using Field = std::decay_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, bool>) {
      app.add_flag(FlagName(name), field, help);
    } else {
      CLI::Option* option = app.add_option(FlagName(name), field, help);
      // One value each time: "--worker-arguments --fake" must not swallow what follows.
      if constexpr (std::is_same_v<Field, std::vector<std::string>>)
        option->expected(1)->allow_extra_args(false)->take_all();
    }
  });
  app.set_version_flag("--version", std::string(TRITOND_VERSION));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return absl::CancelledError(app.exit(error) == 0 ? "0" : "2");
  }
  absl::Status status = CheckConfig(config);
  if (!status.ok()) return status;
  return config;
}

absl::StatusOr<mode_t> UnixSocketMode(const ServerConfig& config) {
  const std::string& text = config.unix_socket_mode;
  if (text.empty()) return 0;
  const bool octal = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '7'; });
  const unsigned long mode = octal && text.size() <= 4 ? std::strtoul(text.c_str(), nullptr, 8) : 0;
  if (mode == 0 || mode > 0777) {
    return absl::InvalidArgumentError(
        absl::StrCat("--unix-socket-mode must be an octal mode from 0001 to 0777, not ", text));
  }
  return static_cast<mode_t>(mode);
}

absl::Status CheckConfig(const ServerConfig& config) {
  if (absl::Status status = CheckAddresses(config); !status.ok()) return status;
  if (absl::Status status = CheckNumbers(config); !status.ok()) return status;
  if (config.data_dir.empty()) return absl::InvalidArgumentError("--data-dir must name a folder");
  if (config.max_ir_bytes == 0) return absl::InvalidArgumentError("--max-ir-bytes must be positive");
  if (config.max_queued == 0) return absl::InvalidArgumentError("--max-queued must be positive");
  if (config.max_queued_per_tenant == 0) return absl::InvalidArgumentError("--max-queued-per-tenant must be positive");
  if (config.max_jobs == 0) return absl::InvalidArgumentError("--max-jobs must be positive");
  if (config.max_jobs_per_tenant == 0) return absl::InvalidArgumentError("--max-jobs-per-tenant must be positive");
  for (const std::string& node : config.cluster) {
    const absl::Status status = cache::CheckEngineNode(node);
    if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat("--cluster: ", status.message()));
  }
  if (config.cluster_keep_hours <= 0) return absl::InvalidArgumentError("--cluster-keep-hours must be positive");
  if (config.cluster_lease_seconds < 0.1)
    return absl::InvalidArgumentError("--cluster-lease-seconds must be at least 0.1");
  if (absl::Status status = CheckTls(config); !status.ok()) return status;
  if (config.log_format != "text" && config.log_format != "json")
    return absl::InvalidArgumentError(absl::StrCat("--log-format must be text or json, not ", config.log_format));
  if (config.log_calls != "none" && config.log_calls != "failed" && config.log_calls != "all")
    return absl::InvalidArgumentError(absl::StrCat("--log-calls must be none, failed or all, not ", config.log_calls));
  if (config.reflection != "auto" && config.reflection != "on" && config.reflection != "off")
    return absl::InvalidArgumentError(absl::StrCat("--reflection must be auto, on or off, not ", config.reflection));
  if (config.health != "on" && config.health != "off")
    return absl::InvalidArgumentError(absl::StrCat("--health must be on or off, not ", config.health));
  if (config.max_message_mb < 1 || config.max_message_mb > kMostMessageMb)
    return absl::InvalidArgumentError(absl::StrCat("--max-message-mb must be from 1 to ", kMostMessageMb));
  if (config.redis_max_request_mb < 1 || config.redis_max_request_mb > kMostRedisRequestMb)
    return absl::InvalidArgumentError(absl::StrCat("--redis-max-request-mb must be from 1 to ", kMostRedisRequestMb));
  if (config.quarantine_kills < 1) return absl::InvalidArgumentError("--quarantine-kills must be positive");
  if (config.job_time_limit_seconds <= 0)
    return absl::InvalidArgumentError("--job-time-limit-seconds must be positive");
  if (config.tuning_ticket_seconds < 0.1)
    return absl::InvalidArgumentError("--tuning-ticket-seconds must be at least 0.1");
  if (config.heartbeat_seconds <= 0) return absl::InvalidArgumentError("--heartbeat-seconds must be positive");
  return absl::OkStatus();
}

}  // namespace tritond::server
