"""Kernels that cannot be taken out of their modules: copies, and what loads the kernel from them."""

from __future__ import annotations

from pathlib import Path

from portcheck.reproducer.kernelfile import copies, loader, needs


def test_modules_are_copied_where_they_are_imported_from_and_nothing_outside_the_folder(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text("import triton\n")

    copied = copies({"pkg/kernels.py": str(tmp_path / "kernels.py"), "../outside.py": str(tmp_path / "kernels.py")})

    assert copied == {"source/pkg/kernels.py": b"import triton\n"}


def test_packages_are_needed_that_are_neither_copied_nor_pythons_nor_triton() -> None:
    copied = {
        "source/pkg/kernels.py": b"import os, triton, torch.nn\nfrom einops import rearrange\nfrom . import helpers\n",
        "source/pkg/helpers.py": b"import pkg.kernels\n",
        "source/alone.py": b"import alone\n",
    }

    assert needs(copied) == ("einops", "torch")


def test_a_file_of_the_manifests_is_loaded_by_its_path_and_a_module_by_its_name() -> None:
    text = loader(
        {"lib/kernels.py": "/here/lib/kernels.py"},
        {
            "add": ["portcheck_file.lib.kernels", "add", "/here/lib/kernels.py"],
            "mul": ["pkg.kernels", "Outer.mul", "/here/pkg/kernels.py"],
        },
    ).decode()

    assert text.endswith("add = load('lib/kernels.py', 'add')\nmul = load('pkg.kernels', 'Outer.mul')\n")
    compile(text, "kernel.py", "exec")
