// SPDX-License-Identifier: Apache-2.0
#ifndef CLIENT_CLI_MESSAGE_JSON_H_
#define CLIENT_CLI_MESSAGE_JSON_H_

#include <google/protobuf/message.h>

#include <string>

namespace tritond::client {

// A protocol message as one line of JSON, with the field names of proto/v1. Integers of 64 bits are numbers, unlike in
// protobuf's own JSON: readers that keep numbers as doubles lose the last digits of those beyond 2^53.
std::string MessageJson(const google::protobuf::Message& message);

}  // namespace tritond::client

#endif  // CLIENT_CLI_MESSAGE_JSON_H_
