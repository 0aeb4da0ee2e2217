"""Training needs torch; without it these tests are skipped."""

import pytest

pytest.importorskip("torch", reason="training needs torch (the extra 'train')")
