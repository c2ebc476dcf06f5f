// SPDX-License-Identifier: Apache-2.0
// What lowering asks of a target: the instructions that differ between vendors.
#ifndef COMPILER_LOWERING_TARGET_OPS_H_
#define COMPILER_LOWERING_TARGET_OPS_H_

#include <optional>

#include "compiler/ir/tt_dialect.h"
#include "compiler/layout/shared_memory_shape.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Support/LogicalResult.h"

namespace tritond::compiler {

// A global memory access of `ptrs.size() == 1` address and `count` consecutive elements of LLVM type `element`
// (integer, float or pointer; at most 16 bytes in all).
struct MemoryAccess {
  mlir::Value ptr;  // !llvm.ptr<1>, aligned to the whole access
  mlir::Type element;
  int count = 1;
  mlir::Value predicate;  // i1; null: always
  tt::CacheModifier cache = tt::CacheModifier::kNone;
  tt::EvictionPolicy evict = tt::EvictionPolicy::kNormal;
  bool is_volatile = false;
};

// Where an asynchronous copy puts what it reads.
struct SharedDestination {
  mlir::Value ptr;   // !llvm.ptr<3>, aligned to the whole access
  mlir::Value mask;  // i1; null: always. Where it is false, zeros are written and nothing is read.
  // Lane i of every warp writes to the i-th place after that of lane 0, as wide as the access.
  bool lanes_in_order = false;
  bool beside_masked_loads = false;  // in a block with such loads, which take predicates
  mlir::Value bytes;  // i32: how many are read, zeros follow; null: all. The mask is part of it. See CopiesBeginnings.
};

struct AtomicAccess {
  mlir::Value ptr;        // !llvm.ptr<1>
  mlir::Value predicate;  // i1; null: always. The result is undefined where it is false.
  tt::MemSemantic semantic = tt::MemSemantic::kAcqRel;
  tt::MemSyncScope scope = tt::MemSyncScope::kGpu;
  bool result_is_used = true;  // if not, any result will do
};

// The place that a device assertion names. Strings are not empty; the line counts from 1, 0 where unknown.
struct AssertSite {
  llvm::StringRef message, file, function;
  int line = 0;
};

// A source of TargetOps::MoveLanes: it does not matter which lane.
inline constexpr int kAnyLane = -1;

// Rows and columns of elements in a tile.
using ElementList = llvm::ArrayRef<std::pair<int, int>>;

// An instruction by which the lanes of a warp together compute c += a * b. The tiles of a, b and c have m x k, k x n
// and m x n elements.
struct MatrixInstruction {
  int m = 0, n = 0, k = 0;
  // The elements that lane 0 gives, in the order in which MultiplyMatrices takes them.
  llvm::SmallVector<std::pair<int, int>> a, b, c;
  mlir::FloatType float_a, float_b;  // the operands' types (tf32: f32 rounded so); null: signed integers of 8 bits
  bool adds_to_f16 = false;          // accumulators are f16, not the type of DotAccumulatorType
};

// One for microscaled operands. Elements of a and b are bytes; two of e2m1 along K are one.
struct ScaledInstruction {
  MatrixInstruction tile;  // m, n and k count elements, the lists of a and b bytes
  int group = 0;           // elements along K that have one scale; lane 0 gives the scale of its tile's first group
  tt::ScaleDotElemType a = tt::ScaleDotElemType::kE4M3, b = tt::ScaleDotElemType::kE4M3;
};

// A scale: byte `byte` of an i32; null: it is 1.
struct ScaleByte {
  mlir::Value word;
  int byte = 0;
};

class FunctionLowering;
class LinearLayout;
class LoweringTable;
struct SharedPlace;

// Emits LLVM dialect operations at the builder's insertion point. Stateless; one per target, used from any thread.
// Types: values are LLVM dialect types; bf16, f16, f32, f64 are floats, 8-bit floats are i8.
// A method that returns failure has emitted a diagnostic at `loc`.
class TargetOps {
 public:
  virtual ~TargetOps() = default;

  // How operations are lowered that only this target has; null: there are none.
  virtual const LoweringTable* OwnLowerings() const { return nullptr; }

  // Bytes that a kernel's parameter may have which is passed by value (tt.by_value); 0: there are none.
  virtual int64_t MaxByValueBytes() const { return 0; }

  // Threads of a warp, a power of two.
  virtual int WarpSize() const = 0;

  // i32: this thread in its block (0 … warps x WarpSize - 1); the program's index and the grid's size along `axis`.
  virtual mlir::Value ThreadId(mlir::OpBuilder& b, mlir::Location loc) const = 0;
  virtual mlir::Value ProgramId(mlir::OpBuilder& b, mlir::Location loc, tt::ProgramDim axis) const = 0;
  virtual mlir::Value NumPrograms(mlir::OpBuilder& b, mlir::Location loc, tt::ProgramDim axis) const = 0;

  // Whether a program may be a cluster of blocks.
  virtual bool HasClusters() const { return false; }
  // i32: the number of this block in its cluster.
  virtual mlir::Value BlockInCluster(mlir::OpBuilder& b, mlir::Location loc) const { return {}; }
  // All threads of its blocks wait; global memory is then visible among them.
  virtual void ClusterBarrier(mlir::OpBuilder& b, mlir::Location loc) const {}

  // All threads of the block (of the warp) wait; shared and global memory is then visible among them.
  virtual void Barrier(mlir::OpBuilder& b, mlir::Location loc) const = 0;
  // Barrier where shared memory alone has to be visible: accesses to global memory may still be under way.
  virtual void SharedBarrier(mlir::OpBuilder& b, mlir::Location loc) const { Barrier(b, loc); }
  virtual void WarpBarrier(mlir::OpBuilder& b, mlir::Location loc) const = 0;
  // Barriers by number, at which some whole warps of the block wait. NumPartBarriers says how many there are. At a
  // PartBarrier, `threads` threads come to number `number` and wait as at Barrier. Both are constants.
  virtual int NumPartBarriers() const { return 0; }
  virtual void PartBarrier(mlir::OpBuilder& b, mlir::Location loc, int number, int threads) const {}
  // Warps that exchange registers together: they come to one place of the code.
  virtual int WarpsOfGroup() const { return 1; }
  // The threads of such warps had `from` registers each and now have `to`; waits for
  // others to give theirs. Nothing where warps cannot.
  virtual void ExchangeRegisters(mlir::OpBuilder& b, mlir::Location loc, int from, int to) const {}

  // The i32 of lane (own lane xor `mask`), or of lane `lane` (i32). All lanes take part.
  virtual mlir::Value ShuffleXor(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value, int mask) const = 0;
  virtual mlir::Value ShuffleIndex(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value,
                                   mlir::Value lane) const = 0;
  // The reduction of an i32 over the whole warp in one instruction. Nullopt where there is none for `combiner` (an
  // arith operation such as arith.addi).
  virtual std::optional<mlir::Value> WarpReduce(mlir::OpBuilder& b, mlir::Location loc, mlir::Operation* combiner,
                                                mlir::Value value) const = 0;
  // Moves between lanes that are known when the kernel is compiled. Lane i gets the i32 of lane sources[i], or any i32
  // where that is kAnyLane. All lanes take part. How long what depends on such a move waits, by comparison with other
  // moves.
  virtual int MoveCost(llvm::ArrayRef<int> sources) const { return 1; }
  // Null, with nothing emitted, where ShuffleXor and ShuffleIndex are the only ways.
  virtual mlir::Value MoveLanes(mlir::OpBuilder& b, mlir::Location loc, mlir::Value value,
                                llvm::ArrayRef<int> sources) const {
    return {};
  }

  // Whether x op y and y op x of floats have the same bits for commutative operations, NaN and zeros included.
  virtual bool FloatsCommute() const { return true; }

  // `count` elements from `access.ptr`; where the predicate is false element i is others[i], undefined if `others` is
  // empty.
  virtual llvm::SmallVector<mlir::Value> Load(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                                              mlir::ValueRange others) const = 0;
  virtual void Store(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                     mlir::ValueRange values) const = 0;
  // Whether Fence and relaxed atomic operations do what ordered ones do.
  virtual bool HasFences() const { return false; }
  // A release: all of `scope` see what the thread has accessed before it before its atomic operations that follow. An
  // acquire: its atomic operations come before what it accesses then. `predicate`: i1, in which threads; null: all.
  virtual void Fence(mlir::OpBuilder& b, mlir::Location loc, bool releases, tt::MemSyncScope scope,
                     mlir::Value predicate) const {}
  // The value before. Failure: no such operation on this type.
  virtual mlir::FailureOr<mlir::Value> AtomicRmw(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                                 tt::RmwOp op, mlir::Value value) const = 0;
  // Float additions to `values.size()` neighbours in memory at once: the values before. Each is atomic by itself. At
  // most as many as MaxAtomicAdds says, a power of two; access.ptr is aligned to all of them.
  virtual int MaxAtomicAdds(mlir::Type element) const { return 1; }
  virtual mlir::FailureOr<llvm::SmallVector<mlir::Value>> AtomicAdds(mlir::OpBuilder& b, mlir::Location loc,
                                                                     const AtomicAccess& access,
                                                                     mlir::ValueRange values) const {
    return mlir::emitError(loc, "the target adds to one element at a time");
  }
  virtual mlir::FailureOr<mlir::Value> AtomicCas(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                                 mlir::Value compare, mlir::Value value) const = 0;
  // The value of integer `type`, now. By default an atomic that changes nothing.
  virtual mlir::FailureOr<mlir::Value> AtomicLoad(mlir::OpBuilder& b, mlir::Location loc, const AtomicAccess& access,
                                                  mlir::Type type) const {
    return AtomicRmw(b, loc, access, tt::RmwOp::kOr, mlir::LLVM::ZeroOp::create(b, loc, type));
  }
  // A clock's nanoseconds since some fixed time, i64.
  virtual mlir::FailureOr<mlir::Value> Nanoseconds(mlir::OpBuilder& b, mlir::Location loc) const {
    return mlir::emitError(loc, "the target has no clock");
  }

  // The scalar math function `op` ("math.exp", "math.erf", …, also "arith.divf" for the fast f32 division,
  // "tt.precise_sqrt", "tt.precise_divf") of f32 or f64 operands. Failure: the target has no such function.
  virtual mlir::FailureOr<mlir::Value> Math(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef op,
                                            mlir::ValueRange args) const = 0;
  // A call of `symbol` from the target's device library.
  virtual mlir::FailureOr<mlir::Value> CallExtern(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef symbol,
                                                  mlir::Type result, mlir::ValueRange args) const = 0;
  // The upper half of the product of two integers; null: lowering extends them to twice their width.
  virtual mlir::FailureOr<mlir::Value> MultiplyHigh(mlir::OpBuilder& b, mlir::Location loc, mlir::Value x,
                                                    mlir::Value y, bool is_signed) const {
    return mlir::Value();
  }
  // Float conversions that the target has instructions for: `values` of format `from` (MLIR float type) to `to`, both
  // as LLVM values. Empty when the target has none, and lowering shall convert in integer arithmetic.
  virtual llvm::SmallVector<mlir::Value> ConvertFloat(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType from,
                                                      mlir::FloatType to, tt::RoundingMode rounding,
                                                      mlir::ValueRange values) const = 0;
  // The e2m1 floats of `words` (i32), eight a word, the lowest bits first, as `to` (f16, bf16 or f32); empty as above.
  virtual llvm::SmallVector<mlir::Value> UnpackFp4(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType to,
                                                   mlir::ValueRange words) const {
    return {};
  }
  // Integers of 8 bits as `to`; empty: by LLVM's operations. `in_words`: the bytes lie in words as they are.
  virtual llvm::SmallVector<mlir::Value> ConvertBytes(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType to,
                                                      bool is_signed, bool in_words, mlir::ValueRange values) const {
    return {};
  }
  // Integers of 32 bits as `to`, rounded once, infinite beyond its range; empty: by LLVM's operations.
  virtual llvm::SmallVector<mlir::Value> ConvertWords(mlir::OpBuilder& b, mlir::Location loc, mlir::FloatType to,
                                                      bool is_signed, mlir::ValueRange values) const {
    return {};
  }
  // Inline assembly: operands in registers, results as a struct or a single value of `result`.
  virtual mlir::FailureOr<mlir::Value> InlineAsm(mlir::OpBuilder& b, mlir::Location loc, mlir::Type result,
                                                 mlir::ValueRange args, llvm::StringRef text,
                                                 llvm::StringRef constraints, bool has_side_effects) const = 0;

  // The matrix instruction for the element types of the dot's operands that the encoding of its result is made for.
  // Nullopt when the encoding is not for matrix instructions, or the target has none such.
  virtual std::optional<MatrixInstruction> FindMatrixInstruction(tt::DotOp dot) const { return std::nullopt; }
  // One instruction: the new elements of c, those of the instruction's list. 8-bit floats are i8; accumulators are f32,
  // f64 or i32, or f16 where the instruction says so.
  virtual mlir::FailureOr<llvm::SmallVector<mlir::Value>> MultiplyMatrices(mlir::OpBuilder& b, mlir::Location loc,
                                                                           const MatrixInstruction& instruction,
                                                                           mlir::ValueRange a_elements,
                                                                           mlir::ValueRange b_elements,
                                                                           mlir::ValueRange c_elements) const {
    return mlir::emitError(loc, "the target has no matrix instruction");
  }

  // As above, for microscaled operands. Each lane gives a scale of a and one of b; their layouts say of what.
  virtual std::optional<ScaledInstruction> FindScaledInstruction(tt::DotScaledOp dot) const { return std::nullopt; }
  virtual mlir::FailureOr<llvm::SmallVector<mlir::Value>> MultiplyScaled(
      mlir::OpBuilder& b, mlir::Location loc, const ScaledInstruction& instruction, mlir::ValueRange a_bytes,
      mlir::ValueRange b_bytes, mlir::ValueRange c_elements, ScaleByte a_scale, ScaleByte b_scale) const {
    return mlir::emitError(loc, "the target has no matrix instruction with scales");
  }

  // Whether a load may read all bytes of an aligned word of global memory of which one byte may be read.
  virtual bool ReadsWholeWords() const { return false; }

  // Starts a copy of an access's elements to shared memory, in threads where access.predicate holds. The copy has ended
  // after AsyncWaitGroup. False, with nothing emitted, when the target has no such copy.
  virtual bool AsyncCopy(mlir::OpBuilder& b, mlir::Location loc, const MemoryAccess& access,
                         const SharedDestination& to) const {
    return false;
  }
  // Whether such copies may read less than they write.
  virtual bool CopiesBeginnings() const { return false; }
  // The copies that the thread has started since the last commit become a group. AsyncWaitGroup waits until at most
  // `num` groups of the thread are in flight.
  virtual void AsyncCommitGroup(mlir::OpBuilder& b, mlir::Location loc) const {}
  virtual void AsyncWaitGroup(mlir::OpBuilder& b, mlir::Location loc, int num) const {}

  // How shared memory serves a warp, and what LoadTiles and StoreTiles move.
  virtual SharedMemoryShape SharedMemory() const { return {}; }

  // Reads registers from shared memory at `place` as LoadShared does, by instructions that load for a whole warp.
  // Nullopt, with nothing emitted, when the target has none that fits (register, lane, warp, block) -> offset. Likewise
  // when lanes do it sooner by accesses of `vec` elements. `type` is as it lies in memory.
  virtual std::optional<llvm::SmallVector<mlir::Value>> LoadTiles(FunctionLowering& f, const LinearLayout& to_offset,
                                                                  const SharedPlace& place, int vec,
                                                                  mlir::Type type) const {
    return std::nullopt;
  }

  // Writes registers to shared memory as StoreShared does, by instructions that store for a whole warp. False, with
  // nothing emitted, when the target has none that fits, or lanes do it sooner.
  virtual bool StoreTiles(FunctionLowering& f, const LinearLayout& to_offset, const SharedPlace& place, int vec,
                          llvm::ArrayRef<mlir::Value> values) const {
    return false;
  }

  // Waits for the grids that this one depends on; lets grids that depend on this one start. Nothing where launches do
  // not overlap.
  virtual void GridDependencyWait(mlir::OpBuilder& b, mlir::Location loc) const {}
  virtual void GridDependencyLaunchDependents(mlir::OpBuilder& b, mlir::Location loc) const {}

  // Traps with the message where `condition` (i1) is false.
  virtual void Assert(mlir::OpBuilder& b, mlir::Location loc, mlir::Value condition, const AssertSite& site) const = 0;
  // printf of `format` (without a final zero) and its arguments, promoted as C does.
  virtual mlir::LogicalResult Print(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef format,
                                    mlir::ValueRange args) const = 0;
};

}  // namespace tritond::compiler

#endif  // COMPILER_LOWERING_TARGET_OPS_H_
