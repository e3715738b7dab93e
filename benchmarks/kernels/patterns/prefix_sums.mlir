// Prefix sums of at most 256 elements, with what is around them.

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

// Rows of 256, the longest that are taken.
func.func @rows_256(%x: tensor<4096x256xf32>) -> tensor<4096x256xf32> {
  %0 = kernel.cumsum %x {dim = 1 : i64} : (tensor<4096x256xf32>) -> tensor<4096x256xf32>
  func.return %0 : tensor<4096x256xf32>
}

// Columns of 256 in bf16.
func.func @columns_256(%x: tensor<256x4096xbf16>) -> tensor<256x4096xbf16> {
  %0 = kernel.cumsum %x {dim = 0 : i64} : (tensor<256x4096xbf16>) -> tensor<256x4096xbf16>
  func.return %0 : tensor<256x4096xbf16>
}
