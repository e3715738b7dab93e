// Attention under masks, and its second half, of sizes that no table has: rows that are no whole
// fragments, lines that are no boxes of tensor copies, tiles that read their operands transposed.

func.func @masked_200(%a0: tensor<4x8x200x64xbf16>, %a1: tensor<4x8x200x64xbf16>, %a2: tensor<4x8x200x64xbf16>, %a3: tensor<4x1x200x200xbf16>) -> (tensor<4x8x200x64xbf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<4x8x200x64xbf16>) -> tensor<4x8x64x200xbf16>
  %1 = kernel.matmul %a0, %0 : (tensor<4x8x200x64xbf16>, tensor<4x8x64x200xbf16>) -> tensor<4x8x200x200xbf16>
  %2 = kernel.scale %1 {factor = 0.125000 : f32} : (tensor<4x8x200x200xbf16>) -> tensor<4x8x200x200xbf16>
  %5 = kernel.add %2, %a3 : (tensor<4x8x200x200xbf16>, tensor<4x1x200x200xbf16>) -> tensor<4x8x200x200xbf16>
  %3 = kernel.softmax %5 {dim = 3 : i64} : (tensor<4x8x200x200xbf16>) -> tensor<4x8x200x200xbf16>
  %4 = kernel.matmul %3, %a2 : (tensor<4x8x200x200xbf16>, tensor<4x8x200x64xbf16>) -> tensor<4x8x200x64xbf16>
  func.return %4 : tensor<4x8x200x64xbf16>
}

func.func @masked_256(%a0: tensor<4x8x256x64xbf16>, %a1: tensor<4x8x256x64xbf16>, %a2: tensor<4x8x256x64xbf16>, %a3: tensor<4x1x256x256xbf16>) -> (tensor<4x8x256x64xbf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<4x8x256x64xbf16>) -> tensor<4x8x64x256xbf16>
  %1 = kernel.matmul %a0, %0 : (tensor<4x8x256x64xbf16>, tensor<4x8x64x256xbf16>) -> tensor<4x8x256x256xbf16>
  %2 = kernel.scale %1 {factor = 0.125000 : f32} : (tensor<4x8x256x256xbf16>) -> tensor<4x8x256x256xbf16>
  %5 = kernel.add %2, %a3 : (tensor<4x8x256x256xbf16>, tensor<4x1x256x256xbf16>) -> tensor<4x8x256x256xbf16>
  %3 = kernel.softmax %5 {dim = 3 : i64} : (tensor<4x8x256x256xbf16>) -> tensor<4x8x256x256xbf16>
  %4 = kernel.matmul %3, %a2 : (tensor<4x8x256x256xbf16>, tensor<4x8x256x64xbf16>) -> tensor<4x8x256x64xbf16>
  func.return %4 : tensor<4x8x256x64xbf16>
}

func.func @masked_257(%a0: tensor<2x12x257x64xf16>, %a1: tensor<2x12x257x64xf16>, %a2: tensor<2x12x257x64xf16>, %a3: tensor<2x1x257x257xf16>) -> (tensor<2x12x257x64xf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x12x257x64xf16>) -> tensor<2x12x64x257xf16>
  %1 = kernel.matmul %a0, %0 : (tensor<2x12x257x64xf16>, tensor<2x12x64x257xf16>) -> tensor<2x12x257x257xf16>
  %2 = kernel.scale %1 {factor = 0.125000 : f32} : (tensor<2x12x257x257xf16>) -> tensor<2x12x257x257xf16>
  %5 = kernel.add %2, %a3 : (tensor<2x12x257x257xf16>, tensor<2x1x257x257xf16>) -> tensor<2x12x257x257xf16>
  %3 = kernel.softmax %5 {dim = 3 : i64} : (tensor<2x12x257x257xf16>) -> tensor<2x12x257x257xf16>
  %4 = kernel.matmul %3, %a2 : (tensor<2x12x257x257xf16>, tensor<2x12x257x64xf16>) -> tensor<2x12x257x64xf16>
  func.return %4 : tensor<2x12x257x64xf16>
}

func.func @masked_333(%a0: tensor<1x16x333x128xbf16>, %a1: tensor<1x16x333x128xbf16>, %a2: tensor<1x16x333x128xbf16>, %a3: tensor<1x1x333x333xbf16>) -> (tensor<1x16x333x128xbf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x16x333x128xbf16>) -> tensor<1x16x128x333xbf16>
  %1 = kernel.matmul %a0, %0 : (tensor<1x16x333x128xbf16>, tensor<1x16x128x333xbf16>) -> tensor<1x16x333x333xbf16>
  %2 = kernel.scale %1 {factor = 0.088388 : f32} : (tensor<1x16x333x333xbf16>) -> tensor<1x16x333x333xbf16>
  %5 = kernel.add %2, %a3 : (tensor<1x16x333x333xbf16>, tensor<1x1x333x333xbf16>) -> tensor<1x16x333x333xbf16>
  %3 = kernel.softmax %5 {dim = 3 : i64} : (tensor<1x16x333x333xbf16>) -> tensor<1x16x333x333xbf16>
  %4 = kernel.matmul %3, %a2 : (tensor<1x16x333x333xbf16>, tensor<1x16x333x128xbf16>) -> tensor<1x16x333x128xbf16>
  func.return %4 : tensor<1x16x333x128xbf16>
}

func.func @masked_1000(%a0: tensor<1x8x1000x64xf16>, %a1: tensor<1x8x1000x64xf16>, %a2: tensor<1x8x1000x64xf16>, %a3: tensor<1x1x1000x1000xf16>) -> (tensor<1x8x1000x64xf16>) {
  %0 = kernel.transpose %a1 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x8x1000x64xf16>) -> tensor<1x8x64x1000xf16>
  %1 = kernel.matmul %a0, %0 : (tensor<1x8x1000x64xf16>, tensor<1x8x64x1000xf16>) -> tensor<1x8x1000x1000xf16>
  %2 = kernel.scale %1 {factor = 0.125000 : f32} : (tensor<1x8x1000x1000xf16>) -> tensor<1x8x1000x1000xf16>
  %5 = kernel.add %2, %a3 : (tensor<1x8x1000x1000xf16>, tensor<1x1x1000x1000xf16>) -> tensor<1x8x1000x1000xf16>
  %3 = kernel.softmax %5 {dim = 3 : i64} : (tensor<1x8x1000x1000xf16>) -> tensor<1x8x1000x1000xf16>
  %4 = kernel.matmul %3, %a2 : (tensor<1x8x1000x1000xf16>, tensor<1x8x1000x64xf16>) -> tensor<1x8x1000x64xf16>
  func.return %4 : tensor<1x8x1000x64xf16>
}

func.func @softmax_values_2048(%s: tensor<8x1x2048xf16>, %v: tensor<8x2048x64xf16>) -> tensor<8x1x64xf16> {
  %p = kernel.softmax %s {dim = 2 : i64} : (tensor<8x1x2048xf16>) -> tensor<8x1x2048xf16>
  %o = kernel.matmul %p, %v : (tensor<8x1x2048xf16>, tensor<8x2048x64xf16>) -> tensor<8x1x64xf16>
  func.return %o : tensor<8x1x64xf16>
}
