#!/usr/bin/env python3
"""Prints the licences of what a binary contains: licenses.py COMPONENTS TEXTS NOTICES COMMON

COMPONENTS  the bill of materials of the binary
TEXTS       what cargo-bundle-licenses found in the crates of the workspace
NOTICES     a folder with further notices, one text or HTML file for each component that is not a crate
COMMON      a folder with the common licences, for crates that name one and have no copy of it
"""

import json
import sys
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path

components_file, texts_file, notices_folder, common_folder = map(Path, sys.argv[1:])
LINE = "-" * 79


class Text(HTMLParser):
    """The text of a page, without its styles."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.hidden = False

    def handle_starttag(self, tag: str, attributes: object) -> None:
        self.hidden = tag in ("style", "title")

    def handle_endtag(self, tag: str) -> None:
        self.hidden = False

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.parts.append(data)


def plain(file: Path) -> str:
    text = file.read_text()
    if file.suffix != ".html":
        return text
    page = Text()
    page.feed(text)
    lines = [line.rstrip() for line in "".join(page.parts).splitlines()]
    # at most one empty line after another
    return "\n".join(line for line, before in zip(lines, ["", *lines]) if line or before)


def texts_of(library: dict) -> list[str]:
    """Returns the texts of a crate's licences, at least one."""
    found = [license["text"].strip() for license in library["licenses"]]
    found = [text for text in found if text and text != "NOT FOUND"]
    if not found:
        common = [common_folder / f"{license['license']}.txt" for license in library["licenses"]]
        found = [file.read_text().strip() for file in common if file.is_file()]
    return found


libraries = {
    (library["package_name"], library["package_version"]): library
    for library in json.loads(texts_file.read_text())["third_party_libraries"]
}
crates = [
    (component["name"], component["version"])
    for component in json.loads(components_file.read_text())["components"]
    # crates of the workspace have the licence of Solon itself
    if "path+file" not in component["bom-ref"]
]
users: dict[str, list[str]] = defaultdict(list)
missing = []
print("Solon contains these crates of others. The texts of their licences follow.\n")
for crate in sorted(crates):
    title = " ".join(crate)
    library = libraries.get(crate)
    texts = texts_of(library) if library else []
    if not texts:
        missing.append(title)
        continue
    print(f"  {title}: {library['license']}")
    for text in texts:
        users[text].append(title)
if missing:
    sys.exit(f"licenses: no text of a licence for {', '.join(missing)}")

for text, names in sorted(users.items(), key=lambda item: item[1]):
    print(f"\n{LINE}\n{', '.join(names)}\n{LINE}\n\n{text}")
for notice in sorted(notices_folder.iterdir()):
    print(f"\n{LINE}\n{notice.stem}\n{LINE}\n\n{plain(notice).strip()}")
