// SPDX-License-Identifier: Apache-2.0
#include "compiler/dots/load_buffers.h"

#include "compiler/dots/dot_slices.h"
#include "compiler/dots/matrix_buffers.h"
#include "compiler/ir/dot_interface.h"
#include "compiler/ir/encodings.h"
#include "compiler/ir/padding.h"
#include "compiler/layout/lane_order.h"
#include "compiler/layout/layout_algebra.h"
#include "mlir/IR/Matchers.h"

namespace tritond::compiler {
namespace {

using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

constexpr unsigned kWordBits = 32;

bool IsZero(Value value) {
  mlir::Attribute attribute;
  if (!value || !mlir::matchPattern(value, mlir::m_Constant(&attribute))) return !value;
  if (auto dense = llvm::dyn_cast<mlir::SplatElementsAttr>(attribute))
    attribute = dense.getSplatValue<mlir::Attribute>();
  if (auto number = llvm::dyn_cast<mlir::FloatAttr>(attribute)) return number.getValue().isPosZero();
  auto number = llvm::dyn_cast<mlir::IntegerAttr>(attribute);
  return number && number.getValue().isZero();
}

// Of a dot with an operand that is copied. As a rule the other one is copied, too.
bool StaysWhole(Operation* user) {
  auto dot = llvm::dyn_cast<tt::DotOp>(user);
  return dot &&
         TileThickness(dot, LoopLoads::kCopied) == llvm::cast<RankedTensorType>(dot.getA().getType()).getShape().back();
}

bool IsScale(mlir::OpOperand& use) {
  auto dot = llvm::dyn_cast<tt::DotOpInterface>(use.getOwner());
  return dot && llvm::is_contained(llvm::drop_begin(dot.Inputs(), 2), &use);
}

// Whether `op` converts to an operand or scales that the dot's threads can as well read from a buffer. Dots that will
// be tiled make buffers of their own.
bool IsOperandConversion(Operation* op) {
  auto convert = llvm::dyn_cast<ttg::ConvertLayoutOp>(op);
  if (!convert) return false;
  if (!llvm::isa<ttg::DotOperandEncodingAttr>(convert.getType().getEncoding()))
    return !convert->use_empty() && llvm::all_of(convert->getUses(), IsScale);
  return IsMatrixOperand(convert.getType()) || llvm::all_of(convert->getUsers(), StaysWhole);
}

bool FeedsDots(Value value) { return !value.use_empty() && llvm::all_of(value.getUsers(), IsOperandConversion); }

// Along which dimensions a thread's elements are neighbours, then those of its lanes.
llvm::SmallVector<unsigned> OrderOfThreads(RankedTensorType type) {
  if (auto blocked = llvm::dyn_cast<ttg::BlockedEncodingAttr>(type.getEncoding()))
    return llvm::SmallVector<unsigned>(blocked.getOrder());
  LinearLayout layout = ttg::ToLinearLayout(type);
  llvm::SmallVector<unsigned> order;
  for (absl::string_view in : {"register", "lane"}) {
    for (int bit = 0; bit < layout.InBits(in); ++bit) {
      llvm::SmallVector<unsigned> moved;
      for (unsigned dim = 0; dim < type.getRank(); ++dim)
        if (layout.Basis(in, bit, ttg::DimNames(type.getRank())[dim]) != 0) moved.push_back(dim);
      if (moved.size() == 1 && !llvm::is_contained(order, moved[0])) order.push_back(moved[0]);
    }
  }
  for (unsigned dim = type.getRank(); dim-- > 0;)
    if (!llvm::is_contained(order, dim)) order.push_back(dim);
  return order;
}

// Whether threads can as well read from a buffer what they would exchange.
bool IsRead(ttg::ConvertLayoutOp convert, mlir::Block* body) {
  RankedTensorType from = convert.getSrc().getType(), to = convert.getType();
  return convert->getBlock() == body && !llvm::isa<ttg::DotOperandEncodingAttr>(to.getEncoding()) &&
         from.getElementType().isIntOrFloat() && from.getElementTypeBitWidth() >= 8 &&
         !ttg::SamePlacement(from.getShape(), from.getEncoding(), to.getEncoding());
}

// Whether threads compute a dot's operand from the words that they read. Bulk copies, which blocks of descriptors have,
// fill buffers of the unit's own encoding alone.
bool IsComputedByThreads(const BufferRead& read) {
  Value value = read.defines;
  auto load = value.getDefiningOp()->getOperand(0).getDefiningOp<tt::LoadOp>();
  if (!load || (load.getMask() && load.getMask().getDefiningOp<tt::BlockMaskOp>())) return false;
  return mlir::getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() == kWordBits &&
         llvm::none_of(value.getUsers(), [](Operation* user) { return llvm::isa<tt::DotOpInterface>(user); });
}

LinearLayout MemoryOf(RankedTensorType type, mlir::Attribute buffer) {
  auto* context = type.getContext();
  return ttg::ToLinearLayout(ttg::MemDescType::get(context, type.getShape(), type.getElementType(), buffer,
                                                   ttg::SharedMemorySpaceAttr::get(context), /*mutableMemory=*/true,
                                                   type.getShape()));
}

}  // namespace

bool IsRowOfTile(RankedTensorType type) {
  if (llvm::isa_and_present<ttg::SliceEncodingAttr>(type.getEncoding())) return true;
  return llvm::isa_and_present<ttg::MatrixEncoding>(type.getEncoding()) &&
         llvm::is_contained(type.getShape(), type.getNumElements());
}

bool HasCopies(RankedTensorType type) {
  return llvm::isa_and_present<ttg::BlockedEncodingAttr, ttg::LinearEncodingAttr>(type.getEncoding()) ||
         IsRowOfTile(type);
}

bool HasFill(tt::LoadOp load) {
  return load.getMask() && load.getOther() && !IsZero(load.getOther()) && !NanFlagOf(load.getOther());
}

llvm::SmallVector<BufferRead> ReadsOf(tt::LoadOp load, mlir::Block* body) {
  if (HasFill(load)) return {{load.getResult(), {}}};
  llvm::SmallVector<BufferRead> reads;
  bool others = load->use_empty();
  for (Operation* user : load->getUsers()) {
    auto trans = llvm::dyn_cast<tt::TransOp>(user);
    if (user->getBlock() == body && IsOperandConversion(user)) {
      reads.push_back({user->getResult(0), {}});
    } else if (trans && trans->getBlock() == body && FeedsDots(trans.getResult()) &&
               llvm::all_of(trans->getUsers(), [&](Operation* op) { return op->getBlock() == body; })) {
      for (Operation* convert : trans->getUsers())
        reads.push_back({convert->getResult(0), llvm::to_vector(trans.getOrder())});
    } else if (auto convert = llvm::dyn_cast<ttg::ConvertLayoutOp>(user); convert && IsRead(convert, body)) {
      reads.push_back({convert.getResult(), {}});
    } else {
      others = true;
    }
  }
  if (others) reads.push_back({load.getResult(), {}});
  return reads;
}

mlir::Attribute LoadBufferEncoding(RankedTensorType type, llvm::ArrayRef<BufferRead> reads) {
  llvm::SmallVector<unsigned> order = OrderOfThreads(type);
  mlir::Attribute first = nullptr;
  // Of words, matrix loads read rows of the least groups without conflicts, others more rows of larger ones.
  const auto is_finer = [](mlir::Attribute encoding, mlir::Attribute than) {
    return llvm::cast<ttg::SwizzledSharedEncodingAttr>(encoding).getVec() <
           llvm::cast<ttg::SwizzledSharedEncodingAttr>(than).getVec();
  };
  for (const BufferRead& read : reads) {
    auto read_type = llvm::cast<RankedTensorType>(read.defines.getType());
    mlir::Attribute encoding;
    if (auto operand = llvm::dyn_cast<ttg::DotOperandEncodingAttr>(read_type.getEncoding()))
      encoding = MatrixBufferEncoding(type, order, operand, read.order, IsComputedByThreads(read));
    else if (read.order.empty() && read_type != type)
      encoding = ReadBufferEncoding(type, order, read_type);
    // A matrix unit may read buffers of its own encoding only. Threads can read these, too.
    if (encoding && !llvm::isa<ttg::SwizzledSharedEncodingAttr>(encoding)) return encoding;
    const bool is_operand =
        llvm::isa<ttg::DotOperandEncodingAttr>(read_type.getEncoding()) && type.getElementTypeBitWidth() >= kWordBits;
    if (!first || (encoding && is_operand && is_finer(encoding, first))) first = encoding;
  }
  return first ? first : ttg::SwizzledSharedEncodingAttr::get(type.getContext(), 1, 1, 1, order);
}

mlir::Attribute LaneOrderEncoding(RankedTensorType type, mlir::Attribute buffer, int vec, int lanes, int warps) {
  absl::optional<LinearLayout> layout = LayoutInLaneOrder(MemoryOf(type, buffer), vec, lanes, warps);
  if (!layout) return {};
  return ttg::LinearEncodingAttr::get(type.getContext(), *layout);
}

bool LoadsInLaneOrder(RankedTensorType type, mlir::Attribute buffer, int vec) {
  auto to_offset = InvertAndCompose(ttg::ToLinearLayout(type), MemoryOf(type, buffer));
  return to_offset.ok() && HasLanesInOrder(*to_offset, vec);
}

}  // namespace tritond::compiler
