"""Command lines that ask for what there is not."""

from random import Random

from hostile_case import INPUT, Case, some

PROGRAM = b"""func.func @f(%x: tensor<16x16xf16>) -> tensor<16x16xf16> {
  %y = kernel.relu %x : (tensor<16x16xf16>) -> tensor<16x16xf16>
  func.return %y : tensor<16x16xf16>
}
func.func @g(%x: tensor<16x16xf16>) -> tensor<16x16xf16> {
  %y = kernel.relu %x : (tensor<16x16xf16>) -> tensor<16x16xf16>
  func.return %y : tensor<16x16xf16>
}
"""

OPTIONS = {
    "superoptimize": ("target", "time-limit", "top-k", "max-kernels", "jobs", "f32"),
    "partition-program": ("target", "max-operators"),
    "verify-equivalence": ("reference", "candidate", "tests", "seed"),
    "algebraic-rewrite": ("rules", "max-rewrites"),
    "split-cross-block-sums": ("target",),
    "select-mma": ("target",),
    "select-copies": ("target",),
    "assign-layouts": ("target",),
    "fuse-horizontally": ("target",),
    "software-pipeline": ("target",),
    "plan-memory": ("target",),
    "overlap-launches": ("target",),
    "pack-constants": ("target",),
    "lower-to-nvvm": ("target",),
    "check-lowered-kernels": ("seed",),
    "canonicalize": (),
    "cse": (),
}

VALUES = (
    *("0", "1", "2", "-1", "100000000", "1" + "0" * 23, "9" * 6000, "1.5", "1e400", "nan", "inf"),
    *("-inf", "0x10", "", "true", "maybe", "none", "H200", "h200", "sm_80", "sm_90a", "B200"),
    *(
        "f",
        "g",
        "h",
        "f,g",
        "{",
        "}",
        "{a=1}",
        '"f"',
        "'f'",
        "\u00e9",
        "\x01",
        "a b",
        "=",
        "==",
        ",",
    ),
)

FLAGS = (
    *("-o", "-o=", "--output", "-t", "-tptx", "--target=nope", "--report=1", "--artifacts"),
    *("--artifacts=/proc/none", "--artifacts=" + INPUT, "--search-stats=/", "--verify-report=."),
    *("--profile", "--pack", "--no-cache", "--split-input-file=2", "--", "-", "---", "--=", "-p"),
    *("-p=", "-p{", "-p}", "--pass-pipeline=", "--pass-pipeline=builtin.module()", "--passes"),
    *("--pass-pipeline=builtin.module(", "--pass-pipeline=func.func(cse)", "--cse", "--cse=x"),
    *("--pass-pipeline=builtin.module(superoptimize{target=A100 },cse)", "-p cse,,cse", "@file"),
    *("/", "/nonexistent.mlir", ".", "\x01", "--help=1", "--version=2", "--debug", "-v", "-vv"),
    *("--print-ir-after-all", "--verify-diagnostics", "-t", "cubin", "ptx{function=g}", "nvvm{"),
    *("ptx{target=sm_70}", "-o", "/dev/full", "--pass-flag=cse", "--pass-flag", "-", "\u00e9"),
    *("-p=superoptimize{target=", '-p=superoptimize{target="' + "a" * 60, "--canonicalise"),
)


def command_case(random: Random) -> Case:
    """One to four arguments, with or without an input."""
    words = [_word(random) for _ in range(random.randint(1, 4))]
    if random.random() < 0.8:
        words.insert(random.randint(0, len(words)), INPUT)
    words = [word for word in words if "\x00" not in word]
    return Case(tuple(words), {INPUT: PROGRAM})


def _word(random: Random) -> str:
    if random.random() < 0.35:
        return random.choice(FLAGS)
    name = random.choice([*OPTIONS])
    known = (*OPTIONS[name], random.choice(("targt", "x", "time_limit")))
    options = [f"{each}={random.choice(VALUES)}" for each in some(random, known, 3)]
    if name == "superoptimize":
        options.append("time-limit=1")
    return f"--{name}={random.choice((' ', ',', '  ')).join(options)}"
