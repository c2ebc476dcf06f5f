// SPDX-License-Identifier: Apache-2.0
// The kernels of DeviceContract (tests/support/device_contract.h), for devices that take SPIR-V.
#define SCRATCH global char *g, global char *p

int Program(void) {
  return (int)((get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0));
}

kernel void vector_add(global const float *a, global const float *b, global float *out, int n, SCRATCH) {
  int i = (int)(get_group_id(0) * 64 + get_local_id(0));
  if (i < n) out[i] = a[i] + b[i];
}

kernel void count_programs(global int *out, SCRATCH) {
  if (get_local_id(0) == 0) out[Program()] += Program() + 1;
}

kernel void store_scalars(global double *out, char a, short b, int c, long d, float e, double f, SCRATCH) {
  if (get_local_id(0) != 0) return;
  out[0] = a, out[1] = b, out[2] = c, out[3] = d, out[4] = e, out[5] = f;
}

kernel void use_scratch(global int *out, SCRATCH) {
  global int *own = (global int *)g + Program() * 16;
  int i = (int)get_local_id(0) % 16;
  own[i] = 100 * Program() + i;
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0) == 0) out[Program()] = own[15];
}

kernel void use_shared(global int *out, SCRATCH, local int *shared) {
  int i = (int)get_local_id(0);
  shared[i] = 100 * Program() + i;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[Program() * 64 + i] = shared[63 - i];
}
