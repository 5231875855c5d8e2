"""The commands on the page of the command line print what it shows."""

from __future__ import annotations

import re
import shlex

import pytest

from rffboost_ext import cli

from ..docs.test_pages import PAGES, blocks, is_shown

PAGE = PAGES["docs/command_line.md"]


def test_commands_print_what_the_page_shows(tmp_path, monkeypatch, capsys):
    pytest.importorskip("onnxruntime")
    monkeypatch.chdir(tmp_path)
    (script,) = blocks("python", PAGE)
    exec(script, {})
    shown = re.findall(r"```bash\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    assert len(shown) == len(blocks("bash", PAGE))
    for command, expected in shown:
        assert cli.main(shlex.split(command)[1:]) == 0
        printed = capsys.readouterr().out
        assert is_shown(printed, expected), f"printed:\n{printed}\nnot:\n{expected}"
    assert (tmp_path / "predictions.csv").read_text().splitlines()[1].startswith('"00400"')
