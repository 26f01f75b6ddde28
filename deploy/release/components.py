#!/usr/bin/env python3
"""Makes a bill of materials by cargo-cyclonedx independent of machine and time: components.py FROM TO CHECKOUT"""

import json
import os
import re
import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path

source, target, checkout = sys.argv[1:]
text = Path(source).read_text()
# crates of the workspace are named by their folders on this machine
text = text.replace(checkout, "/solon")
text = re.sub(r"file://\.", "file:.", text)
document = json.loads(text)
time = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
document["metadata"]["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ")
document.pop("serialNumber", None)
document["components"].sort(key=lambda component: component["bom-ref"])
# the same contents have the same number
contents = json.dumps(document, sort_keys=True)
document["serialNumber"] = uuid.uuid5(uuid.NAMESPACE_URL, contents).urn
Path(target).write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
