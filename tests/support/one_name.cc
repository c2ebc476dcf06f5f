// SPDX-License-Identifier: Apache-2.0
// Preloaded into a worker: one name, "daemons.test", has two addresses.
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>

extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** list) {
  static auto* const real = reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  if (node == nullptr || strcmp(node, "daemons.test") != 0) return real(node, service, hints, list);
  if (const int error = real("127.0.0.1", service, hints, list); error != 0) return error;
  addrinfo* last = *list;
  while (last->ai_next != nullptr) last = last->ai_next;
  return real("127.0.0.2", service, hints, &last->ai_next);
}
