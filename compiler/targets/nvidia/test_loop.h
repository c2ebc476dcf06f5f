// SPDX-License-Identifier: Apache-2.0
// For tests: the text of a kernel with a loop that loads.
#ifndef COMPILER_TARGETS_NVIDIA_TEST_LOOP_H_
#define COMPILER_TARGETS_NVIDIA_TEST_LOOP_H_

#include <string>

#include "absl/strings/str_cat.h"

namespace tritond::compiler::nvidia {

// PTX for `arch`, such as "sm_90a". Its loop, which stays as it is, loads 16 bytes so many times an iteration: at once,
// or each at an address that needs what was loaded before it. A thread keeps `held` other words in registers. Without
// `loops` it does so once.
inline std::string LoopThatLoads(int loads, bool at_once, const std::string& arch, int held = 0, bool loops = true) {
  std::string body, sums, before, after;
  for (int word = 0; word < held; ++word) {
    absl::StrAppend(&before, "ld.volatile.global.u32 %h", word, ", [%rd2+", 4 * word, "];\n");
    absl::StrAppend(&after, "st.volatile.global.u32 [%rd1+", 4 * word, "], %h", word, ";\n");
  }
  for (int load = 0; load < loads; ++load) {
    absl::StrAppend(&body, "ld.volatile.global.v4.f32 {%f", 4 * load, ", %f", 4 * load + 1, ", %f", 4 * load + 2,
                    ", %f", 4 * load + 3, "}, [%rd2+", 16 * load, "];\n");
    absl::StrAppend(at_once ? &sums : &body, "add.f32 %s, %s, %f", 4 * load, ";\n");
    if (!at_once) absl::StrAppend(&body, "cvt.rzi.u64.f32 %rd3, %s;\nadd.u64 %rd2, %rd2, %rd3;\n");
  }
  return absl::StrCat(
      ".version 8.0\n.target ", arch, "\n.address_size 64\n.visible .entry kernel(.param .u64 a)\n.reqntid 256\n",
      "{\n.reg .b64 %rd<4>;\n.reg .pred %p;\n.reg .b32 %r<2>;\n.reg .f32 %s;\n.reg .b32 %h<", held + 1,
      ">;\n.reg .f32 %f<", 4 * loads, ">;\nld.param.u64 %rd1, [a];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, 0;\n",
      before, "mov.f32 %s, 0f00000000;\nloop:\n.pragma \"nounroll\";\n", body, sums, "add.u32 %r1, %r1, 1;\n",
      loops ? "setp.lt.u32 %p, %r1, 999;\n@%p bra loop;\n" : "", "st.global.f32 [%rd1], %s;\n", after, "ret;\n}\n");
}

inline std::string CodeThatLoads(int loads, bool at_once, const std::string& arch, int held = 0) {
  return LoopThatLoads(loads, at_once, arch, held, /*loops=*/false);
}

}  // namespace tritond::compiler::nvidia

#endif  // COMPILER_TARGETS_NVIDIA_TEST_LOOP_H_
