// SPDX-License-Identifier: Apache-2.0
// CLI11 reports by exception; none leaves this file.
#include "server/app/keys_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "server/app/key_files.h"

namespace tritond::server {
namespace {

constexpr int kListMode = 0644;  // Public keys are no secret.
constexpr size_t kLeastIdDigits = 8;

std::string HostName() {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return TrustedKeys::IsName(host) ? host : "daemon";
}

// The list; empty when there is no file yet.
absl::StatusOr<std::string> ReadList(const std::string& path) {
  absl::StatusOr<std::string> text = ReadSmallFile(path);
  if (absl::IsNotFound(text.status())) return std::string();
  if (!text.ok()) return text;
  const absl::Status sound = TrustedKeys::Parse(*text).status();
  if (!sound.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", sound.message()));
  return text;
}

// A name that no other key of the list has, so that a name revokes one key.
std::string FreshName(const TrustedKeys& keys, const TrustedKeys::Entry& entry) {
  for (const TrustedKeys::Entry& other : keys.entries())
    if (other.name == entry.name) return absl::StrCat(entry.name, ".", ShortId(entry.key.id()));
  return entry.name;
}

// The list with one more line, unless it has the key. Comments stay.
absl::StatusOr<std::string> WithKey(std::string text, TrustedKeys::Entry entry) {
  absl::StatusOr<TrustedKeys> keys = TrustedKeys::Parse(text);
  if (!keys.ok()) return keys.status();
  const TrustedKeys::Entry* there = keys->Find(entry.key.id());
  if (there != nullptr && there->revoked)
    return absl::FailedPreconditionError(absl::StrCat("the list revokes ", ShortId(entry.key.id()), " already"));
  if (there != nullptr) return text;
  if (!text.empty() && text.back() != '\n') text += '\n';
  entry.name = FreshName(*keys, entry);
  return absl::StrCat(text, TrustedKeys::FormatLine(entry), "\n");
}

bool Names(const TrustedKeys::Entry& entry, const std::string& which) {
  const bool is_id = which.size() >= kLeastIdDigits && absl::StartsWith(entry.key.id().ToHex(), which);
  return entry.name == which || entry.key.ToText() == which || is_id;
}

// The list with every key that `which` names revoked. NotFound when it names none.
absl::StatusOr<std::string> WithRevoked(const std::string& text, const std::string& which) {
  std::vector<std::string> lines;
  bool found = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::StatusOr<TrustedKeys> keys = TrustedKeys::Parse(line);
    if (!keys.ok()) return keys.status();
    lines.emplace_back(line);
    if (keys->entries().empty() || !Names(keys->entries()[0], which)) continue;
    TrustedKeys::Entry entry = keys->entries()[0];
    entry.revoked = true;
    found = true;
    const size_t comment = line.find('#');
    lines.back() = TrustedKeys::FormatLine(entry);
    if (comment != line.npos) absl::StrAppend(&lines.back(), "  ", line.substr(comment));
  }
  if (!found) return absl::NotFoundError(absl::StrCat("no key is listed as ", which));
  return absl::StrJoin(lines, "\n");
}

struct Arguments {
  std::string key_file, list_file, name = HostName();
  std::vector<std::string> which;
  bool revoke_old = false;
};

absl::Status Make(const Arguments& arguments) {
  absl::StatusOr<SigningKey> key = SigningKey::Generate();
  if (!key.ok()) return key.status();
  const absl::Status written = WriteSigningKey(arguments.key_file, *key, /*replace=*/false);
  if (absl::IsAlreadyExists(written)) {
    return absl::AlreadyExistsError(
        absl::StrCat(written.message(), "; tritond keys roll replaces a key, tritond keys show prints it"));
  }
  if (written.ok()) std::cout << TrustedKeys::FormatLine({key->public_key(), arguments.name, false}) << "\n";
  return written;
}

absl::Status Show(const Arguments& arguments) {
  absl::StatusOr<SigningKey> key = ReadSigningKey(arguments.key_file);
  if (!key.ok()) return key.status();
  std::cout << TrustedKeys::FormatLine({key->public_key(), arguments.name, false}) << "\n";
  return absl::OkStatus();
}

// The list first: a daemon that takes the new key finds both keys trusted.
absl::Status Roll(const Arguments& arguments) {
  absl::StatusOr<SigningKey> before = ReadSigningKey(arguments.key_file);
  if (!before.ok()) return before.status();
  absl::StatusOr<SigningKey> key = SigningKey::Generate();
  if (!key.ok()) return key.status();
  absl::StatusOr<std::string> list = ReadList(arguments.list_file);
  if (!list.ok()) return list.status();
  const absl::StatusOr<TrustedKeys> listed = TrustedKeys::Parse(*list);
  // A key that was revoked because it was stolen is replaced, and stays revoked.
  const TrustedKeys::Entry* there = listed.ok() ? listed->Find(before->public_key().id()) : nullptr;
  if (there == nullptr) list = WithKey(*std::move(list), {before->public_key(), arguments.name + ".before", false});
  if (list.ok() && arguments.revoke_old) list = WithRevoked(*list, before->public_key().ToText());
  if (list.ok()) list = WithKey(*std::move(list), {key->public_key(), arguments.name, false});
  if (!list.ok()) return list.status();
  absl::Status written = ReplaceFile(arguments.list_file, *list, kListMode);
  if (written.ok()) written = WriteSigningKey(arguments.key_file, *key, /*replace=*/true);
  if (written.ok()) std::cout << TrustedKeys::FormatLine({key->public_key(), arguments.name, false}) << "\n";
  return written;
}

absl::Status ChangeList(const Arguments& arguments,
                        absl::StatusOr<std::string> (*change)(const std::string&, const Arguments&)) {
  absl::StatusOr<std::string> list = ReadList(arguments.list_file);
  if (list.ok()) list = change(*list, arguments);
  if (!list.ok()) return list.status();
  return ReplaceFile(arguments.list_file, *list, kListMode);
}

absl::Status Trust(const Arguments& arguments) {
  return ChangeList(arguments, [](const std::string& list, const Arguments& all) -> absl::StatusOr<std::string> {
    const absl::StatusOr<PublicKey> key = PublicKey::FromText(all.which[0]);
    if (!key.ok()) return key.status();
    return WithKey(list, {*key, all.name, false});
  });
}

absl::Status Revoke(const Arguments& arguments) {
  return ChangeList(arguments, [](const std::string& list, const Arguments& all) {
    absl::StatusOr<std::string> changed = list;
    for (const std::string& which : all.which)
      if (changed.ok()) changed = WithRevoked(*changed, which);
    return changed;
  });
}

absl::Status List(const Arguments& arguments) {
  const absl::StatusOr<TrustedKeys> keys = ReadTrustedKeys(arguments.list_file);
  if (!keys.ok()) return keys.status();
  for (const TrustedKeys::Entry& entry : keys->entries())
    std::cout << ShortId(entry.key.id()) << "  " << (entry.revoked ? "revoked" : "trusted") << "  " << entry.name
              << "\n";
  return absl::OkStatus();
}

}  // namespace

int RunKeysCommand(int argc, char** argv) {
  CLI::App app(
      "Keys that sign results. KEY_FILE is a daemon's private key, DATA_DIR/signing.key unless --signing-key says "
      "otherwise; LIST its trusted keys, DATA_DIR/trusted.keys unless --trusted-keys does. A running daemon takes "
      "changed files by itself.",
      "tritond keys");
  app.require_subcommand(1);
  Arguments arguments;
  const auto add = [&](const char* name, const char* help) { return app.add_subcommand(name, help); };
  const auto add_key = [&](CLI::App* command) {
    command->add_option("KEY_FILE", arguments.key_file, "The private key, PEM")->required();
  };
  const auto add_list = [&](CLI::App* command) {
    command->add_option("LIST", arguments.list_file, "The list of trusted keys")->required();
  };
  const auto add_name = [&](CLI::App* command) {
    command->add_option("--name", arguments.name, "The key's name in lists (default: this host's)")
        ->check([](const std::string& name) {
          return TrustedKeys::IsName(name) ? "" : "must be 1 to 128 of letters, digits and ._:/@-, and not revoked";
        });
  };
  std::vector<std::pair<CLI::App*, absl::Status (*)(const Arguments&)>> commands;
  commands.emplace_back(add("make", "Makes a key, and prints its line for lists of trusted keys"), Make);
  commands.emplace_back(add("show", "Prints the line of a key for lists of trusted keys"), Show);
  commands.emplace_back(add("roll", "Replaces a key by a new one; the list trusts both"), Roll);
  commands.emplace_back(add("trust", "Adds a public key to a list"), Trust);
  commands.emplace_back(
      add("revoke", "Revokes keys of a list: what they signed, and what was made of it, counts no more"), Revoke);
  commands.emplace_back(add("list", "Prints the ids, states and names of a list's keys"), List);
  for (int i = 0; i < 3; ++i) add_key(commands[i].first);
  for (int i = 2; i < 6; ++i) add_list(commands[i].first);
  for (int i = 0; i < 4; ++i) add_name(commands[i].first);
  commands[2].first->add_flag("--revoke-old", arguments.revoke_old,
                              "The old key was stolen: what it signed counts no more");
  commands[3]
      .first->add_option("KEY", arguments.which, "ed25519:BASE64, as make and show print it")
      ->required()
      ->expected(1);
  commands[4]
      .first->add_option("WHICH", arguments.which, "A name, an id of 8 digits or more, or ed25519:BASE64")
      ->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  for (const auto& [command, run] : commands) {
    if (!command->parsed()) continue;
    const absl::Status status = run(arguments);
    if (status.ok()) return 0;
    std::cerr << "tritond keys: " << status.message() << "\n";
    return 1;
  }
  return 2;
}

}  // namespace tritond::server
