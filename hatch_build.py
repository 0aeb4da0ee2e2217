"""Hatchling's build hook: wheels and editable installs come with the machine code of their kernels.

The code is compiled by ``python -m deddqn._jit.build`` (numba and LLVM; no compiler or linker of the system is asked
for). An editable install gets code for this processor's level, a wheel for all levels. Where none can be built, the
package is the same without it and compiles at first use.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelBuildHook(BuildHookInterface):
    """Compiles the kernels before a wheel or an editable install is put together."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the machine code; a wheel that has some is for this platform, and for every version of Python."""
        source = Path(self.root) / "src"
        command = [sys.executable, "-m", "deddqn._jit.build", *(["--here"] if version == "editable" else [])]
        paths = [str(source), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        done = subprocess.run(command, env=environment, cwd=self.root, capture_output=True, text=True)
        self.app.display_info(done.stdout.strip())
        if done.returncode != 0:
            self.app.display_warning(f"no machine code could be built; kernels compile at first use\n{done.stderr}")
        if (source / "deddqn" / "_jit" / "built" / "kernels.json").exists():
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{platform}"
