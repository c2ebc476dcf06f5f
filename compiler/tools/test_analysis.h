// SPDX-License-Identifier: Apache-2.0
// Printers of analyses, for lit tests.
#ifndef COMPILER_TOOLS_TEST_ANALYSIS_H_
#define COMPILER_TOOLS_TEST_ANALYSIS_H_

namespace tritond::compiler {

// Registers test-print-axis-info. Call once.
void RegisterAnalysisPrinters();

}  // namespace tritond::compiler

#endif  // COMPILER_TOOLS_TEST_ANALYSIS_H_
