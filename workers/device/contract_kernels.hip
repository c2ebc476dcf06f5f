// SPDX-License-Identifier: Apache-2.0
// The kernels of DeviceContract (tests/support/device_contract.h), for AMD's GPUs.
#define KERNEL extern "C" __attribute__((global)) void
#define INLINE static __attribute__((device)) inline
#define SCRATCH char *g, char *p

INLINE int Group(int axis) {
  return axis == 0 ? __builtin_amdgcn_workgroup_id_x()
                   : axis == 1 ? __builtin_amdgcn_workgroup_id_y() : __builtin_amdgcn_workgroup_id_z();
}
INLINE int Thread() { return __builtin_amdgcn_workitem_id_x(); }
INLINE int Program() {
  const int x = __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x();
  const int y = __builtin_amdgcn_grid_size_y() / __builtin_amdgcn_workgroup_size_y();
  return (Group(2) * y + Group(1)) * x + Group(0);
}
INLINE void Barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

KERNEL vector_add(const float *a, const float *b, float *out, int n, SCRATCH) {
  const int i = Group(0) * 64 + Thread();
  if (i < n) out[i] = a[i] + b[i];
}

KERNEL count_programs(int *out, SCRATCH) {
  if (Thread() == 0) out[Program()] += Program() + 1;
}

KERNEL store_scalars(double *out, signed char a, short b, int c, long d, float e, double f, SCRATCH) {
  if (Thread() != 0) return;
  out[0] = a, out[1] = b, out[2] = c, out[3] = d, out[4] = e, out[5] = f;
}

KERNEL use_scratch(int *out, SCRATCH) {
  int *own = reinterpret_cast<int *>(g) + Program() * 16;
  own[Thread() % 16] = 100 * Program() + Thread() % 16;
  Barrier();
  if (Thread() == 0) out[Program()] = own[15];
}

extern __attribute__((shared)) int shared[];

KERNEL use_shared(int *out, SCRATCH) {
  shared[Thread()] = 100 * Program() + Thread();
  Barrier();
  out[Program() * 64 + Thread()] = shared[63 - Thread()];
}
