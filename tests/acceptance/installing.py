"""An environment of its own for plug-in packages, in front of the one that runs the tests."""

from __future__ import annotations

import importlib.util
import json
import os
import site
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

LONGEST = 300.0


class Environment:
    """A Python that finds zonda where these tests do, and packages that only it knows."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        venv.create(folder / "venv", with_pip=False, symlinks=True)
        self.python = folder / "venv" / "bin" / "python"
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        self.packages = folder / "venv" / "lib" / version / "site-packages"
        lines = [f"import site; site.addsitedir({found!r})" for found in _site_folders()]
        (self.packages / "behind.pth").write_text("\n".join(lines) + "\n")

    def write(
        self, distribution: str, source: str, *, version: str = "1.0", entry: str = ""
    ) -> None:
        """Install a package of one module by hand: as pip leaves it, without pip's seconds."""
        module = distribution.replace("-", "_")
        (self.packages / f"{module}.py").write_text(source)
        info = self.packages / f"{module}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        )
        (info / "entry_points.txt").write_text(f"[zonda]\n{entry or module} = {module}\n")

    def pip_install(self, project: Path) -> None:
        """Install a project with pip."""
        options = ["--no-deps", "--disable-pip-version-check", "-q"]
        if importlib.util.find_spec("hatchling"):  # else pip fetches it
            options.append("--no-build-isolation")
        self.run(
            [sys.executable, "-m", "pip", "--python", self.python, "install", *options, project]
        )

    def zonda(self, *words: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run the command line; fails unless the exit code is ``code``."""
        return self.run([self.python, "-m", "zonda", *words], code=code)

    def data(self, *words: str | Path, code: int = 0) -> Any:
        """What a command shows, as data."""
        return json.loads(self.zonda(*words, "-f", "json", code=code).stdout)

    def run(
        self, words: list[str | Path], *, code: int = 0, folder: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program; fails unless the exit code is ``code``, and on any traceback."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        done = subprocess.run(
            [str(word) for word in words],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env={**kept, "HOME": str(self.home), "ZONDA_HOME": str(self.home)},
            cwd=folder or self.home,
            timeout=LONGEST,
        )
        said = f"{' '.join(map(str, words))}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in said, said
        assert done.returncode == code, said
        return done


def _site_folders() -> list[str]:
    """Where the packages of this process are, zonda among them."""
    spec = importlib.util.find_spec("zonda")
    assert spec is not None
    assert spec.origin is not None
    return [str(Path(spec.origin).parents[1]), *site.getsitepackages()]
