#include "test/codegen/judge.h"
#include "compiler/Codegen/Common/LowerKernels.h"
#include "compiler/Codegen/X86/Generic/PackWeight.h"
#include "compiler/Codegen/X86/Lower/Lower.h"
#include "compiler/Interpreter/Interpreter.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "runtime/numerics/codec.h"
#include "test/codegen/kernel_harness.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;

namespace quaver::test {
namespace {

using interpreter::Tensor;

std::string textOf(const Case &c) {
  std::string head, names, types, blockArguments, results, yields, outs, weights, reads;
  for (size_t i = 0; i < c.arguments.size(); ++i) {
    const Argument &a = c.arguments[i];
    std::string comma = i ? ", " : "", tensor = "tensor<" + a.type + ">", dims;
    for (const std::string &d : a.dims)
      dims += (dims.empty() ? "\"" : ", \"") + d + "\"";
    if (a.isWeight) {
      weights += "graph.weight @" + a.name + " : " + tensor + " {source_name = \"\"}\n";
      reads += "  %in" + std::to_string(i) + " = graph.get_weight @" + a.name + " : " + tensor + "\n";
    } else {
      head += head.empty() ? "" : ", ";
      head += "%in" + std::to_string(i) + ": " + tensor + " {graph.name = \"" + a.name +
              "\", graph.dims = [" + dims + "]}";
    }
    names += comma + "%in" + std::to_string(i), types += comma + tensor;
    blockArguments += comma + "%" + a.name + ": " + tensor;
  }
  for (size_t i = 0; i < c.results.size(); ++i) {
    std::string comma = i ? ", " : "";
    yields += comma + "%" + c.results[i].first, results += comma + "tensor<" + c.results[i].second + ">";
    outs += comma + "%out" + (c.results.size() > 1 ? "#" + std::to_string(i) : "");
  }
  std::string count = c.results.size() > 1 ? ":" + std::to_string(c.results.size()) : "";
  return weights + "func.func @f(" + head + ") -> (" + results + ") attributes {graph.entry} {\n" + reads +
         "  %out" + count + " = plan.dispatch " + names + " : (" + types + ") -> (" + results +
         ") {\n  ^bb0(" + blockArguments + "):\n" + c.body + "\n    plan.yield " + yields + " : " + results +
         "\n  }\n  return " + outs + " : " + results + "\n}\n";
}

Tensor randomTensor(const Argument &a, const Sizes &sizes, Type type, unsigned seed) {
  interpreter::Shape shape;
  auto ranked = cast<RankedTensorType>(type);
  for (size_t i = 0; i < a.dims.size(); ++i)
    shape.push_back(ranked.isDynamicDim(i) ? *graph::DimExpr::parse(a.dims[i])->evaluate([&](StringRef s) {
      return std::optional<int64_t>(sizes.at(s.str()));
    })
                                           : ranked.getDimSize(i));
  ElementType e = interpreter::elementTypeOf(ranked.getElementType());
  Tensor t = Tensor::make(e, shape);
  std::mt19937 g(seed);
  bool isFloat = isa<FloatType>(ranked.getElementType());
  for (int64_t i = 0; i < t.size(); ++i) {
    double v = isFloat ? std::uniform_real_distribution<double>(-3, 3)(g)
                       : double(std::uniform_int_distribution<int64_t>(a.low, a.high)(g));
    if (isFloat && a.high == 99)
      v = i % 11 == 3   ? NAN
          : i % 11 == 4 ? INFINITY
          : i % 11 == 5 ? -1e9
          : i % 11 == 6 ? 1e-9
                        : v * std::ldexp(1.0, int(g() % 24) - 12);
    if (isFloat)
      convert(ElementType::F64, &v, e, t.mutableData() + i * t.elementBytes(), 1);
    else {
      int64_t n = int64_t(v);
      convert(ElementType::I64, &n, e, t.mutableData() + i * t.elementBytes(), 1);
    }
  }
  return t;
}

} // namespace

void judge(const Case &c, const std::string &target) {
  std::string text = textOf(c);
  for (const Sizes &sizes : c.sizes) {
    MLIRContext context(MLIRContext::Threading::DISABLED);
    codegen::loadKernelDialects(context);
    auto module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << c.name << "\n" << text;
    auto func = *module->getOps<func::FuncOp>().begin();
    std::vector<Tensor> operands, inputs;
    WeightStore weights;
    for (size_t i = 0; i < c.arguments.size(); ++i) {
      const Argument &a = c.arguments[i];
      Type type = parseType("tensor<" + a.type + ">", &context);
      operands.push_back(randomTensor(a, sizes, type, unsigned(i + 7)));
      if (a.isWeight)
        weights.add(a.name, {cast<RankedTensorType>(type), operands.back().span(), a.name, "", nullptr});
      else
        inputs.push_back(operands.back());
    }
    interpreter::Interpreter judge(*module, weights);
    auto want = judge.run("f", inputs);
    ASSERT_TRUE(succeeded(want)) << c.name;
    CompiledKernel k = compileKernel(text, sizes, target);
    ASSERT_TRUE(k.run) << c.name << ": " << k.error;
    ASSERT_NE(k.description.find(c.kernel), std::string::npos) << c.name << ": " << k.description;
    std::vector<void *> bindings;
    for (Tensor &t : operands)
      bindings.push_back(t.mutableData());
    std::vector<std::vector<char>> packed;
    for (const plan_ir::Packing &p : k.packings) {
      auto bytes = codegen::packWeight(p.storage, p.parameters, operands[p.operand].span());
      ASSERT_TRUE(bytes) << p.storage;
      ASSERT_EQ(int64_t(bytes->size()), p.bytes);
      packed.push_back(std::move(*bytes));
      bindings[p.operand] = packed.back().data();
    }
    std::vector<std::vector<char>> got;
    for (const Tensor &t : *want)
      got.emplace_back(t.bytes() + 64, char(0x5A));
    for (auto &v : got)
      bindings.push_back(v.data());
    for (int64_t piece : {int64_t(1), int64_t(1) << 30}) {
      for (auto &v : got)
        std::fill(v.begin(), v.end(), char(0x5A));
      runKernel(k, bindings, piece);
      for (size_t r = 0; r < want->size(); ++r) {
        const Tensor &w = (*want)[r];
        Tensor have = Tensor::borrow(w.type(), w.shape(), got[r].data());
        for (int64_t i = w.bytes(); i < int64_t(got[r].size()); ++i)
          ASSERT_EQ(got[r][i], char(0x5A)) << c.name << " writes past its end";
        for (int64_t i = 0; i < w.size(); ++i) {
          if (!std::memcmp(w.data() + i * w.elementBytes(), have.data() + i * w.elementBytes(),
                           w.elementBytes()))
            continue;
          double x = w.number(i), y = have.number(i);
          if (std::isnan(x) && std::isnan(y))
            continue;
          double tolerance =
              c.tolerance && w.type() == ElementType::BF16 ? std::max(c.tolerance, 0x1p-7) : c.tolerance;
          if (tolerance && std::abs(x - y) <= tolerance * std::max(1.0, std::abs(x)))
            continue;
          std::string s;
          for (auto &[n, v] : sizes)
            s += n + "=" + std::to_string(v) + " ";
          FAIL() << c.name << " result " << r << " [" << i << "] = " << y << ", want " << x << " (" << s
                 << target << ", " << k.description << ")";
        }
      }
    }
  }
}

void judgeOnAllTargets(const Case &c) {
  judge(c, "x86-64-v3");
  if (__builtin_cpu_supports("avx512bw"))
    judge(c, "x86-64-v4");
  if (__builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vbmi"))
    judge(c, "x86-64-v4+bf16");
}

} // namespace quaver::test
