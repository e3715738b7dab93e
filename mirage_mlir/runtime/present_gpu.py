"""The GPU that is there: what programs are searched for where nobody says."""

from functools import cache

from mirage_mlir.runtime.cuda_driver import CudaDriver, CudaError
from mirage_mlir.targets.recognition import target_of_gpu
from mirage_mlir.targets.target import DEFAULT_TARGET


@cache
def present_target() -> str:
    """The target for the first GPU of this machine; the default without one."""
    try:
        driver = CudaDriver()
        return target_of_gpu(driver.name(0), driver.capability(0)[0])
    except CudaError:
        return DEFAULT_TARGET
