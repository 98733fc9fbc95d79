"""What the documents say is there, is there, and what is there is in the documents."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
READ = re.compile(r'\b(?:text|number|flag|seed|words)\(\s*"([A-Z][A-Z0-9_]+)"')
LINK = re.compile(r"\]\((?!https?://)([^)#]+)")
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def variables_read() -> set[str]:
    return set(READ.findall((ROOT / "openwop_console" / "settings.py").read_text()))


def test_every_variable_that_is_read_is_documented():
    documented = (ROOT / "docs" / "settings.md").read_text()

    assert {name for name in variables_read() if f"`{name}`" not in documented} == set()


def test_every_documented_variable_is_read_somewhere():
    sources = "".join(path.read_text() for path in (ROOT / "openwop_console").rglob("*.py"))
    documented = re.findall(r"`([A-Z][A-Z0-9_]{3,})`", (ROOT / "docs" / "settings.md").read_text())

    unknown = {name for name in documented if f'"{name}"' not in sources}
    assert unknown - {"NAME_FILE"} == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_between_documents_leads_somewhere(document):
    targets = [document.parent / link for link in LINK.findall(document.read_text())]

    assert [str(target) for target in targets if not target.exists()] == []


def test_every_file_that_the_readme_names_is_there():
    named = re.findall(r"`((?:runs|verification|openwop_console|templates)/[\w/.]+)`",
                       (ROOT / "README.md").read_text())  # fmt: skip

    assert [name for name in named if not (ROOT / name).exists()] == []
    assert named
