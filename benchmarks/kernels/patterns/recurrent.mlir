// Sums of matmuls: recurrent cells, gates, towers.
func.func @rnn_cell(%x: tensor<256x1024xf16>, %hh: tensor<256x1024xf16>, %w: tensor<1024x1024xf16>, %u: tensor<1024x1024xf16>, %bi: tensor<1024xf16>) -> tensor<256x1024xf16> {
  %0 = kernel.matmul %x, %w : (tensor<256x1024xf16>, tensor<1024x1024xf16>) -> tensor<256x1024xf16>
  %1 = kernel.matmul %hh, %u : (tensor<256x1024xf16>, tensor<1024x1024xf16>) -> tensor<256x1024xf16>
  %2 = kernel.add %0, %1 : (tensor<256x1024xf16>, tensor<256x1024xf16>) -> tensor<256x1024xf16>
  %3 = kernel.add %2, %bi : (tensor<256x1024xf16>, tensor<1024xf16>) -> tensor<256x1024xf16>
  %4 = kernel.tanh %3 : (tensor<256x1024xf16>) -> tensor<256x1024xf16>
  func.return %4 : tensor<256x1024xf16>
}

func.func @lstm_cell(%x: tensor<128x512xf16>, %hh: tensor<128x512xf16>, %w: tensor<512x2048xf16>, %u: tensor<512x2048xf16>, %bi: tensor<2048xf16>, %c: tensor<128x512xf16>) -> (tensor<128x512xf16>, tensor<128x512xf16>) {
  %0 = kernel.matmul %x, %w : (tensor<128x512xf16>, tensor<512x2048xf16>) -> tensor<128x2048xf16>
  %1 = kernel.matmul %hh, %u : (tensor<128x512xf16>, tensor<512x2048xf16>) -> tensor<128x2048xf16>
  %2 = kernel.add %0, %1 : (tensor<128x2048xf16>, tensor<128x2048xf16>) -> tensor<128x2048xf16>
  %3 = kernel.add %2, %bi : (tensor<128x2048xf16>, tensor<2048xf16>) -> tensor<128x2048xf16>
  %4 = kernel.cast %3 : (tensor<128x2048xf16>) -> tensor<128x2048xf32>
  %5 = kernel.slice %4 {offsets = array<i64: 0, 0>, sizes = array<i64: 128, 512>, strides = array<i64: 1, 1>} : (tensor<128x2048xf32>) -> tensor<128x512xf32>
  %6 = kernel.slice %4 {offsets = array<i64: 0, 512>, sizes = array<i64: 128, 512>, strides = array<i64: 1, 1>} : (tensor<128x2048xf32>) -> tensor<128x512xf32>
  %7 = kernel.slice %4 {offsets = array<i64: 0, 1024>, sizes = array<i64: 128, 512>, strides = array<i64: 1, 1>} : (tensor<128x2048xf32>) -> tensor<128x512xf32>
  %8 = kernel.slice %4 {offsets = array<i64: 0, 1536>, sizes = array<i64: 128, 512>, strides = array<i64: 1, 1>} : (tensor<128x2048xf32>) -> tensor<128x512xf32>
  %9 = kernel.sigmoid %6 : (tensor<128x512xf32>) -> tensor<128x512xf32>
  %10 = kernel.cast %c : (tensor<128x512xf16>) -> tensor<128x512xf32>
  %11 = kernel.mul %9, %10 : (tensor<128x512xf32>, tensor<128x512xf32>) -> tensor<128x512xf32>
  %12 = kernel.sigmoid %5 : (tensor<128x512xf32>) -> tensor<128x512xf32>
  %13 = kernel.tanh %8 : (tensor<128x512xf32>) -> tensor<128x512xf32>
  %14 = kernel.mul %12, %13 : (tensor<128x512xf32>, tensor<128x512xf32>) -> tensor<128x512xf32>
  %15 = kernel.add %11, %14 : (tensor<128x512xf32>, tensor<128x512xf32>) -> tensor<128x512xf32>
  %16 = kernel.cast %15 : (tensor<128x512xf32>) -> tensor<128x512xf16>
  %17 = kernel.sigmoid %7 : (tensor<128x512xf32>) -> tensor<128x512xf32>
  %18 = kernel.tanh %15 : (tensor<128x512xf32>) -> tensor<128x512xf32>
  %19 = kernel.mul %17, %18 : (tensor<128x512xf32>, tensor<128x512xf32>) -> tensor<128x512xf32>
  %20 = kernel.cast %19 : (tensor<128x512xf32>) -> tensor<128x512xf16>
  func.return %16, %20 : tensor<128x512xf16>, tensor<128x512xf16>
}

func.func @three_sums(%x: tensor<64x1024xf16>, %y: tensor<64x1024xf16>, %z: tensor<64x1024xf16>, %a: tensor<1024x1024xf16>, %c: tensor<1024x1024xf16>, %d: tensor<1024x1024xf16>) -> tensor<64x1024xf16> {
  %0 = kernel.matmul %x, %a : (tensor<64x1024xf16>, tensor<1024x1024xf16>) -> tensor<64x1024xf16>
  %1 = kernel.matmul %y, %c : (tensor<64x1024xf16>, tensor<1024x1024xf16>) -> tensor<64x1024xf16>
  %2 = kernel.add %0, %1 : (tensor<64x1024xf16>, tensor<64x1024xf16>) -> tensor<64x1024xf16>
  %3 = kernel.matmul %z, %d : (tensor<64x1024xf16>, tensor<1024x1024xf16>) -> tensor<64x1024xf16>
  %4 = kernel.add %2, %3 : (tensor<64x1024xf16>, tensor<64x1024xf16>) -> tensor<64x1024xf16>
  func.return %4 : tensor<64x1024xf16>
}

func.func @bilinear(%x: tensor<512x1024xf16>, %w: tensor<1024x1024xf16>, %y: tensor<512x1024xf16>) -> tensor<512xf32> {
  %0 = kernel.matmul %x, %w : (tensor<512x1024xf16>, tensor<1024x1024xf16>) -> tensor<512x1024xf16>
  %1 = kernel.cast %0 : (tensor<512x1024xf16>) -> tensor<512x1024xf32>
  %2 = kernel.cast %y : (tensor<512x1024xf16>) -> tensor<512x1024xf32>
  %3 = kernel.mul %1, %2 : (tensor<512x1024xf32>, tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %4 = kernel.reduce_sum %3 {dims = array<i64: 1>} : (tensor<512x1024xf32>) -> tensor<512x1xf32>
  %5 = kernel.reshape %4 : (tensor<512x1xf32>) -> tensor<512xf32>
  func.return %5 : tensor<512xf32>
}

func.func @dual_encoder(%x: tensor<1024x768xf16>, %y: tensor<1024x512xf16>, %w1: tensor<768x256xf16>, %w2: tensor<512x256xf16>) -> tensor<1024xf32> {
  %0 = kernel.matmul %x, %w1 : (tensor<1024x768xf16>, tensor<768x256xf16>) -> tensor<1024x256xf16>
  %1 = kernel.cast %0 : (tensor<1024x256xf16>) -> tensor<1024x256xf32>
  %2 = kernel.matmul %y, %w2 : (tensor<1024x512xf16>, tensor<512x256xf16>) -> tensor<1024x256xf16>
  %3 = kernel.cast %2 : (tensor<1024x256xf16>) -> tensor<1024x256xf32>
  %4 = kernel.mul %1, %3 : (tensor<1024x256xf32>, tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %5 = kernel.reduce_sum %4 {dims = array<i64: 1>} : (tensor<1024x256xf32>) -> tensor<1024x1xf32>
  %6 = kernel.reshape %5 : (tensor<1024x1xf32>) -> tensor<1024xf32>
  func.return %6 : tensor<1024xf32>
}
