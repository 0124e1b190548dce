// Emits the values of a dispatch's region at symbolic indices. Shared by this room's files only.
#pragma once
#include "compiler/Codegen/Common/Epilogue.h"
#include "compiler/Codegen/Common/KernelFunction.h"
#include "compiler/Codegen/Common/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/ScopedHashTable.h"
#include "llvm/ADT/TypeSwitch.h"

namespace quaver::codegen {

using graph::DimExpr;
using Dims = llvm::SmallVector<DimExpr, 4>;

/// Position along one dimension. Lane l of a vector is at base + l * stride (no stride: all lanes at base),
/// or at lanes[l]. Nothing set: not known yet. `joined`: this dimension and the next ones up to the first
/// that is not joined are counted together, in row-major order, by that last one.
struct Index {
  mlir::Value base, stride, lanes;
  bool joined = false;
  bool known() const { return joined || base || lanes; }
  bool uniform() const { return joined || (base && !stride); }
  bool operator==(const Index &o) const {
    return base == o.base && stride == o.stride && lanes == o.lanes && joined == o.joined;
  }
};
using Indices = llvm::SmallVector<Index, 4>;
using Values = llvm::SmallVector<mlir::Value, 4>;

bool allKnown(llvm::ArrayRef<Index> idx);
bool allUniform(llvm::ArrayRef<Index> idx);

/// What values of an element type look like in registers: f16, bf16 and f8 as integers of their bits,
/// unsigned as signless.
mlir::Type registerType(mlir::Type element);
bool isUnsigned(mlir::Type element);
/// f16, bf16 and f8 compute in f32.
mlir::Type computeType(mlir::Type element);

class Emitter {
public:
  Emitter(KernelFunction &k, graph::ShapeAnalysis &shapes, const Target &target);
  /// Emits the whole kernel of a cluster and fills `launch`.
  mlir::LogicalResult run(KernelFunction::Launch &launch);
  /// Emits, into a function of the epilogue's arguments, what becomes of finished sums of `product`.
  mlir::LogicalResult epilogue(mlir::Operation *product, mlir::Block *body, SumsLayout layout,
                               const std::optional<ColumnScales> &scales);
  mlir::LogicalResult batchOffset(mlir::Block *body, graph::MatmulOp matmul, llvm::ArrayRef<DimExpr> batch);

private:
  // --- Scalars.cpp: index arithmetic, numbered so that equal expressions are equal values.
  mlir::Value num(int64_t v) { return k.number(v); }
  mlir::Value size(const DimExpr &e) { return k.size(e); }
  enum class Arith { Add, Sub, Mul, DivU, RemU, MinS, MaxS };
  mlir::Value arith(Arith kind, mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, mlir::Value y) { return arith(Arith::Add, x, y); }
  mlir::Value sub(mlir::Value x, mlir::Value y) { return arith(Arith::Sub, x, y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) { return arith(Arith::Mul, x, y); }
  mlir::Value splat(mlir::Value v);
  bool isVector(mlir::Value v) { return mlir::isa<mlir::VectorType>(v.getType()); }
  /// Makes all of them vectors if one is.
  void unify(llvm::MutableArrayRef<mlir::Value> vs);
  mlir::Type like(mlir::Type shape, mlir::Type element);
  mlir::Value floatConst(mlir::Type type, double v);
  mlir::Value intConst(mlir::Type type, int64_t v);
  Index scalar(mlir::Value v) { return {v, {}, {}, false}; }
  Index plus(const Index &x, const Index &y);
  Index times(const Index &x, mlir::Value y);
  /// The value of an index: i64, or a vector of them.
  mlir::Value valueOf(const Index &i);
  Index indexOf(mlir::Value v);
  /// x / y or x % y where x is not negative.
  Index quotient(const Index &x, const DimExpr &y);
  Index remainder(const Index &x, const DimExpr &y);
  mlir::Value compare(mlir::arith::CmpIPredicate p, mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value c, mlir::Value x, mlir::Value y);
  mlir::Value both(mlir::Value x, mlir::Value y); // conjunction; null means true

  // --- Shapes of values.
  const Dims &dims(mlir::Value v) { return shapes.get(v).dims; }
  mlir::Type element(mlir::Value v) { return mlir::getElementTypeOrSelf(v.getType()); }
  static bool isOne(const DimExpr &e) { return e.getConstant() == int64_t(1); }
  static DimExpr product(llvm::ArrayRef<DimExpr> d);

  // --- Addresses.cpp
  Index linear(llvm::ArrayRef<Index> idx, llvm::ArrayRef<DimExpr> d);
  mlir::Value pointer(unsigned binding, mlir::Type element, mlir::Value offset, mlir::Value base = {});
  mlir::Value load(mlir::Value base, mlir::Type element, const Index &lin);
  void store(mlir::Value base, mlir::Type element, const Index &lin, mlir::Value v);
  mlir::Value loadArgument(mlir::BlockArgument a, llvm::ArrayRef<Index> idx);
  mlir::Value constantAt(graph::ConstantOp op, llvm::ArrayRef<Index> idx);
  void storeResult(unsigned result, llvm::ArrayRef<Index> idx, mlir::Value v);
  mlir::Value laneMask(); // the mask, all ones when there is none

  // --- Merge.cpp: which adjacent dimensions may be walked as one.
  bool canMerge(mlir::Value t, int64_t i);
  bool canMergeUncached(mlir::Value t, int64_t i);
  /// Splits joined dimensions of `idx` unless keep(i) says that i and i + 1 may stay joined.
  void split(Indices &idx, llvm::ArrayRef<DimExpr> d, llvm::function_ref<bool(int64_t)> keep);
  void split(Indices &idx, llvm::ArrayRef<DimExpr> d) {
    split(idx, d, [](int64_t) { return false; });
  }
  /// First dimension of every group of [0, rank), by canMerge of all values.
  llvm::SmallVector<int64_t> groupsOf(mlir::ValueRange values, int64_t lo, int64_t hi);

  // --- Values.cpp: the pull.
  mlir::Value at(mlir::Value t, llvm::ArrayRef<Index> idx);
  mlir::Value compute(mlir::Value t, llvm::ArrayRef<Index> idx);
  void demand(mlir::Value t, llvm::ArrayRef<Index> idx);
  /// Operands of a pure indexing or elementwise op with the indices they are read at; nullopt for other ops.
  struct Access {
    mlir::Value from;
    Indices idx;
  };
  std::optional<llvm::SmallVector<Access, 3>> accesses(mlir::Operation *op, llvm::ArrayRef<Index> idx);
  Indices broadcastIndex(mlir::Value operand, mlir::Value result, llvm::ArrayRef<Index> idx);
  std::optional<mlir::Value> symbolicElement(mlir::Value t, llvm::ArrayRef<Index> idx);
  mlir::Value fail(mlir::Operation *op, const llvm::Twine &why);

  // --- Movement.cpp, Slices.cpp, Gathers.cpp
  Indices reshaped(mlir::Value from, mlir::Value to, llvm::ArrayRef<Index> idx);
  bool reshapeGroups(llvm::ArrayRef<DimExpr> from, llvm::ArrayRef<DimExpr> to,
                     llvm::SmallVectorImpl<std::array<int64_t, 4>> &groups);
  Indices transposed(graph::TransposeOp op, llvm::ArrayRef<Index> idx);
  Indices sliced(graph::SliceOp op, llvm::ArrayRef<Index> idx);
  /// Element i of a 1-D integer tensor as an i64.
  mlir::Value elementOf(mlir::Value t, int64_t i);
  mlir::Value concat(graph::ConcatOp op, llvm::ArrayRef<Index> idx);
  mlir::Value pad(graph::PadOp op, llvm::ArrayRef<Index> idx);
  mlir::Value range(graph::RangeOp op, llvm::ArrayRef<Index> idx);
  mlir::Value shapeElement(graph::ShapeOp op, llvm::ArrayRef<Index> idx);
  Index wrapped(mlir::Value indices, llvm::ArrayRef<Index> idx, const DimExpr &n);
  std::optional<Access> gathered(mlir::Operation *op, llvm::ArrayRef<Index> idx);
  /// c ? x : y, computed under c: loads of lanes (or of a uniform branch) that are not taken do not happen.
  mlir::Value choose(mlir::Value c, llvm::function_ref<mlir::Value()> x, llvm::function_ref<mlir::Value()> y);

  // --- Elementwise.cpp, ElementwiseInteger.cpp
  mlir::Value elementwise(mlir::Operation *op, llvm::ArrayRef<mlir::Value> in);
  mlir::Value floatOp(mlir::Operation *op, llvm::ArrayRef<mlir::Value> in);
  mlir::Value integerOp(mlir::Operation *op, llvm::ArrayRef<mlir::Value> in);
  mlir::Value compareOp(graph::CompareOp op, mlir::Value x, mlir::Value y);
  mlir::Value power(graph::PowOp op, mlir::Value x, mlir::Value y);
  mlir::Value maxOf(mlir::Value x, mlir::Value y, mlir::Type element, bool max);
  mlir::Value divide(mlir::Value x, mlir::Value y, bool isUnsigned, bool remainder);

  // --- Casts.cpp, CastsSmall.cpp
  struct CastRule {
    bool saturate = true, fnuzInfToNan = false;
    graph::RoundMode e8m0 = graph::RoundMode::nearest;
  };
  mlir::Value convert(mlir::Value v, mlir::Type from, mlir::Type to, CastRule rule);
  mlir::Value convert(mlir::Value v, mlir::Type from, mlir::Type to) {
    return convert(v, from, to, CastRule());
  }
  mlir::Value toCompute(mlir::Value v, mlir::Type element) {
    return convert(v, element, computeType(element));
  }
  mlir::Value fromCompute(mlir::Value v, mlir::Type element) {
    return convert(v, computeType(element), element);
  }
  mlir::Value floatToInt(mlir::Value v, mlir::Type to);
  mlir::Value roundToOdd(mlir::Value f64);
  mlir::Value decodeSmall(mlir::Value bits, mlir::Type format);
  mlir::Value encodeSmall(mlir::Value f32, mlir::Type format, CastRule rule);
  mlir::Value encodeE8M0(mlir::Value f32, CastRule rule);

  // --- Reductions.cpp, ArgReduce.cpp, Windows.cpp, Contractions.cpp
  bool isReduction(mlir::Operation *op);
  mlir::Value reduction(mlir::Operation *op, llvm::ArrayRef<Index> idx);
  mlir::Value reduce(graph::ReduceOp op, llvm::ArrayRef<Index> idx);
  mlir::Value argReduce(graph::ArgReduceOp op, llvm::ArrayRef<Index> idx);
  mlir::Value matmul(graph::MatmulOp op, llvm::ArrayRef<Index> idx);
  mlir::Value conv(graph::ConvOp op, llvm::ArrayRef<Index> idx);
  mlir::Value convTranspose(graph::ConvTransposeOp op, llvm::ArrayRef<Index> idx);
  mlir::Value pool(graph::PoolOp op, llvm::ArrayRef<Index> idx);
  void demandReduction(mlir::Operation *op, llvm::ArrayRef<Index> idx);
  /// The input's indices of a reduce or arg_reduce, unknown along the reduced dimensions.
  Indices reducedInput(mlir::Value input, mlir::Value result, llvm::ArrayRef<int64_t> axes, bool keepDims,
                       llvm::ArrayRef<Index> idx);
  mlir::Value neutral(graph::ReduceKind kind, mlir::Type element);
  mlir::Value combine(graph::ReduceKind kind, mlir::Value x, mlir::Value y, mlir::Type element);
  mlir::Value acrossLanes(graph::ReduceKind kind, llvm::ArrayRef<mlir::Value> acc, mlir::Type element);
  mlir::Value fromOtherLane(mlir::Value v, int64_t bit);
  mlir::Value accumulate(mlir::Value acc, mlir::Value x, mlir::Value y);

  // --- Loops.cpp
  using Body = llvm::function_ref<Values(mlir::Value, mlir::ValueRange)>;
  Values loop(mlir::Value from, mlir::Value to, mlir::Value step, mlir::ValueRange carried, Body body);
  using Step = llvm::function_ref<Values(Index, mlir::ValueRange)>;
  /// Where this thread's vector lies in a step of a walk that begins at `i`.
  mlir::Value ownPosition(mlir::Value i);
  /// Walks [from, to) by vectors: `unroll` whole ones at a time, each with its own copy of the carried values
  /// (copies beside each other: carried.size() is a multiple of unroll), then masked ones that continue copy
  /// 0.
  Values lanes(mlir::Value from, mlir::Value to, std::optional<int64_t> count, int64_t unroll,
               mlir::ValueRange carried, Step body);
  /// Values computed inside are forgotten at the end.
  template <class Fn> auto scoped(Fn fn);

  // --- Kernel.cpp, Phases.cpp
  struct Phase {
    llvm::SmallVector<unsigned> results;    // of equal dims, stored lane by lane
    llvm::SmallVector<unsigned> rowResults; // one element a row
    llvm::SmallVector<int64_t> groups;      // first dimension of every group
    int64_t rows = 0;                       // leading groups that workgroups count
    bool reduces = false;
    int64_t block = 0; // columns of a workgroup; 0: the whole row
    DimExpr workgroups;
    int64_t cost = 1;
  };
  mlir::LogicalResult formPhases();
  void planPhase(Phase &p);
  bool isRowResult(const Phase &p, unsigned result);
  int64_t rowsWithKnownReductions(const Phase &p);
  void emitPhase(const Phase &p, mlir::Value first, mlir::Value last);
  void emitRow(const Phase &p, mlir::Value from, mlir::Value to);
  Dims groupDims(const Phase &p);
  Indices groupedIndex(const Phase &p, llvm::ArrayRef<Index> perGroup);
  mlir::Value yielded(unsigned result);
  int64_t costOf(mlir::Operation *op);
  std::string describe();

  KernelFunction &k;
  graph::ShapeAnalysis &shapes;
  const Target &target;
  mlir::OpBuilder &b;
  mlir::Location loc;
  MathBuilder math;
  int64_t W;    // lanes of a vector
  int64_t step; // positions that one step of a walk covers: a vector, or the vectors of a warp's lanes
  llvm::SmallVector<Phase> phases;
  mlir::Operation *failedAt = nullptr;

  mlir::Value mask; // which lanes exist; null: all
  using ExprKey = std::pair<unsigned, std::pair<void *, void *>>;
  llvm::ScopedHashTable<ExprKey, mlir::Value> exprs;
  struct Known {
    mlir::Value tensor;
    Indices idx;
    mlir::Value value, mask;
  };
  llvm::SmallVector<Known> known; // values that dominate the insertion point
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, bool> merges;

  // Expensive values with several uses are kept in a row of scratch.
  struct Spill {
    mlir::Value tensor;
    int64_t slot;
    unsigned stage;
  };
  llvm::SmallVector<Spill> spills;
  const Phase *phase = nullptr;
  Indices rowIndex;     // of the current row, one a group; the last ones not known
  Indices rowLanes;     // the same, one a dimension
  mlir::Value laneBase; // base of the current lanes of a walk over a whole row
  unsigned stage = 0;
  bool spillable(mlir::Operation *op, llvm::ArrayRef<Index> idx);
  bool isExpensive(mlir::Operation *op);
  DimExpr scratchBytes;

  // A dry run looks which reductions are known, and emits nothing that stays.
  llvm::function_ref<void(mlir::Operation *, bool)> onReduction;

  // Epilogue: the matmul's value, and where its function's bindings are.
  mlir::Operation *finished = nullptr;
  mlir::Value finishedValue;
};

template <class Fn> auto Emitter::scoped(Fn fn) {
  llvm::ScopedHashTableScope<ExprKey, mlir::Value> scope(exprs);
  size_t n = known.size();
  struct Restore {
    llvm::SmallVector<Known> &known;
    size_t n;
    ~Restore() { known.truncate(n); }
  } restore{known, n};
  return fn();
}

} // namespace quaver::codegen
