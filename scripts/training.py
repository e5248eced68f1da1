"""What gpu-check and train-docs share: the result file of training on a GPU, how runs are merged into it, and what
became of the targets. Standard library only."""
import json
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = os.path.join(ROOT, "results", "training-h200.json")
TARGETS = os.path.join(ROOT, "docs", "training-targets.json")
FORMAT = "heddle training 1"
PEER_OF = {"tf32x3": "fp32"}  # three tf32 products stand for float32
FACTS = ("device_name", "driver", "runtime", "machine", "cpu_name", "threads", "version")
# By what a row of a section is known; one that is measured again takes the place of the earlier one.
KEYS = {"train": ("device", "kernels", "precision", "batch"), "streamed": ("device", "kernels", "precision", "batch"),
        "infer": ("device", "kernels", "precision", "batch"), "peers": ("framework", "precision", "batch", "mode"),
        "gradients": ("kernels", "precision", "batch")}


class Trouble(Exception):
    """Something a person has to put right; its text is the one line that is shown."""


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as problem:
        raise Trouble("%s: %s" % (path, problem))


def save(path, document):
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)


def merged(whole, section, found):
    """`whole` with a run's document in it: rows of `section` that were measured again anew, each with its date."""
    whole = whole or {"format": FORMAT}
    if whole["format"] != FORMAT:
        raise Trouble("the result file has another format: %s" % whole["format"])
    if section in ("train", "streamed", "infer"):
        for fact in FACTS:
            if fact in ("device_name", "driver") and whole.get(fact, found[fact]) != found[fact]:
                raise Trouble("the result file is of another %s: %s, and this is %s" % (fact, whole[fact], found[fact]))
            whole[fact] = found[fact]
    if section not in KEYS:  # accuracy: all of it at once
        whole[section] = dict(whole.get(section, {}), **found)
        return whole
    for row in found["results"]:
        row["date"] = found["date"]
    keys = KEYS[section]
    again = {tuple(row[key] for key in keys) for row in found["results"]}
    kept = [row for row in whole.get(section, {}).get("results", []) if tuple(row[key] for key in keys) not in again]
    versions = dict(whole.get(section, {}).get("versions", {}), **found.get("versions", {}))
    whole[section] = dict(whole.get(section, {}), **found)
    if versions:
        whole[section]["versions"] = versions
    whole[section]["results"] = kept + found["results"]
    if section == "peers":
        mark_fastest(whole[section]["results"])
    return whole


def is_timed(row):
    return row.get("microseconds") is not None


def mark_fastest(rows):
    for row in rows:
        row.pop("fastest", None)
    for row in {id(one): one for one in (fastest_peer(rows, row["batch"], row["precision"].split("-")[0])
                                         for row in rows) if one}.values():
        row["fastest"] = True


def fastest_peer(rows, batch, precision):
    """Of all frameworks and modes; "bf16-pure" is bf16 too."""
    fitting = [row for row in rows if is_timed(row) and row["batch"] == batch
               and row["precision"].split("-")[0] == PEER_OF.get(precision, precision)]
    return min(fitting, key=lambda row: row["microseconds"], default=None)


def fastest_own(results, batch, precision, section="train"):
    fitting = [row for row in results.get(section, {}).get("results", []) if is_timed(row) and row["batch"] == batch
               and row["precision"] == precision and row["device"] == "cuda"]
    return min(fitting, key=lambda row: row["microseconds"], default=None)


def against_peer(results, row):
    """How many times as fast as the fastest peer a row is; None: no peer was measured."""
    peer = fastest_peer(results.get("peers", {}).get("results", []), row["batch"], row["precision"])
    return peer["microseconds"] / row["microseconds"] if peer and is_timed(row) else None


def unheard_peers(rows, batch, precision):
    """Frameworks without a single figure there: the fastest of the others need not be the fastest of all."""
    fitting = [row for row in rows if row["batch"] == batch
               and row["precision"].split("-")[0] == PEER_OF.get(precision, precision)]
    heard = {row["framework"] for row in fitting if is_timed(row)}
    return sorted({row["framework"] for row in rows} - heard)


def judge(target, results):
    """{"own": row, "peer": row, "reached": number or None, "unheard": frameworks without a figure, "met": bool}"""
    own = fastest_own(results, target["batch"], target["precision"])
    rows = results.get("peers", {}).get("results", [])
    peer = fastest_peer(rows, target["batch"], target["precision"])
    unheard = unheard_peers(rows, target["batch"], target["precision"])
    reached = peer["microseconds"] / own["microseconds"] if own and peer else None
    enough = reached is not None and reached >= target["at_least"]
    return {"own": own, "peer": peer, "reached": reached, "unheard": unheard, "enough": enough,
            "met": enough and not unheard}


def streamed_cost(results, row):
    """How much longer a streamed step takes than the same one with resident images, as a share; None: not measured."""
    for resident in results.get("train", {}).get("results", []):
        if is_timed(resident) and is_timed(row) and all(resident[key] == row[key] for key in KEYS["train"]):
            return row["microseconds"] / resident["microseconds"] - 1
    return None
