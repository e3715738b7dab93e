"""The parts of `assign-layouts`: registers or shared memory for each tile, and the layout there."""
