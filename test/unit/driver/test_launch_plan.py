"""Reading tensor maps off a lowered module."""

from dataclasses import replace

from xdsl.dialects import gpu

from mirage_mlir.decisions.packing import Packing
from mirage_mlir.dialects.launch import launch_of, set_launch
from mirage_mlir.driver.launch_plan import launches_of, packed_of, tensor_maps_of
from mirage_mlir.driver.source import parse_program
from mirage_mlir.runtime.arguments import Argument, TensorMapArgument
from mirage_mlir.runtime.element_types import ElementType
from mirage_mlir.runtime.packed import PackedInput

MAPS = """
  #kernel.tensor_map<tensor = "input:1", dims = [4096, 256], strides = [8192], box = [64, 16],
                     offset = 32, swizzle = 128, element = "f16">,
  #kernel.tensor_map<tensor = "scratch:256", dims = [64], box = [64], element = "bf16">
"""


def kernels_with(maps: str = "", packings: str = "") -> gpu.ModuleOp:
    """A lowered module of one kernel."""
    text = f"""
    "gpu.module"() <{{sym_name = "f"}}> ({{
      llvm.func @f_kernel_0(%map : !llvm.ptr, %y : !llvm.ptr) attributes {{
        nvvm.kernel, kernel.launch = #kernel.launch<grid = [8, 1, 1], threads = 160,
          shared_bytes = 1024, arguments = ["map:0", "output:0"]>
      }} {{
        llvm.return
      }}
    }}) {{
      kernel.interface = #kernel.interface<"f", [], array<i64>, [], [], [{maps}], [{packings}]>
    }} : () -> ()
    """
    (kernels,) = parse_program(text, "kernels.mlir").body.block.ops
    assert isinstance(kernels, gpu.ModuleOp)
    return kernels


def test_kernels_with_tensor_maps() -> None:
    kernels = kernels_with(MAPS)
    assert tensor_maps_of(kernels) == (
        TensorMapArgument(
            Argument("input", 1), 32, (4096, 256), (8192,), (64, 16), 128, ElementType.F16
        ),
        TensorMapArgument(Argument("scratch", 256), 0, (64,), (), (64,), 0, ElementType.BF16),
    )
    (launch,) = launches_of(kernels)
    assert launch.arguments == (Argument("map", 0), Argument("output", 0))
    assert not launch.follows


def test_kernels_that_read_packed_inputs() -> None:
    text = """#kernel.packing<
      tensor = "input:1", shape = [192, 768], strides = [768, 1], tile = [32, 192], counts = [6, 4],
      order = [1, 0], offset = 8, run_dim = 1, panel = 64, element = "f16"
    >"""
    packing = Packing(8, (192, 768), (768, 1), (32, 192), (6, 4), (1, 0), 1, 64)
    assert packed_of(kernels_with(packings=text)) == (
        PackedInput(Argument("input", 1), ElementType.F16, packing),
    )


def test_shared_memory_that_spreads_blocks() -> None:
    for asked, expected in ((512, 1024), (45696, 45696)):
        kernels = kernels_with()
        (kernel,) = kernels.body.block.ops
        known = launch_of(kernel)
        assert known is not None
        set_launch(kernel, replace(known, occupancy_limit_bytes=asked))
        (launch,) = launches_of(kernels)
        assert launch.shared_bytes == expected
