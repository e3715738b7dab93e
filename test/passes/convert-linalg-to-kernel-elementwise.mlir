// arith and math on tensors without any linalg, also where xDSL has the operation for scalars alone
// or not at all; next to them operations of upstream that xDSL does not have.
// RUN: mirage-opt --convert-linalg-to-kernel %s --verify-diagnostics --split-input-file
// RUN: mirage-opt --convert-linalg-to-kernel %s --split-input-file | filecheck %s

// CHECK-LABEL: func.func @elementwise
// CHECK-NEXT:    kernel.tanh %x
// CHECK-NEXT:    func.return
func.func @elementwise(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = math.tanh %x : tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @scalar_tensor
// CHECK-NEXT:    kernel.add
// CHECK-NEXT:    func.return
func.func @scalar_tensor(%x: tensor<f32>) -> tensor<f32> {
  %y = arith.addf %x, %x : tensor<f32>
  func.return %y : tensor<f32>
}

// Nothing on tensors: nothing to say.
// CHECK-LABEL: func.func @scalar
// CHECK:         math.exp
func.func @scalar(%x: f32) -> f32 {
  %y = math.exp %x : f32
  func.return %y : f32
}

// -----

// CHECK-LABEL: func.func @masked
// CHECK:         kernel.compare {{.*}} {predicate = "gt"}
// CHECK-NEXT:    kernel.select
// CHECK-NEXT:    func.return
func.func @masked(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = arith.cmpf ogt, %x, %y : tensor<4x8xf32>
  %r = arith.select %c, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// -----

// Not less or equal: where %x is NaN, too.
// CHECK-LABEL: func.func @unordered
// CHECK:         kernel.compare %arg0, {{.*}} {predicate = "le"}
// CHECK-NEXT:    kernel.select %{{[0-9]+}}, %[[ZERO:[0-9]+]], %arg0
// CHECK-NEXT:    func.return
func.func @unordered(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %c = arith.cmpf ugt, %x, %zero : tensor<4x8xf32>
  %r = arith.select %c, %x, %zero : tensor<4x8xi1>, tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @less_or_greater
// CHECK:         kernel.compare %arg0, %arg1 {predicate = "lt"}
// CHECK-NEXT:    kernel.compare %arg0, %arg1 {predicate = "gt"}
// CHECK-NEXT:    kernel.max
// CHECK-NEXT:    kernel.select
func.func @less_or_greater(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = arith.cmpf one, %x, %y : tensor<4x8xf32>
  %r = arith.select %c, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// -----

// expected-remark @+1 {{@signed stays a function of the host: nothing of it was converted}}
func.func @signed(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.cmpf ogt, %x, %y : tensor<4xf32>
  // expected-remark @+1 {{'arith.sitofp' op takes a boolean for signed: true is -1}}
  %r = arith.sitofp %c : tensor<4xi1> to tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

// CHECK:       func.func @host_part_0(
// CHECK-NEXT:    kernel.exp
// CHECK-LABEL: func.func @host(
// CHECK:         func.call @host_part_0
// CHECK:         "scf.forall"
// CHECK:         tensor.extract_slice
// CHECK:         "tensor.parallel_insert_slice"
// CHECK:         "arith.cmpf"{{.*}} : (vector<4xf32>, vector<4xf32>) -> vector<4xi1>
// CHECK:         "async.execute"
// expected-remark @+1 {{@host stays a function of the host: 1 part of it became a function that it calls}}
func.func @host(%x: tensor<4x8xf32>, %a: vector<4xf32>) -> (tensor<4x8xf32>, vector<4xi1>) {
  %t = math.exp %x : tensor<4x8xf32>
  // expected-remark @+1 {{'scf.forall' op has no counterpart among the operators of the kernel dialect}}
  %p = scf.forall (%i, %j) in (4, 8) shared_outs(%q = %t) -> (tensor<4x8xf32>) {
    %s = tensor.extract_slice %q[%i, %j] [1, 1] [1, 1] : tensor<4x8xf32> to tensor<1x1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %q[%j, %i] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<4x8xf32>
    }
  }
  %c = arith.cmpf ogt, %a, %a : vector<4xf32>
  %token = async.execute { async.yield }
  func.return %p, %c : tensor<4x8xf32>, vector<4xi1>
}
