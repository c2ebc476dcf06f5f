// SPDX-License-Identifier: Apache-2.0
// What reductions of tensor maps do to an element (PTX ISA, "cp.reduce.async.bulk.tensor").
#ifndef WORKERS_DEVICE_EMULATED_TENSOR_REDUCTION_H_
#define WORKERS_DEVICE_EMULATED_TENSOR_REDUCTION_H_

#include <cstdint>
#include <string>

namespace tritond::workers::emulated {

// Whether elements of the type, by the numbers of "tensormap.replace .elemtype", can be combined so: "add", "min",
// "max", and of integers "and", "or", "xor".
bool CanCombine(const std::string& operation, uint32_t type);

// Combines the element at `to` with that at `from`, atomically. CanCombine holds.
void CombineInMemory(const std::string& operation, uint32_t type, char* to, const char* from);

}  // namespace tritond::workers::emulated

#endif  // WORKERS_DEVICE_EMULATED_TENSOR_REDUCTION_H_
