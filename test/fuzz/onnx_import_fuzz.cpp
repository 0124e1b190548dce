// Imports any bytes as an ONNX model. What imports must verify.
#include "compiler/Import/Onnx/ImportOnnx.h"
#include "compiler/Import/Onnx/onnx.pb.h"
#include "dialects/Graph/IR/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "runtime/base/mapped_file.h"
#include "test/fuzz/seeds.h"
#include <cstdlib>
#include <google/protobuf/stubs/logging.h>

using namespace quaver;

// protobuf prints a line for every string that is not UTF-8.
[[maybe_unused]] static const auto kQuiet = google::protobuf::SetLogHandler(nullptr);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  auto model = import::importOnnx(context, llvm::StringRef(reinterpret_cast<const char *>(data), size), "");
  if (!model.ok()) {
    if (model.status().message().empty())
      std::abort();
    return 0;
  }
  if (mlir::failed(mlir::verify(*model->module)))
    std::abort();
  return 0;
}

namespace quaver::fuzz {

// Weights would be nearly all of a model's bytes, and no mutation of them is interesting: the large ones
// become inputs.
static Bytes structure_of(const std::string &path) {
  auto file = MappedFile::open(path);
  onnx::Model model;
  if (!file.ok() || !model.ParseFromArray(file->bytes().data(), int(file->bytes().size())))
    std::abort();
  onnx::Graph &graph = *model.mutable_graph();
  auto initializers = std::move(*graph.mutable_initializer());
  graph.clear_initializer();
  for (onnx::Tensor &tensor : initializers) {
    if (tensor.ByteSizeLong() < 128) {
      graph.add_initializer()->Swap(&tensor);
      continue;
    }
    onnx::ValueInfo *input = graph.add_input();
    input->set_name(tensor.name());
    auto *type = input->mutable_type()->mutable_tensor_type();
    type->set_elem_type(tensor.data_type());
    type->mutable_shape();
    for (int64_t d : tensor.dims())
      type->mutable_shape()->add_dim()->set_dim_value(d);
  }
  std::string bytes = model.SerializeAsString();
  return Bytes(bytes.begin(), bytes.end());
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> all;
  for (const char *name :
       {"bert-tiny", "cnn-tiny-unfolded", "mixtral-tiny-loop", "mlp-train", "attention24-cache-hand"})
    all.push_back(structure_of(std::string(QUAVER_TEST_MODELS) + "/" + name + ".onnx"));
  return all;
}

void repair(Bytes &) {} // ONNX has no checksums

} // namespace quaver::fuzz
