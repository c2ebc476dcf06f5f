// SPDX-License-Identifier: Apache-2.0
// One table of settings serves the file and the command line. yaml-cpp and CLI11 report by exception; none leaves this
// file.
#include "server/app/config.h"

#include <sys/un.h>
#include <yaml-cpp/yaml.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "cache/open/open_cache.h"
#include "proto/plain_text/nearest_word.h"
#include "server/app/key_files.h"

namespace tritond::server {
namespace {

using Problems = std::vector<std::string>;

// gRPC counts a message's bytes in an int.
constexpr uint64_t kMostMessageMb = 2047;
// Redis itself takes no larger string.
constexpr uint64_t kMostRedisRequestMb = 512;

// Calls `visit(name, help, field)` for each setting.
template <typename Visit>
void ForEachSetting(ServerConfig* config, Visit visit) {
  visit("data_dir", "Folder of the cache, the submitted jobs, the keys and the local socket", config->data_dir);
  visit("listen", "HOST:PORT or unix:PATH for clients and workers; may be repeated (default 127.0.0.1:7433)",
        config->listen);
  visit("unix_socket_mode",
        "Mode of the Unix sockets of --listen, octal, such as 0660; it decides who may connect (default: the umask "
        "decides)",
        config->unix_socket_mode);
  visit("name", "Name of this daemon in results and on the status pages of other daemons (default: this host and port)",
        config->name);
  visit("http", "HOST:PORT of the status page and /metrics, or none", config->http);
  visit("redis_listen",
        "HOST:PORT for clients of the Redis protocol, which store values of their own (default: none); the TLS and "
        "access rules of --listen apply",
        config->redis_listen);
  visit("redis_max_request_mb", "Largest request of the Redis port, 1 to 512", config->redis_max_request_mb);
  visit("redis_memory_mb",
        "Memory for requests and answers of the Redis port; further requests wait. At least twice the largest request",
        config->redis_memory_mb);
  visit("redis_max_stored_mb",
        "Values kept for the Redis port, before compression; the least used are evicted; 0: no limit",
        config->redis_max_stored_mb);
  visit("redis_max_tenant_mb",
        "Values kept for one tenant of the Redis port; 0: no limit for each tenant. When the total is exceeded, the "
        "tenants that store most lose values",
        config->redis_max_tenant_mb);
  visit("workers", "Worker processes on this machine; negative: one for each CPU", config->workers);
  visit("worker_binary", "Program of the workers (default: triton-worker beside this program)", config->worker_binary);
  visit("worker_arguments", "Further command-line arguments of the workers; may be repeated", config->worker_arguments);
  visit("worker_memory_mb", "Memory limit of one worker; 0: no limit", config->worker_memory_mb);
  visit("max_connections",
        "Limit of connections of clients and workers. Beyond it the daemon closes silent connections, then those of "
        "the peers with the most; 0: as many as open files allow, at most 16384",
        config->max_connections);
  visit("max_ir_bytes", "Largest IR of a request, in bytes", config->max_ir_bytes);
  visit("max_message_mb",
        "Largest message of a client or a worker; at least the largest IR. A worker sends a result as one message",
        config->max_message_mb);
  visit("max_incoming_mb",
        "Memory for incoming gRPC messages; beyond it calls fail. Requests that wait to be read may use a quarter of "
        "it, and further ones are refused with a retry delay. At least twice the largest message; 0: no limit",
        config->max_incoming_mb);
  visit("text_threads",
        "Threads that read IR between 64 KiB and 1 MiB, and as many of lower priority for larger IR; 0: a quarter of "
        "the CPUs",
        config->text_threads);
  visit("memory_cache_mb", "Memory of the first cache level", config->memory_cache_mb);
  visit("max_stored_mb",
        "Results and artifacts kept on disk, before compression; the least valuable are evicted; 0: no limit",
        config->max_stored_mb);
  visit("cluster",
        "HOST:PORT of a node of the engine that shares results between daemons (Redis protocol with hash slots); may "
        "be repeated",
        config->cluster);
  visit("cluster_user", "User name at the engine", config->cluster_user);
  visit("cluster_password_file", "File with the password for the engine", config->cluster_password_file);
  visit("cluster_tls_ca",
        "PEM file of the certificate authorities of the engine; turns TLS on. Renewed files apply from the next "
        "connection on, also for the settings below",
        config->cluster_tls_ca);
  visit("cluster_tls_certificate", "PEM file of the certificate chain for the engine, if it asks for one",
        config->cluster_tls_certificate);
  visit("cluster_tls_key", "PEM file of the private key of --cluster-tls-certificate", config->cluster_tls_key);
  visit("cluster_tls_name", "Name that the certificate of each node must have (default: the host of the node)",
        config->cluster_tls_name);
  visit("cluster_keep_hours", "Lifetime of results in the engine", config->cluster_keep_hours);
  visit("cluster_lease_seconds",
        "Lifetime of a key lease: another daemon takes over the compile of a lost daemon after this time",
        config->cluster_lease_seconds);
  visit("sync_writes", "Flush each result to disk before it is answered", config->sync_writes);
  visit("max_queued", "Compiles that may wait; further ones are refused with a retry delay", config->max_queued);
  visit("max_queued_per_tenant", "Compiles of one tenant that may wait", config->max_queued_per_tenant);
  visit("max_queued_mb",
        "Memory of the requests that wait or run; further ones are refused with a retry delay. At least the largest "
        "IR; 0: no limit",
        config->max_queued_mb);
  visit("hedge_after_seconds",
        "Start a compile on a second idle worker after this time, if it also takes far longer than usual; 0: never",
        config->hedge_after_seconds);
  visit("job_time_limit_seconds", "Time limit of one compile", config->job_time_limit_seconds);
  visit("tuning_ticket_seconds",
        "Time without a sign of life after which a program loses the right to measure a tuning",
        config->tuning_ticket_seconds);
  visit("heartbeat_seconds", "Interval of the heartbeats of workers; a worker is lost after three missed ones",
        config->heartbeat_seconds);
  visit("drain_grace_seconds", "Time for running compiles to finish after SIGTERM", config->drain_grace_seconds);
  visit("exit_when_idle_seconds",
        "End, as after SIGTERM, when no kernel was requested for this time and none waits or runs; 0: never",
        config->exit_when_idle_seconds);
  visit("error_lifetime_seconds", "Lifetime of stored compile errors", config->error_lifetime_seconds);
  visit("max_jobs", "Submitted jobs that have not ended; further ones are refused", config->max_jobs);
  visit("max_jobs_per_tenant", "Submitted jobs of one tenant that have not ended", config->max_jobs_per_tenant);
  visit("keep_jobs_hours", "Time for which ended submitted jobs are listed", config->keep_jobs_hours);
  visit("tls_certificate",
        "PEM file of the certificate chain of this server; turns TLS on for TCP. Renewed files apply within seconds",
        config->tls_certificate);
  visit("tls_key", "PEM file of the private key of --tls-certificate", config->tls_key);
  visit("tls_client_ca", "PEM file of the certificate authorities of clients and workers", config->tls_client_ca);
  visit("access_file", "YAML file of the access rules; a changed file applies within a second", config->access_file);
  visit("signing_key",
        "PEM file of the Ed25519 key that signs the results of this daemon (default: signing.key in the data folder, "
        "made at the first start). Daemons of a cluster share one key or trust each other's keys",
        config->signing_key);
  visit("trusted_keys",
        "List of further public keys whose results the daemon accepts (default: trusted.keys in the data folder, if it "
        "exists); a changed file applies within a second. See tritond keys --help",
        config->trusted_keys);
  visit("reflection",
        "gRPC reflection, which needs no credentials: on, off, or auto (on unless --access-file or --tls-client-ca is "
        "set)",
        config->reflection);
  visit("health", "gRPC health service, which needs no credentials: on or off", config->health);
  visit("metrics_show_tenants", "Show series by tenant in /metrics to all callers, also where access rules hide them",
        config->metrics_show_tenants);
  visit("log_format", "text, or json: one object a line", config->log_format);
  visit("log_calls", "Calls that the log shows: none, failed or all", config->log_calls);
  visit("quarantine_kills", "Number of killed workers after which a kernel is not compiled for an hour",
        config->quarantine_kills);
  visit("worker_wait_seconds",
        "Time for which a compile waits for a worker of its target to attach; 0: it does not wait",
        config->worker_wait_seconds);
}

// The most that a size in MiB may be: counted in bytes it still fits.
constexpr uint64_t kMostMb = uint64_t{1} << 40;

std::string FlagName(std::string name) {
  for (char& c : name) c = c == '_' ? '-' : c;
  return "--" + name;
}

// As the file has them.
std::vector<std::string> SettingNames() {
  std::vector<std::string> names;
  ServerConfig config;
  ForEachSetting(&config, [&names](const char* name, const char*, const auto&) { names.emplace_back(name); });
  return names;
}

// "; did you mean X?", or nothing.
std::string Suggestion(absl::string_view word, const std::vector<std::string>& names) {
  const std::string closest = proto::NearestWord(word, names);
  return closest.empty() ? "" : absl::StrCat("; did you mean ", closest, "?");
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

void CheckAddresses(const ServerConfig& config, Problems* problems) {
  for (const std::string& address : config.listen) {
    const bool is_unix = absl::StartsWith(address, "unix:") && address.size() > 5;
    if (is_unix && address.size() - 5 >= sizeof(sockaddr_un::sun_path)) {
      problems->push_back(absl::StrCat("--listen ", address, ": the path is too long for a Unix socket"));
    } else if (!is_unix && !IsHostAndPort(address)) {
      problems->push_back(
          absl::StrCat("--listen ", address, ": must be HOST:PORT, an IPv6 address in brackets, or unix:PATH"));
    }
  }
  if (!config.http.empty() && config.http != "none" && !IsHostAndPort(config.http))
    problems->push_back(absl::StrCat("--http ", config.http, ": must be HOST:PORT, or none"));
  if (!config.redis_listen.empty() && !IsHostAndPort(config.redis_listen))
    problems->push_back(absl::StrCat("--redis-listen ", config.redis_listen, ": must be HOST:PORT"));
  if (absl::Status mode = UnixSocketMode(config).status(); !mode.ok()) problems->emplace_back(mode.message());
  for (const std::string& node : config.cluster) {
    const absl::Status status = cache::CheckEngineNode(node);
    if (!status.ok()) problems->push_back(absl::StrCat("--cluster: ", status.message()));
  }
}

// A certificate and its key, with or without a client authority, or none of the three.
void CheckTls(const ServerConfig& config, Problems* problems) {
  const auto missing = [problems](absl::string_view set, absl::string_view absent, absl::string_view what) {
    problems->push_back(absl::StrCat(set, " is set without ", absent, ": TLS takes both. Set ", absent, " to ", what));
  };
  if (!config.tls_client_ca.empty() && config.tls_certificate.empty() && config.tls_key.empty()) {
    problems->emplace_back(
        "--tls-client-ca is set without --tls-certificate and --tls-key: client certificates come over TLS only. Set "
        "these two to the server's certificate and key");
  }
  if (config.tls_certificate.empty() && !config.tls_key.empty())
    missing("--tls-key", "--tls-certificate", "the certificate chain of this key");
  if (config.tls_key.empty() && !config.tls_certificate.empty())
    missing("--tls-certificate", "--tls-key", "the private key of this certificate");
}

// Times that are no numbers or negative, and sizes too large to be counted in bytes.
void CheckNumbers(ServerConfig config, Problems* problems) {
  ForEachSetting(&config, [problems](const char* name, const char*, const auto& field) {
    using Field = std::decay_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, double>) {
      if (!std::isfinite(field) || field < 0)
        problems->push_back(absl::StrCat(FlagName(name), " must be a number that is not negative"));
    } else if constexpr (std::is_same_v<Field, uint64_t>) {
      if (absl::EndsWith(name, "_mb") && field > kMostMb)
        problems->push_back(absl::StrCat(FlagName(name), " must be at most ", kMostMb));
    }
  });
}

// What a setting takes.
template <typename Field>
const char* TypeText() {
  if constexpr (std::is_same_v<Field, bool>) return "true or false";
  if constexpr (std::is_same_v<Field, double>) return "a number";
  if constexpr (std::is_same_v<Field, int>) return "a whole number";
  if constexpr (std::is_same_v<Field, uint64_t>) return "a whole number that is not negative";
  if constexpr (std::is_same_v<Field, std::string>) return "one value";
  return "a value or a list of values";
}

template <typename Field>
void ReadField(const YAML::Node& node, Field* field) {
  *field = node.as<Field>();
}

void ReadField(const YAML::Node& node, std::vector<std::string>* field) {
  *field = node.IsSequence() ? node.as<std::vector<std::string>>() : std::vector<std::string>{node.as<std::string>()};
}

// What is wrong with an entry of the file; "" when `config` has it.
std::string ReadEntry(const std::string& name, const YAML::Node& node, ServerConfig* config) {
  if (name.empty()) return "an entry has no name";
  if (node.IsNull()) return absl::StrCat(name, ": has no value");
  std::string problem = absl::StrCat("unknown setting ", name, Suggestion(name, SettingNames()));
  ForEachSetting(config, [&](const char* setting, const char*, auto& field) {
    if (name != setting) return;
    try {
      ReadField(node, &field);
      problem.clear();
    } catch (const YAML::Exception&) {
      problem = absl::StrCat(name, ": must be ", TypeText<std::decay_t<decltype(field)>>());
    }
  });
  return problem;
}

// Words of a text, in lines of a comment.
std::string Comment(absl::string_view text) {
  constexpr size_t kMostColumns = 100;
  std::string comment, line = "#";
  for (absl::string_view word : absl::StrSplit(text, ' ')) {
    if (line.size() + 1 + word.size() > kMostColumns) {
      absl::StrAppend(&comment, line, "\n");
      line = "#";
    }
    absl::StrAppend(&line, " ", word);
  }
  return absl::StrCat(comment, line, "\n");
}

std::string ToYaml(const std::string& value) { return value.empty() ? "\"\"" : value; }
std::string ToYaml(bool value) { return value ? "true" : "false"; }
std::string ToYaml(const std::vector<std::string>& values) {
  return absl::StrCat("[", absl::StrJoin(values, ", "), "]");
}
template <typename Number>
std::string ToYaml(Number value) {
  return absl::StrCat(value);
}

}  // namespace

absl::Status ReadConfigFile(const std::string& path, ServerConfig* config) {
  const absl::StatusOr<std::string> text = ReadSmallFile(path);
  if (!text.ok()) return text.status();
  Problems problems;
  try {
    const YAML::Node root = YAML::Load(*text);
    if (!root.IsMap() && !root.IsNull())
      return absl::InvalidArgumentError(absl::StrCat(path, ": must be a map of settings"));
    std::set<std::string> seen;
    for (const auto& pair : root) {
      const std::string name = pair.first.as<std::string>("");
      std::string problem = ReadEntry(name, pair.second, config);
      if (problem.empty() && !seen.insert(name).second) problem = absl::StrCat(name, ": is set twice");
      if (!problem.empty()) problems.push_back(absl::StrCat(path, ":", pair.first.Mark().line + 1, ": ", problem));
    }
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", error.what()));
  }
  return problems.empty() ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

std::string SampleConfig() {
  std::vector<std::pair<std::string, std::string>> names;  // Help speaks of flags.
  for (const std::string& name : SettingNames()) names.emplace_back(FlagName(name), name);
  std::string text =
      "# SPDX-License-Identifier: Apache-2.0\n"
      "# Every setting of tritond with its default. Remove the # in front of a name to change it. Then run\n"
      "# tritond --check-config --config FILE, and restart the daemon. `tritond --sample-config` prints this file.\n";
  ServerConfig defaults;
  ForEachSetting(&defaults, [&](const char* name, const char* help, const auto& field) {
    absl::StrAppend(&text, "\n", Comment(absl::StrReplaceAll(help, names)), "#", name, ": ", ToYaml(field), "\n");
  });
  return text;
}

absl::StatusOr<CommandLine> ParseCommandLine(int argc, char** argv) {
  CommandLine line;
  bool read = true;
  // The file first, so that flags prevail.
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    std::string path;
    if (argument == "--config" && i + 1 < argc) path = argv[i + 1];
    if (argument.rfind("--config=", 0) == 0) path = argument.substr(9);
    if (path.empty()) continue;
    const absl::Status status = ReadConfigFile(path, &line.config);
    read = read && !absl::IsNotFound(status);
    if (status.ok()) continue;
    for (absl::string_view problem : absl::StrSplit(status.message(), '\n')) line.problems.emplace_back(problem);
  }
  CLI::App app("tritond compiles GPU kernels for a cluster, each once.");
  std::vector<std::string> flags{"--config", "--check-config", "--sample-config", "--help", "--version"};
  std::string config_path;
  app.add_option("--config", config_path, "YAML file with any of these settings, underscores in their names");
  app.add_flag("--check-config", line.check_only,
               "Check the settings and the files that they name, print a line for each problem, and end with status 0 "
               "or 2; nothing is started");
  app.add_flag_callback(
      "--sample-config",
      [] {
        std::cout << SampleConfig();
        throw CLI::Success();
      },
      "Print a configuration file with every setting and its default");
  ForEachSetting(&line.config, [&](const char* name, const char* help, auto& field) {
    using Field = std::decay_t<decltype(field)>;
    flags.push_back(FlagName(name));
    if constexpr (std::is_same_v<Field, bool>) {
      app.add_flag(FlagName(name), field, help);
    } else {
      CLI::Option* option = app.add_option(FlagName(name), field, help);
      // One value each time: "--worker-arguments --fake" must not swallow what follows.
      if constexpr (std::is_same_v<Field, std::vector<std::string>>) {
        option->expected(1)->allow_extra_args(false)->take_all();
      } else {
        option->capture_default_str();
      }
    }
  });
  app.set_version_flag("--version", std::string(TRITOND_VERSION));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    for (const std::string& word : app.remaining()) {
      const std::string name = word.substr(0, word.find('='));
      const std::string suggestion = absl::StartsWith(name, "-") ? Suggestion(name, flags) : "";
      if (!suggestion.empty()) std::cerr << name << " is no setting" << suggestion << "\n";
    }
    return absl::CancelledError(status == 0 ? "0" : "2");
  }
  if (!read) return line;  // What the file would have set must not be called missing.
  for (std::string& problem : ConfigProblems(line.config)) line.problems.push_back(std::move(problem));
  return line;
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

std::string LocalSocketPath(const ServerConfig& config) {
  return std::filesystem::absolute(config.data_dir).lexically_normal() / "tritond.sock";
}

std::vector<std::string> ConfigProblems(const ServerConfig& config) {
  Problems problems;
  const auto require = [&problems](bool holds, std::string problem) {
    if (!holds) problems.push_back(std::move(problem));
  };
  const auto one_of = [&](absl::string_view flag, const std::string& value, const std::vector<std::string>& values) {
    require(std::find(values.begin(), values.end(), value) != values.end(),
            absl::StrCat(flag, " must be one of ", absl::StrJoin(values, ", "), ", not ", value));
  };
  require(!config.data_dir.empty(), "--data-dir must name a folder");
  require(config.data_dir.empty() || LocalSocketPath(config).size() < sizeof(sockaddr_un::sun_path),
          absl::StrCat("--data-dir ", config.data_dir, ": the path is too long for a Unix socket in this folder"));
  CheckAddresses(config, &problems);
  CheckNumbers(config, &problems);
  CheckTls(config, &problems);
  require(config.max_ir_bytes > 0, "--max-ir-bytes must be positive");
  require(config.max_queued > 0, "--max-queued must be positive");
  require(config.max_queued_per_tenant > 0, "--max-queued-per-tenant must be positive");
  require(config.max_jobs > 0, "--max-jobs must be positive");
  require(config.max_jobs_per_tenant > 0, "--max-jobs-per-tenant must be positive");
  require(config.max_message_mb >= 1 && config.max_message_mb <= kMostMessageMb,
          absl::StrCat("--max-message-mb must be from 1 to ", kMostMessageMb));
  require(config.redis_max_request_mb >= 1 && config.redis_max_request_mb <= kMostRedisRequestMb,
          absl::StrCat("--redis-max-request-mb must be from 1 to ", kMostRedisRequestMb));
  require(config.cluster_keep_hours != 0, "--cluster-keep-hours must be positive");
  require(!(config.cluster_lease_seconds < 0.1), "--cluster-lease-seconds must be at least 0.1");
  require(config.quarantine_kills >= 1, "--quarantine-kills must be positive");
  require(config.job_time_limit_seconds != 0, "--job-time-limit-seconds must be positive");
  require(!(config.tuning_ticket_seconds < 0.1), "--tuning-ticket-seconds must be at least 0.1");
  require(config.heartbeat_seconds != 0, "--heartbeat-seconds must be positive");
  one_of("--log-format", config.log_format, {"text", "json"});
  one_of("--log-calls", config.log_calls, {"none", "failed", "all"});
  one_of("--reflection", config.reflection, {"auto", "on", "off"});
  one_of("--health", config.health, {"on", "off"});
  return problems;
}

absl::Status CheckConfig(const ServerConfig& config) {
  const std::vector<std::string> problems = ConfigProblems(config);
  return problems.empty() ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrJoin(problems, "\n"));
}

}  // namespace tritond::server
