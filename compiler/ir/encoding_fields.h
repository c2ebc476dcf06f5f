// SPDX-License-Identifier: Apache-2.0
// What the textual forms and verifiers of encodings share.
#ifndef COMPILER_IR_ENCODING_FIELDS_H_
#define COMPILER_IR_ENCODING_FIELDS_H_

#include <string>

#include "compiler/ir/ttg_dialect.h"
#include "mlir/IR/DialectImplementation.h"

namespace tritond::ttg {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

// Reads `<{key = value, …}>`: each Take removes an entry, Done complains about what is left. After the first complaint,
// which goes to the parser, values are empty. Used by one thread, while `parser` lives.
class EncodingFields {
 public:
  explicit EncodingFields(mlir::AsmParser& parser);
  // Reads `{key = value, …}` alone; what stands around it is the caller's.
  static EncodingFields Bare(mlir::AsmParser& parser);

  bool Ok() const { return ok_; }
  bool Has(llvm::StringRef key) const { return ok_ && fields_.get(key) != nullptr; }
  mlir::Attribute Take(llvm::StringRef key);
  unsigned TakeUnsigned(llvm::StringRef key);
  unsigned TakeUnsignedOr(llvm::StringRef key, unsigned missing) { return Has(key) ? TakeUnsigned(key) : missing; }
  bool TakeBoolOr(llvm::StringRef key, bool missing);
  llvm::SmallVector<unsigned> TakeArray(llvm::StringRef key);
  // A dictionary as fields of its own; its complaints are made at this one's place.
  EncodingFields TakeFields(llvm::StringRef key);
  // [[1, 0], [2, 0]]: the bases of one input dimension; without any where the key may be absent.
  compiler::InDimBases TakeBases(llvm::StringRef key);
  compiler::InDimBases TakeOptionalBases(llvm::StringRef key);
  // CGALayout, or CTAsPerCGA, CTASplitNum and CTAOrder; absent means one block.
  compiler::LinearLayout TakeCga(unsigned rank);
  // The layout with these bases, of which one says the rank; dimensions are as large as the bases reach.
  compiler::LinearLayout Layout(llvm::ArrayRef<compiler::InDimBases> bases);

  // False after any complaint.
  bool Done();
  void Fail(const std::string& message);
  mlir::InFlightDiagnostic EmitErrorHere() { return parser_.emitError(loc_); }

 private:
  EncodingFields(mlir::AsmParser& parser, mlir::SMLoc loc, mlir::DictionaryAttr fields, bool ok)
      : parser_(parser), loc_(loc), fields_(fields), ok_(ok) {}

  mlir::AsmParser& parser_;
  mlir::SMLoc loc_;
  mlir::NamedAttrList fields_;
  bool ok_ = false;
};

// key = [1, 2]
void PrintList(mlir::AsmPrinter& printer, llvm::StringRef key, llvm::ArrayRef<unsigned> values);
// register = [[0, 1]], lane = …: all inputs of `layout`.
void PrintBases(mlir::AsmPrinter& printer, const compiler::LinearLayout& layout);
// , CGALayout = [[0, 1]]; nothing for one block.
void PrintCga(mlir::AsmPrinter& printer, const compiler::LinearLayout& cga);

// Each complains through `error` and fails.
mlir::LogicalResult VerifyPowersOfTwo(EmitError error, llvm::StringRef name, llvm::ArrayRef<unsigned> values);
mlir::LogicalResult VerifyProduct(EmitError error, llvm::StringRef name, llvm::ArrayRef<unsigned> values);
mlir::LogicalResult VerifyRank(EmitError error, unsigned rank, llvm::ArrayRef<int64_t> shape);
mlir::LogicalResult VerifyOrder(EmitError error, llvm::ArrayRef<unsigned> order);
mlir::LogicalResult VerifyCga(EmitError error, const compiler::LinearLayout& cga, unsigned rank);
mlir::LogicalResult VerifyLinear(EmitError error, const compiler::LinearLayout& layout);
// Whether `encoding` fits a buffer of `shape`, which has its rank.
mlir::LogicalResult VerifyShared(EmitError error, SharedEncoding encoding, llvm::ArrayRef<int64_t> shape,
                                 mlir::Type element);

}  // namespace tritond::ttg

#endif  // COMPILER_IR_ENCODING_FIELDS_H_
