// SPDX-License-Identifier: Apache-2.0
// Kernels written by hand as the host target would compile them (host_abi.h): a shared object that tests load.
#include <cstdint>
#include <cstring>
#include <utility>

#include "workers/device/host_abi.h"

extern "C" {
extern const uint32_t tritond_host_abi;
const uint32_t tritond_host_abi = TRITOND_HOST_ABI_VERSION;
extern const TritondHostRuntime* tritond_host_runtime;
const TritondHostRuntime* tritond_host_runtime = nullptr;
}

namespace {

using Parameters = void* const*;

const TritondHostRuntime& rt() { return *tritond_host_runtime; }

template <typename T>
T Parameter(Parameters parameters, int i) {
  T value;
  std::memcpy(&value, parameters[i], sizeof(T));
  return value;
}

// Sites are lines of a kernel that exists in these tests' heads alone.
template <int kLine>
const TritondHostSite* At() {
  static const TritondHostSite site = {"kernel.py", "kernel", kLine, 3};
  return &site;
}

template <int kLine, typename T>
T Load(const T* from, uint32_t space = 0) {
  rt().check_access(At<kLine>(), from, sizeof(T), TRITOND_HOST_READ | space);
  return *from;
}

template <int kLine, typename T>
void Store(T* to, T value, uint32_t space = 0) {
  rt().check_access(At<kLine>(), to, sizeof(T), TRITOND_HOST_WRITE | space);
  *to = value;
}

template <int kLine>
int32_t LoadShared(int index) {
  return Load<kLine>(static_cast<const int32_t*>(rt().shared_memory()) + index, TRITOND_HOST_SHARED);
}

template <int kLine>
void StoreShared(int index, int32_t value) {
  Store<kLine>(static_cast<int32_t*>(rt().shared_memory()) + index, value, TRITOND_HOST_SHARED);
}

template <int kLine>
void AddShared(int index, int32_t value) {
  int32_t* slot = static_cast<int32_t*>(rt().shared_memory()) + index;
  rt().check_access(At<kLine>(), slot, sizeof(*slot), TRITOND_HOST_ATOMIC | TRITOND_HOST_SHARED);
  __atomic_fetch_add(slot, value, __ATOMIC_RELAXED);
}

// What the first lane that takes part has. `order`: how early in the code the call is.
template <int kLine>
int32_t FirstLane(int32_t value, uint64_t order) {
  const uint64_t in[2] = {static_cast<uint32_t>(value), order};
  uint64_t out[1] = {0};
  rt().execute(At<kLine>(), "amdgcn:readfirstlane gfx1100 1x32 : 1x32", in, out);
  return static_cast<int32_t>(out[0]);
}

int32_t Program() {
  return rt().program_id(0) + rt().num_programs(0) * (rt().program_id(1) + rt().num_programs(1) * rt().program_id(2));
}

}  // namespace

extern "C" {

// ---- of the device contract (tests/support/device_contract.h) ----

// out[i] = a[i] + b[i] for i < n; a program takes as many elements as it has threads (64).
void vector_add(Parameters p) {
  const int i = rt().program_id(0) * 64 + rt().thread_id();
  if (i >= Parameter<int32_t>(p, 3)) return;
  const float sum = Load<1>(Parameter<float*>(p, 0) + i) + Load<2>(Parameter<float*>(p, 1) + i);
  Store<3>(Parameter<float*>(p, 2) + i, sum);
}

// out[program] += program + 1, by one thread.
void count_programs(Parameters p) {
  if (rt().thread_id() != 0) return;
  int32_t* out = Parameter<int32_t*>(p, 0) + Program();
  Store<1>(out, Load<1>(out) + Program() + 1);
}

// out[0…5] = the scalars.
void store_scalars(Parameters p) {
  double* out = Parameter<double*>(p, 0);
  if (rt().thread_id() != 0) return;
  Store<1>(out, double(Parameter<int8_t>(p, 1)));
  Store<1>(out + 1, double(Parameter<int16_t>(p, 2)));
  Store<1>(out + 2, double(Parameter<int32_t>(p, 3)));
  Store<1>(out + 3, double(Parameter<int64_t>(p, 4)));
  Store<1>(out + 4, double(Parameter<float>(p, 5)));
  Store<1>(out + 5, Parameter<double>(p, 6));
}

// out[program] = what the program wrote to its 64 bytes of global scratch.
void use_scratch(Parameters p) {
  int32_t* mine = Parameter<int32_t*>(p, 1) + Program() * 16;
  Store<1>(mine + rt().thread_id() % 16, Program() * 100 + rt().thread_id() % 16);
  rt().barrier(At<2>());
  if (rt().thread_id() == 0) Store<3>(Parameter<int32_t*>(p, 0) + Program(), Load<3>(mine + 15));
}

// out[i] = what the program's thread 63 - i wrote to shared memory.
void use_shared(Parameters p) {
  const int thread = rt().thread_id();
  StoreShared<1>(thread, Program() * 100 + thread);
  rt().barrier(At<2>());
  Store<3>(Parameter<int32_t*>(p, 0) + Program() * 64 + thread, LoadShared<3>(63 - thread));
}

// ---- of the host device's own tests ----

// out[program] = the sum of the indices of the program's 128 threads: shuffles, then shared memory.
void reduce(Parameters p) {
  const int thread = rt().thread_id(), lane = thread % 32, warp = thread / 32;
  uint32_t sum = thread;
  for (int mask = 16; mask > 0; mask /= 2) sum += rt().shuffle(At<1>(), sum, lane ^ mask);
  StoreShared<2>(warp, sum);  // every lane, its copy
  rt().barrier(At<3>());
  sum = 0;
  for (int i = 0; i < 4; ++i) sum += LoadShared<4>(i);
  if (thread == 0) Store<5>(Parameter<int32_t*>(p, 0) + Program(), static_cast<int32_t>(sum));
}

// out[i] = in[n - 1 - i] in each warp, through shared memory and warp barriers; both warps keep the same copies when
// `copies` is set.
void reverse_in_warp(Parameters p) {
  const int thread = rt().thread_id(), lane = thread % 32;
  const int first = Parameter<int32_t>(p, 1) ? 0 : thread - lane;
  StoreShared<1>(first + lane, first + lane);
  rt().warp_barrier(At<2>());
  const int32_t value = LoadShared<3>(first + 31 - lane);
  Store<4>(Parameter<int32_t*>(p, 0) + thread, value);
}

void missing_barrier(Parameters) {
  const int thread = rt().thread_id();
  StoreShared<10>(thread, thread);
  LoadShared<11>((thread + 127) % 128);
}

// A warp barrier does not order two warps.
void weak_barrier(Parameters) {
  const int thread = rt().thread_id();
  StoreShared<10>(thread, thread);
  rt().warp_barrier(At<11>());
  LoadShared<12>((thread + 32) % 64);
}

void race_of_writes(Parameters p) { StoreShared<20>(5, Parameter<int32_t>(p, 0) ? 7 : rt().thread_id()); }

// Thread 5 overwrites, unasked, what the others have read.
void write_after_read(Parameters) {
  const int thread = rt().thread_id();
  if (thread == 5) StoreShared<29>(0, 1);
  rt().barrier(At<30>());
  if (thread != 5) LoadShared<31>(0);
  if (thread == 5) StoreShared<32>(0, 2);
}

void count_in_shared(Parameters p) {
  if (rt().thread_id() == 0) StoreShared<1>(0, 0);
  rt().barrier(At<2>());
  AddShared<3>(0, 1);
  rt().barrier(At<4>());
  if (rt().thread_id() == 9) Store<5>(Parameter<int32_t*>(p, 0), LoadShared<5>(0));
}

// Each warp counts its threads at a place of its own; no barrier but its own.
void count_in_warps(Parameters p) {
  const int thread = rt().thread_id(), warp = thread / 32;
  if (thread % 32 == 0) StoreShared<1>(warp, 0);
  rt().warp_barrier(At<2>());
  AddShared<3>(warp, 1);
  rt().warp_barrier(At<4>());
  if (thread % 32 == 9) Store<5>(Parameter<int32_t*>(p, 0) + warp, LoadShared<5>(warp));
}

void atomic_and_plain(Parameters) {
  if (rt().thread_id() == 0) StoreShared<40>(0, 17);
  if (rt().thread_id() == 1) AddShared<41>(0, 1);
}

void read_unwritten(Parameters p) { Store<50>(Parameter<int32_t*>(p, 0) + rt().thread_id(), LoadShared<51>(1)); }

// Copies in[thread] and, where the thread is even, in[64 + thread] to shared memory in a group each; waits for all but
// `num`. out = what thread 63 - thread has copied first, and what the thread has copied last.
void copy_to_shared(Parameters p) {
  const int thread = rt().thread_id();
  const int32_t* in = Parameter<const int32_t*>(p, 0);
  int32_t* out = Parameter<int32_t*>(p, 1);
  int32_t* shared = static_cast<int32_t*>(rt().shared_memory());
  rt().async_copy(At<80>(), shared + thread, in + thread, 4, 4);
  rt().async_commit();
  rt().async_copy(At<81>(), shared + 64 + thread, in + 64 + thread, 4, thread % 2 ? 0 : 4);
  rt().async_copy(At<82>(), shared, in, 0, 0);
  rt().async_commit();
  rt().async_wait(At<83>(), Parameter<int32_t>(p, 2));
  if (Parameter<int32_t>(p, 3)) rt().barrier(At<84>());
  Store<85>(out + thread, LoadShared<86>(63 - thread));
  Store<87>(out + 64 + thread, LoadShared<88>(64 + thread));
}

// Thread 5 begins to overwrite what the others have read.
void copy_over_read(Parameters p) {
  const int thread = rt().thread_id();
  if (thread == 5) StoreShared<90>(0, 1);
  rt().barrier(At<91>());
  if (thread != 5) LoadShared<92>(0);
  if (thread == 5) rt().async_copy(At<93>(), rt().shared_memory(), Parameter<const int32_t*>(p, 0), 4, 4);
}

void outside_shared(Parameters) { StoreShared<60>(64 + rt().thread_id(), 1); }

// out[at + thread] = 1.
void store_at(Parameters p) { Store<70>(Parameter<int32_t*>(p, 0) + Parameter<int64_t>(p, 1) + rt().thread_id(), 1); }

void early_exit(Parameters) {
  if (rt().thread_id() == 40) return;
  rt().barrier(At<80>());
}

void two_barriers(Parameters) {
  if (rt().thread_id() < 32) {
    rt().barrier(At<81>());
  } else {
    rt().barrier(At<82>());
  }
}

// Half of a warp waits in the warp, the others for all.
void warp_against_all(Parameters) {
  if (rt().thread_id() % 32 < 16) {
    rt().warp_barrier(At<83>());
  } else {
    rt().barrier(At<84>());
  }
}

void shuffle_from(Parameters p) { rt().shuffle(At<85>(), 1, Parameter<uint32_t>(p, 0)); }

// Program 0 never sees what it waits for.
void wait_forever(Parameters p) {
  while (Load<90>(Parameter<const int32_t*>(p, 0)) == 0) {
  }
}

void fail_in_program_3(Parameters) {
  rt().barrier(At<91>());
  if (Program() == 3 && rt().thread_id() == 2) rt().fail(At<92>(), "index out of range");
  rt().barrier(At<93>());
}

void print_thread(Parameters) { rt().print("thread %d says %s %.2f\n", rt().thread_id(), "hi", 0.5); }

// A deep stack in every thread, with a barrier at the bottom of it.
void use_stack(Parameters p) {
  volatile int32_t space[32 << 10];
  for (int i = 0; i < (32 << 10); ++i) space[i] = i;
  rt().barrier(At<94>());
  if (rt().thread_id() == 0) Store<95>(Parameter<int32_t*>(p, 0), space[32767] + 0);
}

// ---- of emulated devices: instructions that control flow keeps lanes away from ----

// Four numbers a thread:
//
// - the first lane's in a branch that lanes 8 to 15 of the warp take (-1 elsewhere)
// - the turn in which the thread leaves a loop, whose lanes of one eighth leave together
// - the first lane's after the branch and the loop
// - the first lane's after a barrier
void divergent_lanes(Parameters p) {
  const int32_t id = rt().thread_id(), eighth = id % 32 / 8;
  int32_t in_branch = -1, turn = 0;
  if (eighth == 1) in_branch = FirstLane<100>(id, 1);
  while (FirstLane<101>(eighth, 2) != eighth) ++turn;
  const int32_t after = FirstLane<102>(id, 3);
  rt().barrier(At<103>());
  const int32_t last = FirstLane<104>(id, 4);
  for (auto [i, value] : {std::pair<int, int32_t>{0, in_branch}, {1, turn}, {2, after}, {3, last}})
    Store<105>(Parameter<int32_t*>(p, 0) + 4 * id + i, value);
}

// Lanes wait for those that never come where all must take part.
void matrix_of_some_lanes(Parameters) {
  if (rt().thread_id() % 32 == 5) return;
  const uint64_t in[41] = {0};
  uint64_t out[8];
  rt().execute(At<106>(), "amdgcn:wmma.f32.16x16x16.f16 gfx1100 8x32 : 16x16 16x16 8x32", in, out);
}

// Each thread's word of `in` goes to shared memory by an instruction of the wave. It is read after a wait that leaves
// parameter 2 loads in flight.
void load_to_shared(Parameters p) {
  const int32_t id = rt().thread_id();
  int32_t* shared = static_cast<int32_t*>(rt().shared_memory());
  for (uint64_t i : {0, 1}) {
    const uint64_t in[6] = {reinterpret_cast<uint64_t>(Parameter<int32_t*>(p, 0) + 64 * i + id),
                            reinterpret_cast<uint64_t>(shared + 64 * i + id / 32 * 32),
                            4,
                            0,
                            0,
                            i};
    // The second load is of even lanes alone; the wave counts it for all.
    if (i == 0 || id % 2 == 0)
      rt().execute(At<107>(), "amdgcn:load.to.lds gfx1030 : 1x64 1x64 1x32 1x32 1x32", in, nullptr);
  }
  const uint64_t wait[2] = {static_cast<uint64_t>(Parameter<int32_t>(p, 2)), 2};
  rt().execute(At<108>(), "amdgcn:s.waitcnt gfx1030 : 1x32", wait, nullptr);
  rt().barrier(At<109>());
  for (int i : {0, 1}) Store<110>(Parameter<int32_t*>(p, 1) + 64 * i + id, LoadShared<111>(64 * i + (id ^ 1)));
}

// ---- of workers/measure: kernels that all say they compute out[i] = 3 * i for i < 64 ----

void triple(Parameters p) { Store<1>(Parameter<int32_t*>(p, 0) + rt().thread_id(), 3 * rt().thread_id()); }

void triple_slowly(Parameters p) {
  for (int i = 0; i < 2000; ++i) rt().shuffle(At<1>(), 1, 0);
  triple(p);
}

void triple_wrong(Parameters p) { Store<1>(Parameter<int32_t*>(p, 0) + rt().thread_id(), 3 * rt().thread_id() + 1); }

// Relies on what its output held before.
void triple_added(Parameters p) {
  int32_t* out = Parameter<int32_t*>(p, 0) + rt().thread_id();
  Store<1>(out, Load<1>(out) + 3 * rt().thread_id());
}

void triple_not(Parameters) {}

void triple_crash(Parameters) { *static_cast<volatile int*>(nullptr) = 1; }

void triple_hang(Parameters) {
  for (volatile int forever = 1; forever != 0;) {
  }
}
}
