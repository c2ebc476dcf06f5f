// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_TARGETS_ADDRESS_TERMS_H_
#define COMPILER_TARGETS_ADDRESS_TERMS_H_

#include <map>
#include <optional>

#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Instructions.h"

namespace tritond::compiler {

// An address as a sum: of a pointer, of values that are as wide as an address, each multiplied by a number, and of a
// number. Numbers are modulo two to the bits of an address.
struct Address {
  using Terms = std::map<const llvm::SCEV*, uint64_t>;  // factors, none of which is 0

  llvm::Value* pointer = nullptr;
  Terms terms;
  uint64_t number = 0;  // bytes
};

// Nothing where an index has more bits than an address. A sum of 32 bits is extended term by term where it cannot
// overflow, whatever its operands; what counts iterations from a constant on has a range. What the IR says of overflow
// (nsw, nuw) is no such proof: an address that nobody uses may overflow, and others would be made of it.
std::optional<Address> TermsOf(llvm::GetElementPtrInst& gep, llvm::ScalarEvolution& evolution);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_ADDRESS_TERMS_H_
