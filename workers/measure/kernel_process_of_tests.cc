// SPDX-License-Identifier: Apache-2.0
// The process that runs kernels, as a program of its own: kernel_process_of_tests DEVICE DESCRIPTOR.
#include <cstdlib>

#include "workers/measure/kernel_process.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  return tritond::workers::RunKernelProcess(argv[1], std::atoi(argv[2]));
}
