// SPDX-License-Identifier: Apache-2.0
#ifndef COMPILER_ENCODING_DIVIDED_AXES_H_
#define COMPILER_ENCODING_DIVIDED_AXES_H_

#include "compiler/encoding/access_width.h"
#include "compiler/ir/encodings.h"

namespace tritond::compiler {

// Loops divide indices, as those of a convolution whose channels and taps are one dimension. A thread divides once for
// each row it has elements of, and warps that lie along rows divide for the same rows. So warps lie along the dimension
// that `accesses` divide by most in their loops, as far as it goes. Lanes stay, and so do the sectors of each warp.
//
//   warpsPerCTA = [1, 4], 32 divisions a thread    ->    warpsPerCTA = [4, 1], 8 divisions
ttg::BlockedEncodingAttr SpreadDivisions(ttg::BlockedEncodingAttr encoding, llvm::ArrayRef<int64_t> shape,
                                         llvm::ArrayRef<WideAccess> accesses);

}  // namespace tritond::compiler

#endif  // COMPILER_ENCODING_DIVIDED_AXES_H_
