// SPDX-License-Identifier: Apache-2.0
// Rows of 8-bit and 16-bit elements may begin anywhere in a word. Loads of single elements move few bytes each, and
// the cache and the memory behind it serve a limited number of requests. So a thread loads the words that its
// neighbours lie in, and shifts the elements into place:
//
//   bytes        |.. e0|e1 e2|e3 e4|e5 e6|e7 ..|    eight elements of 16 bits that begin in the middle of a word
//   loads        w0    w1    w2    w3    w4         five words in place of eight elements
//   fshr(w1, w0, 16) = e1 e0, fshr(w2, w1, 16) = e3 e2, …
//
// Elements that begin with a word need no word more: the last load reads the same word as the one before it. Every word
// has a byte of the group, so no load touches memory that a load of single elements could not share a word with.
#include "compiler/lowering/word_loads.h"

#include <map>

#include "compiler/ir/operands.h"
#include "llvm/ADT/bit.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace tritond::compiler {
namespace {

using mlir::Value;
namespace LLVM = mlir::LLVM;

constexpr int kWordBytes = 4, kAccessBytes = 16;

// A tensor's dimension along which elements are neighbours, in runs of `length`.
struct Runs {
  int dim = 0, length = 1;
};

std::optional<Runs> RunsOf(FunctionLowering& f, Value pointers, int vec) {
  auto type = llvm::cast<mlir::RankedTensorType>(pointers.getType());
  const LinearLayout& layout = f.LayoutOf(type);
  const AxisInfo info = f.axis.Get(pointers);
  auto names = ttg::DimNames(type.getRank());
  for (int dim = 0; dim < type.getRank(); ++dim) {
    const int64_t length =
        llvm::bit_floor<uint64_t>(std::min<int64_t>(info.dims[dim].contiguity, type.getDimSize(dim)));
    if (length >= vec && layout.NumConsecutive("register", names[dim]) >= vec)
      return Runs{dim, static_cast<int>(length)};
  }
  return std::nullopt;
}

// Where a run begins within its word, and what follows from that. Groups of a run are whole words apart.
struct Place {
  Value back;   // i64: minus the bytes between the word's beginning and the first element
  Value shift;  // i32: the same in bits
  Value more;   // i64: kWordBytes where a group ends in a further word, else 0
};

Place PlaceOf(Emitter& e, Value first) {
  Value low = e.And(LLVM::PtrToIntOp::create(e.b, e.loc, e.b.getI64Type(), first), e.Int(kWordBytes - 1, 64));
  Value more = e.And(LLVM::AddOp::create(e.b, e.loc, low, e.Int(kWordBytes - 1, 64)), e.Int(kWordBytes, 64));
  Value back = LLVM::SubOp::create(e.b, e.loc, e.Int(0, 64), low);
  return {back, e.Shl(e.Trunc(low, 32), 3), more};
}

Value After(Emitter& e, Value pointer, Value bytes) { return e.Gep(pointer, e.b.getI8Type(), bytes); }

// The value of elements that are left out, if it is the same for all; zero where there is none.
mlir::TypedAttr Fill(tt::LoadOp op) { return op.getOther() ? SplatConstant(op.getOther()) : mlir::TypedAttr(); }

bool FillsAlike(tt::LoadOp op) {
  return !op.getMask() || !op.getOther() || op.getOther().getDefiningOp<mlir::ub::PoisonOp>() || Fill(op);
}

// A word of elements that are left out.
Value FillWord(FunctionLowering& f, tt::LoadOp op, mlir::Type element) {
  Emitter& e = f.e;
  if (!Fill(op)) return e.Int(0);
  const unsigned bits = e.IntOf(element).getWidth();
  Value word = e.ZExt(e.ToInt(f.Get(op.getOther())[0]), 32);
  for (unsigned filled = bits; filled < 32; filled *= 2) word = e.Or(word, e.Shl(word, static_cast<int>(filled)));
  return word;
}

MemoryAccess WordOf(Emitter& e, tt::LoadOp op, Value ptr, Value predicate) {
  MemoryAccess access;
  access.ptr = ptr;
  access.element = e.b.getI32Type();
  access.predicate = predicate;
  access.cache = op.getCache();
  access.evict = op.getEvict();
  return access;
}

}  // namespace

std::optional<RegisterGroups> WordGroups(FunctionLowering& f, tt::LoadOp op, mlir::Type element,
                                         const RegisterGroups& aligned) {
  const int bytes = static_cast<int>(f.e.IntOf(element).getWidth() / 8);
  if (!f.target.ReadsWholeWords() || op.getIsVolatile()) return std::nullopt;
  if (bytes == 0 || aligned.vec * bytes >= kWordBytes || !llvm::isa<mlir::RankedTensorType>(op.getType()))
    return std::nullopt;
  if (!FillsAlike(op)) return std::nullopt;
  RegisterGroups groups = aligned;
  auto pays = [&](int vec) { return vec * bytes >= kWordBytes && vec * bytes / kWordBytes + 1 < vec; };
  for (int vec = kAccessBytes / bytes; pays(vec); vec /= 2)
    if (RunsOf(f, op.getPtr(), vec)) {
      groups.vec = vec;
      return groups;
    }
  return std::nullopt;
}

Values LoadWords(FunctionLowering& f, tt::LoadOp op, mlir::Type element, const RegisterGroups& groups,
                 ValueList masks) {
  Emitter& e = f.e;
  ValueList ptrs = f.Get(op.getPtr());
  const int bits = static_cast<int>(e.IntOf(element).getWidth()), per_word = 32 / bits;
  const int words = groups.vec / per_word;
  const Runs runs = *RunsOf(f, op.getPtr(), groups.vec);
  const LinearLayout& layout = f.LayoutOf(llvm::cast<mlir::RankedTensorType>(op.getPtr().getType()));
  Values fill;
  if (!masks.empty()) fill.push_back(FillWord(f, op, element));
  std::map<Coordinates, Place> places;
  Values results(ptrs.size());
  for (int first = 0; first < static_cast<int>(ptrs.size()); first += groups.vec) {
    if (const int original = first & ~groups.copies; original != first) {
      for (int i = 0; i < groups.vec; ++i) results[first + i] = results[original + i];
      continue;
    }
    Coordinates run = layout.ApplyNamed({{"register", first}});
    run[runs.dim] /= runs.length;
    auto [place, is_new] = places.try_emplace(run);
    if (is_new) place->second = PlaceOf(e, ptrs[first]);
    const Value begin = After(e, ptrs[first], place->second.back);
    const Value last = After(e, begin, place->second.more);
    Values loaded;
    for (int i = 0; i <= words; ++i) {
      Value ptr = i < words ? After(e, begin, e.Int(i * kWordBytes, 64))
                            : After(e, last, e.Int((i - 1) * kWordBytes, 64));
      MemoryAccess access = WordOf(e, op, ptr, masks.empty() ? Value() : masks[first]);
      loaded.push_back(f.target.Load(e.b, e.loc, access, fill)[0]);
    }
    for (int i = 0; i < words; ++i) {
      Value word = LLVM::FshrOp::create(e.b, e.loc, e.b.getI32Type(), loaded[i + 1], loaded[i], place->second.shift);
      for (int j = 0; j < per_word; ++j)
        results[first + i * per_word + j] = e.FromInt(e.Trunc(e.LShr(word, j * bits), bits), element);
    }
  }
  return results;
}

}  // namespace tritond::compiler
