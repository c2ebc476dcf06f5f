// SPDX-License-Identifier: Apache-2.0
// Rows of 8-bit and 16-bit elements may begin anywhere in a word. Loads of single elements move few bytes each, and
// the cache serves a limited number of requests. So a thread loads the words that its neighbours lie in, and shifts the
// elements into place:
//
//   bytes        |.. e0|e1 e2|e3 e4|e5 e6|e7 ..|    eight elements of 16 bits that begin in the middle of a word
//   loads        w0    w1    w2    w3    w4         five words in place of eight elements
//   fshr(w1, w0, 16) = e1 e0, fshr(w2, w1, 16) = e3 e2, …
//
// Elements that begin with a word need no word more, and the last one is not loaded. Every word that is loaded has a
// byte of an element. So no load touches memory with which no element shares a word. Loads with masks are left alone:
// to find the words that have an element inside takes longer than to load the elements.
#include "compiler/lowering/word_loads.h"

#include <map>

#include "llvm/ADT/bit.h"

namespace tritond::compiler {
namespace {

using mlir::Value;
namespace LLVM = mlir::LLVM;

constexpr int kWordBytes = 4, kAccessBytes = 16;

// Where a run of neighbours begins within its word, `low` bytes after it. Groups of a run are whole words apart.
struct Place {
  Value back;       // i64: -low
  Value shift;      // i32: low in bits
  Value is_inside;  // i1: low is not 0
};

Place PlaceOf(Emitter& e, Value first) {
  Value address = LLVM::PtrToIntOp::create(e.b, e.loc, e.b.getI64Type(), first);
  Value low = e.And(e.Trunc(address, 32), e.Int(kWordBytes - 1));
  Value back = LLVM::SExtOp::create(e.b, e.loc, e.b.getI64Type(), e.Sub(e.Int(0), low));
  return {back, e.Shl(low, 3), e.Compare(LLVM::ICmpPredicate::ne, low, e.Int(0))};
}

Value LoadWord(FunctionLowering& f, tt::LoadOp op, Value begin, int index, Value predicate) {
  MemoryAccess access;
  access.ptr = f.e.Gep(begin, f.e.b.getI8Type(), f.e.Int(int64_t{index} * kWordBytes, 64));
  access.predicate = predicate;
  access.element = f.e.b.getI32Type();
  access.cache = op.getCache();
  access.evict = op.getEvict();
  return f.target.Load(f.e.b, f.e.loc, access, {})[0];
}

}  // namespace

std::optional<WordGroups> FindWordGroups(FunctionLowering& f, tt::LoadOp op, mlir::Type element) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(op.getPtr().getType());
  const int bytes = static_cast<int>(f.e.IntOf(element).getWidth() / 8);
  if (!f.target.ReadsWholeWords() || !type || op.getIsVolatile() || op.getMask() || bytes >= kWordBytes)
    return std::nullopt;
  const LinearLayout& layout = f.LayoutOf(type);
  const AxisInfo info = f.axis.Get(op.getPtr());
  auto names = ttg::DimNames(type.getRank());
  for (int dim = 0; dim < type.getRank(); ++dim) {
    if (f.axis.PointerContiguity(op.getPtr(), dim) * bytes >= kWordBytes) return std::nullopt;
    const auto run =
        static_cast<int>(llvm::bit_floor<uint64_t>(std::min<int64_t>(info.dims[dim].contiguity, type.getDimSize(dim))));
    const int vec = std::min({run, layout.NumConsecutive("register", names[dim]), kAccessBytes / bytes});
    if (vec * bytes < kWordBytes || vec * bytes / kWordBytes + 1 >= vec) continue;
    return WordGroups{vec, static_cast<unsigned>(dim), run};
  }
  return std::nullopt;
}

Values LoadWords(FunctionLowering& f, tt::LoadOp op, mlir::Type element, const WordGroups& groups) {
  Emitter& e = f.e;
  ValueList ptrs = f.Get(op.getPtr());
  const int bits = static_cast<int>(e.IntOf(element).getWidth()), per_word = 8 * kWordBytes / bits;
  const int words = groups.vec / per_word;
  const LinearLayout& layout = f.LayoutOf(llvm::cast<mlir::RankedTensorType>(op.getPtr().getType()));
  std::map<Coordinates, Place> places;
  Values results(ptrs.size());
  for (int first = 0; first < static_cast<int>(ptrs.size()); first += groups.vec) {
    Coordinates run = layout.ApplyNamed({{"register", first}});
    run[groups.dim] /= groups.run;
    auto [found, is_new] = places.try_emplace(run);
    if (is_new) found->second = PlaceOf(e, ptrs[first]);
    const Place& place = found->second;
    const Value begin = e.Gep(ptrs[first], e.b.getI8Type(), place.back);
    Values loaded;
    for (int i = 0; i <= words; ++i) loaded.push_back(LoadWord(f, op, begin, i, i < words ? Value() : place.is_inside));
    for (int i = 0; i < words; ++i) {
      Value word = LLVM::FshrOp::create(e.b, e.loc, e.b.getI32Type(), loaded[i + 1], loaded[i], place.shift);
      for (int j = 0; j < per_word; ++j)
        results[first + i * per_word + j] = e.FromInt(e.Trunc(e.LShr(word, j * bits), bits), element);
    }
  }
  return results;
}

}  // namespace tritond::compiler
