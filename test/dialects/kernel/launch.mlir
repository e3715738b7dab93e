// What a call of kernels needs to know; custom and generic form.
// RUN: %roundtrip
// RUN: %generic-roundtrip

// CHECK:      "test.op"() {kernel.workspace = #kernel.workspace<scratch_bytes = 40960, counter_bytes = 16>}
"test.op"() {kernel.workspace = #kernel.workspace<counter_bytes = 16, scratch_bytes = 40960>} : () -> ()
// CHECK-NEXT: "test.op"() {kernel.workspace = #kernel.workspace<>}
"test.op"() {kernel.workspace = #kernel.workspace<>} : () -> ()
// CHECK-NEXT: "test.op"() {kernel.launch = #kernel.launch<grid = [8, 1, 1], threads = 160, shared_bytes = 30792, occupancy_limit_bytes = 45696, starts_early, arguments = ["input:0", "output:0", "map:0"]>}
"test.op"() {kernel.launch = #kernel.launch<starts_early, threads = 160, grid = [8, 1, 1], arguments = ["input:0", "output:0", "map:0"], occupancy_limit_bytes = 45696, shared_bytes = 30792>} : () -> ()
