"""Makes every file of test/models anew: `python test/models/make`. Never needed by the tests; the files are committed.

Made with torch 2.15, transformers 5.24, onnx 1.22.0, onnxscript 0.7.2, onnxruntime 1.32 on a CPU.
"""
import composites
import quantized
import torch_models
import transformers_models

for room in (composites, torch_models, transformers_models, quantized):
    room.make()
