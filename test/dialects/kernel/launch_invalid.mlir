// RUN: mirage-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{grid is [8, 1], not 3 counts of blocks}}
"test.op"() {kernel.launch = #kernel.launch<grid = [8, 1], threads = 32>} : () -> ()

// -----

// expected-error @below {{has no threads, or fewer than 0 bytes of shared memory}}
"test.op"() {kernel.launch = #kernel.launch<grid = [8, 1, 1]>} : () -> ()

// -----

// expected-error @below {{there is no 'thread'; did you mean 'threads'?}}
"test.op"() {kernel.launch = #kernel.launch<grid = [8, 1, 1], thread = 32>} : () -> ()

// -----

// expected-error @below {{has fewer than 0 bytes of scratch or counters}}
"test.op"() {kernel.workspace = #kernel.workspace<scratch_bytes = -4>} : () -> ()
