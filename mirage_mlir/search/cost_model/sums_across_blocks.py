"""Models sums across blocks (split-K): through the shared memory of a cluster, or a workspace."""

import numpy as np

from mirage_mlir.search.cost_model.compute_time import ComputeTime
from mirage_mlir.search.cost_model.fitted import (
    CLUSTER_BARRIER,
    CLUSTER_BARRIER_PER_BLOCK,
    EXCHANGE_RATE,
    PIPELINE_CLUSTER_BARRIER,
    PIPELINE_CLUSTER_BARRIER_PER_BLOCK,
    ROW_BARRIER,
    ROW_BARRIER_PER_BLOCK,
    WORKSPACE_BARRIER,
)
from mirage_mlir.search.cost_model.instantiate import Array


class SumsAcrossBlocks(ComputeTime):
    """Computes the seconds in which blocks that share a loop add up their partial sums."""

    def _multiprocessors(self) -> Array:
        """The number of multiprocessors that can hold a block before any holds a second one."""
        target, shares = self.tiling.target, self.tiling.mesh.shares
        large = (shares > 2) & self._clustered()
        return np.where(large, target.sm_count_in_clusters, target.sm_count)

    def _exchange_seconds(self, waves: Array) -> Array:
        """The seconds to add up the partial sums of the blocks that share a loop."""
        clustered = self._clustered()
        if clustered.all():
            return self._cluster_seconds(waves)
        return np.where(clustered, self._cluster_seconds(waves), self._parts_seconds(waves))

    def _parts_seconds(self, waves: Array) -> Array:
        """
        The same through the workspace: each block writes its partial sums, the last one reads all.
        """
        mesh, target = self.tiling.mesh, self.tiling.target
        part = self.resources.part_bytes()
        added = (mesh.shares + 1) * part / target.dram_bandwidth_per_sm
        return waves * (WORKSPACE_BARRIER + added) + 2 * mesh.blocks * part / target.l2_bandwidth

    def _cluster_seconds(self, waves: Array) -> Array:
        """The same in a cluster: blocks synchronize, and read each other's shared memory."""
        mesh = self.tiling.mesh
        lent = np.maximum(
            self.resources.handed_over() - self.resources.delivered / mesh.shares, 0.0
        )
        read = lent * (1 - 1 / mesh.shares) / EXCHANGE_RATE
        pipelined, others = self.resources.pipelined, mesh.shares - 2
        barriers = np.where(
            pipelined,
            PIPELINE_CLUSTER_BARRIER + PIPELINE_CLUSTER_BARRIER_PER_BLOCK * others,
            CLUSTER_BARRIER + CLUSTER_BARRIER_PER_BLOCK * others,
        )
        # A sum of shifted exps waits for the maximum, which the blocks find together before.
        count = 1 + bool(self.resources.shifted)
        alone = count * (ROW_BARRIER + ROW_BARRIER_PER_BLOCK * others)
        barriers = np.where(mesh.iterations > 1, barriers, alone)
        return waves * (barriers + read)
