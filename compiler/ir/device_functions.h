// SPDX-License-Identifier: Apache-2.0
// The names that vendors' device libraries give to the functions of C's <math.h>. Kernels call the library of the GPU
// that they were written for; a target that knows what a name computes can call its own.
#ifndef COMPILER_IR_DEVICE_FUNCTIONS_H_
#define COMPILER_IR_DEVICE_FUNCTIONS_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace tritond::compiler {

struct DeviceFunction {
  std::string name;  // C's name of the f64 function, or what stands for it where C has none: "erf", "rsqrt"
  int bits = 0;      // of the floats that it is for: 32, 64
};

// What `symbol` of CUDA's libdevice (__nv_erff) or of AMD's ocml (__ocml_erf_f32) computes. Nullopt: it is a function
// of neither, or one that has no counterpart elsewhere.
std::optional<DeviceFunction> ReadDeviceFunction(absl::string_view symbol);

// ocml's name of a function: "__ocml_erf_f32".
std::string OcmlName(const DeviceFunction& function);

}  // namespace tritond::compiler

#endif  // COMPILER_IR_DEVICE_FUNCTIONS_H_
