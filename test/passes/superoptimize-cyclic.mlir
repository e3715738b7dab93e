// RUN: mirage-opt %s --kernel-differentiate --superoptimize=target=H200 --explain -o %t.mlir 2>%t.explained
// RUN: filecheck %s --check-prefix=EXPLAINED --input-file %t.explained
// RUN: filecheck %s --input-file %t.mlir

// EXPLAINED: grid {{[0-9]+}} (i), loop {{[0-9]+}} (i), blocks take turns (cyclic); tile

// Blocks that walk rows take turns with them: neighbours read what lies side by side at one time. The second kernel
// has no loop, and is not cyclic.
// CHECK: func.func @f__backward
// CHECK: [[DX:%.*]], [[PARTS:%.*]] = kernel.graph_defined ins(%x, {{.*}}) grid [{{[0-9]+}}] loop [{{[0-9]+}}] cyclic {
// CHECK: threadblock.store {{.*}} grid_map [0] loop_map [0] :
// CHECK: threadblock.store {{.*}} grid_map [0] :
// CHECK: kernel.graph_defined ins([[PARTS]]) grid [{{[0-9]+}}] {
// CHECK-NOT: cyclic
func.func @f(%x: tensor<32768x4096xf16>, %w: tensor<4096xf16>) -> tensor<32768x4096xf16> {
  %n = kernel.rms_norm %x, %w {eps = 1.0e-06 : f32} : (tensor<32768x4096xf16>, tensor<4096xf16>) -> tensor<32768x4096xf16>
  func.return %n : tensor<32768x4096xf16>
}
