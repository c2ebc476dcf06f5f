// SPDX-License-Identifier: Apache-2.0
#include "workers/device/emulated/atomic_scopes.h"

namespace tritond::workers::emulated {

bool AtomicScopes::Update(uint64_t address, uint64_t program, bool of_work_group) {
  absl::MutexLock lock(&mu_);
  Place& place = places_.try_emplace(address, Place{program}).first->second;
  place.of_several |= place.program != program;
  place.of_work_group |= of_work_group;
  return !(place.of_several && place.of_work_group);
}

}  // namespace tritond::workers::emulated
