#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks a Grafana dashboard against what Grafana's loader needs of it.

usage: dashboard_check.py DASHBOARD METRICS RULES

METRICS has a line for each metric that exists. Every expression is written to RULES as a
recording rule, so that promtool can parse it. Prints what is wrong.
"""
import json
import re
import sys

GRID_WIDTH = 24


def overlap(a, b):
    return (a["x"] < b["x"] + b["w"] and b["x"] < a["x"] + a["w"] and
            a["y"] < b["y"] + b["h"] and b["y"] < a["y"] + a["h"])


def check_panel(panel, earlier, known):
    at = panel["gridPos"]
    if at["x"] + at["w"] > GRID_WIDTH:
        yield "is wider than the grid"
    if any(overlap(at, other["gridPos"]) for other in earlier):
        yield "lies on another one"
    if any(other["id"] == panel["id"] for other in earlier):
        yield "has the id of another one"
    if panel["type"] not in ("timeseries", "stat") or not panel["description"]:
        yield "has no known type, or no description"
    if panel["datasource"]["uid"] != "${datasource}":
        yield "has a data source of its own"
    for target in panel["targets"]:
        for metric in set(re.findall(r"cpi_[a-z_]+", target["expr"])) - known:
            yield f"asks for {metric}, which there is not"


def main():
    dashboard, metrics, rules = sys.argv[1:]
    with open(dashboard, encoding="utf-8") as f:
        d = json.load(f)
    with open(metrics, encoding="utf-8") as f:
        known = set(f.read().split())
    for key in ("title", "uid", "schemaVersion", "time", "templating", "panels"):
        if key not in d:
            print(f"there is no {key}")
    names = {variable["name"] for variable in d["templating"]["list"]}
    expressions = [t["expr"] for panel in d["panels"] for t in panel["targets"]]
    for variable in set(re.findall(r"\$\{?(\w+)", json.dumps(d["panels"]))) - names:
        print(f"there is no variable {variable}")
    for i, panel in enumerate(d["panels"]):
        for why in check_panel(panel, d["panels"][:i], known):
            print(f'{panel["title"]}: {why}')
    with open(rules, "w", encoding="utf-8") as f:
        json.dump({"groups": [{"name": "dashboard", "rules": [
            {"record": f"dashboard:{i}", "expr": expr.replace("$instance", ".*")}
            for i, expr in enumerate(expressions)]}]}, f)


main()
