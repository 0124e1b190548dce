"""Element types: the runtime's numbers, numpy's dtypes, onnxruntime's spellings."""

import ml_dtypes
import numpy as np

# (number in qv_type, numpy dtype, onnxruntime's name)
_ROWS = [
    (1, np.float64, "double"),
    (2, np.float32, "float"),
    (3, np.float16, "float16"),
    (4, ml_dtypes.bfloat16, "bfloat16"),
    (5, ml_dtypes.float8_e4m3fn, "float8e4m3fn"),
    (6, ml_dtypes.float8_e5m2, "float8e5m2"),
    (7, ml_dtypes.float8_e4m3fnuz, "float8e4m3fnuz"),
    (8, ml_dtypes.float8_e5m2fnuz, "float8e5m2fnuz"),
    (9, ml_dtypes.float8_e8m0fnu, "float8e8m0"),
    (10, np.int64, "int64"),
    (11, np.int32, "int32"),
    (12, np.int16, "int16"),
    (13, np.int8, "int8"),
    (14, np.uint64, "uint64"),
    (15, np.uint32, "uint32"),
    (16, np.uint16, "uint16"),
    (17, np.uint8, "uint8"),
    (18, np.bool_, "bool"),
]

DTYPES = {number: np.dtype(dtype) for number, dtype, _ in _ROWS}
NUMBERS = {np.dtype(dtype): number for number, dtype, _ in _ROWS}
NAMES = {number: f"tensor({name})" for number, _, name in _ROWS}
