#include "dialects/Plan/IR/Packing.h"

using namespace mlir;

namespace quaver::plan_ir {

SmallVector<Packing> packingsOf(DispatchOp dispatch) {
  SmallVector<Packing> out;
  ArrayAttr packings = dispatch.getPackingsAttr();
  if (!packings)
    return out;
  for (Attribute a : packings) {
    auto d = cast<DictionaryAttr>(a);
    Packing p;
    p.operand = d.getAs<IntegerAttr>("operand").getInt();
    p.storage = d.getAs<StringAttr>("storage").str();
    llvm::append_range(p.parameters, d.getAs<DenseI64ArrayAttr>("parameters").asArrayRef());
    p.bytes = d.getAs<IntegerAttr>("bytes").getInt();
    out.push_back(std::move(p));
  }
  return out;
}

void setPackings(DispatchOp dispatch, ArrayRef<Packing> packings) {
  Builder b(dispatch.getContext());
  SmallVector<Attribute> out;
  for (const Packing &p : packings)
    out.push_back(b.getDictionaryAttr({b.getNamedAttr("operand", b.getI64IntegerAttr(p.operand)),
                                       b.getNamedAttr("storage", b.getStringAttr(p.storage)),
                                       b.getNamedAttr("parameters", b.getDenseI64ArrayAttr(p.parameters)),
                                       b.getNamedAttr("bytes", b.getI64IntegerAttr(p.bytes))}));
  dispatch.setPackingsAttr(b.getArrayAttr(out));
}

} // namespace quaver::plan_ir
