#!/usr/bin/env python3
"""Whether gradients are good enough: judges a row that gradients_gpu.py measured, or stored rows.

    peers/gradients_judged.py FILE [--write]

FILE is what gradients_gpu.py --json wrote, or a result file of training. Exit code 1 and a reason if a row is not good
enough; --write stores the verdicts in the file.

The error of each parameter may be ALLOWED times PyTorch's: the median over the seeds, and where float64 was computed
with the decisions that a program took (WITH_EDGES) the largest as well, because chance at an edge no longer explains
it. A NaN in any seed never passes. The decisions that were taken otherwise than in float64 are judged too: how many there
are, and to which sides they went. Plain Python, without PyTorch."""

import argparse
import math
import os
import sys

sys.dont_write_bytecode = True  # nothing is left in the source tree
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import edges  # noqa: E402
import result_file  # noqa: E402

# How many times PyTorch's error in the same precision is allowed: three tf32 products are not quite float32, and naive
# kernels add thousands of numbers one after the other.
ALLOWED = {"tf32x3": 10, "naive": 20}
USUALLY_ALLOWED = 2
WITH_EDGES = ("fp32", "tf32x3")
# Below this an error is rounding of what is compared, not of how it was computed.
FLOOR = 1e-7
# How many decisions may be flipped: so many times PyTorch's, plus some, because few are a matter of chance. A program
# with larger rounding errors flips more.
TIMES_TAKEN, BESIDES = {"naive": 20}, 4
USUALLY_TIMES_TAKEN = 4
# Sides that chance would give less often than this have another reason.
UNLIKELY = 1e-3


def over_seeds(rows, statistic):
    """{name: statistic of all seeds}; NaN if one seed's is: it must not hide among the others."""
    found = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        found[name] = statistic(values) if all(math.isfinite(value) for value in values) else math.nan
    return found


def worst_ratio(own, peer):
    """(parameter, ratio) of the largest ratio; NaN counts as the largest."""
    ratios = {name: own[name] / max(peer[name], FLOOR) for name in own}
    worst = max(ratios, key=lambda name: ratios[name] if math.isfinite(ratios[name]) else math.inf)
    return worst, ratios[worst]


def without_number(row):
    """"heddle's conv1.weight" for every parameter that is NaN in some seed."""
    found = []
    for prefix, whose in (("", "heddle's"), ("peer_", "PyTorch's")):
        kinds = [row[prefix + kind] for kind in ("errors", "errors_max", "errors_raw") if prefix + kind in row]
        found += ["%s %s" % (whose, name) for name in row[prefix + "errors"]
                  if not all(math.isfinite(kind[name]) for kind in kinds)]
    return found


def about_decisions(row):
    """What is wrong with the decisions that a program took otherwise than float64 has them."""
    taken, of_peer = row["edges"]["taken"], row["edges"]["peer_taken"]
    why = []
    if len(taken) > TIMES_TAKEN.get(row["kernels"], USUALLY_TIMES_TAKEN) * len(of_peer) + BESIDES:
        why.append("%d flipped decisions, PyTorch %d" % (len(taken), len(of_peer)))
    if not all("instead_of" in one for one in taken + of_peer):
        return why + ["the sides of the decisions are not recorded"]
    own, peer = edges.sides(taken), edges.sides(of_peer)
    # Rounding does not know on which side of zero relu's value is.
    if edges.chance_of_split(own["opened"], own["closed"]) < UNLIKELY:
        why.append("relu opened %(opened)d times and closed %(closed)d times" % own)
    # Of places that are equal in float32 the first wins in both programs: the proportion must be PyTorch's.
    if edges.chance_of_splits(own["earlier"], own["later"], peer["earlier"], peer["later"]) < UNLIKELY:
        why.append("windows won by earlier places %d times and by later ones %d times, PyTorch's %d and %d" % (
            own["earlier"], own["later"], peer["earlier"], peer["later"]))
    return why


def judged(row):
    """The row with its worst parameter, whether all of it is within what is allowed ("met"), and if not, "why"."""
    if "error" in row:
        return {**row, "met": False, "why": [row["error"]]}
    allowed = ALLOWED.get(row["kernels"], ALLOWED.get(row["precision"], USUALLY_ALLOWED))
    worst, ratio = worst_ratio(row["errors"], row["peer_errors"])
    made = {**row, "worst": worst, "worst_ratio": ratio, "allowed": allowed}
    if "errors_raw" in row and "peer_errors_raw" in row:  # shown, not judged: luck at an edge is in it
        made["raw"], made["raw_ratio"] = worst_ratio(row["errors_raw"], row["peer_errors_raw"])
    missing = without_number(row)
    why = ["NaN: %s" % ", ".join(missing)] if missing else []
    if not ratio <= allowed:
        why.append("above %g" % allowed)
    if row["precision"] in WITH_EDGES:
        if all(kind in row for kind in ("errors_max", "peer_errors_max", "edges")):
            made["largest"], made["largest_ratio"] = worst_ratio(row["errors_max"], row["peer_errors_max"])
            if not made["largest_ratio"] <= allowed:
                why.append("largest above %g, in %s" % (allowed, made["largest"]))
            why += about_decisions(row)
        else:
            why.append("the largest error and the decisions are not recorded")
    return {**made, "why": why, "met": not why}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    document = result_file.load(options.file)
    section = document.get("gradients", document)
    section["results"] = rows = [judged(row) for row in section["results"]]
    for row in rows:
        figures = ["%.2f" % row[name] if name in row else "-" for name in ("worst_ratio", "largest_ratio")]
        print("%-7s %-7s %6d  median %6s  largest %6s  %s" % (row["kernels"], row["precision"], row["batch"], *figures,
                                                              "; ".join(row["why"])))
    if options.write:
        result_file.save(options.file, document)
    return 0 if rows and all(row["met"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
