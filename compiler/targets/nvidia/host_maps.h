// SPDX-License-Identifier: Apache-2.0
// Tensor maps that the launcher makes of a kernel's descriptors, so that the kernel need not.
#ifndef COMPILER_TARGETS_NVIDIA_HOST_MAPS_H_
#define COMPILER_TARGETS_NVIDIA_HOST_MAPS_H_

#include <functional>
#include <memory>

#include "compiler/ir/tt_dialect.h"
#include "mlir/Pass/PassManager.h"

namespace tritond::compiler {

// Of the first part of a descriptor, a bool. True: passes go by it that the launcher makes the map. False: it cannot.
inline constexpr llvm::StringLiteral kHostMapAttr = "ttng.host_map";

// A descriptor that a kernel takes, as its parts: base, sizes, strides, flags.
struct DescriptorArgument {
  tt::FuncOp func;
  unsigned first = 0, rank = 0, flags = 0;

  tt::FuncOp Func() const { return func; }
  mlir::BlockArgument Base() const { return At(0); }
  mlir::BlockArgument Size(unsigned dim) const { return At(1 + dim); }
  mlir::BlockArgument Stride(unsigned dim) const { return At(1 + rank + dim); }
  mlir::BlockArgument Flag(unsigned i) const { return At(1 + 2 * rank + i); }
  unsigned Parts() const { return 1 + 2 * rank + flags; }
  mlir::BoolAttr HostMap() const { return Func().getArgAttrOfType<mlir::BoolAttr>(first, kHostMapAttr); }
  void SetHostMap(bool is_made) const {
    Func().setArgAttr(first, kHostMapAttr, mlir::BoolAttr::get(Func().getContext(), is_made));
  }

 private:
  mlir::BlockArgument At(unsigned part) const { return Func().getArgument(first + part); }
};

// Those of kernels whose arguments are marked (tt.descriptor_parts), in order.
llvm::SmallVector<DescriptorArgument> DescriptorArgumentsOf(mlir::ModuleOp module);

// Whether `base` is that of a descriptor of which the launcher is taken to make a map.
bool HasHostMap(mlir::Value base);

// Runs `passes` with maps that the launcher makes, where that turns out to be right.
std::unique_ptr<mlir::Pass> CreateTryHostMapsPass(std::function<void(mlir::OpPassManager&)> passes);

}  // namespace tritond::compiler

#endif  // COMPILER_TARGETS_NVIDIA_HOST_MAPS_H_
