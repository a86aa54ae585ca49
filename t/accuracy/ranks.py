# SPDX-License-Identifier: GPL-2.0-or-later
"""Spearman's rank correlation."""


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    out, i = [0.0] * len(values), 0
    while i < len(order):
        k = i
        while k < len(order) and values[order[k]] == values[order[i]]:
            k += 1
        for at in order[i:k]:
            out[at] = (i + k - 1) / 2
        i = k
    return out


def correlation(a, b):
    """NAN if there are too few values, or all are the same."""
    if len(a) < 3:
        return float("nan")
    a, b = ranks(a), ranks(b)
    mean = (len(a) - 1) / 2
    both = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    norm = sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)
    return both / norm ** 0.5 if norm > 0 else float("nan")
