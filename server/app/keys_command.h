// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_APP_KEYS_COMMAND_H_
#define SERVER_APP_KEYS_COMMAND_H_

namespace tritond::server {

// `tritond keys make|show|roll|trust|revoke|list`: works on signing keys and lists of trusted keys, without a daemon.
// `argv[0]` is "keys". Returns the exit status: 0 done, 1 failed, 2 usage.
int RunKeysCommand(int argc, char** argv);

}  // namespace tritond::server

#endif  // SERVER_APP_KEYS_COMMAND_H_
