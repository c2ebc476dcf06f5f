// RUN: not triton-opt %s "--convert-tt-to-ttg=num-ctas=3" 2>&1 | FileCheck %s --check-prefix=CTAS
// RUN: not triton-opt %s "--convert-tt-to-ttg=num-warps=3" 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: not triton-opt %s "--convert-tt-to-ttg=threads-per-warp=0" 2>&1 | FileCheck %s --check-prefix=LANES
// Launch shapes that cannot be are diagnosed.
// CTAS: error: num_ctas = 3 is no power of two from 1 to 16
// WARPS: error: num_warps = 3 is no power of two from 1 to 32
// LANES: error: threads_per_warp = 0 is no power of two from 1 to 128
tt.func @kernel() {
  tt.return
}
