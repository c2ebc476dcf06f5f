// SPDX-License-Identifier: Apache-2.0
// LLVM's intrinsics for NVIDIA GPUs as the PTX that they stand for, so that one place knows what an instruction does.
// Most names are the instruction's with the type abbreviated: "llvm.nvvm.fma.rn.ftz.f" is "fma.rn.ftz.f32".
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "compiler/targets/emulated/emulate.h"
#include "llvm/ADT/StringSwitch.h"

namespace tritond::compiler::emulated {
namespace {

struct Row {
  const char* intrinsic;  // after "llvm.nvvm."
  const char* ptx;
};

constexpr Row kRows[] = {
    {"bar.warp.sync", "bar.warp.sync $0;"},
    {"barrier.cta.sync.aligned.all", "barrier.cta.sync.aligned $0;"},
    {"barrier.cta.sync.all", "barrier.cta.sync $0;"},
    {"barrier.cta.sync.aligned.count", "barrier.cta.sync.aligned $0, $1;"},
    {"barrier.cta.sync.count", "barrier.cta.sync $0, $1;"},
    {"barrier.cta.arrive.aligned.count", "barrier.cta.arrive.aligned $0, $1;"},
    {"barrier.cta.arrive.count", "barrier.cta.arrive $0, $1;"},
    {"barrier.cluster.arrive.aligned", "barrier.cluster.arrive.aligned;"},
    {"barrier.cluster.wait.aligned", "barrier.cluster.wait.aligned;"},
    {"barrier0", "bar.sync 0;"},
    {"membar.cta", "membar.cta;"},
    {"membar.gl", "membar.gl;"},
    {"membar.sys", "membar.sys;"},
    {"fence.sc.cluster", "fence.sc.cluster;"},
    {"fence.proxy.async", "fence.proxy.async;"},
    {"fence.proxy.async.global", "fence.proxy.async.global;"},
    {"fence.proxy.async.shared_cta", "fence.proxy.async.shared::cta;"},
    {"fence.proxy.async.shared_cluster", "fence.proxy.async.shared::cluster;"},
    {"shfl.sync.bfly.i32", "shfl.sync.bfly.b32 $0, $2, $3, $4, $1;"},
    {"shfl.sync.idx.i32", "shfl.sync.idx.b32 $0, $2, $3, $4, $1;"},
    {"shfl.sync.up.i32", "shfl.sync.up.b32 $0, $2, $3, $4, $1;"},
    {"shfl.sync.down.i32", "shfl.sync.down.b32 $0, $2, $3, $4, $1;"},
    {"shfl.sync.bfly.f32", "shfl.sync.bfly.b32 $0, $2, $3, $4, $1;"},
    {"shfl.sync.idx.f32", "shfl.sync.idx.b32 $0, $2, $3, $4, $1;"},
    {"shfl.sync.up.f32", "shfl.sync.up.b32 $0, $2, $3, $4, $1;"},
    {"shfl.sync.down.f32", "shfl.sync.down.b32 $0, $2, $3, $4, $1;"},
    {"shfl.sync.bfly.i32p", "shfl.sync.bfly.b32 $0|$1, $3, $4, $5, $2;"},
    {"shfl.sync.idx.i32p", "shfl.sync.idx.b32 $0|$1, $3, $4, $5, $2;"},
    {"shfl.sync.up.i32p", "shfl.sync.up.b32 $0|$1, $3, $4, $5, $2;"},
    {"shfl.sync.down.i32p", "shfl.sync.down.b32 $0|$1, $3, $4, $5, $2;"},
    {"redux.sync.add", "redux.sync.add.s32 $0, $1, $2;"},
    {"redux.sync.min", "redux.sync.min.s32 $0, $1, $2;"},
    {"redux.sync.max", "redux.sync.max.s32 $0, $1, $2;"},
    {"redux.sync.umin", "redux.sync.min.u32 $0, $1, $2;"},
    {"redux.sync.umax", "redux.sync.max.u32 $0, $1, $2;"},
    {"redux.sync.and", "redux.sync.and.b32 $0, $1, $2;"},
    {"redux.sync.or", "redux.sync.or.b32 $0, $1, $2;"},
    {"redux.sync.xor", "redux.sync.xor.b32 $0, $1, $2;"},
    {"vote.ballot.sync", "vote.sync.ballot.b32 $0, $2, $1;"},
    {"vote.all.sync", "vote.sync.all.pred $0, $2, $1;"},
    {"vote.any.sync", "vote.sync.any.pred $0, $2, $1;"},
    {"vote.uni.sync", "vote.sync.uni.pred $0, $2, $1;"},
    {"match.any.sync.i32", "match.any.sync.b32 $0, $2, $1;"},
    {"match.any.sync.i64", "match.any.sync.b64 $0, $2, $1;"},
    {"elect.sync", "elect.sync $0|$1, $2;"},
    {"activemask", "activemask.b32 $0;"},
    {"d2i.lo", "{ .reg .b32 h; mov.b64 {$0, h}, $1; }"},
    {"d2i.hi", "{ .reg .b32 l; mov.b64 {l, $0}, $1; }"},
    {"lohi.i2d", "mov.b64 $0, {$1, $2};"},
    {"ff2f16x2.rn", "cvt.rn.f16x2.f32 $0, $1, $2;"},
    {"ff2f16x2.rz", "cvt.rz.f16x2.f32 $0, $1, $2;"},
    {"ff2bf16x2.rn", "cvt.rn.bf16x2.f32 $0, $1, $2;"},
    {"ff2bf16x2.rz", "cvt.rz.bf16x2.f32 $0, $1, $2;"},
    {"ff2f16x2.rn.relu", "cvt.rn.relu.f16x2.f32 $0, $1, $2;"},
    {"ff2bf16x2.rn.relu", "cvt.rn.relu.bf16x2.f32 $0, $1, $2;"},
    {"f2bf16.rn", "cvt.rn.bf16.f32 $0, $1;"},
    {"f2bf16.rz", "cvt.rz.bf16.f32 $0, $1;"},
    {"f2tf32.rna", "cvt.rna.tf32.f32 $0, $1;"},
    {"f2tf32.rn", "cvt.rn.tf32.f32 $0, $1;"},
    {"e4m3x2.to.f16x2.rn", "cvt.rn.f16x2.e4m3x2 $0, $1;"},
    {"e5m2x2.to.f16x2.rn", "cvt.rn.f16x2.e5m2x2 $0, $1;"},
    {"ff.to.e4m3x2.rn", "cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;"},
    {"ff.to.e5m2x2.rn", "cvt.rn.satfinite.e5m2x2.f32 $0, $1, $2;"},
    {"f16x2.to.e4m3x2.rn", "cvt.rn.satfinite.e4m3x2.f16x2 $0, $1;"},
    {"f16x2.to.e5m2x2.rn", "cvt.rn.satfinite.e5m2x2.f16x2 $0, $1;"},
    {"prmt", "prmt.b32 $0, $1, $2, $3;"},
    {"sad.i", "sad.s32 $0, $1, $2, $3;"},
    {"sad.ui", "sad.u32 $0, $1, $2, $3;"},
    {"mulhi.i", "mul.hi.s32 $0, $1, $2;"},
    {"mulhi.ui", "mul.hi.u32 $0, $1, $2;"},
    {"mulhi.ll", "mul.hi.s64 $0, $1, $2;"},
    {"mulhi.ull", "mul.hi.u64 $0, $1, $2;"},
    {"saturate.f", "cvt.sat.f32.f32 $0, $1;"},
    {"saturate.ftz.f", "cvt.sat.ftz.f32.f32 $0, $1;"},
    {"saturate.d", "cvt.sat.f64.f64 $0, $1;"},
    {"wgmma.fence.sync.aligned", "wgmma.fence.sync.aligned;"},
    {"wgmma.commit_group.sync.aligned", "wgmma.commit_group.sync.aligned;"},
    {"cp.async.commit.group", "cp.async.commit_group;"},
    {"cp.async.wait.all", "cp.async.wait_all;"},
    {"cp.async.wait.group", "cp.async.wait_group $0;"},
    {"cp.async.bulk.commit.group", "cp.async.bulk.commit_group;"},
    {"cp.async.bulk.wait.group", "cp.async.bulk.wait_group $0;"},
    {"cp.async.bulk.wait.group.read", "cp.async.bulk.wait_group.read $0;"},
    {"div.full", "div.full.f32 $0, $1, $2;"},
    {"div.full.ftz", "div.full.ftz.f32 $0, $1, $2;"},
    {"griddepcontrol.wait", "griddepcontrol.wait;"},
    {"setmaxnreg.inc.sync.aligned.u32", "setmaxnreg.inc.sync.aligned.u32 $0;"},
    {"setmaxnreg.dec.sync.aligned.u32", "setmaxnreg.dec.sync.aligned.u32 $0;"},
    {"griddepcontrol.launch.dependents", "griddepcontrol.launch_dependents;"},
};

// "f" is "f32" in most names; newer ones spell it.
std::string TypeOf(llvm::StringRef letter) {
  return llvm::StringSwitch<std::string>(letter)
      .Cases({"f", "f32"}, "f32")
      .Cases({"d", "f64"}, "f64")
      .Cases({"h", "f16"}, "f16")
      .Case("bf16", "bf16")
      .Cases({"f16x2", "v2f16"}, "f16x2")
      .Cases({"bf16x2", "v2bf16"}, "bf16x2")
      .Case("i", "s32")
      .Case("ui", "u32")
      .Case("ll", "s64")
      .Case("ull", "u64")
      .Default("");
}

// "f2i.rz.ftz", "ull2d.rn": "cvt.rzi.ftz.s32.f32", "cvt.rn.f64.u64".
std::string Conversion(const std::vector<std::string>& words) {
  const std::pair<std::string, std::string> sides = absl::StrSplit(words[0], absl::MaxSplits('2', 1));
  const std::string from = TypeOf(sides.first), to = TypeOf(sides.second);
  if (from.empty() || to.empty()) return "";
  std::string text = "cvt";
  for (size_t i = 1; i < words.size(); ++i) absl::StrAppend(&text, ".", words[i], to[0] != 'f' && i == 1 ? "i" : "");
  return absl::StrCat(text, ".", to, ".", from, " $0, $1;");
}

// The number of operands of an arithmetic instruction; 0: it is none.
int Operands(llvm::StringRef op) {
  return llvm::StringSwitch<int>(op)
      .Case("fma", 3)
      .Cases({"add", "mul", "sub", "div", "min", "max"}, 2)
      .Cases({"abs", "neg", "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh"}, 1)
      .Default(0);
}

// Rounding to a whole number.
std::string WholeRounding(llvm::StringRef op) {
  return llvm::StringSwitch<std::string>(op)
      .Case("trunc", "rzi")
      .Case("floor", "rmi")
      .Case("ceil", "rpi")
      .Case("round", "rni")
      .Default("");
}

std::string Arithmetic(std::vector<std::string> words) {
  const std::string type = TypeOf(words.back());
  if (type.empty()) return "";
  words.pop_back();
  if (const std::string rounding = WholeRounding(words[0]); !rounding.empty())
    return absl::StrCat("cvt.", rounding, words.size() > 1 ? ".ftz." : ".", type, ".", type, " $0, $1;");
  if (words[0] == "fabs" || words[0] == "fmin" || words[0] == "fmax") words[0] = words[0].substr(1);
  for (std::string& word : words)
    if (word == "nan") word = "NaN";
  const int operands = Operands(words[0]);
  if (operands == 0) return "";
  std::string text = absl::StrCat(absl::StrJoin(words, "."), ".", type, " $0");
  for (int i = 1; i <= operands; ++i) absl::StrAppend(&text, ", $", i);
  return text + ";";
}

// "ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3"
std::string Matrices(llvm::StringRef name) {
  const bool is_load = name.starts_with("ldmatrix");
  if (!is_load && !name.starts_with("stmatrix")) return "";
  if (!name.consume_back(".p3") && !name.consume_back(".p0")) return "";
  const int count = name.contains(".x4") ? 4 : name.contains(".x2") ? 2 : 1;
  std::string registers;
  for (int i = 0; i < count; ++i) absl::StrAppend(&registers, i ? ", $" : "$", is_load ? i : i + 1);
  const std::string list = absl::StrCat("{", registers, "}");
  if (is_load) return absl::StrCat(name.str(), " ", list, ", [$", count, "];");
  return absl::StrCat(name.str(), " [$0], ", list, ";");
}

}  // namespace

std::string PtxOfIntrinsic(llvm::StringRef name) {
  // Of zeros the device's minimum is the negative one; LLVM's may be any.
  for (const char* extreme : {"llvm.minnum.", "llvm.maxnum."}) {
    llvm::StringRef type = name;
    if (!type.consume_front(extreme) || TypeOf(type).empty()) continue;
    return absl::StrCat(name.contains("min") ? "min." : "max.", TypeOf(type), " $0, $1, $2;");
  }
  if (!name.consume_front("llvm.nvvm.")) return "";
  for (const Row& row : kRows)
    if (name == row.intrinsic) return row.ptx;
  llvm::StringRef special = name;
  if (special.consume_front("read.ptx.sreg.")) {
    const bool is_wide = special == "globaltimer" || special == "clock64";
    const std::string reg = absl::StrReplaceAll(special.str(), {{"cluster.", "cluster_"}});
    return absl::StrCat(is_wide ? "mov.u64" : "mov.u32", " $0, %", reg, ";");
  }
  if (std::string text = Matrices(name); !text.empty()) return text;
  const std::vector<std::string> words = absl::StrSplit(name.str(), '.');
  if (words[0].find('2') != std::string::npos && words[0].substr(0, 3) != "ex2" && words[0] != "lg2")
    return Conversion(words);
  return Arithmetic(words);
}

}  // namespace tritond::compiler::emulated
