"""
The GPUs that we compile for, one row of features and numbers each.

The search ranks by the numbers; the lowering takes its limits from them. Whether a GPU can do
something is asked of its features: no other module knows the name of a GPU or of an instruction
set. Times are in seconds, memory in bytes, rates per second.

Where they are from: counts and sizes (multiprocessors, registers, shared memory, threads, blocks)
are those of the CUDA programming guide's table of compute capabilities (8.0 to 10.0) and of the
data sheets. Of the H200, large copies were read to move 4.26e12 bytes a second, reads alone 4.4e12,
and a tiny kernel in a graph to take 1.1e-6; its other rates and latencies are fitted to kernels
that were timed (`benchmarks/README.md`, Calibration). No H100 and no A100 was timed: memory is 0.9
of the data sheet's rate, tensor cores and f32 of the A100 are 0.77 and 0.62 of it, the H100's
are the H200's, which has the same processor; latencies are taken to be of the H200's size. Nor was
any B200: its rates on chip are the H200's for each multiprocessor.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from mirage_mlir.suggestions import suggestion


class Feature(Enum):
    """What a GPU can do and others cannot; the value is its name in messages."""

    MMA_SYNC = "mma.sync"
    """A warp multiplies matrices in its registers."""
    WGMMA = "wgmma"
    """A warpgroup, four warps, multiplies matrices in shared memory."""
    TCGEN05 = "tcgen05"
    """A thread has matrices in shared and tensor memory multiplied."""
    CLUSTERS = "thread block clusters"
    """Blocks of a cluster reach each other's shared memory (DSMEM)."""
    TMA = "TMA"
    """A thread has boxes of a tensor copied to shared memory, with mbarriers to wait on."""
    MULTICAST = "TMA multicast"
    """The same, to several blocks of a cluster at once."""
    PDL = "programmatic dependent launch"
    """A kernel starts before the previous grid has ended."""
    SETMAXNREG = "setmaxnreg"
    """Warpgroups give registers to each other."""


MMA_INSTRUCTIONS = (Feature.MMA_SYNC, Feature.WGMMA, Feature.TCGEN05)
"""The sets of MMA instructions, the slowest first."""

WITHOUT_LOWERING = (Feature.TCGEN05,)
"""Features that no pass makes use of. A GPU with one is refused: kernels that do without would be
far from what it can do, and nothing has tried them."""


@dataclass(frozen=True)
class Target:
    """
    What the cost model and the lowering need to know about one GPU.

    Rates are what kernels were seen to reach, not what the data sheet promises.
    """

    name: str
    chip: str
    """The name of the instruction set that ptxas takes."""
    ptx_features: str
    """LLVM's feature for the PTX version that is written: the oldest that has what we emit, so that
    a driver that cannot load the cubin may still take the text."""
    features: frozenset[Feature]
    sm_count: int
    """Streaming multiprocessors (SMs)."""
    clock_rate: float
    shared_memory_per_block: int
    shared_memory_per_sm: int
    registers_per_sm: int
    threads_per_sm: int
    blocks_per_sm: int
    cluster_max: int
    """Blocks of a cluster, where any number of clusters is to fit; 0 if there are none."""
    split_max: int
    """Blocks that may share a loop (split-K): beyond those of a cluster their sums go through
    device memory, and with more than 16 the last block takes longer to add up than the others to
    walk."""
    sm_count_in_clusters: int
    """SMs that have a block each before some get two, when clusters have four blocks and more:
    those of a cluster are neighbours, and some SMs have too few."""
    dram_bandwidth: float
    """Bytes that a kernel reads from device memory when all SMs ask for them."""
    dram_bandwidth_per_sm: float
    """The same when one SM asks, with enough bytes in flight."""
    dram_latency: float
    """From asking for bytes to having them, while others ask for as much as they can."""
    l2_bytes: int
    l2_bandwidth: float
    mma_throughput: float
    """Floating-point operations of `mma.sync` on f16 or bf16 with f32 sums."""
    fp32_throughput: float
    """Floating-point operations in f32 outside the tensor cores."""
    shared_memory_bandwidth: float
    """Bytes that all SMs together read from shared memory."""
    launch_latency: float
    """An empty kernel inside a CUDA graph, from the end of the one before it to its own end."""
    barrier_latency: float
    """One step of a block: wait for copies, barrier, and the instructions around them."""
    tma_bandwidth: float = 0.0
    """Bytes that are read from device memory where TMA does nothing else."""
    tma_bandwidth_per_sm: float = 0.0
    """The same when one SM asks."""
    tma_l2_bandwidth_per_sm: float = 0.0
    """Bytes that TMA of one SM gets from L2."""
    wgmma_throughput: float = 0.0
    """Floating-point operations of large `wgmma`s on f16 or bf16 with f32 sums."""
    advises_l2: bool = False
    """Whether kernels that read more than L2 holds say what it should keep, as was timed."""

    @property
    def mma(self) -> tuple[Feature, ...]:
        """Its sets of MMA instructions, the slowest first."""
        return tuple(each for each in MMA_INSTRUCTIONS if each in self.features)

    def require_lowering(self) -> None:
        """Raises `ValueError` where a feature has no lowering; the message says which."""
        lacking = [each.value for each in WITHOUT_LOWERING if each in self.features]
        if lacking:
            raise ValueError(
                f"cannot be compiled for {self.name} ({self.chip}): its MMA instructions, "
                f"{', '.join(lacking)}, have no lowering"
            )

    @property
    def has_wgmma(self) -> bool:
        """Whether four warps together multiply tiles in shared memory."""
        return Feature.WGMMA in self.features

    @property
    def has_clusters(self) -> bool:
        """Whether blocks reach each other's shared memory."""
        return Feature.CLUSTERS in self.features

    @property
    def has_tma(self) -> bool:
        """Whether one thread can have boxes of a tensor copied to shared memory."""
        return Feature.TMA in self.features

    @property
    def has_multicast(self) -> bool:
        """Whether such a copy can go to several blocks of a cluster."""
        return Feature.MULTICAST in self.features

    @property
    def has_pdl(self) -> bool:
        """Whether a kernel can start before the previous grid has ended."""
        return Feature.PDL in self.features


_KIB = 1024

_SM_80 = frozenset({Feature.MMA_SYNC})
_SM_90_AND_LATER = _SM_80 | {
    Feature.CLUSTERS,
    Feature.TMA,
    Feature.MULTICAST,
    Feature.PDL,
    Feature.SETMAXNREG,
}
_SM_90 = _SM_90_AND_LATER | {Feature.WGMMA}
_SM_100 = _SM_90_AND_LATER | {Feature.TCGEN05}

H200 = Target(
    name="H200",
    chip="sm_90a",
    # 8.6 for bulk copies to the block's own shared memory.
    ptx_features="+ptx86",
    features=_SM_90,
    sm_count=132,
    clock_rate=1.98e9,
    shared_memory_per_block=227 * _KIB,
    shared_memory_per_sm=228 * _KIB,
    registers_per_sm=65536,
    threads_per_sm=2048,
    blocks_per_sm=32,
    cluster_max=8,
    split_max=8,
    sm_count_in_clusters=120,
    # Fitted to RMSNorm and a linear layer, 255 tilings: 13 % mean error.
    dram_bandwidth=4.2e12,
    dram_bandwidth_per_sm=4.8e10,
    dram_latency=1.4e-6,
    l2_bytes=60 << 20,
    l2_bandwidth=5.5e12,
    mma_throughput=3.5e14,
    fp32_throughput=3e13,
    shared_memory_bandwidth=2.5e13,
    launch_latency=1.1e-6,
    barrier_latency=0.06e-6,
    tma_bandwidth=4.4e12,
    tma_bandwidth_per_sm=5.2e10,
    # 64 bytes in each clock of 1.755 GHz: a matmul of 256 rows in tiles of 128 by 64, 1.57 MB for
    # each block, took 14.3 us once no more was on its way than is needed.
    tma_l2_bandwidth_per_sm=1.12e11,
    wgmma_throughput=6.5e14,
    advises_l2=True,
)

H100 = Target(
    name="H100",
    chip="sm_90a",
    ptx_features="+ptx86",
    features=_SM_90,
    sm_count=132,
    clock_rate=1.98e9,
    shared_memory_per_block=227 * _KIB,
    shared_memory_per_sm=228 * _KIB,
    registers_per_sm=65536,
    threads_per_sm=2048,
    blocks_per_sm=32,
    cluster_max=8,
    split_max=8,
    sm_count_in_clusters=120,
    # 90 % of the data sheet's 3.35e12, as row kernels reach it.
    dram_bandwidth=3.0e12,
    dram_bandwidth_per_sm=4.4e10,
    dram_latency=1.3e-6,
    l2_bytes=50 << 20,
    l2_bandwidth=5e12,
    mma_throughput=3.5e14,
    fp32_throughput=3e13,
    shared_memory_bandwidth=2.5e13,
    launch_latency=1.3e-6,
    barrier_latency=0.10e-6,
    tma_bandwidth=3.1e12,
    tma_bandwidth_per_sm=4.3e10,
    tma_l2_bandwidth_per_sm=9e10,
    wgmma_throughput=6.5e14,
    advises_l2=True,
)

A100 = Target(
    name="A100",
    chip="sm_80",
    ptx_features="+ptx80",
    features=_SM_80,
    sm_count=108,
    clock_rate=1.41e9,
    shared_memory_per_block=163 * _KIB,
    shared_memory_per_sm=164 * _KIB,
    registers_per_sm=65536,
    threads_per_sm=2048,
    blocks_per_sm=32,
    cluster_max=0,
    split_max=16,
    sm_count_in_clusters=0,
    # 90 % of the data sheet's 1.555e12 (the 40 GB card).
    dram_bandwidth=1.4e12,
    dram_bandwidth_per_sm=2.6e10,
    dram_latency=1.2e-6,
    l2_bytes=40 << 20,
    l2_bandwidth=3.5e12,
    mma_throughput=2.4e14,
    fp32_throughput=1.2e13,
    shared_memory_bandwidth=1.5e13,
    launch_latency=1.6e-6,
    barrier_latency=0.14e-6,
)

B200 = Target(
    name="B200",
    chip="sm_100a",
    ptx_features="+ptx86",
    # It has mma.sync, but no wgmma. Kernels of mma.sync alone are refused with it: they would reach
    # a small part of its rate, and no test has TMA feed mma.sync.
    features=_SM_100,
    sm_count=148,
    clock_rate=1.965e9,
    shared_memory_per_block=227 * _KIB,
    shared_memory_per_sm=228 * _KIB,
    registers_per_sm=65536,
    threads_per_sm=2048,
    blocks_per_sm=32,
    cluster_max=8,
    split_max=8,
    sm_count_in_clusters=134,
    # 90 % of the data sheet's 8e12.
    dram_bandwidth=7.2e12,
    dram_bandwidth_per_sm=4.8e10,
    dram_latency=1.4e-6,
    l2_bytes=126 << 20,
    l2_bandwidth=6.2e12,
    mma_throughput=3.9e14,
    fp32_throughput=3.4e13,
    shared_memory_bandwidth=2.8e13,
    launch_latency=1.1e-6,
    barrier_latency=0.06e-6,
    tma_bandwidth=7.2e12,
    tma_bandwidth_per_sm=4.7e10,
    tma_l2_bandwidth_per_sm=9e10,
)

GPUS: Mapping[str, Target] = {target.name: target for target in (H200, H100, A100, B200)}
"""The rows by the names of the GPUs."""

DEFAULT_TARGET = H200.name
"""What programs are searched for, and compiled for, where nobody says."""

TARGETS: Mapping[str, Target] = {
    **GPUS,
    **{target.chip: target for target in (H200, A100, B200)},
}
"""What a user may write as target: GPUs, and instruction sets, which stand for one GPU each."""

SUPPORTED = tuple(
    name for name, target in TARGETS.items() if target.features.isdisjoint(WITHOUT_LOWERING)
)
"""The names of those that there is a lowering for."""

DEFAULT_CHIPS = tuple(dict.fromkeys(TARGETS[name].chip for name in SUPPORTED))
"""The instruction sets that a result has machine code for, the most capable first."""


def target_named(name: str) -> Target:
    """
    The row of the GPU or instruction set `name`.

    Raises:
        ValueError: there is none; the message lists what there is.
    """
    if name not in TARGETS:
        known = f"it is one of {', '.join(SUPPORTED)}"
        raise ValueError(f"unknown target '{name}': {known}{suggestion(name, TARGETS)}")
    return TARGETS[name]


def require_known(name: str | None) -> None:
    """Raises `ValueError` for the name of a target that there is not; None stands for any."""
    if name is not None:
        target_named(name)
