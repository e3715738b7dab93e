// Booleans that a function takes, or the host computes, are zeros and ones in f32 for kernels.
// RUN: mirage-opt %s --convert-linalg-to-kernel=if-any 2> /dev/null | filecheck %s --check-prefixes=LINALG
// RUN: mirage-opt %s --convert-stablehlo-to-kernel 2>&1 | filecheck %s --check-prefixes=WHOLE
// RUN: mirage-opt %s --convert-stablehlo-to-kernel=parts 2> /dev/null | filecheck %s --check-prefixes=PARTS

// LINALG:      func.func @host_part_0([[X:%[a-z0-9]+]]: tensor<4xf32>, [[M:%[a-z0-9]+]]: tensor<4xf32>) -> tensor<4xf32>
// LINALG:        kernel.select [[M]], %{{.*}}, [[X]]
// LINALG:      func.func @host([[X:%[a-z0-9]+]]: tensor<4xf32>, [[M:%[a-z0-9]+]]: tensor<4xi1>) -> tensor<4xf32>
// LINALG:        [[NUMBERS:%[0-9]+]] = linalg.generic {{.*}} ins([[M]] : tensor<4xi1>)
// LINALG:          arith.uitofp
// LINALG:        func.call @host_part_0([[X]], [[NUMBERS]])
func.func @host(%x: tensor<4xf32>, %mask: tensor<4xi1>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  %r = arith.select %mask, %y, %x : tensor<4xi1>, tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// What kernels compare, the host gets as booleans.
// LINALG:      func.func @compared_part_0(%{{[a-z0-9]+}}: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// LINALG:        kernel.compare
// LINALG:      func.func @compared(%{{[a-z0-9]+}}: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xf32>)
// LINALG:        [[M:%[0-9]+]], [[R:%[0-9]+]] = func.call @compared_part_0
// LINALG:        [[B:%[0-9]+]] = linalg.generic {{.*}} ins([[M]] : tensor<4xf32>)
// LINALG:          arith.cmpf une
// LINALG:        func.return [[B]], [[R]]
func.func @compared(%x: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xf32>) {
  %y = arith.addf %x, %x : tensor<4xf32>
  %m = arith.cmpf ogt, %x, %y : tensor<4xf32>
  %r = arith.select %m, %x, %y : tensor<4xi1>, tensor<4xf32>
  func.return %m, %r : tensor<4xi1>, tensor<4xf32>
}

// WHOLE:      remark: takes tensor<4xf32> as argument 1: zeros and ones of tensor<4xi1>
// WHOLE:      remark: takes tensor<f32> as argument 2: zeros and ones of tensor<i1>
// WHOLE:      func.func @f(%{{[a-z0-9]+}}: tensor<4xf16>, %{{[a-z0-9]+}}: tensor<4xf32> {kernel.constant}, %{{[a-z0-9]+}}: tensor<f32>) -> tensor<4xf16>
// WHOLE:        kernel.max
// WHOLE:        kernel.select

// What the host makes of a constant is another tensor in each call.
// PARTS:      func.func @f_part_0(%{{[a-z0-9]+}}: tensor<f32>, %{{[a-z0-9]+}}: tensor<4xf32>, %{{[a-z0-9]+}}: tensor<4xf16>) -> tensor<4xf16>
// PARTS:      func.func @f([[X:%[a-z0-9]+]]: tensor<4xf16>, [[M:%[a-z0-9]+]]: tensor<4xi1> {kernel.constant}, [[ALL:%[a-z0-9]+]]: tensor<i1>) -> tensor<4xf16>
// PARTS-NEXT:   [[A:%[0-9]+]] = "stablehlo.convert"([[ALL]]) : (tensor<i1>) -> tensor<f32>
// PARTS-NEXT:   [[N:%[0-9]+]] = "stablehlo.convert"([[M]]) : (tensor<4xi1>) -> tensor<4xf32>
// PARTS-NEXT:   func.call @f_part_0([[A]], [[N]], [[X]])
func.func @f(%x: tensor<4xf16>, %mask: tensor<4xi1> {kernel.constant}, %all: tensor<i1>) -> tensor<4xf16> {
  %every = "stablehlo.broadcast_in_dim"(%all) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<4xi1>
  %m = "stablehlo.or"(%mask, %every) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %y = "stablehlo.add"(%x, %x) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %r = "stablehlo.select"(%m, %y, %x) : (tensor<4xi1>, tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  func.return %r : tensor<4xf16>
}
