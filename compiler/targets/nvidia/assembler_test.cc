// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvidia/assembler.h"

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "compiler/targets/nvidia/toolchain.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tritond::compiler::nvidia {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kElfMagic[] =
    "\x7f"
    "ELF";
const std::string kUsualRoot = "/usr/local/cuda";

std::string Ptx(const std::string& target, const std::string& body, const std::string& version = "8.0") {
  return ".version " + version + "\n.target " + target +
         "\n.address_size 64\n.visible .entry kernel(.param .u64 a)\n{\n" + body + "\nret;\n}\n";
}

// A shared array of 300 KiB: more than any block has.
const std::string kTooMuchShared =
    "  .shared .align 4 .b8 big[307200];\n  .reg .b32 %r<2>;\n  mov.u32 %r1, %tid.x;\n"
    "  st.shared.u32 [big], %r1;";

// Nothing waits for the product.
constexpr char kReadsAccumulators[] =
    "  .reg .b64 %rd<3>; .reg .f32 %f<5>;\n  ld.param.u64 %rd1, [a];\n  cvta.to.global.u64 %rd2, %rd1;\n"
    "  ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd2];\n  wgmma.fence.sync.aligned;\n"
    "  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd1, 1, 1, 1, 0, 0;\n"
    "  wgmma.commit_group.sync.aligned;\n  st.global.v4.f32 [%rd2], {%f1, %f2, %f3, %f4};";

TEST(PtxVersionOfCuda, FollowsTheReleaseNotes) {
  EXPECT_EQ(PtxVersionOfCuda(11, 8), 78);
  EXPECT_EQ(PtxVersionOfCuda(12, 0), 80);
  EXPECT_EQ(PtxVersionOfCuda(12, 5), 85);
  EXPECT_EQ(PtxVersionOfCuda(12, 6), 85);
  EXPECT_EQ(PtxVersionOfCuda(12, 9), 88);
  EXPECT_EQ(PtxVersionOfCuda(13, 0), 90);
  EXPECT_EQ(PtxVersionOfCuda(13, 1), 91);
}

TEST(AssemblyError, TellsWhatDoesNotFitFromWhatIsWrong) {
  EXPECT_EQ(AssemblyError("ptxas", "Entry function 'k' uses too much shared data (0x4b000 bytes)").code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(AssemblyError("ptxas", "Unsupported .version 9.9; current version is '9.0'").code(),
            absl::StatusCode::kFailedPrecondition);
  absl::Status other = AssemblyError("ptxas 13.0", "line 3; error: Unknown symbol 'x'");
  EXPECT_EQ(other.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(other.message()), HasSubstr("Unknown symbol 'x'"));
}

using Open = absl::StatusOr<std::unique_ptr<Assembler>> (*)(const std::string&);
struct Backend {
  const char* name;
  Open open;
  std::string path;
};

class EveryAssembler : public ::testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    auto opened = GetParam().open(GetParam().path);
    ASSERT_TRUE(opened.ok()) << opened.status();
    assembler_ = RunApart(*std::move(opened));  // as the toolchain does
  }
  std::unique_ptr<Assembler> assembler_;
};

TEST_P(EveryAssembler, MakesACubin) {
  for (const char* arch : {"sm_80", "sm_90a"}) {
    auto cubin = assembler_->Assemble(Ptx(arch, ""), {.arch = arch});
    ASSERT_TRUE(cubin.ok()) << cubin.status();
    EXPECT_THAT(*cubin, StartsWith(kElfMagic));
    EXPECT_THAT(*cubin, HasSubstr("kernel"));
  }
}

TEST_P(EveryAssembler, IsDeterministic) {
  const std::string ptx = Ptx("sm_90a", "  .reg .b32 %r<2>;\n  mov.u32 %r1, %tid.x;");
  EXPECT_EQ(*assembler_->Assemble(ptx, {.arch = "sm_90a"}), *assembler_->Assemble(ptx, {.arch = "sm_90a"}));
}

TEST_P(EveryAssembler, ReportsBadTextWithItsLog) {
  auto cubin = assembler_->Assemble(Ptx("sm_90a", "  frobnicate.u32 %r1, 1;"), {.arch = "sm_90a"});
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(cubin.status().message()), HasSubstr("frobnicate"));
}

TEST_P(EveryAssembler, ReportsThatSharedMemoryDoesNotFit) {
  auto cubin = assembler_->Assemble(Ptx("sm_90a", kTooMuchShared), {.arch = "sm_90a"});
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.status().code(), absl::StatusCode::kResourceExhausted) << cubin.status();
}

TEST_P(EveryAssembler, ReportsThatItIsTooOldForTheText) {
  auto cubin = assembler_->Assemble(Ptx("sm_90a", "", "19.0"), {.arch = "sm_90a"});
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.status().code(), absl::StatusCode::kFailedPrecondition) << cubin.status();
}

TEST_P(EveryAssembler, ContractsOnlyWhenAllowed) {
  // Without contraction the multiplication and the addition stay two instructions, so the code differs.
  const std::string body =
      "  .reg .b64 %rd<3>; .reg .f32 %f<5>;\n  ld.param.u64 %rd1, [a];\n  cvta.to.global.u64 %rd2, %rd1;\n"
      "  ld.global.f32 %f1, [%rd2];\n  ld.global.f32 %f2, [%rd2+4];\n  mul.f32 %f3, %f1, %f2;\n"
      "  add.f32 %f4, %f3, %f1;\n  st.global.f32 [%rd2], %f4;";
  auto fused = assembler_->Assemble(Ptx("sm_90a", body), {.arch = "sm_90a"});
  auto separate = assembler_->Assemble(Ptx("sm_90a", body), {.arch = "sm_90a", .fp_fusion = false});
  ASSERT_TRUE(fused.ok() && separate.ok()) << fused.status() << separate.status();
  EXPECT_NE(*fused, *separate);
}

TEST_P(EveryAssembler, TellsWhatItSaysOfATextThatItTakes) {
  std::string log = "another text's";
  AssembleOptions options = {.arch = "sm_90a"};
  options.log = &log;
  const auto taken = assembler_->Assemble(Ptx("sm_90a", kReadsAccumulators), options);
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_THAT(log, HasSubstr("(C7517)"));
  ASSERT_TRUE(assembler_->Assemble(Ptx("sm_90a", ""), options).ok());
  EXPECT_THAT(log, Not(HasSubstr("(C75")));
}

TEST_P(EveryAssembler, PassesExtraFlagsOn) {
  AssembleOptions options = {.arch = "sm_90a"};
  options.extra = {"--no-such-flag"};
  EXPECT_FALSE(assembler_->Assemble(Ptx("sm_90a", ""), options).ok());
  options.extra = {"--opt-level=1"};
  auto cubin = assembler_->Assemble(Ptx("sm_90a", ""), options);
  EXPECT_TRUE(cubin.ok()) << cubin.status();
}

std::filesystem::path BuildFolder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}
// What `./dev` fetches, and what the build makes of it.
std::filesystem::path FetchedArchive() { return BuildFolder() / "nvptxcompiler/libnvptxcompiler_static.a"; }
std::filesystem::path BuiltLibrary() { return BuildFolder() / "cuda/lib/libnvptxcompiler.so"; }

// Those that this machine has.
std::vector<Backend> PresentBackends() {
  std::vector<Backend> present;
  for (const Backend& backend : {Backend{"nvJitLink", OpenNvJitLink, kUsualRoot + "/lib64/libnvJitLink.so"},
                                 Backend{"nvPTXCompiler", OpenNvPtxCompiler, BuiltLibrary()},
                                 Backend{"nvPTXCompilerArchive", OpenNvPtxCompilerArchive, FetchedArchive()},
                                 Backend{"ptxas", OpenPtxas, kUsualRoot + "/bin/ptxas"}}) {
    if (std::filesystem::exists(backend.path)) present.push_back(backend);
  }
  return present;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryAssembler);
INSTANTIATE_TEST_SUITE_P(All, EveryAssembler, ::testing::ValuesIn(PresentBackends()),
                         [](const auto& info) { return info.param.name; });

class EmptyRoot : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "toolchainXXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  TargetConfig Config() const {
    TargetConfig config;
    config.tool_roots = {root_.string()};
    config.search_usual_places = false;
    return config;
  }
  std::filesystem::path root_;
};

TEST_F(EmptyRoot, ToolchainSaysWhereItLooked) {
  auto toolchain = Toolchain::ForConfig(Config());
  auto assembler = toolchain->GetAssembler();
  ASSERT_EQ(assembler.status().code(), absl::StatusCode::kFailedPrecondition);
  const std::string missing(assembler.status().message());
  EXPECT_THAT(missing, StartsWith("no assembler for PTX: run `python3 -m pip install --target " + root_.string() +
                                  " nvidia-cuda-nvcc`"));
  EXPECT_THAT(missing.substr(missing.find(';')), HasSubstr(root_.string()));
  EXPECT_THAT(std::string(toolchain->GetLibdevice().status().message()), HasSubstr(root_.string() + " nvidia-nvvm`"));
  EXPECT_EQ(toolchain->GetLibdevice().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(toolchain->Id(), "none; libdevice none");
}

TEST_F(EmptyRoot, ALibraryThatIsNoneIsSkipped) {
  std::filesystem::create_directories(root_ / "lib64");
  std::ofstream(root_ / "lib64" / "libnvJitLink.so.13") << "not a library";
  auto assembler = Toolchain::ForConfig(Config())->GetAssembler();
  ASSERT_EQ(assembler.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(assembler.status().message()), HasSubstr("libnvJitLink.so.13"));
}

void WritePtxas(const std::filesystem::path& folder, absl::string_view release = "12.8, V12.8.93") {
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "ptxas") << "#!/bin/sh\necho 'Cuda compilation tools, release " << release << "'\n";
  std::filesystem::permissions(folder / "ptxas", std::filesystem::perms::owner_all);
}

TEST_F(EmptyRoot, PtxasIsFoundWherePipPutsIt) {
  WritePtxas(root_ / "nvidia/cu13/bin");
  auto toolchain = Toolchain::ForConfig(Config());
  EXPECT_TRUE(toolchain->GetAssembler().ok()) << toolchain->GetAssembler().status();
}

TEST_F(EmptyRoot, PtxasIsFoundInThePathToo) {
  WritePtxas(root_ / "bin");
  TargetConfig config;
  config.search_usual_places = false;
  config.path_dirs = {(root_ / "bin").string()};
  auto toolchain = Toolchain::ForConfig(config);
  auto assembler = toolchain->GetAssembler();
  ASSERT_TRUE(assembler.ok()) << assembler.status();
  EXPECT_EQ((*assembler)->PtxVersion(), 87);
}

// `file` in `folder`, by its own name.
void Link(const std::filesystem::path& file, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::filesystem::create_symlink(file, folder / file.filename());
}

// The assembler that is found in named toolkits and in the path alone, or why there is none.
std::string NameOfAssembler(std::vector<std::string> toolkits, std::vector<std::string> path) {
  TargetConfig config;
  config.search_usual_places = false;
  config.tool_roots = std::move(toolkits);
  config.path_dirs = std::move(path);
  const auto toolchain = Toolchain::ForConfig(config);
  const auto assembler = toolchain->GetAssembler();
  return assembler.ok() ? (*assembler)->Name() : assembler.status().ToString();
}

// A named toolkit with a program of `release`, and `library`, which lies elsewhere.
std::string NameOfAssembler(const std::filesystem::path& root, const std::filesystem::path& library,
                            absl::string_view release) {
  WritePtxas(root / "toolkit/bin", release);
  Link(library, root / "other/lib");
  return NameOfAssembler({root / "toolkit", root / "other"}, {});
}

// "13.0, V13.0.88"
std::string ReleaseIn(const std::filesystem::path& library) {
  std::ifstream file(library, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const size_t release = bytes.find("tools, release ") + 15;
  return bytes.substr(release, bytes.find('\0', release) - release);
}

TEST_F(EmptyRoot, ALibraryOfTheSameReleaseStandsForThePtxasOfANamedToolkit) {
  const std::filesystem::path library = BuiltLibrary();
  if (!std::filesystem::exists(library)) GTEST_SKIP() << "no nvPTXCompiler was fetched";
  const std::string opened = (*OpenNvPtxCompiler(library))->Name();
  const std::string version = opened.substr(0, opened.find(" ("));  // "nvPTXCompiler 13.0"
  EXPECT_THAT(NameOfAssembler(root_ / "same", library, ReleaseIn(library)), StartsWith(version));
  EXPECT_THAT(NameOfAssembler(root_ / "else", library, "12.8, V12.8.93"), StartsWith("ptxas 12.8"));
}

// A named toolkit with an archive, and a program of `release` in the path.
std::string NameBesideProgram(const std::filesystem::path& root, const std::filesystem::path& archive,
                              absl::string_view release) {
  WritePtxas(root / "program", release);
  Link(archive, root / "toolkit/lib64");
  return NameOfAssembler({root / "toolkit"}, {root / "program"});
}

TEST_F(EmptyRoot, SoDoesAnArchiveOfTheSameRelease) {
  const std::filesystem::path archive = FetchedArchive();
  if (!std::filesystem::exists(archive)) GTEST_SKIP() << "no nvPTXCompiler was fetched";
  EXPECT_THAT(NameOfAssembler(root_ / "same", archive, ReleaseIn(archive)), HasSubstr("libnvptxcompiler_static.a"));
  EXPECT_THAT(NameOfAssembler(root_ / "else", archive, "12.8, V12.8.93"), StartsWith("ptxas 12.8"));
}

TEST_F(EmptyRoot, AnArchiveThatANamedToolkitHasIsTheAssembler) {
  const std::filesystem::path archive = FetchedArchive();
  if (!std::filesystem::exists(archive)) GTEST_SKIP() << "no nvPTXCompiler was fetched";
  EXPECT_THAT(NameBesideProgram(root_ / "same", archive, ReleaseIn(archive)),
              AllOf(StartsWith("nvPTXCompiler"), HasSubstr("libnvptxcompiler_static.a")));
}

TEST_F(EmptyRoot, AnArchiveThatCannotBeLinkedIsSkipped) {
  std::ofstream(root_ / "libnvptxcompiler_static.a") << "not an archive";
  EXPECT_THAT(NameBesideProgram(root_ / "none", root_ / "libnvptxcompiler_static.a", "12.8, V12.8.93"),
              StartsWith("ptxas 12.8"));
}

TEST(Ptxas, AKernelThatTakesTooLongIsToldSo) {
  // A program that answers as ptxas does, and then never ends.
  const std::filesystem::path program = std::filesystem::path(testing::TempDir()) / "endless-ptxas";
  std::ofstream(program)
      << "#!/bin/sh\nif [ \"$1\" = --version ]; then echo release 13.0; exit; fi\nwhile :; do :; done\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  auto ptxas = OpenPtxas(program.string());
  ASSERT_TRUE(ptxas.ok()) << ptxas.status();
  const absl::Status late = (*ptxas)->Assemble("", {.arch = "sm_90a", .cpu_seconds = 1}).status();
  EXPECT_EQ(late.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(late.message()), HasSubstr("more than 1 s"));
}

TEST_F(EmptyRoot, TheIdChangesWithTheBytesOfATool) {
  std::filesystem::create_directories(root_ / "nvvm/libdevice");
  const std::filesystem::path file = root_ / "nvvm/libdevice/libdevice.10.bc";
  std::ofstream(file) << "one";
  const std::string first = Toolchain::ForConfig(Config())->Id();
  std::ofstream(file) << "two";
  EXPECT_NE(Toolchain::ForConfig(Config())->Id(), first);
}

TEST_F(EmptyRoot, EqualConfigurationsShareOneToolchain) {
  auto first = Toolchain::ForConfig(Config());
  EXPECT_EQ(Toolchain::ForConfig(Config()), first);
  TargetConfig other = Config();
  other.tool_roots.push_back("/nowhere");
  EXPECT_NE(Toolchain::ForConfig(other), first);
}

}  // namespace
}  // namespace tritond::compiler::nvidia
