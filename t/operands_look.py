# SPDX-License-Identifier: GPL-2.0-or-later
"""operands_look.py VALUES EXPRESSION - the value of an expression about operands

VALUES is JSON of cpi values. The expression may use: r, the JSON; of(kind): the operands
of that kind; top(kind): the most frequent value, and its share, of the operand of that
kind with the most executions.
"""
import json
import sys


def look(file, expression):
    r = json.load(open(file))

    def of(kind):
        return [o for o in r["operands"] if o["kind"] == kind]

    def top(kind):
        o = max(of(kind), key=lambda o: o["executions"])
        return (o["values"][0]["value"], o["values"][0]["share"]) if o["values"] else None

    print(eval(expression, {"r": r, "of": of, "top": top}))


look(*sys.argv[1:])
