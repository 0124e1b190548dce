#include "compiler/Import/Onnx/Importer.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using quaver::graph::DimExpr;

namespace quaver::import {

constexpr int kMaxDepth = 64; // of functions and subgraphs within one another
constexpr int kNewestOpset = 27;
constexpr size_t kMaxListed = 50; // unsupported nodes spelled out in one error
constexpr int64_t kInlineElements = 64, kInlineIntegers = 4096;

StringRef canonicalDomain(StringRef domain) { return domain == "ai.onnx" ? "" : domain; }

const HandlerRow *findHandler(StringRef domain, StringRef op, int opset) {
  static const auto *table = [] {
    auto *t = new std::multimap<std::pair<std::string, std::string>, const HandlerRow *>();
    for (llvm::ArrayRef<HandlerRow> rows :
         {elementwiseHandlers(), activationHandlers(), movementHandlers(), reductionHandlers(),
          contractionHandlers(), normalizationHandlers(), attentionHandlers(), quantizationHandlers(),
          sequenceHandlers(), controlHandlers()})
      for (const HandlerRow &r : rows)
        t->insert({{r.domain, r.op}, &r});
    return t;
  }();
  auto [first, last] = table->equal_range({canonicalDomain(domain).str(), op.str()});
  for (auto it = first; it != last; ++it)
    if (opset >= it->second->first && (it->second->last == 0 || opset <= it->second->last))
      return it->second;
  return nullptr;
}

size_t operatorCount() {
  std::set<std::pair<std::string, std::string>> names;
  for (llvm::ArrayRef<HandlerRow> rows :
       {elementwiseHandlers(), activationHandlers(), movementHandlers(), reductionHandlers(),
        contractionHandlers(), normalizationHandlers(), attentionHandlers(), quantizationHandlers(),
        sequenceHandlers(), controlHandlers()})
    for (const HandlerRow &r : rows)
      names.insert({r.domain, r.op});
  return names.size();
}

Importer::Importer(MLIRContext &context, OnnxFile &file, const ImportOptions &options, ImportedModel &out)
    : context(context), file(file), options(options), out(out), b(&context) {}

std::map<std::string, int>
Importer::readOpsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetId> &ids) {
  std::map<std::string, int> opsets;
  for (const auto &id : ids)
    opsets[canonicalDomain(id.domain()).str()] = int(std::clamp<int64_t>(id.version(), 0, 1 << 20));
  return opsets;
}

std::string Importer::describe(const onnx::Node &node) const {
  std::string name = node.name().empty()
                         ? (node.output_size() ? "producing \"" + node.output(0) + "\"" : "without a name")
                         : "\"" + node.name() + "\"";
  StringRef domain = canonicalDomain(node.domain());
  auto opsets = frames.back().opsets.find(domain.str());
  return "node " + name + " (" + (domain.empty() ? "" : domain.str() + ".") + node.op_type() + ", opset " +
         (opsets == frames.back().opsets.end() ? "?" : std::to_string(opsets->second)) + ")";
}

const onnx::Function *Importer::findFunction(const onnx::Node &node) const {
  for (const onnx::Function &f : file.model().functions())
    if (f.name() == node.op_type() && canonicalDomain(f.domain()) == canonicalDomain(node.domain()) &&
        f.overload() == node.overload())
      return &f;
  return nullptr;
}

void Importer::collectUnsupported(const google::protobuf::RepeatedPtrField<onnx::Node> &nodes,
                                  const std::map<std::string, int> &opsets, int level,
                                  std::vector<std::string> &found) {
  if (level > kMaxDepth)
    return;
  for (const onnx::Node &node : nodes) {
    for (const onnx::Attribute &a : node.attribute()) {
      if (a.has_g())
        collectUnsupported(a.g().node(), opsets, level + 1, found);
      for (const onnx::Graph &g : a.graphs())
        collectUnsupported(g.node(), opsets, level + 1, found);
    }
    if (findFunction(node))
      continue;
    auto version = opsets.find(canonicalDomain(node.domain()).str());
    if (version != opsets.end() && findHandler(node.domain(), node.op_type(), version->second))
      continue;
    std::string where = describe(node);
    found.push_back(version == opsets.end() ? where + ": the model does not import its domain" : where);
  }
}

Status Importer::checkOperators() {
  std::vector<std::string> found;
  collectUnsupported(file.model().graph().node(), frames.back().opsets, 0, found);
  for (const onnx::Function &f : file.model().functions())
    collectUnsupported(f.node(), readOpsets(f.opset_import()), 0, found);
  if (found.empty())
    return OkStatus();
  std::string list;
  for (size_t i = 0; i < found.size() && i < kMaxListed; ++i)
    list += "\n  " + found[i];
  if (found.size() > kMaxListed)
    list += "\n  and " + std::to_string(found.size() - kMaxListed) + " more";
  return UnimplementedError(
      file.name(), ": ", found.size(), " node", found.size() == 1 ? " is" : "s are",
      " not supported; replace them by operators of the standard or simplify the model:", list);
}

std::string Importer::dimSymbol(const std::string &name) {
  auto it = dimSymbols.find(name);
  if (it != dimSymbols.end())
    return it->second;
  std::string clean;
  for (char c : name)
    clean += llvm::isAlnum(c) || c == '_' ? c : '_';
  static const StringRef kReserved[] = {"floordiv", "ceildiv", "mod", "min", "max", "eq", "lt", "select"};
  bool taken = StringRef(clean).starts_with("value_") || StringRef(clean).starts_with("data_") ||
               StringRef(clean).starts_with("unknown_") || llvm::is_contained(kReserved, clean) ||
               clean.empty() || llvm::isDigit(clean[0]);
  if (taken)
    clean = "d_" + clean;
  std::string unique = clean;
  for (int i = 1; llvm::any_of(dimSymbols, [&](auto &d) { return d.second == unique; }); ++i)
    unique = clean + "_" + std::to_string(i);
  dimSymbols[name] = unique;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(out.module->getBody());
  auto range = options.dims.find(name);
  if (range == options.dims.end())
    range = options.dims.find(unique);
  IntegerAttr max = range == options.dims.end() ? IntegerAttr() : b.getI64IntegerAttr(range->second.second);
  graph::DimOp::create(b, b.getUnknownLoc(), b.getStringAttr(unique),
                       b.getI64IntegerAttr(range == options.dims.end() ? 0 : range->second.first), max,
                       b.getI64IntegerAttr(1));
  return unique;
}

Status Importer::declareInput(const onnx::ValueInfo &info, SmallVectorImpl<Type> &types,
                              SmallVectorImpl<DictionaryAttr> &attrs) {
  auto bad = [&](const auto &...what) {
    return InvalidArgumentError(file.name(), ": input \"", info.name(), "\" ", what...);
  };
  if (!info.type().has_tensor_type())
    return UnimplementedError(file.name(), ": input \"", info.name(),
                              "\" is not a tensor; sequences, maps and optionals cannot be inputs");
  const auto &t = info.type().tensor_type();
  std::string why;
  Type element = elementTypeOf(&context, t.elem_type(), &why);
  if (!element)
    return bad("has no usable type: ", why);
  if (!t.has_shape())
    return bad("has no shape; its rank must be known: export with input shapes (dimensions may be symbolic)");
  if (t.shape().dim_size() > 32)
    return bad("has rank ", t.shape().dim_size());
  SmallVector<int64_t> shape;
  SmallVector<Attribute> dims;
  for (auto [i, d] : llvm::enumerate(t.shape().dim())) {
    std::string name = !d.dim_param().empty() ? d.dim_param() : info.name() + "_d" + std::to_string(i);
    bool isStatic = d.value_case() == onnx::TensorShape::Dimension::kDimValue;
    if (isStatic && d.dim_value() < 0)
      return bad("has size ", d.dim_value());
    shape.push_back(isStatic ? d.dim_value() : ShapedType::kDynamic);
    dims.push_back(b.getStringAttr(isStatic ? std::to_string(d.dim_value()) : dimSymbol(name)));
  }
  types.push_back(RankedTensorType::get(shape, element));
  NamedAttrList a;
  a.set("graph.name", b.getStringAttr(info.name()));
  a.set("graph.dims", b.getArrayAttr(dims));
  attrs.push_back(a.getDictionary(&context));
  return OkStatus();
}

Status Importer::createEntry() {
  const onnx::Graph &graph = file.model().graph();
  scopes.emplace_back();
  Scope &scope = scopes.back();
  scope.graph = &graph;
  for (auto [i, t] : llvm::enumerate(graph.initializer()))
    if (!scope.initializers.try_emplace(t.name(), i).second)
      return InvalidArgumentError(file.name(), ": two initializers are called \"", t.name(), "\"");
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attrs;
  std::vector<std::string> names;
  for (const onnx::ValueInfo &info : graph.input()) {
    if (scope.initializers.count(info.name()))
      continue; // an initializer that old exporters list as an input too
    QUAVER_RETURN_IF_ERROR(declareInput(info, types, attrs));
    names.push_back(info.name());
  }
  b.setInsertionPointToEnd(out.module->getBody());
  entry = func::FuncOp::create(b, NameLoc::get(b.getStringAttr(graph.name())), "main",
                               b.getFunctionType(types, {}));
  entry->setAttr("graph.entry", b.getUnitAttr());
  entry.setAllArgAttrs(attrs);
  Block *body = entry.addEntryBlock();
  shapes = std::make_unique<graph::ShapeAnalysis>(*out.module);
  if (mlir::failed(shapes->bindArguments(entry)))
    return InternalError("the entry's arguments cannot be bound: ", diagnostics);
  for (auto [name, arg] : llvm::zip(names, body->getArguments()))
    QUAVER_RETURN_IF_ERROR(define(name, {arg, std::nullopt}));
  b.setInsertionPointToEnd(body);
  return OkStatus();
}

Status Importer::define(const std::string &name, Item item) {
  if (name.empty())
    return OkStatus();
  if (!scopes.back().names.try_emplace(name, std::move(item)).second)
    return InvalidArgumentError(file.name(), ": two values are called \"", name, "\"");
  return OkStatus();
}

StatusOr<Value> Importer::constant(const onnx::Tensor &tensor, StringRef name,
                                   std::optional<TensorBytes> stripped) {
  QUAVER_ASSIGN_OR_RETURN(RankedTensorType type, tensorType(&context, tensor));
  QUAVER_ASSIGN_OR_RETURN(TensorBytes bytes, tensorBytes(file, tensor, type, std::move(stripped)));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&entry.getBody().front()); // subgraphs may use it too
  Location loc = NameLoc::get(b.getStringAttr(name));
  int64_t limit = isa<IntegerType>(type.getElementType()) ? kInlineIntegers : kInlineElements;
  if (type.getNumElements() > limit) {
    std::string symbol = out.weights.add(
        name, WeightData{type, bytes.bytes, name.str(), "", bytes.owner, "", "", bytes.isMapped});
    return weightOp(symbol, type, name, bytes.bytes.size());
  }
  Operation *op = graph::ConstantOp::create(b, loc, type, attributeOf(type, bytes.bytes));
  if (mlir::failed(shapes->visit(op)))
    return InternalError(diagnostics);
  return op->getResult(0);
}

// Declares a weight of the store, and reads it at the builder's insertion point.
Value Importer::weightOp(StringRef symbol, RankedTensorType type, StringRef name, size_t bytes) {
  Location loc = NameLoc::get(b.getStringAttr(name));
  OpBuilder top(&context);
  top.setInsertionPoint(entry);
  graph::WeightOp::create(top, loc, symbol, type, name, "", 0, bytes);
  auto op = graph::GetWeightOp::create(b, loc, type, FlatSymbolRefAttr::get(&context, symbol));
  bool isKnown = succeeded(shapes->visit(op)); // a static type: nothing that could fail
  assert(isKnown && "a weight has a static type");
  (void)isKnown;
  return op;
}

StatusOr<Item> Importer::lookup(const std::string &name) {
  if (name.empty())
    return Item{};
  for (size_t s = scopes.size(); s-- > frames.back().firstScope;) {
    auto it = scopes[s].names.find(name);
    if (it != scopes[s].names.end())
      return it->second;
    auto init = scopes[s].initializers.find(name);
    if (init == scopes[s].initializers.end())
      continue;
    int index = init->second;
    const onnx::Tensor &tensor = scopes[s].graph->initializer(index);
    const SafeTensor *stored = s == 0 ? storedTensor(name) : nullptr;
    QUAVER_ASSIGN_OR_RETURN(Value v,
                            stored ? fromCheckpoint(*stored, tensor)
                                   : constant(tensor, name, s == 0 ? file.stripped(index) : std::nullopt));
    scopes[s].names[name] = Item{v, std::nullopt};
    return Item{v, std::nullopt};
  }
  return NotFoundError("uses \"", name, "\", which nothing before it defines");
}

const onnx::Attribute *Importer::resolve(const onnx::Attribute *a) {
  for (size_t f = frames.size(); a && !a->ref_attr_name().empty() && f-- > 0;) {
    auto it = frames[f].attributes.find(a->ref_attr_name());
    a = it == frames[f].attributes.end() ? nullptr : it->second;
  }
  return a;
}

Status Importer::callFunction(const onnx::Node &node, const onnx::Function &function,
                              std::vector<Item> inputs) {
  if (++depth > kMaxDepth)
    return InvalidArgumentError(file.name(), ": functions call one another more than ", kMaxDepth,
                                " deep at ", describe(node));
  if (int(inputs.size()) > function.input_size())
    return InvalidArgumentError(file.name(), ": ", describe(node), " gives ", inputs.size(),
                                " inputs to a function of ", function.input_size());
  Frame frame;
  frame.opsets = readOpsets(function.opset_import());
  for (const onnx::Attribute &a : function.attribute_proto())
    frame.attributes[a.name()] = &a;
  for (const onnx::Attribute &a : node.attribute())
    if (const onnx::Attribute *r = resolve(&a))
      frame.attributes[a.name()] = r;
  frame.prefix = frames.back().prefix + (node.name().empty() ? node.op_type() : node.name()) + "/";
  frame.firstScope = scopes.size();
  scopes.emplace_back();
  frames.push_back(std::move(frame));
  inputs.resize(function.input_size());
  for (auto [name, item] : llvm::zip(function.input(), inputs))
    QUAVER_RETURN_IF_ERROR(define(name, item));
  QUAVER_RETURN_IF_ERROR(importNodes(function.node()));
  std::vector<Item> results;
  for (const std::string &name : function.output()) {
    QUAVER_ASSIGN_OR_RETURN(Item item, lookup(name));
    results.push_back(item);
  }
  frames.pop_back();
  scopes.pop_back();
  --depth;
  for (int i = 0; i < node.output_size() && i < int(results.size()); ++i)
    QUAVER_RETURN_IF_ERROR(define(node.output(i), results[i]));
  return OkStatus();
}

Status Importer::importSubgraph(const onnx::Graph &graph, ArrayRef<Value> arguments,
                                std::vector<Value> &outputs) {
  if (++depth > kMaxDepth)
    return InvalidArgumentError(file.name(), ": subgraphs are nested more than ", kMaxDepth, " deep");
  if (graph.input_size() != int(arguments.size()))
    return InvalidArgumentError(file.name(), ": subgraph \"", graph.name(), "\" takes ", graph.input_size(),
                                " values, but gets ", arguments.size());
  scopes.emplace_back();
  scopes.back().graph = &graph;
  for (auto [i, t] : llvm::enumerate(graph.initializer()))
    scopes.back().initializers.try_emplace(t.name(), i);
  for (auto [info, v] : llvm::zip(graph.input(), arguments))
    QUAVER_RETURN_IF_ERROR(define(info.name(), {v, std::nullopt}));
  QUAVER_RETURN_IF_ERROR(importNodes(graph.node()));
  for (const onnx::ValueInfo &info : graph.output()) {
    QUAVER_ASSIGN_OR_RETURN(Item item, lookup(info.name()));
    if (!item.value)
      return UnimplementedError(file.name(), ": subgraph \"", graph.name(), "\" gives \"", info.name(),
                                "\", which is not a tensor");
    outputs.push_back(item.value);
  }
  scopes.pop_back();
  --depth;
  return OkStatus();
}

Status Importer::importNodes(const google::protobuf::RepeatedPtrField<onnx::Node> &nodes) {
  for (const onnx::Node &node : nodes)
    QUAVER_RETURN_IF_ERROR(importNode(node));
  return OkStatus();
}

Status Importer::importNode(const onnx::Node &node) {
  std::vector<Item> inputs;
  for (const std::string &name : node.input()) {
    StatusOr<Item> item = lookup(name);
    if (!item.ok())
      return Status(item.status().code(),
                    str_cat(file.name(), ": ", describe(node), " ", item.status().message()));
    inputs.push_back(*item);
  }
  if (const onnx::Function *f = findFunction(node))
    return callFunction(node, *f, std::move(inputs));
  auto version = frames.back().opsets.find(canonicalDomain(node.domain()).str());
  const HandlerRow *row = version == frames.back().opsets.end()
                              ? nullptr
                              : findHandler(node.domain(), node.op_type(), version->second);
  if (!row)
    return UnimplementedError(file.name(), ": ", describe(node), " is not supported");
  std::string name =
      frames.back().prefix + (node.name().empty() && node.output_size() ? node.output(0) : node.name());
  Location loc = NameLoc::get(b.getStringAttr(name));
  graph::GraphBuilder g(b, loc, *shapes);
  NodeImport n(*this, node, version->second, std::move(inputs), g);
  row->handler(n);
  if (n.failed())
    return InvalidArgumentError(file.name(), ": ", describe(node), ": ",
                                n.errorText().empty() ? diagnostics : n.errorText());
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty())
      continue;
    if (!n.outputs[i].value && !n.outputs[i].sequence)
      return UnimplementedError(file.name(), ": ", describe(node), ": output ", i, " (\"", node.output(i),
                                "\") is not supported");
    QUAVER_RETURN_IF_ERROR(define(node.output(i), n.outputs[i]));
  }
  return OkStatus();
}

Status Importer::finishEntry() {
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> attrs;
  for (const onnx::ValueInfo &info : file.model().graph().output()) {
    StatusOr<Item> item = lookup(info.name());
    if (!item.ok())
      return InvalidArgumentError(file.name(), ": output \"", info.name(), "\" ", item.status().message());
    if (!item->value)
      return UnimplementedError(file.name(), ": output \"", info.name(),
                                "\" is not a tensor; sequences and optionals cannot be outputs");
    std::string why;
    int32_t declared = info.type().tensor_type().elem_type();
    Type element = declared ? elementTypeOf(&context, declared, &why) : Type();
    if (element && element != getElementTypeOrSelf(item->value.getType()))
      return InvalidArgumentError(file.name(), ": output \"", info.name(),
                                  "\" is declared with another element type than its node gives");
    results.push_back(item->value);
    SmallVector<Attribute> dims;
    for (auto [i, d] : llvm::enumerate(shapes->get(item->value).dims)) {
      std::string text = d.str();
      const auto &shape = info.type().tensor_type().shape();
      if (!d.isConstant() && int(i) < shape.dim_size() && !shape.dim(int(i)).dim_param().empty())
        text = shape.dim(int(i)).dim_param();
      dims.push_back(b.getStringAttr(text));
    }
    NamedAttrList a;
    a.set("graph.name", b.getStringAttr(info.name()));
    a.set("graph.dims", b.getArrayAttr(dims));
    attrs.push_back(a.getDictionary(&context));
  }
  if (results.empty())
    return InvalidArgumentError(file.name(), ": the model has no output");
  func::ReturnOp::create(b, entry.getLoc(), results);
  entry.setType(b.getFunctionType(entry.getArgumentTypes(), ValueRange(results).getTypes()));
  entry.setAllResultAttrs(attrs);
  return OkStatus();
}

Status Importer::run() {
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
    if (diagnostics.empty())
      diagnostics = d.str();
    return success();
  });
  out.name = file.model().graph().name();
  out.module = ModuleOp::create(NameLoc::get(StringAttr::get(&context, out.name)));
  frames.push_back({readOpsets(file.model().opset_import()), {}, "", 0});
  if (frames.back().opsets.empty())
    return InvalidArgumentError(file.name(), ": is not an ONNX model: it imports no operator set");
  if (int version = frames.back().opsets[""]; version > kNewestOpset)
    return UnimplementedError(file.name(), ": uses opset ", version, "; opsets up to ", kNewestOpset,
                              " are read: export with an older one");
  QUAVER_RETURN_IF_ERROR(checkOperators());
  alignNames();
  QUAVER_RETURN_IF_ERROR(createEntry());
  QUAVER_RETURN_IF_ERROR(importNodes(file.model().graph().node()));
  QUAVER_RETURN_IF_ERROR(finishEntry());
  QUAVER_RETURN_IF_ERROR(finishCheckpoint());
  return checkOps();
}

// A model that mixes types where its operators do not allow it.
Status Importer::checkOps() {
  std::string wrong;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
    if (auto node = dyn_cast<NameLoc>(d.getLocation()); node && wrong.empty())
      wrong = "node \"" + node.getName().str() + "\": ";
    wrong += d.str();
    return success();
  });
  if (mlir::failed(verify(*out.module)))
    return InvalidArgumentError(file.name(), ": ", wrong, "; the model is not valid ONNX here");
  return OkStatus();
}

static StatusOr<ImportedModel> import(MLIRContext &context, StatusOr<std::unique_ptr<OnnxFile>> file,
                                      const ImportOptions &options) {
  if (!file.ok())
    return file.status();
  ImportedModel out;
  QUAVER_RETURN_IF_ERROR(Importer(context, **file, options, out).run());
  return out;
}

StatusOr<ImportedModel> importOnnx(MLIRContext &context, const std::string &path,
                                   const ImportOptions &options) {
  return import(context, OnnxFile::open(path), options);
}
StatusOr<ImportedModel> importOnnx(MLIRContext &context, StringRef bytes, const std::string &folder,
                                   const ImportOptions &options) {
  return import(context, OnnxFile::parse(bytes, folder, "model"), options);
}

} // namespace quaver::import
