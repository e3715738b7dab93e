"""`mirage-opt --explain-html`: what `--explain` says as one page, which needs no network."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from mirage_mlir.driver.choose import TimedCandidate
from mirage_mlir.driver.explain import (
    SHORTEST,
    ChosenFunction,
    ChosenKernel,
    count_text,
    kernel_lines,
)
from mirage_mlir.driver.roofline import roofline_svg
from mirage_mlir.search.multi_kernel.explanation import Contest, KernelExplanation
from mirage_mlir.targets.target import target_named

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #202124; max-width: 62em; margin: 2em auto;
  padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.25em; border-top: 2px solid #dadce0;
  padding-top: .8em; margin-top: 2em; } h3 { font-size: 1.05em; margin-bottom: .3em; }
table { border-collapse: collapse; margin: .6em 0; } caption { text-align: left;
  font-weight: 600; padding: .3em 0; }
td, th { padding: .2em .7em .2em 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid #eceff1; font-weight: normal; }
th { color: #5f6368; white-space: nowrap; } td.n { text-align: right; white-space: nowrap; }
.bar { background: #9fc2f7; height: .95em; min-width: 1px; } .bar.most { background: #f6b26b; }
.track { width: 20em; } .taken td { background: #e6f4ea; } pre { white-space: pre-wrap; }
.verified { color: #137333; } .not { color: #b3261e; }
"""


def explanation_page(functions: Mapping[str, Mapping[str, ChosenFunction]]) -> str:
    """The page, by function and chip; one without functions says so."""
    parts = [part for chips in functions.values() for one in chips.values() for part in _page(one)]
    body = parts or ["<p>No search chose kernels, so there is nothing to explain.</p>"]
    names = ", ".join(f"@{name}" for name in functions) or "no function"
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(names)}, explained</title>",
            f"<style>{STYLE}</style></head><body>",
            f"<h1>{escape(names)}</h1>",
            *body,
            "</body></html>\n",
        ]
    )


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.2f} us"


def _page(chosen: ChosenFunction) -> Iterator[str]:
    yield f"<h2>@{escape(chosen.name)} for {escape(chosen.chip)}</h2>"
    verified = "verified" if chosen.verdict.startswith("verified") else "not"
    yield (
        f"<p>{count_text(chosen.kernels)}, modelled {_us(chosen.modelled_seconds)}; each "
        f"operator alone {_us(chosen.alone_seconds)}. Searched: {chosen.graphs} graphs, "
        f"{chosen.instantiations} with tile sizes.</p>"
    )
    yield f'<p class="{verified}">{escape(chosen.verdict)}</p>'
    yield from _limits(chosen)
    for kernel in chosen.kernels:
        yield from _kernel(kernel, chosen.chip)
    yield from _timed(chosen)
    for contest in chosen.contests:
        yield from _contest(contest)
    if chosen.refused:
        yield "<h3>Refused</h3><ul>"
        yield from (f"<li>{escape(reason)}</li>" for reason in chosen.refused)
        yield "</ul>"


def _limits(chosen: ChosenFunction) -> Iterator[str]:
    target = target_named(chosen.chip)
    matrix = max(target.mma_throughput, target.wgmma_throughput)
    rows = {
        "multiprocessors": str(target.sm_count),
        "device memory": f"{max(target.dram_bandwidth, target.tma_bandwidth) / 1e12:.2f} TB/s",
        "L2": f"{target.l2_bytes / 2**20:.0f} MiB, {target.l2_bandwidth / 1e12:.2f} TB/s",
        "tensor cores": f"{matrix / 1e12:.0f} TFLOP/s (f16)",
        "other arithmetic": f"{target.fp32_throughput / 1e12:.1f} TFLOP/s (f32)",
        "an empty kernel": _us(target.launch_latency),
    }
    yield "<details><summary>What the model takes this GPU to reach</summary>"
    yield from _table(rows)
    yield "</details>"


def _table(rows: Mapping[str, str]) -> Iterator[str]:
    yield "<table>"
    for name, value in rows.items():
        yield f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"
    yield "</table>"


def _kernel(kernel: ChosenKernel, chip: str) -> Iterator[str]:
    yield f"<h3>{escape(kernel.title)}</h3>"
    model = kernel.model
    if model is not None:
        yield f"<p>Modelled {_us(model.seconds)}, limited by {escape(model.limit)}.</p>"
        yield from _bars("Each unit alone", model.units, model.seconds)
        yield from _bars("One after the other", model.phases, model.seconds)
        yield roofline_svg(model, chip)
        yield from _moved(model)
    yield f"<pre>{escape(chr(10).join(kernel_lines(kernel, chip)))}</pre>"


def _bars(title: str, terms: Mapping[str, float], whole: float) -> Iterator[str]:
    """A bar for each term, as long as its part of `whole` seconds."""
    yield f"<table><caption>{escape(title)}</caption>"
    most = max(terms.values(), default=0.0)
    for name, seconds in terms.items():
        if seconds > SHORTEST:
            width = 100 * min(1.0, seconds / whole)
            bar = "bar most" if seconds == most else "bar"
            yield (
                f'<tr><th>{escape(name)}</th><td class="n">{_us(seconds)}</td><td class="track">'
                f'<div class="{bar}" style="width: {width:.1f}%"></div></td></tr>'
            )
    yield "</table>"


def _moved(model: KernelExplanation) -> Iterator[str]:
    rows = {
        "inputs and outputs, each once": f"{model.floor_bytes / 1e6:.2f} MB, at least "
        f"{_us(model.floor_seconds)}",
        "through device memory": f"{model.dram_bytes / 1e6:.2f} MB",
        "through L2": f"{model.l2_bytes / 1e6:.2f} MB",
        "operations of matmuls": f"{model.matmul_operations / 1e9:.3f} GFLOP",
    }
    yield from _table(rows)


def _timed(chosen: ChosenFunction) -> Iterator[str]:
    if chosen.timing and not chosen.timed:
        yield f"<h3>Timed before</h3><pre>{escape(chr(10).join(chosen.timing))}</pre>"
    if not chosen.timed:
        return
    yield "<h3>Candidates, modelled and measured</h3>"
    yield f"<p>{escape(chosen.timing[0])}</p>" if chosen.timing else ""
    yield from _timed_table(chosen.timed)


def _timed_table(timed: Sequence[TimedCandidate]) -> Iterator[str]:
    seconds = [one.seconds for one in timed if one.seconds is not None]
    best = min(seconds, default=None)
    yield "<table><tr><th>candidate</th><th>kernels</th><th>modelled</th><th>measured</th>"
    yield "<th>measured / modelled</th><th></th></tr>"
    for one in timed:
        measured = "" if one.seconds is None else _us(one.seconds)
        known = one.seconds is not None and one.modelled_seconds > 0
        ratio = f"{one.seconds / one.modelled_seconds:.2f}" if known and one.seconds else ""
        mark = ' class="taken"' if one.seconds is not None and one.seconds == best else ""
        yield (
            f'<tr{mark}><td>{escape(one.structure)}</td><td class="n">{one.kernels}</td>'
            f'<td class="n">{_us(one.modelled_seconds)}</td><td class="n">{measured}</td>'
            f'<td class="n">{ratio}</td><td>{escape(one.problem)}</td></tr>'
        )
    yield "</table>"


def _contest(contest: Contest) -> Iterator[str]:
    yield f"<h3>Of {contest.kept} kept, the next in the model</h3>"
    yield "<table>"
    for one in contest.runners_up:
        differences = "; ".join(one.differences) or "no difference in what is shown here"
        yield (
            f'<tr><td class="n">{_us(one.seconds)}</td>'
            f'<td class="n">{(one.slower - 1) * 100:+.1f} %</td>'
            f"<td>{escape(one.structure)}</td><td>{escape(differences)}</td></tr>"
        )
    yield "</table>"
