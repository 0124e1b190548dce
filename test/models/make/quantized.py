"""bert-tiny-fp8-qdq: what onnxruntime's static quantizer makes of bert-tiny; E4M3 weights and activations, explicit Q/DQ."""
import numpy as np
import transformers_models
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from recording import FOLDER, clean, session


class Calibration(CalibrationDataReader):
    def __init__(self, cases):
        self.cases = iter(cases)

    def get_next(self):
        case = next(self.cases, None)
        return case and {k: v.numpy() for k, v in case.items()}


class GatherElements(OpRun):
    """onnx 1.22's own fails where data and indices differ in shape."""

    op_domain = ""

    def _run(self, data, indices, axis=0):
        places = list(np.indices(indices.shape))
        places[axis] = indices
        return (data[tuple(places)],)


def make():
    source, path, prepared = (FOLDER / f"bert-tiny{s}.onnx" for s in ("", "-fp8-qdq", "-prepared"))
    quant_pre_process(str(source), str(prepared), skip_optimization=True, skip_symbolic_shape=True)
    quantize_static(str(prepared), str(path), Calibration([transformers_models.bert_case(seed, 3, 11) for seed in range(40, 48)]),
                    quant_format=QuantFormat.QDQ, op_types_to_quantize=["MatMul", "Gemm"],
                    activation_type=QuantType.QFLOAT8E4M3FN, weight_type=QuantType.QFLOAT8E4M3FN,
                    calibrate_method=CalibrationMethod.Distribution)
    prepared.unlink()
    clean(path)
    given, arrays = np.load(source.with_suffix(".io.npz")), {}
    for case in ("", "2"):
        feeds = {k.split(":")[1]: given[k] for k in given if k.startswith(f"in{case}:")}
        names = [o.name for o in session(path).get_outputs()]
        arrays |= {f"in{case}:{k}": v for k, v in feeds.items()}
        # Every node as written, and ONNX's own evaluator beside it.
        for key, values in (("out", session(path, optimized=False).run(None, feeds)),
                            ("reference", ReferenceEvaluator(str(path), new_ops=[GatherElements]).run(None, feeds))):
            arrays |= {f"{key}{case}:{name}": v for name, v in zip(names, values, strict=True)}
    np.savez_compressed(path.with_suffix(".io.npz"), **arrays)
    print(f"{path.name}: {path.stat().st_size // 1024} KiB")
