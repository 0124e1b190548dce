#include "compiler/PlanEmit/PlanEmit.h"
#include "dialects/Plan/IR/PlanDialect.h"

using namespace mlir;
using quaver::graph::DimExpr;

namespace quaver::plan_emit {

plan::ElementType elementTypeOf(Type t) {
  if (t.isF64())
    return plan::F64;
  if (t.isF32())
    return plan::F32;
  if (t.isF16())
    return plan::F16;
  if (t.isBF16())
    return plan::BF16;
  if (isa<Float8E4M3FNType>(t))
    return plan::F8E4M3FN;
  if (isa<Float8E5M2Type>(t))
    return plan::F8E5M2;
  if (isa<Float8E4M3FNUZType>(t))
    return plan::F8E4M3FNUZ;
  if (isa<Float8E5M2FNUZType>(t))
    return plan::F8E5M2FNUZ;
  if (isa<Float8E8M0FNUType>(t))
    return plan::F8E8M0FNU;
  auto i = dyn_cast<IntegerType>(t);
  if (!i)
    return plan::ELEMENT_INVALID;
  switch (i.getWidth()) {
  case 1:
    return plan::BOOL;
  case 8:
    return i.isUnsigned() ? plan::U8 : plan::I8;
  case 16:
    return i.isUnsigned() ? plan::U16 : plan::I16;
  case 32:
    return i.isUnsigned() ? plan::U32 : plan::I32;
  case 64:
    return i.isUnsigned() ? plan::U64 : plan::I64;
  default:
    return plan::ELEMENT_INVALID;
  }
}

ExprTable::ExprTable(plan::Plan &plan, graph::ShapeAnalysis &shapes) : plan(plan), shapes(shapes) {
  for (auto [i, d] : llvm::enumerate(plan.dims()))
    dims[d.name()] = i;
}

uint32_t ExprTable::dim(llvm::StringRef symbol) {
  auto it = dims.find(symbol.str());
  if (it != dims.end())
    return it->second;
  const graph::DataDependentDim *fromData = nullptr;
  for (const graph::DataDependentDim &d : shapes.dataDependent())
    if (d.symbol == symbol)
      fromData = &d;
  uint32_t boundPlus1 = fromData && fromData->upperBound ? add(*fromData->upperBound) + 1 : 0;
  uint32_t index = plan.dims_size();
  dims[symbol.str()] = index;
  plan::Dim *d = plan.add_dims();
  graph::DimBounds b = shapes.boundsOf(symbol);
  d->set_name(symbol.str());
  d->set_min(b.min);
  d->set_max(b.max.value_or(0));
  d->set_multiple_of(b.multipleOf);
  d->set_data_dependent(fromData != nullptr);
  d->set_upper_bound_plus_1(boundPlus1);
  return index;
}

uint32_t ExprTable::node(plan::Expr::Kind kind, int64_t value, uint32_t a, uint32_t b, uint32_t c) {
  auto [it, inserted] = nodes.try_emplace({kind, value, a, b, c}, plan.exprs_size());
  if (!inserted)
    return it->second;
  plan::Expr *e = plan.add_exprs();
  e->set_kind(kind);
  e->set_value(value);
  e->set_a(a), e->set_b(b), e->set_c(c);
  return it->second;
}

uint32_t ExprTable::add(const DimExpr &e) {
  auto kindOf = [](DimExpr::Kind k) {
    switch (k) {
    case DimExpr::Kind::Add:
      return plan::Expr::ADD;
    case DimExpr::Kind::Mul:
      return plan::Expr::MUL;
    case DimExpr::Kind::FloorDiv:
      return plan::Expr::FLOOR_DIV;
    case DimExpr::Kind::CeilDiv:
      return plan::Expr::CEIL_DIV;
    case DimExpr::Kind::Mod:
      return plan::Expr::MOD;
    case DimExpr::Kind::Min:
      return plan::Expr::MIN;
    case DimExpr::Kind::Max:
      return plan::Expr::MAX;
    case DimExpr::Kind::Eq:
      return plan::Expr::EQ;
    case DimExpr::Kind::Lt:
      return plan::Expr::LT;
    case DimExpr::Kind::Select:
      return plan::Expr::SELECT;
    }
    llvm_unreachable("all kinds are listed");
  };
  return e.visit([&](int64_t v) { return int(node(plan::Expr::CONSTANT, v)); },
                 [&](llvm::StringRef s) { return int(node(plan::Expr::DIM, dim(s))); },
                 [&](DimExpr::Kind kind, llvm::ArrayRef<int> operands) {
                   if (kind == DimExpr::Kind::Select)
                     return int(node(plan::Expr::SELECT, 0, operands[0], operands[1], operands[2]));
                   uint32_t acc = operands[0];
                   for (int o : operands.drop_front())
                     acc = node(kindOf(kind), 0, acc, o);
                   return int(acc);
                 });
}

uint32_t ExprTable::add(llvm::StringRef text) {
  std::optional<DimExpr> e = DimExpr::parse(text);
  assert(e && "the plan dialect's verifiers hold expressions to DimExpr's syntax");
  return add(*e);
}

namespace {

class EntryWriter {
public:
  EntryWriter(ExprTable &exprs, plan::Target &target, plan::Entry &out)
      : exprs(exprs), target(target), out(out) {
    for (auto [i, k] : llvm::enumerate(target.kernels()))
      kernels[k.symbol()] = i;
  }
  LogicalResult run(plan_ir::EntryOp entry);

private:
  void describe(ArrayAttr list, google::protobuf::RepeatedPtrField<plan::TensorType> *types);
  void bind(plan::Binding *to, Value buffer, bool written = false) {
    to->set_buffer(bufferIndex.lookup(buffer));
    to->set_offset(exprs.add(DimExpr(0)));
    to->set_written(written);
  }
  void addBuffer(plan_ir::BufferOp op);
  void addLaunch(plan_ir::LaunchOp op, plan::Launch *launch);
  LogicalResult addBlock(Block &block, plan::Block *to);

  ExprTable &exprs;
  plan::Target &target;
  plan::Entry &out;
  std::map<std::string, uint32_t> kernels;
  llvm::DenseMap<Value, uint32_t> bufferIndex;
};

void EntryWriter::describe(ArrayAttr list, google::protobuf::RepeatedPtrField<plan::TensorType> *types) {
  for (Attribute a : list) {
    auto d = cast<DictionaryAttr>(a);
    plan::TensorType *t = types->Add();
    t->set_name(d.getAs<StringAttr>("name").str());
    t->set_type(elementTypeOf(d.getAs<TypeAttr>("type").getValue()));
    for (Attribute e : d.getAs<ArrayAttr>("shape"))
      t->add_shape(exprs.add(cast<StringAttr>(e).getValue()));
    for (Attribute n : d.getAs<ArrayAttr>("dim_names"))
      t->add_dim_names(cast<StringAttr>(n).str());
  }
}

void EntryWriter::addBuffer(plan_ir::BufferOp op) {
  static const std::map<StringRef, plan::Buffer::Memory> kMemories = {
      {"arena", plan::Buffer::ARENA},   {"input", plan::Buffer::INPUT}, {"output", plan::Buffer::OUTPUT},
      {"weight", plan::Buffer::WEIGHT}, {"state", plan::Buffer::STATE}, {"dynamic", plan::Buffer::DYNAMIC}};
  bufferIndex[op.getBuffer()] = out.buffers_size();
  plan::Buffer *b = out.add_buffers();
  b->set_memory(kMemories.at(op.getMemory()));
  bool isPlaced = b->memory() == plan::Buffer::ARENA || b->memory() == plan::Buffer::DYNAMIC;
  b->set_index(isPlaced ? 0 : op.getIndex());
  b->set_offset(exprs.add(op.getOffset()));
  b->set_bytes(exprs.add(op.getBytes()));
  b->set_label(op.getLabel().str());
  b->set_type(elementTypeOf(op.getElement()));
}

void EntryWriter::addLaunch(plan_ir::LaunchOp op, plan::Launch *launch) {
  auto [it, inserted] = kernels.try_emplace(op.getKernel().str(), target.kernels_size());
  if (inserted) {
    plan::Kernel *k = target.add_kernels();
    k->set_symbol(op.getKernel().str());
    k->set_module(0);
    k->set_description(op.getDescription().str());
    k->set_block_threads(uint32_t(op.getBlockThreads().value_or(0)));
  }
  launch->set_kernel(it->second);
  launch->set_workgroups(exprs.add(op.getWorkgroups()));
  for (auto [i, v] : llvm::enumerate(op.getBuffers()))
    bind(launch->add_bindings(), v, i + op.getNumWritten() >= op.getBuffers().size());
  for (Attribute c : op.getConstants())
    launch->add_constants(exprs.add(cast<StringAttr>(c).getValue()));
  launch->set_scratch_bytes(exprs.add(op.getScratch()));
  launch->set_grain(exprs.add(op.getGrain()));
  launch->set_label(op.getLabel().str());
}

LogicalResult EntryWriter::addBlock(Block &block, plan::Block *to) {
  for (Operation &o : block) {
    if (auto buffer = dyn_cast<plan_ir::BufferOp>(o)) {
      addBuffer(buffer);
      continue;
    }
    plan::Instruction *instruction = to->add_instructions();
    if (auto op = dyn_cast<plan_ir::LaunchOp>(o)) {
      addLaunch(op, instruction->mutable_launch());
    } else if (auto op = dyn_cast<plan_ir::CopyOp>(o)) {
      bind(instruction->mutable_copy()->mutable_from(), op.getFrom());
      bind(instruction->mutable_copy()->mutable_to(), op.getTo(), true);
      instruction->mutable_copy()->set_bytes(exprs.add(op.getBytes()));
    } else if (auto op = dyn_cast<plan_ir::ReadBackOp>(o)) {
      instruction->mutable_read_back()->set_dim(exprs.dim(op.getDim()));
      bind(instruction->mutable_read_back()->mutable_from(), op.getFrom());
      instruction->mutable_read_back()->set_element(op.getElement());
    } else if (auto op = dyn_cast<plan_ir::CheckOp>(o)) {
      instruction->mutable_check()->set_condition(exprs.add(op.getCondition()));
      instruction->mutable_check()->set_message(op.getMessage().str());
    } else if (auto op = dyn_cast<plan_ir::IfOp>(o)) {
      bind(instruction->mutable_if_()->mutable_condition(), op.getCondition());
      if (failed(addBlock(op.getThenRegion().front(), instruction->mutable_if_()->mutable_then_block())) ||
          failed(addBlock(op.getElseRegion().front(), instruction->mutable_if_()->mutable_else_block())))
        return failure();
    } else if (auto op = dyn_cast<plan_ir::WhileOp>(o)) {
      bind(instruction->mutable_while_()->mutable_condition(), op.getCondition());
      if (failed(addBlock(op.getBefore().front(), instruction->mutable_while_()->mutable_before())) ||
          failed(addBlock(op.getBody().front(), instruction->mutable_while_()->mutable_body())))
        return failure();
    } else {
      return o.emitOpError("has no form in the plan file");
    }
  }
  return success();
}

LogicalResult EntryWriter::run(plan_ir::EntryOp entry) {
  out.set_name(entry.getSymName().str());
  describe(entry.getInputs(), out.mutable_inputs());
  describe(entry.getOutputs(), out.mutable_outputs());
  out.set_arena_bytes(exprs.add(entry.getPeak()));
  return addBlock(entry.getBody().front(), out.mutable_body());
}

} // namespace

LogicalResult serializeEntry(plan_ir::EntryOp entry, ExprTable &exprs, plan::Target &target) {
  return EntryWriter(exprs, target, *target.add_entries()).run(entry);
}

} // namespace quaver::plan_emit
