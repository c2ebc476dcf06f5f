// SPDX-License-Identifier: Apache-2.0
#include "compiler/analysis/global_accesses.h"

#include "compiler/analysis/pointer_motion.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/ttg_dialect.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tritond::compiler {
namespace {

using mlir::RankedTensorType;
using mlir::Value;

int32_t EndedWarps(mlir::Operation* op) {
  auto function = op->getParentOfType<tt::FuncOp>();
  auto bits = function ? function->getAttrOfType<mlir::IntegerAttr>(kEndedWarpsAttr) : mlir::IntegerAttr();
  return bits ? static_cast<int32_t>(bits.getInt()) : 0;
}

// Scalars are in all threads.
bool HasCopies(Value pointer, int32_t ended_warps) {
  auto type = llvm::dyn_cast<RankedTensorType>(pointer.getType());
  if (!type) return true;
  const LinearLayout layout = ttg::ToLinearLayout(type);
  const Coordinates masks = layout.FreeVariableMasks();
  for (auto [dim, mask] : llvm::zip_equal(layout.InDims(), masks))
    if ((dim.name == "warp" ? mask & ~ended_warps : mask) != 0 && dim.name != "register") return true;
  return false;
}

bool HaveCommonRoot(const std::optional<PointerRoots>& a, const std::optional<PointerRoots>& b) {
  if (!a || !b) return !a && !b;
  return llvm::any_of(*a, [&](Value root) { return b->contains(root); });
}

}  // namespace

bool GlobalAccess::ConflictsWith(const GlobalAccess& other) const {
  if ((!writes && !other.writes) || (combines && combines == other.combines)) return false;
  // The first of the threads that hold copies of an element writes it; of scalars that is always the same thread.
  const bool is_scalar = !llvm::isa<RankedTensorType>(pointer.getType());
  const bool both_write = writes && other.writes;
  const bool moves = (sum && MeetsItself(*sum)) ||
                     ((is_gathered || other.is_gathered) && !(is_atomic && other.is_atomic)) ||
                     ((is_shuffled || other.is_shuffled) && !both_write) || (comes_back && !is_atomic);
  if (pointer == other.pointer && (both_write || !has_copies) && !moves) return false;
  if (both_write && is_scalar && !llvm::isa<RankedTensorType>(other.pointer.getType())) return false;
  return HaveCommonRoot(roots, other.roots) && !(sum && other.sum && AreApart(*sum, *other.sum));
}

std::optional<GlobalAccess> GlobalAccessOf(mlir::Operation* op) {
  GlobalAccess access;
  Value mask;
  llvm::TypeSwitch<mlir::Operation*>(op)
      .Case([&](tt::LoadOp load) {
        access.pointer = load.getPtr();
        mask = load.getMask();
      })
      .Case([&](ttg::AsyncCopyGlobalToLocalOp copy) {
        access.pointer = copy.getSrc();
        mask = copy.getMask();
      })
      .Case([&](tt::StoreOp store) {
        access.pointer = store.getPtr();
        mask = store.getMask();
        access.writes = true;
      })
      .Case<tt::AtomicRMWOp, tt::AtomicCASOp>([&](auto atomic) {
        access.pointer = atomic.getPtr();
        access.writes = access.is_atomic = true;
      });
  auto rmw = llvm::dyn_cast<tt::AtomicRMWOp>(op);
  if (rmw && rmw->use_empty() && rmw.getAtomicRmwOp() != tt::RmwOp::kXchg) access.combines = rmw.getAtomicRmwOp();
  if (!access.pointer) return std::nullopt;
  access.roots = RootsOfPointer(access.pointer);
  access.sum = SumOfPointer(access.pointer, mask);
  access.has_copies = HasCopies(access.pointer, EndedWarps(op));
  access.is_gathered = access.writes && IsGathered(access.pointer);
  access.is_shuffled = access.writes && MovesUnevenly(access.pointer);
  access.comes_back = access.is_shuffled && ComesBack(access.pointer);
  return access;
}

}  // namespace tritond::compiler
