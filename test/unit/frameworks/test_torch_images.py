# pyright: basic
"""Normalizations over channels, and windows of images: in float64, they are torch's own."""

import copy

import pytest
from optional_packages import package
from torch_imports import imported, interpreted, same

import mirage_mlir as mi

torch = package("torch")
nn, functional = torch.nn, torch.nn.functional


def changed(module):
    """A module whose parameters and statistics are not those that it begins with."""
    torch.manual_seed(1)
    for name, each in [*module.named_parameters(), *module.named_buffers()]:
        if each.is_floating_point() and each.dim():
            each.data = torch.rand_like(each) + 0.5 * name.endswith("var")
    return module


MODULES = {
    "group": changed(nn.GroupNorm(3, 6)),
    "batch": changed(nn.BatchNorm2d(6)).eval(),
    "batch of its own": changed(nn.BatchNorm2d(6, track_running_stats=False)),
    "instance": changed(nn.InstanceNorm2d(6, affine=True)),
    "instance by statistics": changed(nn.InstanceNorm2d(6, track_running_stats=True)).eval(),
    "point": nn.Conv2d(6, 4, 1),
    "patches": nn.Conv2d(6, 4, (2, 3), stride=(2, 3), bias=False),
    "mean": nn.AvgPool2d(2),
    "maximum": nn.MaxPool2d((2, 4)),
    "cut off": nn.AvgPool2d(3),
    "adaptive": nn.AdaptiveAvgPool2d((2, 4)),
    "upsampled": nn.Upsample(scale_factor=2),
    "exact": nn.Upsample(size=(12, 8), mode="nearest-exact"),
}


class All(nn.Module):
    """Several in one program: an export takes longer than what it exports."""

    def __init__(self, modules):
        super().__init__()
        self.all = nn.ModuleList(modules)

    def forward(self, x):
        return [each(x) for each in self.all]


@pytest.mark.parametrize("half", range(2))
def test_modules(half: int) -> None:
    torch.manual_seed(0)
    names = [*MODULES][half::2]
    together, x = All([MODULES[name] for name in names]), torch.randn(2, 6, 4, 8)
    with torch.no_grad():
        wanted = copy.deepcopy(together).double()(x.double())
    found = interpreted(together, x)
    assert [name for name, *pair in zip(names, found, wanted, strict=True) if not same(*pair)] == []


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_statistics_are_f32(dtype) -> None:
    """Of numbers far from 0, whose squares half precision does not have."""
    x = (torch.randn(2, 6, 4, 8, generator=torch.Generator().manual_seed(0)) + 300).to(dtype)

    def norms(x):
        weight = torch.linspace(0.5, 1.5, 6, dtype=x.dtype)
        one = functional.group_norm(x, 2, weight, weight)
        return [
            one,
            functional.instance_norm(x),
            functional.batch_norm(x, None, None, None, None, True),
        ]

    for made, wanted in zip(interpreted(norms, x, exact=False), norms(x.double()), strict=True):
        error = (torch.from_numpy(made).double() - wanted).abs().max()
        assert error <= torch.finfo(dtype).eps * wanted.abs().max()


REFUSED = {
    "aten.conv2d.default: windows .*, without groups": nn.Conv2d(6, 6, 1, groups=6),
    "aten.max_pool2d.default: windows .*, without steps of": nn.MaxPool2d(3, 2),
    "aten.avg_pool2d.default: windows .*, without windows that are cut": nn.AvgPool2d(
        3, ceil_mode=True
    ),
    "aten._adaptive_avg_pool2d.default: windows .*, without 3 x 3": nn.AdaptiveAvgPool2d(3),
    "aten.upsample_nearest2d.vec: 10 of 4 elements": nn.Upsample(size=(10, 8)),
    "aten.instance_norm.default: .*call eval": nn.InstanceNorm2d(6, track_running_stats=True),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refusals(message: str) -> None:
    with pytest.raises(mi.UnsupportedOperation, match=message):
        imported(REFUSED[message], torch.ones(2, 6, 4, 8))
