// SPDX-License-Identifier: Apache-2.0
// Gives each access to global memory an encoding under which neighbouring threads touch neighbouring addresses. A
// thread touches as many bytes at once as pointers and masks allow, up to 16.
//
//   %v = tt.load %p : tensor<1024x!tt.ptr<f16>, #blocked>          // one element a thread and instruction
// becomes
//   %q = ttg.convert_layout %p : … -> tensor<1024x!tt.ptr<f16>, #blocked1>           // sizePerThread = [8]
//   %w = tt.load %q : tensor<1024x!tt.ptr<f16>, #blocked1>
//   %v = ttg.convert_layout %w : tensor<1024xf16, #blocked1> -> tensor<1024xf16, #blocked>
//
// An encoding has an order and a width (elements of a thread along the fastest dimension). Accesses of one function and
// shape are decided together, because each disagreement costs a conversion through shared memory. A branch that no
// tensor enters or leaves decides for itself, as the versions of a kernel do. One that has nothing but branches leaves
// it to these.
//
// - An access whose neighbours along no dimension are sure to be neighbours in memory (a gather, a scatter, one value
//   for many elements) takes the order of the first access of its shape that has a preference. Without any, lanes lie
//   along the dimension in which addresses are nearest to each other as a rule (typical_steps.h). Where these differ
//   between accesses, one order for all may cost fewer sectors than conversions do. An access keeps its own where
//   the other accesses' order costs more sectors than a conversion.
// - A load whose groups of neighbours along one dimension alone have one address, as packed weights have, asks for
//   fewer sectors in that order. A thread takes a group, and loads it once.
// - Addresses that come from loaded numbers, as those of pages do, have the order that they have where no mask leaves
//   numbers out.
// - A store or an atomic operation of that kind may still have near addresses: every third element, or the places of
//   elements that are kept, which grow slowly. Each instruction writes to the sectors between its first and last
//   address, and no cache gathers writes of several. So a thread takes one element, and lanes are neighbours. Where
//   addresses are anywhere this is as good as any other width.
// - Accesses of one order share one width: the largest that any of them could use, so that 16-bit loads are not halved
//   by the 32-bit loads beside them; neighbours of a wide load are cache hits anyway. Stores and atomics have no such
//   cache: a width above their own leaves holes in each transaction, so they bound it, as do 32 bytes a thread.
// - Where elements are neighbours in memory along several dimensions, what goes to dots is loaded along K. Matrix units
//   multiply groups of neighbours along K, and some take their operands in no other order.
// - What goes to dots alone, also after operations on its elements, is converted anyway. So it shares a width alone
//   with others of its element's size, and its warps lie where they divide fewer indices (divided_axes.h).
// - A mask that is an index below a bound does not narrow an access: lowering takes the wide one where all is inside.
//   Loads of parts of words, which would become twice as wide, are an exception. Nor does a mask of numbers that differ
//   from one value.
//   Any other mask that changes from element to element makes accesses scalar, as does an unknown alignment. Then lanes
//   are neighbours, so that an access asks for each sector once. Where a tensor has rows, a thread loads a word of one:
//   it computes the addresses of fewer rows, and the other loads of the word are cache hits.
// - Loads of parts of words that may begin anywhere go by whole words, where the target allows it.
// - Where a tensor of the shape is scanned along another dimension than the fastest, a thread's elements are neighbours
//   along that one too: what a thread scans by itself needs no exchange with others. Each row of the tensor is accessed
//   as before.
// - Where a tensor of the shape is reduced along another dimension than the fastest, threads spread over that one last,
//   for the same reason. If no access of the shape has a preference, that dimension is not the fastest.
// - Where elements are gathered along a dimension, each warp has all of it if there are rows enough. A thread has as
//   many neighbours as pays, also above the bounds of widths (gathered_axes.h).
// - Where groups of neighbours are reduced that a warp has several of, a thread has several neighbours of each even if
//   it loads them one by one.
// - Where pairs of neighbours are exchanged again and again, as in a sort, a thread has as many neighbours as pays
//   (exchange_width.h), also above the bounds of widths. So it is where several values are scanned along the row, as
//   sums of segments are, but only up to the widest access.
// - Accesses that meet in the cache, as those of a stencil do, are as wide as the cache likes (access_width.h).
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "compiler/analysis/axis_info.h"
#include "compiler/analysis/typical_steps.h"
#include "compiler/encoding/access_width.h"
#include "compiler/encoding/divided_axes.h"
#include "compiler/encoding/encoding_rules.h"
#include "compiler/encoding/exchange_cost.h"
#include "compiler/encoding/exchange_width.h"
#include "compiler/encoding/gathered_axes.h"
#include "compiler/encoding/operand_loads.h"
#include "compiler/encoding/reduced_axes.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/named_block.h"
#include "compiler/ir/operands.h"
#include "compiler/passes/passes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritond::compiler {

#define GEN_PASS_DEF_COALESCEPASS
#include "compiler/passes/passes.h.inc"

namespace {

using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

constexpr int kMaxAccessBytes = 16;
constexpr int kMaxThreadBytes = 32;
constexpr int kWordBytes = 4;
constexpr double kSectorBytes = 32, kFarNearer = 2;
// A conversion writes to shared memory, waits, and reads. For a warp that takes as long as so many sectors.
constexpr double kConversionSectors = 8;
// Of a structure: complex numbers, quads.
constexpr int64_t kMostComponents = 4;

using Order = llvm::SmallVector<unsigned, 4>;

struct Access {
  Operation* op = nullptr;
  Value pointer;          // or descriptor
  RankedTensorType type;  // of the pointers, or of a descriptor's block
  int element_bytes = 1;
  Order order{};
  int width = 1;                              // elements of one thread that the access alone would take
  bool by_words = false;                      // WideAccess::by_words
  bool prefers = false;                       // an order of its own: neighbours in memory along order[0]
  bool is_near = false;                       // elements are nearer to each other along order[0] than along others
  bool bounds = false;                        // a width above its own hurts
  int operand_bytes = 0;                      // OperandBytes
  bool is_scatter = false;                    // writes to addresses that are no neighbours
  double step = 1;                            // WideAccess::step
  llvm::SmallVector<int64_t, 4> constancy{};  // by dimension: neighbours of one address
  llvm::SmallVector<double, 4> sectors{};     // by dimension, from a neighbour to the next; empty: not known
};

int BytesOf(mlir::Type element) {
  if (llvm::isa<tt::PtrType>(element)) return 8;
  return std::max(1u, element.getIntOrFloatBitWidth() / 8);
}

Order RowMajor(unsigned rank) {
  Order order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

// How many sectors a warp asks for where lanes lie in an order. The nearest dimension of an access that has one, of
// which nothing more is known, may well be that of neighbours.
double SectorsOfWarp(const Access& access, llvm::ArrayRef<unsigned> order, int lanes) {
  double sectors = 1;
  for (unsigned dim : order) {
    const auto along = static_cast<int>(std::min<int64_t>(access.type.getDimSize(dim), lanes));
    const bool is_next = access.is_near && dim == access.order[0];
    const double apart = is_next ? access.element_bytes / kSectorBytes : access.sectors[dim];
    sectors *= 1 + (along - 1) * std::min(1.0, apart);
    lanes /= along;
  }
  return sectors;
}

// Reads what the analysis knows about memory operations.
class AccessReader final {
 public:
  // `inside`: what holds of the elements that loads do not leave out.
  AccessReader(const AxisInfoAnalysis& axes, const AxisInfoAnalysis& inside, int max_add_bytes, bool reads_whole_words)
      : axes_(axes), inside_(inside), max_add_bytes_(max_add_bytes), reads_whole_words_(reads_whole_words) {}

  // Nothing when `op` accesses no tensor in global memory.
  std::optional<Access> Read(Operation* op) const {
    return llvm::TypeSwitch<Operation*, std::optional<Access>>(op)
        .Case([&](tt::LoadOp load) { return LoadOrStore(load, false); })
        .Case([&](tt::StoreOp store) { return LoadOrStore(store, true); })
        .Case([&](tt::AtomicRMWOp rmw) -> std::optional<Access> {
          // Of a whole block: a copy takes its place, which takes the value as it is.
          if (NamedBlockOf(rmw.getMask())) return std::nullopt;
          int bytes = rmw.getAtomicRmwOp() == tt::RmwOp::kFadd ? max_add_bytes_ : kWordBytes;
          return Pointers(rmw, rmw.getPtr(), true, bytes, [&](unsigned dim) {
            return rmw.getMask() ? axes_.MaskConstancy(rmw.getMask(), dim) : bytes;
          });
        })
        .Case([&](tt::AtomicCASOp cas) {
          return Pointers(cas, cas.getPtr(), true, kWordBytes, [](unsigned) { return kWordBytes; });
        })
        .Case([&](tt::DescriptorLoadOp load) { return Block(load); })
        .Default([](Operation*) { return std::nullopt; });
  }

 private:
  // Where all elements of a thread are inside the mask, an access is as wide as without one.
  template <typename Op>
  std::optional<Access> LoadOrStore(Op op, bool writes) const {
    return Pointers(op, op.getPtr(), writes, kMaxAccessBytes, [&](unsigned dim) {
      return op.getMask() ? axes_.MaskLikelySpan(op.getMask(), dim) : kMaxAccessBytes;
    });
  }

  // `mask_width` says how many elements along a dimension the mask lets an access take.
  std::optional<Access> Pointers(Operation* op, Value ptr, bool writes, int max_bytes,
                                 llvm::function_ref<int(unsigned)> mask_width) const {
    auto type = llvm::dyn_cast<RankedTensorType>(ptr.getType());
    if (!type || type.getRank() == 0) return std::nullopt;
    Access access{op, ptr, type, BytesOf(llvm::cast<tt::PtrType>(type.getElementType()).getPointeeType())};
    AxisInfo info = inside_.Get(ptr);
    for (const AxisDim& dim : info.dims) access.constancy.push_back(dim.constancy);
    access.order = RowMajor(type.getRank());
    std::stable_sort(access.order.begin(), access.order.end(),
                     [&](unsigned a, unsigned b) { return info.dims[a].contiguity > info.dims[b].contiguity; });
    PreferSummed(access, info, mask_width);
    unsigned fast = access.order[0];
    bool repeats = llvm::any_of(info.dims, [](const AxisDim& dim) { return dim.constancy > 1; });
    access.prefers = info.dims[fast].contiguity > 1 && !repeats;
    access.bounds = writes && access.prefers;
    access.is_scatter = writes && !access.prefers;
    access.width = std::min(axes_.PointerContiguity(ptr, fast), std::max(1, max_bytes / access.element_bytes));
    access.width = std::min(access.width, mask_width(fast));
    // Where lowering does without the wide access.
    if (auto load = llvm::dyn_cast<tt::LoadOp>(op); load && load.getMask() && access.element_bytes < kWordBytes) {
      const int narrow = std::min(access.width, axes_.MaskConstancy(load.getMask(), fast));
      if (access.width == 2 * narrow) access.width = narrow;
    }
    if (!writes && !access.prefers) PreferGroups(access, info);
    if (!access.prefers) OrderByNearness(access, info);
    if (!writes && access.prefers) PreferWords(access, info.dims[fast].contiguity);
    if (!writes && !access.prefers && !repeats) access.step = StepOf(ptr, access.order[0]);
    if (!writes && access.prefers && type.getRank() > 1 && info.dims[fast].contiguity > 1)
      access.width = std::max<int64_t>(
          access.width, std::min<int64_t>(info.dims[fast].contiguity, kWordBytes / access.element_bytes));
    return access;
  }

  // Neighbours that may begin anywhere in a word are loaded as words. Copies to operands of dots are not. A mask must
  // be that of a loop over a row, which cuts in the last iteration alone: there elements are loaded one by one.
  void PreferWords(Access& access, int64_t contiguity) const {
    auto load = llvm::dyn_cast<tt::LoadOp>(access.op);
    if (!reads_whole_words_ || !load || load.getIsVolatile() || OperandBytes(load) > 0) return;
    if (access.width * access.element_bytes >= kWordBytes) return;
    const int64_t width = std::min<int64_t>(contiguity, kMaxAccessBytes / access.element_bytes);
    if (width * access.element_bytes < kWordBytes) return;
    if (load.getMask()) {
      auto loop = llvm::dyn_cast<mlir::scf::ForOp>(load->getParentOp());
      auto compare = SourceOf(load.getMask()).getDefiningOp<mlir::arith::CmpIOp>();
      if (!loop || !compare || compare->getParentOp() != loop) return;
      if (loop->getParentOfType<mlir::LoopLikeOpInterface>() || !loop->getDiscardableAttrs().empty()) return;
      if (axes_.MaskSpan(load.getMask(), access.order[0]) < width) return;
      if (axes_.MaskTurns(load.getMask(), access.order[0], static_cast<int>(width)) > 1) return;
    }
    access.width = static_cast<int>(width);
    access.by_words = true;
  }

  // K of dots becomes the fastest where neighbours along it fill sectors, and an access is as wide along it.
  void PreferSummed(Access& access, const AxisInfo& info, llvm::function_ref<int(unsigned)> mask_width) const {
    const unsigned fast = access.order[0];
    const std::optional<unsigned> axis = SummedAxis(access.op);
    if (!axis || *axis == fast || info.dims[*axis].contiguity * access.element_bytes < kSectorBytes) return;
    auto width = [&](unsigned dim) { return std::min(axes_.PointerContiguity(access.pointer, dim), mask_width(dim)); };
    const int most = kMaxAccessBytes / access.element_bytes;
    if (std::min(width(*axis), most) < std::min(width(fast), most)) return;
    llvm::erase(access.order, *axis);
    access.order.insert(access.order.begin(), *axis);
  }

  // The dimension along which elements are nearest to each other is the fastest, if they are far nearer than along the
  // others. Of neighbours that have one address, any order is as good. How far apart loaded addresses are nobody knows.
  // Dimensions of one element have no neighbours: where two others are left, these alone are compared.
  void OrderByNearness(Access& access, const AxisInfo& info) const {
    if (info.Rank() == 1 || llvm::any_of(info.dims, [](const AxisDim& dim) { return dim.contiguity > 1; })) return;
    llvm::SmallVector<double, 4> sectors;
    for (const Step& step : TypicalSteps(access.pointer, inside_)) {
      if (step.jumps >= 1) return;
      sectors.push_back(step.Sectors(access.element_bytes, kSectorBytes));
    }
    auto apart = [&](unsigned dim) { return sectors[dim] == 0 ? 1 : sectors[dim]; };
    Order order = access.order;
    auto has_neighbours = [&](unsigned dim) { return access.type.getDimSize(dim) > 1; };
    const bool skips = llvm::count_if(order, has_neighbours) > 1;
    std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
      if (skips && has_neighbours(a) != has_neighbours(b)) return has_neighbours(a);
      return apart(a) < apart(b);
    });
    access.is_near = apart(order[0]) <= apart(order[1]) / kFarNearer;
    if (access.is_near) access.order = order;
    access.sectors = std::move(sectors);
  }

  // How far apart neighbours along a dimension are as a rule, in elements, and no more than that they are neighbours.
  double StepOf(Value pointer, unsigned dim) const {
    const Step step = TypicalSteps(pointer, inside_)[dim];
    return std::min(1.0, std::abs(step.size) + step.jumps);
  }

  // Groups of one address along a dimension, where there are none along the others, and no neighbours in memory.
  static void PreferGroups(Access& access, const AxisInfo& info) {
    if (llvm::any_of(info.dims, [](const AxisDim& dim) { return dim.contiguity > 1; })) return;
    auto grouped = llvm::make_filter_range(llvm::seq<unsigned>(0, info.Rank()),
                                           [&](unsigned dim) { return info.dims[dim].constancy > 1; });
    if (info.Rank() == 1 || !llvm::hasSingleElement(grouped)) return;
    const unsigned dim = *grouped.begin();
    if (info.dims[dim].constancy >= access.type.getDimSize(dim)) return;
    llvm::erase(access.order, dim);
    access.order.insert(access.order.begin(), dim);
    access.prefers = true;
    access.width =
        static_cast<int>(std::min<int64_t>(info.dims[dim].constancy, kMaxThreadBytes / access.element_bytes));
  }

  std::optional<Access> Block(tt::DescriptorLoadOp load) const {
    auto type = llvm::cast<RankedTensorType>(load.getType());
    Access access{load, load->getOperand(0), type, BytesOf(type.getElementType()), RowMajor(type.getRank())};
    access.width = std::max(1, kMaxAccessBytes / access.element_bytes);
    access.prefers = true;
    return access;
  }

  const AxisInfoAnalysis& axes_;
  const AxisInfoAnalysis& inside_;
  const int max_add_bytes_;
  const bool reads_whole_words_;
};

// The width that accesses of one function, shape and order share.
struct Width {
  int wanted = 1;
  int bound = kMaxThreadBytes;
  llvm::SmallVector<WideAccess> accesses;
  std::optional<int64_t> cheapest = std::nullopt;  // once it was asked for

  void Join(const Access& access) {
    const int64_t repeated = access.constancy.empty() ? 1 : access.constancy[access.order[0]];
    accesses.push_back({access.op, access.pointer, access.element_bytes, std::max<int64_t>(access.width, repeated),
                        access.by_words, access.step});
    wanted = std::max(wanted, access.width);
    if (access.bounds) bound = std::min(bound, access.width);
    if (access.prefers) bound = std::min(bound, std::max(1, kMaxThreadBytes / access.element_bytes));
  }
};

using Shape = std::vector<int64_t>;
using Scope = std::pair<mlir::Region*, Shape>;  // accesses that are decided together, if they have one order
// The last one is OperandBytes.
using Group = std::tuple<Scope, std::vector<unsigned>, int>;

Shape ShapeOf(const Access& access) { return access.type.getShape().vec(); }

// Whether no tensors but constants pass between the region, of an scf.if, and what is around it.
bool IsApart(mlir::Region& region) {
  auto is_tensor = [](mlir::Type type) { return llvm::isa<RankedTensorType>(type); };
  if (llvm::any_of(region.getParentOp()->getResultTypes(), is_tensor)) return false;
  auto stays = [&](Value operand) {
    if (!is_tensor(operand.getType()) || region.isAncestor(operand.getParentRegion())) return true;
    Operation* made = operand.getDefiningOp();
    return made && made->hasTrait<mlir::OpTrait::ConstantLike>();
  };
  return !region
              .walk([&](Operation* op) {
                return llvm::all_of(op->getOperands(), stays) ? mlir::WalkResult::advance()
                                                              : mlir::WalkResult::interrupt();
              })
              .wasInterrupted();
}

// Whether tensors other than constants are computed in the region, outside of branches that it has.
bool HasOwnTensors(mlir::Region& region) {
  return region
      .walk<mlir::WalkOrder::PreOrder>([](Operation* op) {
        if (llvm::isa<mlir::scf::IfOp>(op)) return mlir::WalkResult::skip();
        if (op->hasTrait<mlir::OpTrait::ConstantLike>()) return mlir::WalkResult::advance();
        const bool has_tensors =
            llvm::any_of(op->getResultTypes(), [](mlir::Type type) { return llvm::isa<RankedTensorType>(type); });
        return has_tensors ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

// Finds the scopes of operations.
class Scopes final {
 public:
  Scope Of(Operation* op, Shape shape) {
    mlir::Region* outermost = nullptr;
    for (mlir::Region* region = op->getParentRegion(); region; region = region->getParentRegion()) {
      if (!llvm::isa_and_present<mlir::scf::IfOp>(region->getParentOp())) continue;
      auto [apart, is_new] = apart_.try_emplace(region, false);
      if (is_new) apart->second = HasOwnTensors(*region) && IsApart(*region);
      if (apart->second) outermost = region;
    }
    return {outermost, std::move(shape)};
  }
  Group GroupOf(const Access& access) {
    return {Of(access.op, ShapeOf(access)), {access.order.begin(), access.order.end()}, access.operand_bytes};
  }

 private:
  llvm::DenseMap<mlir::Region*, bool> apart_;
};

RankedTensorType WithEncoding(mlir::Type type, mlir::Attribute encoding) {
  auto tensor = llvm::cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(), encoding);
}

// Surrounds `op` with conversions, so that its tensors have `encoding`.
void Encode(Operation* op, mlir::Attribute encoding) {
  mlir::OpBuilder builder(op);
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    if (!llvm::isa<RankedTensorType>(operand.get().getType())) continue;
    mlir::Type type = WithEncoding(operand.get().getType(), encoding);
    if (type == operand.get().getType()) continue;
    operand.set(ttg::ConvertLayoutOp::create(builder, op->getLoc(), type, operand.get()));
  }
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    mlir::Type type = result.getType(), encoded = WithEncoding(type, encoding);
    if (type == encoded) continue;
    result.setType(encoded);
    auto back = ttg::ConvertLayoutOp::create(builder, op->getLoc(), type, result);
    result.replaceAllUsesExcept(back, back);
  }
}

struct CoalescePass final : impl::CoalescePassBase<CoalescePass> {
  using CoalescePassBase::CoalescePassBase;

  void runOnOperation() override {
    const AxisInfoAnalysis axes(getOperation());
    const AxisInfoAnalysis inside(getOperation(), AxisInfoAnalysis::LoadMasks::kIgnored);
    const AccessReader reader(axes, inside, max_add_bytes, reads_whole_words);
    for (auto func : getOperation().getOps<tt::FuncOp>()) Coalesce(func, reader);
  }

 private:
  void Coalesce(tt::FuncOp func, const AccessReader& reader) {
    Scopes scopes;
    const ReducedAxes axes(func);
    GatheredAxes gathered(func);
    std::vector<Access> accesses = Collect(func, reader, axes, scopes);
    std::map<Group, Width> widths;
    for (const Access& access : accesses) widths[scopes.GroupOf(access)].Join(access);
    int num_warps = ttg::NumWarps(func), lanes = ttg::ThreadsPerWarp(func);
    Sizes sizes;
    // Those of structures last.
    std::stable_sort(accesses.begin(), accesses.end(),
                     [](const Access& a, const Access& b) { return !IsOfStructures(a) && IsOfStructures(b); });
    const bool stores_structures = llvm::any_of(
        accesses, [](const Access& access) { return llvm::isa<tt::StoreOp>(access.op) && IsOfStructures(access); });
    for (const Access& access : accesses) {
      Width& width = widths[scopes.GroupOf(access)];
      unsigned fast = access.order[0];
      int64_t share = std::max<int64_t>(1, access.type.getNumElements() / (num_warps * lanes));
      llvm::SmallVector<unsigned> size_per_thread(access.type.getRank(), 1);
      if (!access.is_scatter) {
        const auto most = std::min<int64_t>({width.wanted, width.bound, share, access.type.getDimSize(fast)});
        // What goes to dots is copied past the cache. All accesses of a group have one shape, and so one limit.
        if (!width.cheapest)
          width.cheapest = access.operand_bytes > 0 ? most : CheapestWidth(width.accesses, most, cache_ratio);
        const bool is_last = fast + 1 == access.order.size();
        if (width.wanted == 1 && is_last)
          width.cheapest = std::min<int64_t>(
              axes.NeighboursOfGroup(ShapeOf(access), std::max(1, kMaxAccessBytes / access.element_bytes), lanes),
              share);
        size_per_thread[fast] = *width.cheapest;
        if (is_last) {
          const int64_t size = access.type.getDimSize(fast);
          const llvm::SmallVector<tt::ScanOp> scans = ScansBeside(access, width, axes, scopes);
          auto scan_time = [&](int64_t neighbours) {
            llvm::SmallVector<unsigned> sizes = size_per_thread;
            sizes[fast] = neighbours;
            return TimeOfScans(scans, ttg::BlockedEncodingAttr::ForShape(&getContext(), ShapeOf(access), sizes,
                                                                         access.order, num_warps, lanes));
          };
          ExchangedRow row{size, lanes, num_warps, axes.ExchangesOf(ShapeOf(access))};
          if (!scans.empty()) row.scans = scan_time;
          // Without exchanges, one access at least has no gaps between lanes.
          const int64_t limit = row.exchanges.empty() ? width.wanted : size;
          size_per_thread[fast] =
              CheapestExchangeWidth(row, width.accesses, *width.cheapest, /*most=*/std::min({share, size, limit}));
        }
      }
      if (std::optional<unsigned> axis = axes.ScannedAcross(ShapeOf(access), fast))
        size_per_thread[*axis] = std::min<int64_t>(share / size_per_thread[fast], access.type.getDimSize(*axis));
      Order order = access.order;
      axes.PutReducedLast(ShapeOf(access), order, /*from=*/1);
      const Scope scope = scopes.Of(access.op, ShapeOf(access));
      sizes.try_emplace(scope, order, size_per_thread);
      if (!stores_structures) LieBesideWhole(access, scope, sizes, order, size_per_thread);
      const auto wide = access.is_scatter ? llvm::ArrayRef<WideAccess>() : llvm::ArrayRef<WideAccess>(width.accesses);
      ttg::BlockedEncodingAttr encoding = gathered.EncodingFor(access.type, size_per_thread, order, wide);
      if (access.operand_bytes > 0) encoding = SpreadDivisions(encoding, ShapeOf(access), width.accesses);
      Encode(access.op, encoding);
    }
  }

  // Scans of several values along the fastest dimension, which are decided with `access` and run as often as those of
  // its width. Scans of one value are cheap to turn (turn_scans.cc): it alone goes through shared memory and back. None
  // where an access would reach the same sectors again and again, with a few bytes each time.
  static llvm::SmallVector<tt::ScanOp> ScansBeside(const Access& access, const Width& width, const ReducedAxes& axes,
                                                   Scopes& scopes) {
    auto is_narrow = [&](const WideAccess& other) {
      return other.width < width.wanted && other.width * other.bytes < kMaxAccessBytes;
    };
    if (llvm::any_of(width.accesses, is_narrow)) return {};
    llvm::SmallVector<tt::ScanOp> scans = axes.ScansAlong(ShapeOf(access), access.order[0]);
    llvm::erase_if(scans, [&](tt::ScanOp scan) {
      auto runs_oftener = [&](const WideAccess& other) {
        return LoopDepth(other.op->getBlock()) > LoopDepth(scan->getBlock());
      };
      return scan.getSrcs().size() == 1 || llvm::any_of(width.accesses, runs_oftener) ||
             scopes.Of(scan, ShapeOf(access)) != scopes.Of(access.op, ShapeOf(access));
    });
    return scans;
  }

  // For one element.
  static double TimeOfScans(llvm::ArrayRef<tt::ScanOp> scans, ttg::BlockedEncodingAttr encoding) {
    double time = 0;
    for (tt::ScanOp scan : scans) {
      const LinearLayout layout =
          encoding.ToLinearLayout(llvm::cast<RankedTensorType>(scan.getSrcs()[0].getType()).getShape());
      time += ScanCost(scan, layout) / layout.InSize("register");
    }
    return time;
  }

  // By scope: order and elements of a thread.
  using Sizes = std::map<Scope, std::pair<Order, llvm::SmallVector<unsigned>>>;

  // Whether the last dimension holds the components of a structure.
  static bool IsOfStructures(const Access& access) {
    const unsigned last = access.type.getRank() - 1;
    return last > 0 && access.order[0] == last && access.type.getDimSize(last) <= kMostComponents &&
           access.width == access.type.getDimSize(last);
  }

  // A thread loads the structures whose elements it has of whole tensors: their components are elements of such.
  // Threads that store would each write a part of many sectors.
  static void LieBesideWhole(const Access& access, Scope scope, const Sizes& sizes, Order& order,
                             llvm::SmallVectorImpl<unsigned>& size_per_thread) {
    if (!IsOfStructures(access)) return;
    const unsigned last = scope.second.size() - 1;
    scope.second.pop_back();
    const auto whole = sizes.find(scope);
    if (whole == sizes.end()) return;
    const auto& [own_order, own_size] = whole->second;
    order.assign({last});
    order.append(own_order.begin(), own_order.end());
    llvm::copy(own_size, size_per_thread.begin());
    size_per_thread[last] = access.type.getDimSize(last);
  }

  // Where accesses of a shape have no preferences, but addresses that are near along different dimensions, one order
  // for all may cost fewer sectors than conversions between theirs.
  static void AgreeOnNearness(std::vector<Access>& accesses, const std::map<Scope, Order>& preferred, Scopes& scopes,
                              int lanes) {
    std::map<Scope, llvm::SmallVector<Access*>> together;
    for (Access& access : accesses)
      if (Scope scope = scopes.Of(access.op, ShapeOf(access)); preferred.find(scope) == preferred.end())
        together[scope].push_back(&access);
    for (auto& [scope, group] : together) {
      if (llvm::any_of(group, [](Access* access) { return access->sectors.empty(); })) continue;
      const Access* best = nullptr;
      double own = 0, least = 0;
      for (const Access* access : group) {
        own += SectorsOfWarp(*access, access->order, lanes);
        double all = 0;
        for (const Access* other : group) all += SectorsOfWarp(*other, access->order, lanes);
        if (!access->is_near || (best && all >= least)) continue;
        best = access;
        least = all;
      }
      if (!best) continue;
      own += kConversionSectors * static_cast<double>(llvm::count_if(
                                      group, [&](const Access* access) { return access->order != best->order; }));
      if (least > own) continue;
      const Order order = best->order;
      for (Access* access : group) {
        if (access->order != order) access->width = 1;
        access->order = order;
        access->is_near = true;
      }
    }
  }

  // Whether the order in which its addresses are near saves an access more sectors than a conversion takes, beside
  // those of its shape. What goes to dots is converted anyway.
  static bool IsBetterAlone(const Access& access, const Order& order, int lanes) {
    if (!access.is_near || access.sectors.empty()) return false;
    const double conversion = access.operand_bytes == 0 ? kConversionSectors : 0;
    return SectorsOfWarp(access, access.order, lanes) + conversion < SectorsOfWarp(access, order, lanes);
  }

  // The accesses of a function, those without a preference in the order of the first of their shape that has one.
  static std::vector<Access> Collect(tt::FuncOp func, const AccessReader& reader, const ReducedAxes& axes,
                                     Scopes& scopes) {
    std::vector<Access> accesses;
    std::map<Scope, Order> preferred;
    func.walk([&](Operation* op) {
      std::optional<Access> access = reader.Read(op);
      if (!access) return;
      access->operand_bytes = OperandBytes(op);
      if (access->prefers) preferred.try_emplace(scopes.Of(op, ShapeOf(*access)), access->order);
      accesses.push_back(std::move(*access));
    });
    AgreeOnNearness(accesses, preferred, scopes, ttg::ThreadsPerWarp(func));
    for (Access& access : accesses) {
      if (access.prefers) continue;
      auto found = preferred.find(scopes.Of(access.op, ShapeOf(access)));
      Order order = found != preferred.end() && !IsBetterAlone(access, found->second, ttg::ThreadsPerWarp(func))
                        ? found->second
                        : access.order;
      if (found == preferred.end() && !access.is_near) axes.PutReducedLast(ShapeOf(access), order, /*from=*/0);
      if (order == access.order) continue;
      access.order = order;
      access.width = 1;
    }
    return accesses;
  }
};

}  // namespace
}  // namespace tritond::compiler
