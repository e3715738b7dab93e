// Schedules and memory plans that no kernel has, and fields that there are not.
// RUN: mirage-opt %s --verify-diagnostics --split-input-file

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{there is no 'thread'; did you mean 'threads'?}}
  %y = kernel.graph_defined ins(%x) grid [8] schedule <thread = 64> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{threads is 48: they are whole warps of 32, up to 1024}}
  %y = kernel.graph_defined ins(%x) grid [8] schedule <threads = 48> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{threads is 2048: they are whole warps of 32, up to 1024}}
  %y = kernel.graph_defined ins(%x) grid [8] schedule <threads = 2048> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{threads has no value like unit}}
  %y = kernel.graph_defined ins(%x) grid [8] schedule <threads> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{cluster_reduction has no value like 1 : i64}}
  %y = kernel.graph_defined ins(%x) grid [8] schedule <cluster_reduction = 1> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{producer_warps is -1, which is below 0}}
  %y = kernel.graph_defined ins(%x) grid [8] schedule <producer_warps = -1> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{max_registers is 300, not 1 to 255}}
  %y = kernel.graph_defined ins(%x) grid [8] schedule <max_registers = 300> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{has 2 stages, but its loop 1 iterations}}
  %y = kernel.graph_defined ins(%x) grid [8] schedule <threads = 64, stages = 2> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{has places for 2 results, but 1}}
  %y = kernel.graph_defined ins(%x) grid [8] memory <results = [-1, 0]> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{results is [-2]: places start at 0, -1 is none}}
  %y = kernel.graph_defined ins(%x) grid [8] memory <results = [-2]> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{mbarrier_offset is 12, which is no multiple of 8}}
  %y = kernel.graph_defined ins(%x) grid [8] memory <shared_bytes = 64, mbarrier_offset = 12> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{arrival_offset is 64, outside of the 64 bytes of shared memory}}
  %y = kernel.graph_defined ins(%x) grid [8] memory <shared_bytes = 64, arrival_offset = 64> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{partial_sums_offset is 2, which is no multiple of 4}}
  %y = kernel.graph_defined ins(%x) grid [8] memory <partial_sums_offset = 2> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{counters_offset is -4, which is no multiple of 4}}
  %y = kernel.graph_defined ins(%x) grid [8] memory <counters_offset = -4> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{'threads' is left out rather than 0}}
  %y = kernel.graph_defined ins(%x) grid [8] schedule <threads = 0> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{'threads' is given twice}}
  %y = kernel.graph_defined ins(%x) grid [8] schedule <threads = 32, threads = 64> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{has no attribute 'threads' (it has grid, cluster, loop, cyclic, bounds, unmasked, schedule, memory, overlap)}}
  %y = kernel.graph_defined ins(%x) grid [8] attributes {threads = 32 : i64} {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{has a stagger and 0 loops, not one}}
  %y = kernel.graph_defined ins(%x) grid [8] schedule <threads = 64, stagger = 5> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<8xf32> {
  // expected-error @below {{has a stagger of 8, but its loop 8 iterations}}
  %y = kernel.graph_defined ins(%x) grid [1] loop [8] schedule <threads = 64, stagger = 8> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [_] loop_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    %s = threadblock.accumulate %t : (!threadblock.tile<8xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %s grid_map [_] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// -----

func.func @f(%x: tensor<16x64xf32>) -> tensor<2x8xf32> {
  %y = kernel.graph_defined ins(%x) grid [2] cluster [2] loop [8] schedule <threads = 64, stagger = 1> {
  ^bb0(%a: tensor<16x64xf32>):
    // expected-error @below {{is multicast to blocks that begin their loops with other iterations}}
    %t = threadblock.load %a grid_map [_] loop_map [1] {copy = "tensor", multicast = 2 : i64} : (tensor<16x64xf32>) -> !threadblock.tile<16x8xf32>
    %s = threadblock.accumulate %t : (!threadblock.tile<16x8xf32>) -> !threadblock.tile<16x8xf32>
    %r = threadblock.reduce_sum %s {dims = array<i64: 0>} : (!threadblock.tile<16x8xf32>) -> !threadblock.tile<1x8xf32>
    threadblock.store %r grid_map [0] : !threadblock.tile<1x8xf32>
  } : (tensor<16x64xf32>) -> tensor<2x8xf32>
  func.return %y : tensor<2x8xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{has 8 blocks along axis 0, not a multiple of 3}}
  %y = kernel.graph_defined ins(%x) grid [8] schedule <threads = 64, raster_width = 3> {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @below {{starts deferred matmuls, but none of its matmuls is deferred}}
  %y = kernel.graph_defined ins(%x) grid [8] {
  ^bb0(%a: tensor<64xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<64xf32>) -> !threadblock.tile<8xf32>
    threadblock.section "prologue"
    threadblock.section "epilogue"
    threadblock.start_deferred
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

func.func @f(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %y = kernel.graph_defined ins(%x, %w) grid [1] {
  ^bb0(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>):
    %t = threadblock.load %a grid_map [_] : (tensor<64x64xf16>) -> !threadblock.tile<64x64xf16>
    %u = threadblock.load %b grid_map [_] : (tensor<64x64xf16>) -> !threadblock.tile<64x64xf16>
    threadblock.section "prologue"
    threadblock.section "main_loop"
    threadblock.start_deferred
    // expected-error @below {{is deferred, which takes a threadblock.start_deferred in "main_loop", and for the last iteration in "epilogue"}}
    %p = threadblock.matmul %t, %u {mma = "wgmma", chained, deferred} : (!threadblock.tile<64x64xf16>, !threadblock.tile<64x64xf16>) -> !threadblock.tile<64x64xf32>
    threadblock.section "epilogue"
    threadblock.store %p grid_map [_] : !threadblock.tile<64x64xf32>
  } : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf32>
  func.return %y : tensor<64x64xf32>
}

// -----

func.func @f(%x: tensor<60xf32>) -> tensor<60xf32> {
  // expected-error @below {{has shifted_axes [1], and a grid of 1 axes}}
  %y = kernel.graph_defined ins(%x) grid [8] schedule <threads = 64, shifted_axes = [1]> {
  ^bb0(%a: tensor<60xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<60xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %t grid_map [0] : !threadblock.tile<8xf32>
  } : (tensor<60xf32>) -> tensor<60xf32>
  func.return %y : tensor<60xf32>
}

// -----

func.func @f(%x: tensor<60xf32>) -> tensor<8xf32> {
  %y = kernel.graph_defined ins(%x) grid [2] loop [4] schedule <threads = 64, shifted_axes = [0]> {
  ^bb0(%a: tensor<60xf32>):
    // expected-error @below {{has a dim that a loop and one of the shifted_axes cut}}
    %t = threadblock.load %a grid_map [0] loop_map [0] : (tensor<60xf32>) -> !threadblock.tile<8xf32>
    %s = threadblock.accumulate %t across [0] : (!threadblock.tile<8xf32>) -> !threadblock.tile<8xf32>
    threadblock.store %s grid_map [_] : !threadblock.tile<8xf32>
  } : (tensor<60xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}
