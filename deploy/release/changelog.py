#!/usr/bin/env python3
"""Prints the section of one version in CHANGELOG.md, or of what is not released yet: changelog.py FILE VERSION"""

import re
import sys
from pathlib import Path

file, version = sys.argv[1:]
sections = re.split(r"^## ", Path(file).read_text(), flags=re.MULTILINE)[1:]
titles = {section.splitlines()[0].strip(): section.partition("\n")[2].strip() for section in sections}
for title, text in titles.items():
    if re.match(rf"\[?{re.escape(version)}\]?(\s|$)", title):
        break
else:
    text = titles.get("Unreleased")
if not text:
    sys.exit(f"changelog: {file} has neither a section `{version}` nor a section `Unreleased`")
print(f"# Solon {version}\n\n{text}")
