// RUN: mirage-opt %s --verify-diagnostics --split-input-file

%a = "test.op"() : () -> !threadblock.tile<4xf16>
// expected-error @below {{Expected 'ins'}}
%y = thread.graph (%a) {
^bb0(%x: f16):
  thread.store %x : f16
} : (!threadblock.tile<4xf16>) -> !threadblock.tile<4xf16>

// -----

// An attribute dictionary in front of a region needs its keyword.
%a = "test.op"() : () -> !threadblock.tile<4xf16>
// expected-error @below {{Operation mirage.note is not registered}}
%y = thread.graph ins(%a) {mirage.note = "x"} {
^bb0(%x: f16):
  thread.store %x : f16
} : (!threadblock.tile<4xf16>) -> !threadblock.tile<4xf16>
