// Prefix sums, with what is around them.

// Rows, as of a router or a chunk of a scan.
func.func @rows_128(%x: tensor<4096x128xf32>) -> tensor<4096x128xf32> {
  %0 = kernel.cumsum %x {dim = 1 : i64} : (tensor<4096x128xf32>) -> tensor<4096x128xf32>
  func.return %0 : tensor<4096x128xf32>
}

// Many short rows.
func.func @rows_32(%x: tensor<65536x32xbf16>) -> tensor<65536x32xbf16> {
  %0 = kernel.cumsum %x {dim = 1 : i64} : (tensor<65536x32xbf16>) -> tensor<65536x32xbf16>
  func.return %0 : tensor<65536x32xbf16>
}

// Along the first dimension.
func.func @columns_100(%x: tensor<100x8192xf16>) -> tensor<100x8192xf16> {
  %0 = kernel.cumsum %x {dim = 0 : i64} : (tensor<100x8192xf16>) -> tensor<100x8192xf16>
  func.return %0 : tensor<100x8192xf16>
}

// Along one in the middle.
func.func @middle(%x: tensor<16x64x512xf32>) -> tensor<16x64x512xf32> {
  %0 = kernel.cumsum %x {dim = 1 : i64} : (tensor<16x64x512xf32>) -> tensor<16x64x512xf32>
  func.return %0 : tensor<16x64x512xf32>
}

// Neither count is a power of two.
func.func @odd_77(%x: tensor<3001x77xf32>) -> tensor<3001x77xf32> {
  %0 = kernel.cumsum %x {dim = 1 : i64} : (tensor<3001x77xf32>) -> tensor<3001x77xf32>
  func.return %0 : tensor<3001x77xf32>
}

// More elements under masks than are taken: steps, or rows.
func.func @big_128(%x: tensor<131072x128xbf16>) -> tensor<131072x128xbf16> {
  %0 = kernel.cumsum %x {dim = 1 : i64} : (tensor<131072x128xbf16>) -> tensor<131072x128xbf16>
  func.return %0 : tensor<131072x128xbf16>
}

// Decay of a linear attention in a chunk.
func.func @decay(%x: tensor<24x96x128xf32>) -> tensor<24x96x128xf32> {
  %0 = kernel.cumsum %x {dim = 2 : i64} : (tensor<24x96x128xf32>) -> tensor<24x96x128xf32>
  %1 = kernel.exp %0 : (tensor<24x96x128xf32>) -> tensor<24x96x128xf32>
  %2 = kernel.mul %1, %x : (tensor<24x96x128xf32>, tensor<24x96x128xf32>) -> tensor<24x96x128xf32>
  func.return %2 : tensor<24x96x128xf32>
}

// Probabilities up to each of 128, as top-p asks for them.
func.func @topk_mass(%x: tensor<4096x128xf32>) -> tensor<4096x128xf32> {
  %0 = kernel.softmax %x {dim = 1 : i64} : (tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %1 = kernel.cumsum %0 {dim = 1 : i64} : (tensor<4096x128xf32>) -> tensor<4096x128xf32>
  func.return %1 : tensor<4096x128xf32>
}

// Rows of 256.
func.func @rows_256(%x: tensor<4096x256xf32>) -> tensor<4096x256xf32> {
  %0 = kernel.cumsum %x {dim = 1 : i64} : (tensor<4096x256xf32>) -> tensor<4096x256xf32>
  func.return %0 : tensor<4096x256xf32>
}

// Columns of 256 in bf16.
func.func @columns_256(%x: tensor<256x4096xbf16>) -> tensor<256x4096xbf16> {
  %0 = kernel.cumsum %x {dim = 0 : i64} : (tensor<256x4096xbf16>) -> tensor<256x4096xbf16>
  func.return %0 : tensor<256x4096xbf16>
}

// Rows of a thousand.
func.func @rows_1024(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %0 = kernel.cumsum %x {dim = 1 : i64} : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  func.return %0 : tensor<4096x1024xf32>
}

// Few long rows.
func.func @rows_4096(%x: tensor<512x4096xf32>) -> tensor<512x4096xf32> {
  %0 = kernel.cumsum %x {dim = 1 : i64} : (tensor<512x4096xf32>) -> tensor<512x4096xf32>
  func.return %0 : tensor<512x4096xf32>
}

// Long columns in bf16.
func.func @columns_2048(%x: tensor<2048x1024xbf16>) -> tensor<2048x1024xbf16> {
  %0 = kernel.cumsum %x {dim = 0 : i64} : (tensor<2048x1024xbf16>) -> tensor<2048x1024xbf16>
  func.return %0 : tensor<2048x1024xbf16>
}

// The decay from each place of a chunk of Mamba-2 to each later one.
func.func @segment_sums(%x: tensor<48x64xf32>) -> tensor<48x64x64xf32> {
  %v0 = kernel.iota {dim = 1 : i64} : tensor<1x64x1xf32>
  %v1 = kernel.iota {dim = 2 : i64} : tensor<1x1x64xf32>
  %v2 = kernel.compare %v0, %v1 {predicate = "ge"} : (tensor<1x64x1xf32>, tensor<1x1x64xf32>) -> tensor<1x64x64xf32>
  %v3 = kernel.cumsum %x {dim = 1 : i64} : (tensor<48x64xf32>) -> tensor<48x64xf32>
  %v4 = kernel.reshape %v3 : (tensor<48x64xf32>) -> tensor<48x64x1xf32>
  %v5 = kernel.reshape %v3 : (tensor<48x64xf32>) -> tensor<48x1x64xf32>
  %v6 = kernel.sub %v4, %v5 : (tensor<48x64x1xf32>, tensor<48x1x64xf32>) -> tensor<48x64x64xf32>
  %v7 = kernel.exp %v6 : (tensor<48x64x64xf32>) -> tensor<48x64x64xf32>
  %v8 = kernel.constant {value = 0.000000e+00 : f32} : tensor<1x1x1xf32>
  %v9 = kernel.select %v2, %v7, %v8 : (tensor<1x64x64xf32>, tensor<48x64x64xf32>, tensor<1x1x1xf32>) -> tensor<48x64x64xf32>
  func.return %v9 : tensor<48x64x64xf32>
}

// The state of a chunk of Mamba-2, of 256 places.
func.func @mamba2_chunk_state(%x: tensor<64x24x256x64xbf16>, %dt: tensor<64x24x256xf32>, %a_log: tensor<24xf32>, %b: tensor<64x1x256x128xbf16>) -> tensor<64x24x64x128xbf16> {
  %0 = kernel.scale %dt {factor = 1.000000e+00 : f32} : (tensor<64x24x256xf32>) -> tensor<64x24x256xf32>
  %1 = kernel.abs %0 : (tensor<64x24x256xf32>) -> tensor<64x24x256xf32>
  %2 = kernel.neg %1 : (tensor<64x24x256xf32>) -> tensor<64x24x256xf32>
  %3 = kernel.exp %2 : (tensor<64x24x256xf32>) -> tensor<64x24x256xf32>
  %4 = kernel.log1p %3 : (tensor<64x24x256xf32>) -> tensor<64x24x256xf32>
  %5 = kernel.relu %0 : (tensor<64x24x256xf32>) -> tensor<64x24x256xf32>
  %6 = kernel.add %5, %4 : (tensor<64x24x256xf32>, tensor<64x24x256xf32>) -> tensor<64x24x256xf32>
  %7 = kernel.scale %6 {factor = 1.000000e+00 : f32} : (tensor<64x24x256xf32>) -> tensor<64x24x256xf32>
  %8 = kernel.neg %7 : (tensor<64x24x256xf32>) -> tensor<64x24x256xf32>
  %9 = kernel.exp %a_log : (tensor<24xf32>) -> tensor<24xf32>
  %10 = kernel.reshape %9 : (tensor<24xf32>) -> tensor<24x1xf32>
  %11 = kernel.mul %8, %10 : (tensor<64x24x256xf32>, tensor<24x1xf32>) -> tensor<64x24x256xf32>
  %12 = kernel.scale %11 {factor = 2.000000e-02 : f32} : (tensor<64x24x256xf32>) -> tensor<64x24x256xf32>
  %13 = kernel.cumsum %12 {dim = 2 : i64} : (tensor<64x24x256xf32>) -> tensor<64x24x256xf32>
  %14 = kernel.slice %13 {offsets = array<i64: 0, 0, 255>, sizes = array<i64: 64, 24, 1>, strides = array<i64: 1, 1, 1>} : (tensor<64x24x256xf32>) -> tensor<64x24x1xf32>
  %15 = kernel.sub %14, %13 : (tensor<64x24x1xf32>, tensor<64x24x256xf32>) -> tensor<64x24x256xf32>
  %16 = kernel.exp %15 : (tensor<64x24x256xf32>) -> tensor<64x24x256xf32>
  %17 = kernel.mul %16, %7 : (tensor<64x24x256xf32>, tensor<64x24x256xf32>) -> tensor<64x24x256xf32>
  %18 = kernel.cast %x : (tensor<64x24x256x64xbf16>) -> tensor<64x24x256x64xf32>
  %19 = kernel.reshape %17 : (tensor<64x24x256xf32>) -> tensor<64x24x256x1xf32>
  %20 = kernel.mul %18, %19 : (tensor<64x24x256x64xf32>, tensor<64x24x256x1xf32>) -> tensor<64x24x256x64xf32>
  %21 = kernel.cast %20 : (tensor<64x24x256x64xf32>) -> tensor<64x24x256x64xbf16>
  %22 = kernel.transpose %21 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<64x24x256x64xbf16>) -> tensor<64x24x64x256xbf16>
  %23 = kernel.matmul %22, %b : (tensor<64x24x64x256xbf16>, tensor<64x1x256x128xbf16>) -> tensor<64x24x64x128xbf16>
  func.return %23 : tensor<64x24x64x128xbf16>
}
