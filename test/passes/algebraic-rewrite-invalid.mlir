// Only rules that there are can be chosen; on programs the pass never fails.
// RUN: not mirage-opt %s --algebraic-rewrite="rules=commute-add,nope" 2>&1 | filecheck %s
// RUN: not mirage-opt %s --algebraic-rewrite="rules=" 2>&1 | filecheck %s --check-prefix=EMPTY
// RUN: not mirage-opt %s --algebraic-rewrite="rule=commute-add" 2>&1 | filecheck %s --check-prefix=OPTION

// CHECK:  mirage-opt: error: 'algebraic-rewrite': there is no rule 'nope'; the rules are sum-of-one, {{.*}}mul-out-of-matmul, {{.*}}commute-add, {{.*}}split-sqrt
// EMPTY:  mirage-opt: error: --algebraic-rewrite: expected a value
// OPTION: mirage-opt: error: 'algebraic-rewrite' has no option 'rule' (it has rules)
builtin.module {}
