"""What a search says about itself."""

import json

from mirage_mlir.search.report import SearchReport


def report() -> SearchReport:
    return SearchReport(
        "f", "H200", axes=3, configurations=8, values=9, graphs=4, kernels=1, modelled=2e-6
    )


def test_lines() -> None:
    first, *others = report().lines()
    assert first.startswith("search of @f for H200: 0 operators over 3 axes")
    assert any("8 configurations" in line and "4 graphs" in line for line in others)
    assert any("1 kernel" in line for line in others)
    assert any("2.0 us" in line for line in others)
    assert not any("cut short" in line or "rejected" in line for line in others)


def test_lines_about_limits() -> None:
    one = report()
    one.cut.append("values of grid()")
    one.rejected = 2
    text = "\n".join(one.lines())
    assert "cut short: values of grid()" in text
    assert "rejected by verification: 2 candidates" in text


def test_phases_add_up() -> None:
    one = SearchReport()
    for name in ("a", "b", "a"):
        with one.phase(name):
            pass
    assert list(one.phases) == ["a", "b"]
    assert all(seconds >= 0 for seconds in one.phases.values())


def test_add() -> None:
    """Counts and times add up; what was chosen stays."""
    one, other = report(), report()
    other.phases["saturation"] = 0.5
    other.cut.append("graphs of grid()")
    one.add(other)
    assert (one.configurations, one.values, one.graphs, one.kernels) == (16, 18, 8, 1)
    assert one.phases == {"saturation": 0.5}
    assert one.cut == other.cut


def test_json() -> None:
    values = json.loads(json.dumps(report().as_dict()))
    assert values["configurations"] == 8
    assert values["phases"] == {}


def test_not_everything_that_was_cut() -> None:
    report = SearchReport(cut=[f"values of {number}" for number in range(9)])
    (line,) = (line for line in report.lines() if "cut short" in line)
    assert line.endswith("values of 3; and 5 more")
    assert report.as_dict()["cut"] == report.cut
