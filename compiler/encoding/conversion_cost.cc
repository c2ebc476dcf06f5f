// SPDX-License-Identifier: Apache-2.0
#include "compiler/encoding/conversion_cost.h"

#include <algorithm>
#include <cmath>

#include "absl/types/span.h"
#include "compiler/dots/matrix_buffers.h"
#include "compiler/encoding/encoding_rules.h"
#include "compiler/encoding/exchange_cost.h"
#include "compiler/encoding/operand_reader.h"
#include "compiler/ir/device_functions.h"
#include "compiler/ir/encodings.h"
#include "compiler/layout/conversion.h"
#include "compiler/layout/exchange.h"
#include "compiler/layout/f2_span.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace tritond::compiler {
namespace {

using mlir::Attribute;
using mlir::RankedTensorType;

constexpr double kLoneByte = 1;  // putting a byte that was loaded alone into its word
constexpr double kLoad = 8;      // an element loaded again, most likely from a cache
constexpr double kLine = 4;      // of the cache: one in a cycle, in which four instructions issue
constexpr double kLineBytes = 128, kWordBytes = 4;

double Words(RankedTensorType type) {
  mlir::Type element = type.getElementType();
  unsigned bits = llvm::isa<tt::PtrType>(element) ? 64 : element.getIntOrFloatBitWidth();
  return std::max(8u, bits) / 32.0;
}

// Reading `registers` elements of a matrix unit's operand from a buffer. A lane reads four words at a time in two
// cases. Either the elements have the unit's 16 bits, or a lane's neighbours along K fill words and are neighbours in
// memory. Else, a lane reads neighbours alone.
double MatrixRead(RankedTensorType from, RankedTensorType to, double registers) {
  auto operand = llvm::cast<ttg::DotOperandEncodingAttr>(to.getEncoding());
  auto blocked = llvm::dyn_cast<ttg::BlockedEncodingAttr>(from.getEncoding());
  unsigned rank = to.getRank(), k = operand.getOpIdx() == 0 ? rank - 1 : rank - 2;
  unsigned run = blocked && blocked.getOrder()[0] == k ? std::max(1u, operand.getKWidth()) : 1;
  bool in_words = Words(to) == 0.5 || run * Words(to) >= 1;
  return in_words ? kVectorWord * Words(to) * registers : kSharedWord * registers / run;
}

// Reading registers of any other encoding: bytes that do not stand together come one by one.
double PlainRead(RankedTensorType type, const LinearLayout& layout) {
  const int registers = layout.InSize("register");
  mlir::Type element = type.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() != 8) return kSharedWord * Words(type) * registers;
  int run = 1;
  for (const LayoutDim& dim : layout.OutDims()) run = std::max(run, layout.NumConsecutive("register", dim.name));
  return run < 4 ? (kSharedWord + kLoneByte * run) * registers / run : kSharedWord * registers / 4;
}

// Whether threads write operand b for a matrix unit in words: of neighbours along K, or along N in 16 bits, which units
// read either way.
bool IsWrittenInWords(RankedTensorType type, const LinearLayout& layout) {
  const auto names = ttg::DimNames(type.getRank());
  int run = layout.NumConsecutive("register", names[type.getRank() - 2]);
  if (Words(type) == 0.5) run = std::max(run, layout.NumConsecutive("register", names.back()));
  return run * Words(type) >= 1;
}

// The images of the bits of one hardware dimension.
absl::Span<const uint64_t> Bits(const LinearLayout& layout, absl::string_view dim) {
  if (!layout.HasIn(dim)) return {};
  return absl::MakeConstSpan(layout.columns()).subspan(layout.In(dim).shift, layout.In(dim).bits);
}

// Whether threads find all that they hold under `dst` in `own`. `own` is the part of `src` around a thread's own place:
// thread t there starts at the image of t. Both layouts are linear, so bits of t suffice.
bool StaysWithin(const F2Span& own, const LinearLayout& src, const LinearLayout& dst, absl::string_view dim) {
  absl::Span<const uint64_t> from = Bits(src, dim), to = Bits(dst, dim);
  for (size_t bit = 0; bit < to.size(); ++bit)
    if (!own.Contains(to[bit] ^ (bit < from.size() ? from[bit] : 0))) return false;
  return true;
}

// Whether it does not depend on the thread which register there holds an element.
bool StaysInRegister(const LinearLayout& src, const LinearLayout& dst, absl::string_view dim) {
  absl::Span<const uint64_t> from = Bits(src, dim), to = Bits(dst, dim);
  for (size_t bit = 0; bit < to.size(); ++bit)
    if (to[bit] != (bit < from.size() ? from[bit] : 0)) return false;
  return true;
}

void Extend(F2Span& span, absl::Span<const uint64_t> vectors) {
  for (uint64_t vector : vectors) span.Insert(vector);
}

bool ContainsAll(const F2Span& span, absl::Span<const uint64_t> vectors) {
  return std::all_of(vectors.begin(), vectors.end(), [&](uint64_t vector) { return span.Contains(vector); });
}

// Devices widen two or four such floats by an instruction or a few.
bool WidensBytesToHalves(tt::FpToFpOp cast) {
  const mlir::Type from = tt::ElementOf(cast.getSrc().getType());
  return from.getIntOrFloatBitWidth() == 8 && tt::ElementOf(cast.getType()).isF16();
}

enum class Distance { kThread, kWarp, kFar };

// How far data move. PlanConversion says so too, but also how, which costs a hundred times as much.
Distance DistanceOf(const LinearLayout& src, const LinearLayout& dst) {
  F2Span own;
  Extend(own, Bits(src, "register"));
  bool in_thread = ContainsAll(own, Bits(dst, "register"));
  for (absl::string_view dim : {"lane", "warp", "block"}) in_thread = in_thread && StaysInRegister(src, dst, dim);
  if (in_thread) return Distance::kThread;
  Extend(own, Bits(src, "lane"));
  bool in_warp = ContainsAll(own, Bits(dst, "register")) && ContainsAll(own, Bits(dst, "lane"));
  for (absl::string_view dim : {"warp", "block"}) in_warp = in_warp && StaysWithin(own, src, dst, dim);
  return in_warp ? Distance::kWarp : Distance::kFar;
}

// A call of a device library's function. The numbers are what one library has on average, without the paths of large
// arguments: its sine has 84 instructions, of which 20 run for angles of some turns. Functions of f64 have four times
// as many.
double CallCost(llvm::StringRef symbol) {
  constexpr double kUnknown = 20, kPlain = 24, kShort = 1, kLong = 80, kLongest = 200, kFast = 4;
  constexpr int kOfF64 = 4;
  const std::optional<DeviceFunction> function = ReadDeviceFunction({symbol.data(), symbol.size()});
  if (!function) return kUnknown;
  const llvm::StringRef name = function->name;
  const double cost = name.starts_with("fast_")
                          ? kFast
                          : llvm::StringSwitch<double>(name)
                                .Cases({"ceil", "copysign", "fabs", "fdim", "floor", "fma", "fmax", "fmin"}, kShort)
                                .Cases({"isnan", "isinf", "isfinite", "nearbyint", "rint", "round"}, kShort)
                                .Cases({"signbit", "trunc"}, kShort)
                                .Cases({"erfcx", "fmod", "pow", "pown", "remainder"}, kLong)
                                .Cases({"j0", "j1", "lgamma", "tgamma", "y0", "y1"}, kLongest)
                                .Default(kPlain);
  return cost > kShort && function->bits == 64 ? kOfF64 * cost : cost;
}

}  // namespace

const LinearLayout& CostModel::Layout(RankedTensorType type, Attribute encoding) {
  // Element types do not matter.
  auto key = RankedTensorType::get(type.getShape(), mlir::IntegerType::get(type.getContext(), 1), encoding);
  auto [entry, is_new] = layouts_.try_emplace(key);
  if (is_new) entry->second = llvm::cast<ttg::DistributedEncoding>(encoding).ToLinearLayout(type.getShape());
  return entry->second;
}

int64_t CostModel::Registers(RankedTensorType type, Attribute encoding) {
  return Layout(type, encoding).InSize("register");
}

int64_t CostModel::Elements(RankedTensorType type, Attribute encoding) {
  return Layout(type, encoding).RemoveZeroBases("register").InSize("register");
}

double CostModel::Conversion(RankedTensorType type, Attribute encoding) {
  auto [entry, is_new] = conversions_.try_emplace({type, encoding}, 0);
  if (!is_new) return entry->second;
  LinearLayout src = Layout(type, type.getEncoding()), dst = Layout(type, encoding);
  Distance distance = DistanceOf(src, dst);
  if (distance == Distance::kThread) return 0;
  const double words = Words(type), from = words * src.InSize("register"), to = words * dst.InSize("register");
  entry->second = kBarrier + kSharedWord * from;
  if (type.getRank() >= 2 && IsWrittenInWords(type, src) &&
      ReaderOf(type.cloneWithEncoding(encoding)) == OperandReader::kUnit)
    return entry->second;
  entry->second += Read(type, encoding);
  if (distance == Distance::kFar) return entry->second;
  auto plan = PlanConversion(src, dst);
  if (plan.ok() && plan->kind == ConversionPlan::Kind::kShuffle)
    entry->second = kShuffledWord * std::max(to, 1.0) * (FindExchange(*plan) ? 1 : 1 + plan->num_select_bits());
  return entry->second;
}

double CostModel::Scan(tt::ScanOp scan, Attribute encoding) {
  return ScanCost(scan, Layout(llvm::cast<RankedTensorType>(scan.getSrcs()[0].getType()), encoding));
}

double CostModel::Reduction(tt::ReduceOp reduce, Attribute encoding) {
  return ReductionCost(reduce, Layout(reduce.InputType(), encoding));
}

double CostModel::Read(RankedTensorType type, Attribute encoding) {
  auto result = RankedTensorType::get(type.getShape(), type.getElementType(), encoding);
  return IsMatrixOperand(result) ? MatrixRead(type, result, Registers(type, encoding))
                                 : PlainRead(type, Layout(type, encoding));
}

std::optional<double> CostModel::ElementCost(mlir::Operation* op) {
  using Cost = std::optional<double>;
  using namespace mlir;
  return llvm::TypeSwitch<Operation*, Cost>(op)
      .Case<tt::SplatOp, arith::ConstantOp, ub::PoisonOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp,
            tt::JoinOp, tt::SplitOp, ttg::ConvertLayoutOp, tt::BitcastOp, arith::BitcastOp>(
          [](Operation*) { return Cost(0); })
      .Case<tt::ScanOp, tt::ReduceOp, tt::GatherOp, tt::HistogramOp, tt::MapElementwiseOp>(
          [](Operation*) { return Cost(); })
      .Case<tt::ElementwiseInlineAsmOp>(
          [](tt::ElementwiseInlineAsmOp assembly) { return assembly.getPure() ? Cost(4) : Cost(); })
      .Case<tt::ExternElementwiseOp>(
          [](tt::ExternElementwiseOp call) { return call.getPure() ? Cost(CallCost(call.getSymbol())) : Cost(); })
      .Case<tt::LoadOp>([](tt::LoadOp load) { return load.getIsVolatile() ? Cost() : Cost(kLoad); })
      .Case<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp, arith::RemSIOp, arith::RemUIOp,
            arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp, tt::PreciseDivFOp, tt::PreciseSqrtOp>(
          [](Operation*) { return Cost(10); })
      .Case([](tt::FpToFpOp cast) { return Cost(WidensBytesToHalves(cast) ? 1 : 3); })
      .Case([](ttg::Fp4ToFpOp) { return Cost(3); })
      .Case<tt::AddPtrOp>([](Operation*) { return Cost(2); })
      .Default([](Operation* other) {
        if (!isPure(other) || other->getNumRegions() || !other->hasTrait<OpTrait::Elementwise>())
          return isa<tt::MakeRangeOp>(other) ? Cost(1) : Cost();
        return Cost(isa<math::MathDialect>(other->getDialect()) ? 8 : 1);
      });
}

double CostModel::StridedElement(RankedTensorType type, Attribute encoding, double step) {
  const LinearLayout& layout = Layout(type, encoding);
  llvm::SmallSet<int64_t, 32> lines;
  for (int lane = 0; lane < layout.InSize("lane"); ++lane) {
    const double at = layout.ApplyNamed({{"lane", lane}})[0] * step;
    lines.insert(static_cast<int64_t>(std::floor(at / kLineBytes)));
  }
  return std::max(kLoad, kLine * static_cast<double>(lines.size()));
}

double CostModel::RowAccess(RankedTensorType type, Attribute encoding) {
  const int lanes = Layout(type, encoding).Sublayout({"lane"}, {"dim0"}).Rank();
  const double elements = std::ldexp(static_cast<double>(Neighbours(type, encoding)), lanes);
  return std::max(kLoad, kLine * std::ceil(elements * Words(type) * kWordBytes / kLineBytes));
}

int64_t CostModel::Neighbours(RankedTensorType type, Attribute encoding) {
  return Layout(type, encoding).NumConsecutive("register", "dim0");
}

bool CostModel::MayLoadUnder(tt::LoadOp load, Attribute encoding) {
  if (!IsWideAccess(load)) return true;
  if (LoopDepth(load->getBlock()) > 0) return false;
  auto type = llvm::cast<RankedTensorType>(load.getType());
  if (type.getRank() == 1) return true;
  auto from = llvm::dyn_cast<ttg::BlockedEncodingAttr>(type.getEncoding());
  auto to = llvm::dyn_cast<ttg::BlockedEncodingAttr>(encoding);
  return from && to && from.getOrder() == to.getOrder();
}

}  // namespace tritond::compiler
