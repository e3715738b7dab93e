// Functions of uGraphs are lowered on the way out, for the target that is asked for.
// RUN: mirage-opt %s -t 'ptx{function=scaled}' | filecheck %s --check-prefixes=PTX,H200
// RUN: mirage-opt %s -t 'ptx{function=scaled target=A100}' | filecheck %s --check-prefixes=PTX,A100
// RUN: mirage-opt %s -t nvvm | filecheck %s --check-prefix=NVVM
// RUN: mirage-opt %s -t nvvm | mirage-opt -t 'ptx{function=scaled}' | filecheck %s --check-prefixes=PTX,H200
// RUN: mirage-opt %s -t 'nvvm{host=true}' | filecheck %s --check-prefix=READY
// RUN: mirage-opt %s -t 'cubin{function=summed target=sm_80}' -o %t.cubin

// A100: .target sm_80
// H200: .target sm_90a
// PTX:  .visible .entry scaled_kernel_0(

// NVVM:     "gpu.module"() <{sym_name = "scaled", targets = [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">]}>
// NVVM:     "llvm.func"() <{{.*}}sym_name = "scaled_kernel_0"
// NVVM:     "gpu.module"() <{sym_name = "summed", targets = [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">]}>
// NVVM-NOT: "func.func"
// NVVM-NOT: kernel.target

// Kernels are of llvm and nvvm alone.
// READY:     "gpu.module"() <{sym_name = "scaled_kernels"
// READY-NOT: "{{arith|scf|cf|math|vector|func|memref}}.
// READY:     "gpu.module"() <{sym_name = "summed_kernels"
// READY-NOT: "{{arith|scf|cf|math|vector|func|memref}}.
// READY:     gpu.kernel

func.func @scaled(%x: tensor<64x32xf16>) -> tensor<64x32xf16> {
  %y = kernel.graph_defined ins(%x) grid [4] {
  ^bb0(%xb: tensor<64x32xf16>):
    %xt = threadblock.load %xb grid_map [0] : (tensor<64x32xf16>) -> !threadblock.tile<16x32xf16>
    %yt = threadblock.scale %xt {factor = 0.5 : f32} : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf16>
    threadblock.store %yt grid_map [0] : !threadblock.tile<16x32xf16>
  } : (tensor<64x32xf16>) -> tensor<64x32xf16>
  func.return %y : tensor<64x32xf16>
}

func.func @summed(%x: tensor<64x32xf32>) -> tensor<64x1xf32> {
  %y = kernel.graph_defined ins(%x) grid [4] {
  ^bb0(%xb: tensor<64x32xf32>):
    %xt = threadblock.load %xb grid_map [0] : (tensor<64x32xf32>) -> !threadblock.tile<16x32xf32>
    %yt = threadblock.reduce_sum %xt {dims = array<i64: 1>} : (!threadblock.tile<16x32xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %yt grid_map [0] : !threadblock.tile<16x1xf32>
  } : (tensor<64x32xf32>) -> tensor<64x1xf32>
  func.return %y : tensor<64x1xf32>
}
