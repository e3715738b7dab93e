// RUN: mirage-opt %s --partition-program --verify-diagnostics | filecheck %s
// RUN: mirage-opt %s --partition-program --partition-program | filecheck %s
// RUN: mirage-opt %s --partition-program="max-operators=1" | filecheck %s --check-prefix=SMALL
// RUN: mirage-opt %s --partition-program="whole-up-to=40" | filecheck %s --check-prefix=FEW
// RUN: mirage-opt %s --partition-program --superoptimize | filecheck %s --check-prefix=WHOLE

// Equal pieces are one function. Its weights are constant where those of all calls are.
// CHECK-LABEL: func.func @layers(
// CHECK-NEXT:    %a = func.call @layers__piece_0(%x, %w)
// CHECK-NEXT:    %b = func.call @layers__piece_0(%a, %v)
// CHECK-NEXT:    func.return %b
// CHECK:       func.func private @layers__piece_0(%x: tensor<16x256xf16>, %w: tensor<256x256xf16> {kernel.constant}) -> tensor<16x256xf16> {
// CHECK-NEXT:    %y = kernel.matmul %x, %w
// CHECK-NEXT:    %a = kernel.relu %y
// CHECK-NEXT:    func.return %a
// CHECK-NOT:   func.func private
// SMALL-LABEL: func.func @layers(
// SMALL-NEXT:    %y = func.call @layers__piece_0(%x, %w)
// SMALL-NEXT:    %a = func.call @layers__piece_1(%y)
// SMALL-NEXT:    %z = func.call @layers__piece_0(%a, %v)
// SMALL-NEXT:    %b = func.call @layers__piece_1(%z)
// FEW-LABEL:   func.func @layers(
// FEW-NEXT:      kernel.matmul
// FEW-NOT:     func.call @{{layers|views}}
// FEW:         func.call @numbers__piece_0
// WHOLE-LABEL: func.func @layers(
// WHOLE-NEXT:    %a = kernel.graph_defined ins(%x, %w)
// WHOLE:         threadblock.relu
// WHOLE:         %b = kernel.graph_defined ins(%a, %v)
// WHOLE:         threadblock.relu
// WHOLE-NOT:   func.call
// WHOLE-LABEL: func.func @one(
// WHOLE-NOT:   func.call
func.func @layers(%x: tensor<16x256xf16>, %w: tensor<256x256xf16> {kernel.constant}, %v: tensor<256x256xf16> {kernel.constant}) -> tensor<16x256xf16> {
  %y = kernel.matmul %x, %w : (tensor<16x256xf16>, tensor<256x256xf16>) -> tensor<16x256xf16>
  %a = kernel.relu %y : (tensor<16x256xf16>) -> tensor<16x256xf16>
  %z = kernel.matmul %a, %v : (tensor<16x256xf16>, tensor<256x256xf16>) -> tensor<16x256xf16>
  %b = kernel.relu %z : (tensor<16x256xf16>) -> tensor<16x256xf16>
  func.return %b : tensor<16x256xf16>
}

// One piece is no partition.
// CHECK-LABEL: func.func @one(
// CHECK-NEXT:    %y = kernel.matmul
// CHECK-NEXT:    %z = kernel.relu
// CHECK-NEXT:    func.return %z
func.func @one(%x: tensor<16x256xf16>, %w: tensor<256x256xf16>) -> tensor<16x256xf16> {
  %y = kernel.matmul %x, %w : (tensor<16x256xf16>, tensor<256x256xf16>) -> tensor<16x256xf16>
  %z = kernel.relu %y : (tensor<16x256xf16>) -> tensor<16x256xf16>
  func.return %z : tensor<16x256xf16>
}

// A piece reads whole tensors and looks at them in its own way; views of results are the caller's.
// CHECK-LABEL: func.func @views(
// CHECK-NEXT:    %y = func.call @views__piece_0(%x, %w) : (tensor<16x256xf16>, tensor<256x256xf16>) -> tensor<16x256xf16>
// CHECK-NEXT:    %o = func.call @views__piece_1(%y, %v) : (tensor<16x256xf16>, tensor<256x256xf16>) -> tensor<16x256xf16>
// CHECK-NEXT:    %t = kernel.transpose %o
// CHECK-NEXT:    func.return %t
// CHECK:       func.func private @views__piece_0(%x: tensor<16x256xf16>, %w: tensor<256x256xf16>)
// CHECK-NEXT:    %u = kernel.transpose %w
// CHECK-NEXT:    %y = kernel.matmul %x, %u
func.func @views(%x: tensor<16x256xf16>, %w: tensor<256x256xf16>, %v: tensor<256x256xf16>) -> tensor<256x16xf16> {
  %u = kernel.transpose %w {permutation = array<i64: 1, 0>} : (tensor<256x256xf16>) -> tensor<256x256xf16>
  %y = kernel.matmul %x, %u : (tensor<16x256xf16>, tensor<256x256xf16>) -> tensor<16x256xf16>
  %o = kernel.matmul %y, %v : (tensor<16x256xf16>, tensor<256x256xf16>) -> tensor<16x256xf16>
  %t = kernel.transpose %o {permutation = array<i64: 1, 0>} : (tensor<16x256xf16>) -> tensor<256x16xf16>
  func.return %t : tensor<256x16xf16>
}

// Numbers are in every piece that needs them; graphs that are there already stay.
// CHECK-LABEL: func.func @numbers(
// CHECK-NEXT:    %y = func.call @numbers__piece_0(%x, %w)
// CHECK-NEXT:    %g = kernel.graph_defined ins(%y)
// CHECK:         %o = func.call @numbers__piece_1(%g, %w)
// CHECK:       func.func private @numbers__piece_0(
// CHECK:         kernel.constant {value = 2.
// CHECK:       func.func private @numbers__piece_1(
// CHECK:         kernel.constant {value = 2.
func.func @numbers(%x: tensor<16x256xf16>, %w: tensor<256x256xf16>) -> tensor<16x256xf16> {
  %c = kernel.constant {value = 2.0 : f32} : tensor<1x1xf16>
  %m = kernel.matmul %x, %w : (tensor<16x256xf16>, tensor<256x256xf16>) -> tensor<16x256xf16>
  %y = kernel.add %m, %c : (tensor<16x256xf16>, tensor<1x1xf16>) -> tensor<16x256xf16>
  %g = kernel.graph_defined ins(%y) grid [8] {
  ^bb0(%a: tensor<16x256xf16>):
    %t = threadblock.load %a grid_map [1] : (tensor<16x256xf16>) -> !threadblock.tile<16x32xf16>
    %r = threadblock.relu %t : (!threadblock.tile<16x32xf16>) -> !threadblock.tile<16x32xf16>
    threadblock.store %r grid_map [1] : !threadblock.tile<16x32xf16>
  } : (tensor<16x256xf16>) -> tensor<16x256xf16>
  %n = kernel.matmul %g, %w : (tensor<16x256xf16>, tensor<256x256xf16>) -> tensor<16x256xf16>
  %o = kernel.mul %n, %c : (tensor<16x256xf16>, tensor<1x1xf16>) -> tensor<16x256xf16>
  func.return %o : tensor<16x256xf16>
}

// Nothing to do.
// CHECK-LABEL: func.func @nothing(
// CHECK-NEXT:    func.return %x
// CHECK:       func.func private @declared
func.func @nothing(%x: i32) -> i32 {
  func.return %x : i32
}
func.func private @declared(tensor<4xf32>) -> tensor<4xf32>
