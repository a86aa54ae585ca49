# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a file that the page saves is what its name says, for web_page.py."""
import csv
import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
import zlib

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "export_check.py")
EXPORTS = ("pprof", "collapsed", "speedscope", "firefox")


def wrong_export(form, data):
    """What export_check.py has against it."""
    with tempfile.NamedTemporaryFile() as f:
        f.write(data)
        f.flush()
        run = subprocess.run([sys.executable, CHECK, form, f.name, "totals"], capture_output=True, text=True)
    return None if run.returncode == 0 and run.stdout.strip() else run.stderr or "it has no totals"


def wrong_csv(data):
    rows = list(csv.reader(io.StringIO(data.decode()), strict=True))
    widths = {len(row) for row in rows}
    return None if rows and len(widths) == 1 and widths != {0} else f"rows of {widths} cells"


def wrong_svg(data):
    root = xml.fromstring(data)
    if root.tag != "{http://www.w3.org/2000/svg}svg":
        return f"the root is {root.tag}"
    drawn = [e for e in root.iter() if e.tag.rpartition("}")[2] in ("rect", "path", "polygon", "line", "circle")]
    return None if len(drawn) > 3 else "nothing is drawn"


def wrong_png(data):
    """All chunks have their sums, and the picture has more than one colour."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        return "no signature"
    at, pixels, name = 8, b"", b""
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if zlib.crc32(name + body) != struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]:
            return f"the sum of {name} is wrong"
        pixels += body if name == b"IDAT" else b""
        at += 12 + size
    return None if name == b"IEND" and len(set(zlib.decompress(pixels))) > 8 else "it is empty"


def wrong(form, data):
    """None, or what is wrong with it."""
    try:
        if form in EXPORTS:
            return wrong_export(form, data)
        if form == "json":
            return None if json.loads(data) else "it is empty"
        if form in ("text", "prometheus"):
            return None if len(data.decode().splitlines()) > 1 else "it is one line"
        return {"csv": wrong_csv, "svg": wrong_svg, "png": wrong_png}[form](data)
    except (ValueError, csv.Error, xml.ParseError, struct.error, zlib.error) as e:
        return str(e)
