"""From operations of linalg on tensors, with arith, math and tensor, to kernel operators."""
