# SPDX-License-Identifier: Apache-2.0
# The kernels of accelerate_matmul.mlir with waves of 32 lanes.
s/"ttg.threads-per-warp" = 64/"ttg.threads-per-warp" = 32/
s/threadsPerWarp = \[4, 16\]/threadsPerWarp = [2, 16]/
