"""lit over the tree of .mlir tests; paths come from CMake by --param."""
import os

import lit.formats

config.name = "quaver"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir"]
config.excludes = ["models"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["build"] + "/test/lit"
config.environment["PATH"] = os.pathsep.join(
    [lit_config.params["build"] + "/bin", lit_config.params["llvm"], config.environment["PATH"]])
