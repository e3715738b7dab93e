"""Reading what `ncu` writes, and what is expected of an artifact."""

from pathlib import Path

import bank_conflicts
import pytest
from bank_conflicts import Access, Expected, Measured
from kernel_kinds import compiled

TITLES = (
    '"Address","Source","inst_executed","memory_access_type","memory_l1_wavefronts_shared",'
    '"memory_l1_wavefronts_shared_ideal","memory_l2_theoretical_sectors_global",'
    '"memory_l2_theoretical_sectors_global_ideal","memory_type"'
)

SOURCE = f"""\
==PROF== something that is no table
"Kernel Name","first"
{TITLES}
"0x10","      LDS.128 R4, [R2]","4096","Load","32,768","16384","0","0","Shared"
"0x20","@!P0 LDS R4, [R2]","9216","Load","9216","9216","0","0","Shared"
"0x30","@!PT  LDS RZ, [RZ]","512","Load","0","0","0","0",""
"0x40","@P1   LDGSTS.E [R4], [R2]","8","Load,Store","64","8","64","8","Global,Shared"
"0x50","      HGMMA.64x16x16.F32 R4, gdesc[UR4]","8","Load","40","40","0","0","Shared"
"Kernel Name","second"
{TITLES}
"0x10","      STG.E.128 [R2], R4","1024","Store","0","0","32768","16384","Global"
"""

RAW = """\
==PROF== something that is no table
"ID","Kernel Name","a.sum","b.sum","c.sum"
"","","","",""
"0","first","1","2","3"
"1","second","4","5","6"
"""


def test_pages_of_ncu() -> None:
    first, second = bank_conflicts.by_instruction(SOURCE)
    assert first == Measured(
        "first",
        {"load": Access(13312, 41984, 25600, 0, 0), "cp.async": Access(8, 64, 8, 64, 8)},
    )
    assert second == Measured("second", {"store": Access(0, 0, 0, 32768, 16384)})
    rows = list(bank_conflicts.counters(RAW))
    assert [(row["Kernel Name"], row["c.sum"]) for row in rows] == [("first", "3"), ("second", "6")]


def test_agreement() -> None:
    should = Expected("first", True, {"load": Access(2, 8, 4), "store": Access(1, 1, 1)})
    has = Measured("first", {"load": Access(2, 8, 8), "store": Access(1, 1, 1)})
    assert bank_conflicts.agree(should, has), "the least is counted in another way there"
    assert not bank_conflicts.agree(should, Measured("first", {"store": Access(1, 1, 1)}))
    more = Measured("first", {**has.accesses, "ldmatrix": Access(1, 4, 4)})
    assert not bank_conflicts.agree(should, more)
    merged = {"load": Access(1, 4, 2), "store": Access(1, 1, 1)}
    assert bank_conflicts.agree(should, Measured("first", merged))
    merged["load"] = Access(1, 6, 1)
    assert not bank_conflicts.agree(should, Measured("first", merged)), "more conflicts"
    lines = "\n".join(bank_conflicts.lines_of("f", should, None))
    assert "8 passes, 4 conflicts" in lines


@pytest.mark.parametrize(("chip", "sums"), [("sm_90a", "load of the cluster"), ("sm_80", "load")])
def test_what_is_expected(chip: str, sums: str, tmp_path: Path) -> None:
    """Also of code that is kept as PTX for another GPU."""
    path = tmp_path / "split_k.mirage"
    compiled("split_k", chip, "sm_90a").save(path)
    (found,) = bank_conflicts.expected(path)
    assert found.whole
    assert found.accesses[sums].passes > 0
    assert ("cp.async" in found.accesses) == (chip == "sm_80")


def test_the_first_cluster_stands_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "attention.mirage"
    compiled("attention_across", "sm_90a", "sm_90a").save(path)
    whole = bank_conflicts.expected(path)
    monkeypatch.setattr(bank_conflicts, "ALL_BLOCKS", 1)
    part = bank_conflicts.expected(path)
    assert [each.whole for each in (*whole, *part)] == [True, False]
    assert [each.accesses for each in whole] == [each.accesses for each in part]
