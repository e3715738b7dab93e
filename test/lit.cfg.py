"""How lit runs the `.mlir` tests: `lit test` from the repository root."""

import os
import shutil
import subprocess
import sys

import lit.formats

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
import tool_server
from sampling import EVERYTHING

config.name = "mirage_mlir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
# Programs that other tests read.
config.excludes = ["Inputs", "workloads"]
config.test_source_root = os.path.dirname(__file__)
# Output beside no source: a read-only checkout can be tested, and git sees nothing.
config.test_exec_root = os.path.join(os.path.dirname(config.test_source_root), "build", "lit")
config.environment["MIRAGE_CACHE_DIR"] = "off"
# The tools of this environment first, so that lit works without activating it.
installed = os.path.dirname(sys.executable)
served = [] if EVERYTHING else [tool_server.start()]
config.environment["PATH"] = os.pathsep.join([*served, installed, os.environ["PATH"]])
config.substitutions.append(("%installed", installed))
# Seconds; the slowest test takes 20 alone, and other tests run at the same time.
config.maxIndividualTestTime = 300

roundtrip = "mirage-opt %s {} --split-input-file | mirage-opt --split-input-file | filecheck %s"
config.substitutions += [
    ("%roundtrip", roundtrip.format("")),
    ("%generic-roundtrip", roundtrip.format("--print-op-generic")),
]

# Another build of MLIR's tools may be named by environment variable.
names = ["mlir-opt", "mlir-opt-22", "mlir-opt-23"]
mlir_opt = os.environ.get("MIRAGE_MLIR_OPT") or next(filter(None, map(shutil.which, names)), None)
if mlir_opt:
    config.available_features.add("mlir-opt")
    config.substitutions.append(("%mlir-opt", mlir_opt))


def has_gpu() -> bool:
    """Whether `nvidia-smi` finds a GPU; asking CUDA's bindings would cost every run more."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return False
    return subprocess.run([program, "-L"], capture_output=True, check=False).returncode == 0


if EVERYTHING:
    config.available_features.add("every-case")
if has_gpu():
    config.available_features.add("cuda")
