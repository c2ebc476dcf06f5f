// SPDX-License-Identifier: Apache-2.0
// What a compile makes depends on its request alone, whatever the process has compiled before. One compiler compiles
// real kernels of ../shared/corpus for all kinds of targets, and requests that fail at each stage, in random orders.
// Compiles that are cancelled and abandoned come in between. Every result is compared with the one of a process that
// has done nothing else, whose memory, working folder and environment are others.
//
//   compiler_driver_determinism_test            # a part of the corpus, a few orders
//   compiler_driver_determinism_test --whole    # all of it in twenty orders: half an hour
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/driver/compile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace tritond::compiler {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string name;
  CompileRequest request;
};

// What a result consists of, by the names of its parts; everything but times.
using Record = std::map<std::string, std::string>;

bool whole = false;

std::string ReadFile(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

CompileRequest Request(std::string ir, std::string target, Stage input = Stage::kTtir) {
  CompileRequest request;
  request.ir = std::move(ir);
  request.target = std::move(target);
  request.input = input;
  request.options = nlohmann::json::object();
  for (int stage = static_cast<int>(input); stage <= static_cast<int>(Stage::kBinary); ++stage)
    request.outputs.push_back(static_cast<Stage>(stage));
  return request;
}

// Kernels that the orders of CI take: small ones, matrix products, reductions, library functions, descriptors.
bool InPart(const std::string& kernel) {
  for (const char* name : {"vector_add_odd_n", "softmax_rows", "matmul_f16", "gelu_bias", "matmul_tma", "histogram",
                           "sort_rows", "155_triton_poi_fused__to_copy_slice_sum_transpose_3"})
    if (kernel == name) return true;
  return false;
}

void AddCorpus(const fs::path& folder, std::vector<Case>* cases) {
  if (!fs::exists(folder)) return;
  std::vector<fs::path> kernels;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".ttir" && (whole || InPart(entry.path().stem()))) kernels.push_back(entry.path());
  std::sort(kernels.begin(), kernels.end());
  // Each kernel for all vendors. Of a vendor's generations CI takes one after the other.
  const std::vector<std::vector<const char*>> vendors = {
      {"cuda:80", "cuda:90", "cuda:120"}, {"hip:gfx942", "hip:gfx1100"}, {"xpu:pvc"}, {"host"}};
  int count = 0;
  size_t turn = 0;
  for (fs::path path : kernels) {
    std::vector<const char*> targets;
    for (const std::vector<const char*>& generations : vendors)
      for (size_t i = 0; i < generations.size(); ++i)
        if (whole || i == turn % generations.size()) targets.push_back(generations[i]);
    ++turn;
    for (const char* target : targets) {
      Case added{absl::StrCat(path.stem().string(), " for ", target), Request(ReadFile(path), target)};
      fs::path options = path;
      const nlohmann::json all = nlohmann::json::parse(ReadFile(options.replace_extension(".json")));
      added.request.options = all.contains("options") ? all["options"] : all;
      added.request.debug_info = ++count % 5 == 0;
      cases->push_back(std::move(added));
    }
  }
}

constexpr char kUnknownFunction[] = R"(module {
  tt.func public @k(%x: !tt.ptr<f32>) {
    %v = tt.load %x : !tt.ptr<f32>
    %w = tt.extern_elementwise %v {libname = "", libpath = "", pure = true, symbol = "nobody_has_it"} : (f32) -> f32
    tt.store %x, %w : !tt.ptr<f32>
    tt.return
  }
}
)";

// Calls by address have numbers that LLVM counts on from module to module, and calls by name too.
constexpr char kCalls[] = R"(
target triple = "nvptx64-nvidia-cuda"
define internal void @f(i32 %v) noinline { ret void }
define void @k(ptr %to, i32 %v) {
  call void %to(i32 %v)
  call void @f(i32 %v)
  call void %to(i32 7)
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{ptr @k, !"kernel", i32 1}
)";

std::string ForeignInstruction(const std::string& intrinsic) {
  return absl::StrCat("declare i32 @", intrinsic, "()\ndefine void @k(ptr %p) {\n  %v = call i32 @", intrinsic,
                      "()\n  store i32 %v, ptr %p\n  ret void\n}\n!nvvm.annotations = !{!0}\n",
                      "!0 = !{ptr @k, !\"kernel\", i32 1}\n");
}

void AddWrongRequests(std::vector<Case>* cases) {
  for (const std::string target : {"cuda:90", "host"}) {
    const bool host = target == "host";
    auto add = [&](const std::string& what, CompileRequest request) {
      cases->push_back({absl::StrCat(what, " for ", target), std::move(request)});
    };
    add("ttir that is none", Request("module { tt.func public @k( }", target));
    add("ttir without a kernel", Request("module {}", target));
    add("ttgir without warps", Request("module { tt.func public @k() { tt.return } }", target, Stage::kTtgir));
    add("an unknown function", Request(kUnknownFunction, target));
    add("llir that is none", Request("define void @k( {", target, Stage::kLlir));
    add("llir that breaks a rule", Request("define i32 @k() { ret void }", target, Stage::kLlir));
    add("llir of another processor",
        Request(ForeignInstruction(host ? "llvm.nvvm.read.ptx.sreg.tid.x" : "llvm.x86.rdpid"), target, Stage::kLlir));
    add("llir with calls by address", Request(kCalls, target, Stage::kLlir));
    add("asm that is none", Request(host ? "\t.globl\tk\n\t.type\tk,@function\nk:\n\tfrobnicate\n"
                                         : ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n"
                                           "frobnicate;\n}\n",
                                    target, Stage::kAsm));
    add("asm without a kernel", Request(host ? "\tret\n" : ".version 8.0\n.target sm_90a\n", target, Stage::kAsm));
    CompileRequest options = Request("module {}", target);
    options.options = {{"num_warps", 3}};
    add("a wrong option", options);
  }
}

std::vector<Case> Cases(const fs::path& corpus) {
  std::vector<Case> cases;
  AddCorpus(corpus / "dev", &cases);
  AddCorpus(corpus / "inductor", &cases);
  AddWrongRequests(&cases);
  return cases;
}

Record RecordOf(const CompileResult& result) {
  Record record;
  record["status"] = result.status.ToString();
  record["metadata"] = result.metadata.dump();
  record["keys"] = result.keys.result + " " + result.keys.assembly;
  for (const std::string& option : result.ignored_options) record["ignored"] += option + " ";
  for (const Diagnostic& d : result.diagnostics)
    absl::StrAppend(&record["diagnostics"], static_cast<int>(d.severity), " ", StageName(d.stage), " ", d.line, ":",
                    d.column, " ", d.message, "\n");
  for (const Artifact& artifact : result.artifacts)
    record[absl::StrCat("artifact ", StageName(artifact.stage), " ", artifact.format)] = artifact.bytes;
  return record;
}

// As a fresh process prints it: for each part the sizes of name and bytes, then both.
std::string Serialized(const Record& record) {
  std::string text;
  for (const auto& [name, bytes] : record) absl::StrAppend(&text, name.size(), " ", bytes.size(), "\n", name, bytes);
  return text;
}

int CompileFresh(const fs::path& corpus, int index) {
  const std::vector<Case> cases = Cases(corpus);
  const std::string text = Serialized(RecordOf(Compiler::Create()->Compile(cases.at(index).request)));
  return fwrite(text.data(), 1, text.size(), stdout) == text.size() && fflush(stdout) == 0 ? 0 : 1;
}

// What a process of its own makes of the case, in another folder and with more in its environment.
std::string InFreshProcess(const fs::path& corpus, int index) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    setenv("TZ", "Asia/Tokyo", 1);
    setenv("TMPDIR", "/nonexistent", 1);
    setenv("TRITOND_OF_NO_MEANING", std::string(1000 + 16 * index, 'x').c_str(), 1);
    dup2(ends[1], STDOUT_FILENO);
    const std::string root = corpus.string(), number = absl::StrCat(index);
    char program[4096] = {};
    if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0 || chdir("/") != 0) _exit(126);
    execl(program, program, "--fresh", root.c_str(), number.c_str(), whole ? "--whole" : nullptr, nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char buffer[1 << 16];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof(buffer))) > 0;) text.append(buffer, count);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : absl::StrCat("wait status ", status);
}

// The names of the parts that differ.
std::string Difference(const std::string& fresh, const Record& record) {
  if (fresh == Serialized(record)) return "";
  std::string names;
  for (const auto& [name, bytes] : record) {
    if (fresh.find(absl::StrCat(name.size(), " ", bytes.size(), "\n", name, bytes)) == std::string::npos)
      absl::StrAppend(&names, names.empty() ? "" : ", ", name,
                      bytes.size() < 300 ? absl::StrCat(" (", bytes, ")") : "");
  }
  return absl::StrCat("differs in: ", names.empty() ? "the parts that there are" : names);
}

// Options of LLVM, which the process has once, that are not as LLVM has them by itself.
std::string ChangedLlvmOptions() {
  constexpr size_t kWidth = 200;  // of a column that every name fits into
  testing::internal::CaptureStdout();
  for (auto& entry : llvm::cl::getRegisteredOptions()) entry.second->printOptionValue(kWidth, /*Force=*/false);
  llvm::outs().flush();
  return testing::internal::GetCapturedStdout();
}

class Determinism : public testing::Test {
 protected:
  void SetUp() override {
    corpus_ = fs::absolute("../shared/corpus").lexically_normal();
    if (!fs::exists(corpus_)) std::cout << "../shared/corpus is not there: wrong requests alone are compiled\n";
    cases_ = Cases(corpus_);
    for (size_t i = 0; i < cases_.size(); ++i) fresh_.push_back(InFreshProcess(corpus_, i));
  }

  // Begins the case and ends it before it is done.
  void Interrupt(const Case& begun) {
    const int last = random_() % begun.request.outputs.size();
    const bool abandon = random_() % 2 == 0;
    compiler_->OnStage([&, seen = 0](Stage, const CompileRequest&) mutable {
      if (seen++ != last) return absl::OkStatus();
      if (!abandon) return absl::CancelledError("nobody wants it");
      compiler_->Abandon();
      return absl::OkStatus();
    });
    const CompileResult result = compiler_->Compile(begun.request);
    EXPECT_FALSE(result.status.ok()) << begun.name;
    compiler_->OnStage(nullptr);
  }

  // Begins the case and abandons it at some time, from another thread, whatever works for it then.
  void Disturb(const Case& begun) {
    const auto delay = std::chrono::milliseconds(random_() % 100);
    std::thread caller([&] {
      std::this_thread::sleep_for(delay);
      compiler_->Abandon();
    });
    compiler_->Compile(begun.request);
    caller.join();
  }

  std::mt19937 random_{1};
  fs::path corpus_;
  std::vector<Case> cases_;
  std::vector<std::string> fresh_;
  std::unique_ptr<Compiler> compiler_ = Compiler::Create();
};

TEST_F(Determinism, AResultDependsOnItsRequestAlone) {
  const int orders = whole ? 20 : 3;
  std::map<std::string, int> different;
  int compared = 0;
  // A compile for CUDA sets what it goes by; nothing may change it again.
  CompileRequest first = Request(kCalls, "cuda:90", Stage::kLlir);
  first.outputs = {Stage::kAsm};
  ASSERT_TRUE(compiler_->Compile(first).status.ok());
  const std::string options = ChangedLlvmOptions();
  EXPECT_THAT(options, testing::HasSubstr("nvptx-short-ptr"));
  for (int order = 0; order < orders; ++order) {
    std::vector<size_t> sequence(cases_.size());
    for (size_t i = 0; i < sequence.size(); ++i) sequence[i] = i;
    std::shuffle(sequence.begin(), sequence.end(), random_);
    for (size_t i : sequence) {
      const Case& other = cases_[random_() % cases_.size()];
      if (random_() % 8 == 0) Interrupt(other);
      if (random_() % 8 == 0) Disturb(other);
      const std::string wrong = Difference(fresh_[i], RecordOf(compiler_->Compile(cases_[i].request)));
      ++compared;
      if (!wrong.empty() && ++different[cases_[i].name] == 1) ADD_FAILURE() << cases_[i].name << " " << wrong;
    }
  }
  std::cout << compared << " compiles of " << cases_.size() << " requests in " << orders << " orders; "
            << different.size() << " requests with different results\n";
  EXPECT_TRUE(ChangedLlvmOptions() == options) << "a compile has left another option of LLVM's behind";
}

}  // namespace
}  // namespace tritond::compiler

int main(int argc, char** argv) {
  using namespace tritond::compiler;
  for (int i = 1; i < argc; ++i) whole |= strcmp(argv[i], "--whole") == 0;
  int index = 0;
  if (argc >= 4 && strcmp(argv[1], "--fresh") == 0 && absl::SimpleAtoi(argv[3], &index))
    return CompileFresh(argv[2], index);
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
