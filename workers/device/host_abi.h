/* SPDX-License-Identifier: Apache-2.0 */
/* What the code of the compiler's `host` target and the host device promise each other. C, since one side of it is
 * machine code: the compiler does not include this file, it emits code for it.
 *
 * A compiled kernel is an ELF shared object (x86-64) that exports
 *
 *   const uint32_t tritond_host_abi;                             TRITOND_HOST_ABI_VERSION of the compiler
 *   const TritondHostRuntime* tritond_host_runtime;              set by the device before the first launch
 *   void NAME(void* const* parameters);                          each kernel: one call is one thread of one program
 *
 * parameters[i] points to the value of the i-th kernel parameter, as for cuLaunchKernel: after the kernel's own come
 * the global and profile scratch pointers as the launch ABI says.
 *
 * The object needs the C library and libm, nothing else, and carries unwind tables: a runtime function may unwind the
 * thread that called it. It keeps no state of its own, so that programs may run at the same time on several system
 * threads; all threads of one program run on one system thread, as fibers that change only inside the runtime
 * functions marked (collective) below.
 *
 * Code of the `emulated` targets has 32-bit addresses of shared memory, too: on their devices it lies below 4 GiB, in a
 * window that starts at a multiple of 256 KiB.
 *
 * The code calls check_access before each access to global and shared memory, with the bytes that the access
 * touches, and does not make accesses that a mask forbids. An access of 1, 2, 4, 8 or 16 bytes must be aligned to its
 * size, as on a GPU: check_access is where one that is not is found. Atomic operations are machine instructions. */
#ifndef WORKERS_DEVICE_HOST_ABI_H_
#define WORKERS_DEVICE_HOST_ABI_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRITOND_HOST_ABI_VERSION 3u

/* A place in the kernel's source, or in its IR when it names no source. Constant data of the object. */
typedef struct TritondHostSite {
  const char* file;
  const char* function;
  int32_t line;   /* from 1; 0: unknown */
  int32_t column; /* from 1; 0: unknown */
} TritondHostSite;

/* The kind of an access: one of the first three, plus the address space. */
enum {
  TRITOND_HOST_READ = 0,
  TRITOND_HOST_WRITE = 1,
  TRITOND_HOST_ATOMIC = 2, /* ordered among atomics, so no race with another atomic */
  TRITOND_HOST_SHARED = 4, /* flag: shared memory; without it, global memory */
  TRITOND_HOST_WORK_GROUP =
      32 /* flag: an atomic update of global memory, in the scope of the program's threads alone */
};

/* The functions that the code calls, all on behalf of the running thread. Those that find an error do not return. */
typedef struct TritondHostRuntime {
  uint32_t version;

  /* Constant in a thread: its index in the program; the program's index and the grid's size along axis 0, 1, 2.
     Along axis 3: which block of the program this is, and how many it has. */
  int32_t (*thread_id)(void);
  int32_t (*program_id)(int32_t axis);
  int32_t (*num_programs)(int32_t axis);
  /* The program's shared memory: ttg.shared bytes, aligned to 1024, with undefined contents when the program starts. */
  void* (*shared_memory)(void);

  /* (collective) Every thread of the program, or of the warp, waits for the others. */
  void (*barrier)(const TritondHostSite* site);
  void (*warp_barrier)(const TritondHostSite* site);
  /* (collective) Every thread of the warp gives `value` and gets that of `lane`, 0 to warp size - 1. */
  uint32_t (*shuffle)(const TritondHostSite* site, uint32_t value, uint32_t lane);

  /* `bytes` from `address` are about to be accessed as `kind` says. */
  void (*check_access)(const TritondHostSite* site, const void* address, uint64_t bytes, uint32_t kind);
  /* Ends the launch with `message`: a failed assertion, say. */
  void (*fail)(const TritondHostSite* site, const char* message);
  /* printf to the device's output. */
  void (*print)(const char* format, ...);

  /* Starts a copy of `read` bytes, at most `bytes`, from global to shared memory, where zeros follow up to `bytes`; of
   * 0 bytes, it does nothing. What is at `to` is undefined until a wait. The copies that the thread has started since
   * its last commit become a group; waits until at most `num` groups of the thread have not been copied. */
  void (*async_copy)(const TritondHostSite* site, void* to, const void* from, uint32_t bytes, uint32_t read);
  void (*async_commit)(void);
  void (*async_wait)(const TritondHostSite* site, uint32_t num);

  /* Executes the instruction `name` of an emulated GPU (emulated/instruction.h) with the operands `in`, a value a slot,
   * and puts results into `out`. (collective) when the instruction is one of the whole warp. */
  void (*execute)(const TritondHostSite* site, const char* name, const uint64_t* in, uint64_t* out);
} TritondHostRuntime;

#ifdef __cplusplus
}
#endif

#endif  // WORKERS_DEVICE_HOST_ABI_H_
