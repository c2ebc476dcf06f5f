// SPDX-License-Identifier: Apache-2.0
// The process that runs kernels, as a program of its own: kernel_process_of_tests [KIND=PATH]… DEVICE DESCRIPTOR.
#include "workers/measure/kernel_process.h"

int main(int argc, char** argv) { return tritond::workers::RunKernelProcess(absl::MakeSpan(argv + 1, argc - 1)); }
