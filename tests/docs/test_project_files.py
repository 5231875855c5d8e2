"""The changelog, the citation file and the layers in CONTRIBUTING agree with ``pyproject.toml``."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = SETTINGS["project"]


def test_the_changelog_is_short_and_begins_with_this_version():
    text = (ROOT / "CHANGELOG.md").read_text()
    assert len(text.splitlines()) <= 60
    assert re.findall(r"^## \[(.*?)\]", text, re.MULTILINE)[0] == PROJECT["version"]


def test_the_citation_is_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert [citation[name] for name in ("title", "version", "license", "keywords")] == [
        PROJECT[name] for name in ("name", "version", "license", "keywords")
    ]
    cited = [one.get("doi") or one["url"] for one in citation["references"]]
    assert {PROJECT["urls"]["Paper"].removeprefix("https://doi.org/"), PROJECT["urls"]["Preprint"]} < {*cited}


def test_contributing_lists_the_layers_from_the_bottom_up():
    text = (ROOT / "CONTRIBUTING.md").read_text().partition("| layer | has |")[2].partition("\n\n")[0]
    listed = [set(re.findall(r"`(\w+)`", line.split("|")[1])) for line in text.splitlines()[2:]]
    layers = SETTINGS["tool"]["importlinter"]["contracts"][0]["layers"]
    assert listed == [set(layer.split(" | ")) for layer in reversed(layers)]
