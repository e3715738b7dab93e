// As in MLIR an operation is where its name is, an argument where its own name is.
// RUN: mirage-opt %s --print-debuginfo | filecheck %s

// CHECK: func.func @f(%a: i32 loc("{{.*}}locations.mlir":[[# @LINE + 1]]:14))
func.func @f(%a: i32) -> i32 {
  // CHECK: arith.addi %a, %a : i32 loc("{{.*}}locations.mlir":[[# @LINE + 1]]:8)
  %x = arith.addi %a,
                  %a : i32
  // CHECK: "test.op"
  "test.op"(%x) ({
  // CHECK: ^bb0(%b: i32 loc("{{.*}}locations.mlir":[[# @LINE + 1]]:8)):
  ^bb0(%b: i32):
    // CHECK: "test.termop"() : () -> () loc("elsewhere":7:8)
    "test.termop"() : () -> () loc("elsewhere":7:8)
  }) : (i32) -> ()
  // Metadata of a fused location and the ends of ranges, which xDSL does not read; ends are left out.
  // CHECK: loc(fused<"why">["a"("b.py":3:4), callsite("c.py":1:2 at "d.py":5:6)])
  "test.op"() : () -> () loc(fused<"why">["a"("b.py":3:4 to :9), callsite("c.py":1:2 to 2:3 at "d.py":5:6)])
  // CHECK: loc("{{.*}}locations.mlir":[[# @LINE + 1]]:3)
  func.return %x : i32
}
