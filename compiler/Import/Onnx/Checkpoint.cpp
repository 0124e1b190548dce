// Initializers whose bytes come from a safetensors checkpoint: plain tensors, and FP8 codes with their
// scales.
#include "compiler/Import/Onnx/Importer.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace quaver::import {
namespace {

// What Hugging Face's quantizers call the multipliers of a tensor's codes (DeepSeek; compressed-tensors,
// modelopt).
constexpr const char *kScaleSuffixes[] = {"_scale_inv", "_scale"};

Type elementTypeOfDtype(MLIRContext *c, StringRef dtype) {
  Builder b(c);
  return llvm::StringSwitch<Type>(dtype)
      .Case("F64", b.getF64Type())
      .Case("F32", b.getF32Type())
      .Case("F16", b.getF16Type())
      .Case("BF16", b.getBF16Type())
      .Case("F8_E4M3", Float8E4M3FNType::get(c))
      .Case("F8_E5M2", Float8E5M2Type::get(c))
      .Case("F8_E8M0", Float8E8M0FNUType::get(c))
      .Case("I64", b.getI64Type())
      .Case("I32", b.getI32Type())
      .Case("I16", b.getI16Type())
      .Case("I8", b.getI8Type())
      .Case("U64", b.getIntegerType(64, false))
      .Case("U32", b.getIntegerType(32, false))
      .Case("U16", b.getIntegerType(16, false))
      .Case("U8", b.getIntegerType(8, false))
      .Case("BOOL", b.getI1Type())
      .Default(Type());
}

bool isCodes(const SafeTensor &t) { return t.dtype == "F8_E4M3" || t.dtype == "F8_E5M2"; }

std::string text(Type type) {
  std::string s;
  llvm::raw_string_ostream(s) << type;
  return s;
}

/// How scales lie over the codes, and the type they are read with.
struct ScaleLayout {
  SmallVector<int64_t> blocks, shape;
  std::string recipe;
};

/// nullopt when the shape fits no layout.
std::optional<ScaleLayout> layoutOf(ArrayRef<int64_t> codes, ArrayRef<int64_t> scales,
                                    std::pair<int64_t, int64_t> block) {
  int64_t rank = codes.size();
  if (llvm::all_of(scales, [](int64_t d) { return d == 1; }) && scales.size() <= 1)
    return ScaleLayout{SmallVector<int64_t>(rank, 0), SmallVector<int64_t>(rank, 1), "per_tensor"};
  if (rank < 2)
    return std::nullopt;
  // One row of a matrix, or of each matrix of a stack, under one scale; the last dimension may be left out.
  SmallVector<int64_t> rows(codes.begin(), codes.end());
  rows.back() = 1;
  SmallVector<int64_t> tiles(rows);
  tiles[rank - 2] = llvm::divideCeil(codes[rank - 2], block.first);
  tiles[rank - 1] = llvm::divideCeil(codes[rank - 1], block.second);
  SmallVector<int64_t> blocks(rank, 1);
  if (scales == ArrayRef<int64_t>(tiles)) {
    blocks[rank - 2] = block.first, blocks[rank - 1] = block.second;
    return ScaleLayout{blocks, tiles, std::to_string(block.first) + "x" + std::to_string(block.second)};
  }
  if (scales == ArrayRef<int64_t>(rows) || scales == ArrayRef<int64_t>(rows).drop_back()) {
    blocks.back() = 0;
    return ScaleLayout{blocks, rows, "per_channel"};
  }
  return std::nullopt;
}

/// Tensors that may be a misspelt scale of `name`: they begin like it and speak of a scale.
std::string resembling(const SafetensorsCheckpoint &checkpoint, StringRef name) {
  std::string found;
  StringRef stem = name.rsplit('.').first;
  for (auto &[other, tensor] : checkpoint.tensors())
    if (other != name && StringRef(other).starts_with(stem) && StringRef(other).contains("scale"))
      found += (found.empty() ? "" : ", ") + tensor.describe();
  return found;
}

} // namespace

StatusOr<const SafeTensor *> Importer::scalesOf(const SafeTensor &codes) {
  const SafeTensor *found = nullptr;
  std::string tried;
  for (const char *suffix : kScaleSuffixes) {
    std::string name = codes.name + suffix;
    tried += (tried.empty() ? "\"" : " nor \"") + name + "\"";
    const SafeTensor *t = options.checkpoint->find(name);
    if (t && found)
      return InvalidArgumentError("FP8 tensor ", codes.describe(), " has two scales, ", found->describe(),
                                  " and ", t->describe(),
                                  ": remove the one that does not multiply its codes");
    found = t ? t : found;
  }
  if (found)
    return found;
  std::string like = resembling(*options.checkpoint, codes.name);
  return InvalidArgumentError("FP8 tensor ", codes.describe(), " has no scale: neither ", tried, " is in ",
                              options.checkpoint->path(),
                              like.empty() ? "" : "; rename what is its scale of " + like);
}

/// Counts, for every leading part of `names` (up to a dot), how many names are in `others` without it.
template <class Names, class IsKnown>
static void countPrefixes(const Names &names, IsKnown isKnown, std::map<std::string, size_t> &counts) {
  for (StringRef name : names)
    for (size_t dot = name.find('.'); dot != StringRef::npos; dot = name.find('.', dot + 1))
      if (isKnown(name.drop_front(dot + 1)))
        ++counts[name.take_front(dot + 1).str()];
}

// Exporters wrap a model in a module of their own: all its names get one more part in front, or lose one.
void Importer::alignNames() {
  if (!options.checkpoint)
    return;
  llvm::StringSet<> initializers;
  SmallVector<StringRef> stored;
  for (const onnx::Tensor &t : file.model().graph().initializer()) {
    initializers.insert(t.name());
    if (options.checkpoint->find(t.name()))
      return;
  }
  for (auto &[name, tensor] : options.checkpoint->tensors())
    stored.push_back(name);
  std::map<std::string, size_t> more, fewer;
  countPrefixes(
      initializers.keys(), [&](StringRef rest) { return options.checkpoint->find(rest) != nullptr; }, more);
  countPrefixes(stored, [&](StringRef rest) { return initializers.contains(rest); }, fewer);
  auto best = [](const std::map<std::string, size_t> &counts) {
    return std::max_element(counts.begin(), counts.end(),
                            [](auto &x, auto &y) { return x.second < y.second; });
  };
  auto m = best(more), f = best(fewer);
  if (m != more.end() && (f == fewer.end() || m->second >= f->second))
    modelPrefix = m->first;
  else if (f != fewer.end())
    checkpointPrefix = f->first;
}

const SafeTensor *Importer::storedTensor(StringRef initializer) const {
  if (!options.checkpoint || !initializer.consume_front(modelPrefix))
    return nullptr;
  return options.checkpoint->find(checkpointPrefix + initializer.str());
}

Value Importer::addWeight(const SafeTensor &t, ArrayRef<int64_t> shape, std::string *symbol) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&entry.getBody().front());
  auto type = RankedTensorType::get(shape, elementTypeOfDtype(&context, t.dtype));
  *symbol =
      out.weights.add(t.name, WeightData{type, t.bytes, t.name, "", t.owner, "", "", /*isMapped=*/true});
  boundTensors.insert(t.name);
  return weightOp(*symbol, type, t.name, t.bytes.size());
}

StatusOr<Value> Importer::fromCheckpoint(const SafeTensor &t, const onnx::Tensor &initializer) {
  QUAVER_ASSIGN_OR_RETURN(RankedTensorType wanted, tensorType(&context, initializer));
  Type element = elementTypeOfDtype(&context, t.dtype);
  auto misfit = [&](const char *why) {
    return InvalidArgumentError("initializer \"", initializer.name(), "\" of type ", text(wanted),
                                " cannot be bound to ", t.describe(), ": ", why);
  };
  if (ArrayRef<int64_t>(t.shape) != wanted.getShape())
    return misfit(
        "their shapes differ; export the model from the checkpoint's own configuration, without folding of "
        "transposes");
  std::string symbol;
  if (element == wanted.getElementType()) {
    Value v = addWeight(t, t.shape, &symbol);
    return v;
  }
  if (!isa<FloatType>(element) || !isa<FloatType>(wanted.getElementType()) ||
      cast<FloatType>(wanted.getElementType()).getWidth() < cast<FloatType>(element).getWidth())
    return misfit("their element types differ");
  graph::GraphBuilder g(b, NameLoc::get(b.getStringAttr(t.name)), *shapes);
  if (!isCodes(t)) {
    Value v = addWeight(t, t.shape, &symbol);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(v);
    return g.cast(v, wanted.getElementType());
  }
  QUAVER_ASSIGN_OR_RETURN(const SafeTensor *scales, scalesOf(t));
  auto layout = layoutOf(t.shape, scales->shape, options.checkpoint->weightBlock());
  auto scaleType = dyn_cast_or_null<FloatType>(elementTypeOfDtype(&context, scales->dtype));
  auto [high, wide] = options.checkpoint->weightBlock();
  if (!layout || !scaleType)
    return InvalidArgumentError("scale ", scales->describe(), " does not fit FP8 tensor ", t.describe(),
                                ": expected floats, one for the tensor, one a row, or one for each block of ",
                                high, "x", wide, " (config.json: quantization_config.weight_block_size)");
  std::string scaleSymbol;
  Value codes = addWeight(t, t.shape, &symbol), scale = addWeight(*scales, layout->shape, &scaleSymbol);
  out.weights.pair(symbol, scaleSymbol, layout->recipe);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(codes);
  // Both stand at the block's start, the scale before the codes.
  return g.make<graph::DequantizeOp>(wanted.getElementType(), codes, scale, Value(), 0, 0, layout->blocks);
}

Status Importer::finishCheckpoint() {
  if (!options.checkpoint)
    return OkStatus();
  const auto &all = options.checkpoint->tensors();
  if (boundTensors.empty())
    return InvalidArgumentError(
        options.checkpoint->path(), ": none of its ", all.size(),
        " tensors has the name of an initializer of ", file.name(), " that is used; the checkpoint has \"",
        all.empty() ? "" : all.begin()->first, "\", the model \"",
        file.model().graph().initializer_size() ? file.model().graph().initializer(0).name() : "", "\"");
  std::string unused;
  size_t count = 0, codes = 0;
  for (auto &[name, tensor] : all)
    if (!boundTensors.contains(name)) {
      unused += ++count > 3 ? "" : count > 1 ? ", \"" + name + "\"" : "\"" + name + "\"";
      codes += isCodes(tensor);
    }
  out.notes = str_cat(boundTensors.size(), " tensors of ", options.checkpoint->path(), " are bound");
  if (!modelPrefix.empty())
    out.notes += str_cat(", without the \"", modelPrefix, "\" in front of the model's names");
  if (!checkpointPrefix.empty())
    out.notes += str_cat(", without the \"", checkpointPrefix, "\" in front of the checkpoint's names");
  if (count)
    out.notes += str_cat("; ", count, " are not used by the model: ", unused, count > 3 ? ", ..." : "");
  if (codes)
    out.notes += str_cat(
        "; ", codes,
        " of these hold FP8 codes, and the model's own weights stand in their place: exporters that fold "
        "transposes lose the names of weights, so export without constant folding");
  return OkStatus();
}

} // namespace quaver::import
