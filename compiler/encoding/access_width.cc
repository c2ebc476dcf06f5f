// SPDX-License-Identifier: Apache-2.0
#include "compiler/encoding/access_width.h"

#include <algorithm>

#include "compiler/analysis/computed_values.h"
#include "compiler/analysis/mask_share.h"
#include "compiler/analysis/pointer_roots.h"
#include "compiler/ir/tt_dialect.h"
#include "llvm/ADT/MapVector.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace tritond::compiler {
namespace {

constexpr int kWordBytes = 4;
constexpr double kIterations = 8;  // of a loop, where nothing says how many

// Of elements that masks leave out nothing is moved.
double TimesRun(mlir::Operation* op) {
  mlir::Value mask;
  if (auto load = llvm::dyn_cast<tt::LoadOp>(op)) mask = load.getMask();
  if (auto store = llvm::dyn_cast<tt::StoreOp>(op)) mask = store.getMask();
  double times = mask ? MaskShare(mask) : 1;
  for (auto loop = op->getParentOfType<mlir::LoopLikeOpInterface>(); loop;
       loop = loop->getParentOfType<mlir::LoopLikeOpInterface>())
    times *= kIterations;
  return times;
}

// What an access reads or writes: an argument of the kernel if there is one alone, else the pointer itself.
mlir::Value MemoryOf(mlir::Value pointer) {
  std::optional<PointerRoots> roots = RootsOfPointer(pointer);
  return roots && roots->size() == 1 ? *roots->begin() : pointer;
}

}  // namespace

int64_t WideAccess::InstructionsFor(int64_t neighbours) const {
  const int64_t one_by_one = std::max<int64_t>(1, neighbours / width);
  return by_words ? std::min(neighbours, neighbours * bytes / int64_t{kWordBytes} + 1) : one_by_one;
}

int64_t CheapestWidth(llvm::ArrayRef<WideAccess> accesses, int64_t most, double cache_ratio) {
  if (cache_ratio <= 0 || most < 2) return most;
  // By what is accessed, and whether it is written: stores go to memory, too.
  llvm::MapVector<std::pair<mlir::Value, int>, double> of_memory;
  for (const WideAccess& access : accesses) {
    const int writes = access.op->getNumResults() == 0;
    double& bytes = of_memory[{MemoryOf(access.pointer), writes}];
    bytes = std::max(bytes, static_cast<double>(access.bytes) * TimesRun(access.op));
  }
  llvm::SmallVector<std::pair<WideAccess, double>> near;
  for (const WideAccess& access : accesses)
    if (IsComputed(access.pointer)) near.push_back({access, TimesRun(access.op)});
  double memory = 0;
  for (const auto& [what, bytes] : of_memory) memory += bytes;
  auto time = [&](int64_t width) {
    double cache = 0;
    for (const auto& [access, times] : near)
      cache += std::max<double>(static_cast<double>(width * access.bytes) * access.step, kWordBytes) *
               static_cast<double>(access.InstructionsFor(width)) / static_cast<double>(width) * times;
    return std::max(cache, memory * cache_ratio);
  };
  auto pays = [&](int64_t width) {
    return llvm::all_of(accesses, [&](const WideAccess& access) {
      return !access.by_words || width == 1 || access.InstructionsFor(width) < width;
    });
  };
  int64_t best = most;
  while (!pays(best)) best /= 2;
  for (int64_t width = best / 2; width > 0; width /= 2)
    if (pays(width) && time(width) < time(best)) best = width;
  return best;
}

}  // namespace tritond::compiler
