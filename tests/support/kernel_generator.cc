// SPDX-License-Identifier: Apache-2.0
// A kernel begins with a few loads, goes on with random steps over what is known, and stores some of it. Regions are
// written the same way, and what they define is forgotten at their end.
#include "tests/support/kernel_generator.h"

#include <algorithm>

#include "tests/support/kernel_frame.h"
#include "tests/support/kernel_writer.h"

namespace tritond::tests {
namespace {

class Generator {
 public:
  Generator(uint64_t seed, int steps, Theme theme) : w_(seed), steps_(steps), theme_(theme) {}

  GeneratedKernel Generate() {
    kernel_.grid = {static_cast<uint32_t>(1 + w_.Below(3)), static_cast<uint32_t>(1 + w_.Below(2)), 1};
    if (theme_ == Theme::kGathers) kernel_.grid = {static_cast<uint32_t>(1 + w_.Below(2)), 1, 1};
    w_.BeginAside();
    frame_.emplace(w_, kernel_);
    w_.Publish(frame_->Scalar(w_.Below(6)));
    int loads = 1 + w_.Below(3);
    for (int i = 0; i < loads; ++i) WriteLoad();
    bool early_exit = w_.OneIn(8);
    if (early_exit) WriteEarlyExit();
    if (theme_ == Theme::kGathers) WriteGathers(w_, *frame_);
    if (theme_ == Theme::kOrders) {
      WriteOrders(w_, *frame_, steps_);
    } else {
      WriteSteps(steps_, 0);
    }
    int stores = 2 + w_.Below(3);
    for (int i = 0; i < stores; ++i)
      if (auto value = w_.Pick([](const Symbol&) { return true; })) frame_->Store(*value);
    w_.Line("tt.return");
    if (early_exit) w_.Line("^exit:\n    tt.return");
    std::string body = w_.TakeAside();
    kernel_.ir = absl::StrCat("module {\n", functions_, "  tt.func public @kernel(", frame_->parameters(),
                              ") attributes {noinline = false} {\n", body, "  }\n}\n");
    return std::move(kernel_);
  }

 private:
  Contents AnyContents() { return w_.OneIn(2) ? Contents::kAny : Contents::kSmallIntegers; }
  std::string MemoryElement() {
    return w_.OneIn(8) ? w_.OneOf<std::string>({"f8E4M3FN", "f8E5M2"}) : w_.RandomElement();
  }

  void WriteLoad() {
    std::string element = MemoryElement();
    if (w_.OneIn(6) && element != "i1") {
      frame_->LoadBlock(element, AnyContents());
    } else {
      frame_->Load(element, w_.OneIn(8) ? Shape{} : w_.RandomShape(), AnyContents());
    }
  }

  void WriteEarlyExit() {
    auto x = w_.Pick([](const Symbol& s) { return s.element == "i32" && s.shape.empty(); });
    Symbol two = w_.Constant("i32", {}, 2);
    Symbol c = w_.EmitHidden("i1", {}, absl::StrCat("arith.cmpi sgt, ", x->name, ", ", two.name, " : i32"));
    w_.Line(absl::StrCat("cf.cond_br ", c.name, ", ^exit, ^body"));
    w_.Line("^body:");
  }

  void WriteSteps(int steps, int depth) {
    for (int i = 0; i < steps; ++i) WriteStep(depth);
  }

  void WriteStep(int depth) {
    int kind = w_.Below(depth > 0 ? 21 : 30);
    if (kind < 4) return WriteArithmetic(w_);
    if (kind < 12) return WriteElementwise(w_);
    if (kind < 17) return WriteShape(w_);
    if (kind < 19) return WriteReduction(w_);
    if (kind < 21) return depth < 2 && w_.OneIn(2) ? WriteIf(depth) : WriteElementwise(w_);
    if (kind < 24) return w_.OneIn(3) ? WriteWhile(depth) : WriteFor(depth);
    if (kind == 24) return WriteDot(w_, *frame_);
    if (kind == 25) return WriteCall();
    if (kind == 26) return frame_->WriteAtomic();
    if (kind == 27) return WriteLoad();
    WriteDot(w_, *frame_);
  }

  // Values that a region may carry, by their types.
  std::vector<Symbol> PickCarried() {
    std::vector<Symbol> carried;
    int count = 1 + w_.Below(3);
    for (int i = 0; i < count; ++i)
      if (auto s = w_.Pick([](const Symbol& s) { return !s.approximate; })) carried.push_back(*s);
    return carried;
  }
  static std::string Types(const std::vector<Symbol>& symbols) {
    std::string text;
    for (const Symbol& s : symbols) absl::StrAppend(&text, text.empty() ? "" : ", ", s.type());
    return text;
  }
  static std::string Names(const std::vector<Symbol>& symbols) {
    std::string text;
    for (const Symbol& s : symbols) absl::StrAppend(&text, text.empty() ? "" : ", ", s.name);
    return text;
  }
  // The values of a region's end: known ones of the types of `like`.
  std::vector<Symbol> PickLike(const std::vector<Symbol>& like) {
    std::vector<Symbol> chosen;
    for (const Symbol& l : like)
      chosen.push_back(
          *w_.Pick([&](const Symbol& s) { return s.element == l.element && s.shape == l.shape && !s.approximate; }));
    return chosen;
  }
  // New names for values of the types of `like`, of which nothing else is known.
  std::vector<Symbol> Renamed(const std::vector<Symbol>& like, const std::string& result = "") {
    std::vector<Symbol> symbols = like;
    for (size_t i = 0; i < symbols.size(); ++i) {
      symbols[i].name = result.empty() ? w_.Fresh() : symbols.size() == 1 ? result : absl::StrCat(result, "#", i);
      symbols[i].bound = -1;
      symbols[i].raw = false;
    }
    return symbols;
  }
  void PublishAll(const std::vector<Symbol>& symbols) {
    for (const Symbol& s : symbols) w_.Publish(s);
  }
  std::string ResultName(const std::vector<Symbol>& results, const std::string& result) {
    return results.size() == 1 ? result : absl::StrCat(result, ":", results.size());
  }

  Symbol SmallScalar(int limit) {
    auto known = w_.Pick([](const Symbol& s) { return s.element == "i32" && s.shape.empty(); });
    return w_.OneIn(2) ? w_.Constant("i32", {}, w_.Below(limit)) : w_.Masked(*known, limit);
  }

  // A sum over the iterations of a loop of what a tensor's like has along an axis: %sum = op(%sum, reduce<op>(%like)).
  struct RunningSum {
    Symbol like, start;
    int axis = 0;
    std::string op;
  };

  absl::optional<RunningSum> ChooseRunningSum() {
    auto like = w_.Pick([](const Symbol& s) { return s.is_int() && s.bits() >= 8 && !s.shape.empty(); });
    if (!like) return absl::nullopt;
    RunningSum sum;
    sum.like = *like;
    sum.axis = w_.Below(static_cast<int>(like->shape.size()));
    sum.op = w_.OneOf<std::string>({"arith.addi", "arith.muli", "arith.maxsi", "arith.minui", "arith.xori"});
    Shape shape = like->shape;
    shape.erase(shape.begin() + sum.axis);
    sum.start = w_.Constant(like->element, shape, w_.Below(100) - 50);
    return sum;
  }

  // The value of the next iteration.
  Symbol Advance(const RunningSum& sum, const Symbol& now) {
    Symbol part = EmitReduce(w_, PickLike({sum.like})[0], sum.axis, sum.op);
    return w_.EmitHidden(now.element, now.shape,
                         absl::StrCat(sum.op, " ", now.name, ", ", part.name, " : ", now.type()));
  }

  void WriteFor(int depth) { PublishAll(WriteForOf(PickCarried(), depth)); }

  // Gives the results for what is carried.
  std::vector<Symbol> WriteForOf(std::vector<Symbol> carried, int depth) {
    auto sum = w_.OneIn(3) ? ChooseRunningSum() : absl::nullopt;
    if (sum) carried.push_back(sum->start);
    std::vector<Symbol> inner = Renamed(carried);
    Symbol from = w_.Constant("i32", {}, w_.Below(3) - 1), to = SmallScalar(4);
    Symbol step = w_.Constant("i32", {}, 1 + w_.Below(2)), i = from;
    i.name = w_.Fresh();
    i.bound = 4;
    std::string result = w_.Fresh(), arguments;
    for (size_t k = 0; k < carried.size(); ++k)
      absl::StrAppend(&arguments, k ? ", " : "", inner[k].name, " = ", carried[k].name);
    w_.Line(absl::StrCat(ResultName(carried, result), " = scf.for ", i.name, " = ", from.name, " to ", to.name,
                         " step ", step.name, " iter_args(", arguments, ") -> (", Types(carried), ") : i32 {"));
    size_t mark = w_.Mark();
    w_.Indent(2);
    w_.Publish(i);
    // Mostly, the loop itself does not look at its running sum.
    for (size_t k = 0; k < inner.size(); ++k)
      if (!sum || k + 1 < inner.size() || w_.OneIn(4)) w_.Publish(inner[k]);
    WriteSteps(1 + w_.Below(4), depth + 1);
    std::vector<Symbol> starts(inner.begin(), inner.end() - (sum ? 1 : 0)), yielded = PickLike(starts);
    bool nested = depth == 0 && w_.OneIn(2);
    if (nested) {
      std::vector<Symbol> results = WriteForOf(starts, depth + 1);
      PublishAll(results);
      WriteSteps(w_.Below(3), depth + 1);
      yielded = PickLike(starts);
      for (size_t k = 0; k < starts.size(); ++k)
        if (!w_.OneIn(3)) yielded[k] = results[k];
    }
    if (sum) yielded.push_back(Advance(*sum, inner.back()));
    w_.Line(absl::StrCat("scf.yield ", Names(yielded), " : ", Types(yielded)));
    w_.Indent(-2);
    w_.Line(nested && !w_.OneIn(4) ? "} {tt.flatten}" : "}");
    w_.Forget(mark);
    return Renamed(carried, result);
  }

  void WriteWhile(int depth) {
    std::vector<Symbol> carried = PickCarried();
    Symbol zero = w_.Constant("i32", {}, 0), one = w_.Constant("i32", {}, 1), limit = SmallScalar(4);
    carried.insert(carried.begin(), zero);
    std::vector<Symbol> before = Renamed(carried), after = Renamed(carried);
    std::string result = w_.Fresh(), arguments, bodies;
    for (size_t k = 0; k < carried.size(); ++k) {
      absl::StrAppend(&arguments, k ? ", " : "", before[k].name, " = ", carried[k].name);
      absl::StrAppend(&bodies, k ? ", " : "", after[k].name, ": ", after[k].type());
    }
    w_.Line(absl::StrCat(ResultName(carried, result), " = scf.while (", arguments, ") : (", Types(carried), ") -> (",
                         Types(carried), ") {"));
    Symbol go = w_.EmitHidden("i1", {}, absl::StrCat("arith.cmpi slt, ", before[0].name, ", ", limit.name, " : i32"));
    w_.Line(absl::StrCat("  scf.condition(", go.name, ") ", Names(before), " : ", Types(before)));
    w_.Line("} do {");
    w_.Line(absl::StrCat("^bb0(", bodies, "):"));
    size_t mark = w_.Mark();
    w_.Indent(2);
    PublishAll(after);
    WriteSteps(1 + w_.Below(3), depth + 1);
    std::vector<Symbol> yielded = PickLike(carried);
    yielded[0] = w_.EmitHidden("i32", {}, absl::StrCat("arith.addi ", after[0].name, ", ", one.name, " : i32"));
    w_.Line(absl::StrCat("scf.yield ", Names(yielded), " : ", Types(yielded)));
    w_.Indent(-2);
    w_.Line("}");
    w_.Forget(mark);
    PublishAll(Renamed(carried, result));
  }

  void WriteIf(int depth) {
    std::vector<Symbol> results = PickCarried();
    Symbol x = SmallScalar(4), y = SmallScalar(4);
    Symbol c = w_.EmitHidden("i1", {}, absl::StrCat("arith.cmpi slt, ", x.name, ", ", y.name, " : i32"));
    std::string result = w_.Fresh();
    w_.Line(absl::StrCat(ResultName(results, result), " = scf.if ", c.name, " -> (", Types(results), ") {"));
    for (bool first : {true, false}) {
      size_t mark = w_.Mark();
      w_.Indent(2);
      WriteSteps(w_.Below(4), depth + 1);
      std::vector<Symbol> yielded = PickLike(results);
      w_.Line(absl::StrCat("scf.yield ", Names(yielded), " : ", Types(yielded)));
      w_.Indent(-2);
      w_.Line(first ? "} else {" : "}");
      w_.Forget(mark);
    }
    PublishAll(Renamed(results, result));
  }

  // A function of its own, whose body knows nothing but its parameters.
  void WriteCall() {
    std::vector<Symbol> arguments = PickCarried(), parameters = Renamed(arguments);
    std::string name = absl::StrCat("@function", functions_.size()), declared;
    for (const Symbol& p : parameters) absl::StrAppend(&declared, declared.empty() ? "" : ", ", p.name, ": ", p.type());
    std::vector<Symbol> pool = w_.TakePool();
    w_.BeginAside();
    w_.SetPool(parameters);
    for (int i = w_.Below(5); i >= 0; --i) WriteElementwise(w_);
    std::vector<Symbol> results = {*w_.Pick([](const Symbol& s) { return !s.approximate; })};
    w_.Line(absl::StrCat("tt.return ", results[0].name, " : ", results[0].type()));
    absl::StrAppend(&functions_, "  tt.func private ", name, "(", declared, ") -> ", results[0].type(),
                    w_.OneIn(2) ? " attributes {noinline = true}" : "", " {\n");
    absl::StrAppend(&functions_, w_.TakeAside(), "  }\n");
    w_.SetPool(std::move(pool));
    std::string result = w_.Fresh();
    w_.Line(absl::StrCat(result, " = tt.call ", name, "(", Names(arguments), ") : (", Types(arguments), ") -> ",
                         results[0].type()));
    PublishAll(Renamed(results, result));
  }

  KernelWriter w_;
  int steps_;
  Theme theme_;
  GeneratedKernel kernel_;
  absl::optional<KernelFrame> frame_;
  std::string functions_;
};

}  // namespace

GeneratedKernel GenerateKernel(uint64_t seed, int steps, Theme theme) {
  return Generator(seed, steps, theme).Generate();
}

}  // namespace tritond::tests
