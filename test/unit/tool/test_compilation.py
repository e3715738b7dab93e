"""What passes of other packages raise becomes a diagnostic about the file."""

import pytest
from xdsl.utils.exceptions import PassFailedException

from mirage_mlir.tool.compilation import Rejected, rejections


def test_failure_without_a_place() -> None:
    with pytest.raises(Rejected) as caught, rejections("their-pass", "f.mlir"):
        raise PassFailedException("no\nsuch type")
    (diagnostic,) = caught.value.diagnostics
    assert str(diagnostic) == "f.mlir: error: 'their-pass' failed: no such type"
