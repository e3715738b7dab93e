"""The programs that searches are timed on: workload files, and chains of a given length."""

from pathlib import Path

WORKLOADS = Path(__file__).parents[2] / "test" / "workloads"

PAPER = (
    "rmsnorm_linear",
    "lora",
    "gated_mlp",
    "attention",
    "qknorm_attention",
    "ntrans_subtract",
)
"""The six programs of Wu et al., "Mirage: A Multi-Level Superoptimizer for Tensor Programs" (OSDI
2025); every other workload is a further program."""

PAPER_SECONDS = {5: 11, 6: 16, 7: 22, 8: 24, 9: 26, 10: 26, 11: 28}
"""Table 5 there: seconds of its search for RMSNorm, on a machine of many cores, by the largest
number of operators that a block may have."""

PAPER_UNPRUNED = "768 s with 5 operators, 19934 s with 6, more than 10 hours with 7 or more"
"""The same without abstract expressions."""

CHAIN = ("rms_norm", "mul", "add", "matmul", "silu", "add")
"""The operators of a chain, again and again."""


def chain(count: int, rows: int = 16, size: int = 1024) -> str:
    """A program of `count` operators in a row, each on the result of the one before."""
    x, w = f"tensor<{rows}x{size}xf16>", f"tensor<{size}x{size}xf16>"
    arguments, value = [f"%x: {x}"], "%x"
    lines: list[str] = []
    for number in range(count):
        kind, result = CHAIN[number % len(CHAIN)], f"%v{number}"
        if kind == "rms_norm":
            line = f"kernel.rms_norm {value} {{eps = 1.0e-05 : f32}} : ({x}) -> {x}"
        elif kind == "silu":
            line = f"kernel.silu {value} : ({x}) -> {x}"
        else:
            other = w if kind == "matmul" else x
            arguments.append(f"%a{number}: {other}")
            line = f"kernel.{kind} {value}, %a{number} : ({x}, {other}) -> {x}"
        lines.append(f"  {result} = {line}")
        value = result
    body = "\n".join(lines)
    head = f"func.func @chain({', '.join(arguments)}) -> {x}"
    return f"{head} {{\n{body}\n  func.return {value} : {x}\n}}\n"
