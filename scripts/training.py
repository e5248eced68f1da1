"""What gpu-check and train-docs share: the result file of training on a GPU, how runs are merged into it, and whether
targets are met. Standard library only."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "peers"))
from result_file import Trouble, load, save  # noqa: E402,F401: who has this module has these

RESULTS = os.path.join(ROOT, "results", "training-h200.json")
TARGETS = os.path.join(ROOT, "docs", "training-targets.json")
FORMAT = "heddle training 1"
PEER_OF = {"tf32x3": "fp32"}  # three tf32 products stand for float32
FACTS = ("device_name", "driver", "runtime", "machine", "cpu_name", "threads", "version")
# What identifies a row of a section. A row that is measured again replaces the earlier one, except a peer's slower
# figure.
OWN = ("device", "kernels", "precision", "batch")
KEYS = {"train": OWN, "sustained": OWN, "streamed": OWN, "infer": OWN, "gradients": ("kernels", "precision", "batch"),
        "peers": ("framework", "precision", "batch", "mode")}


def by_asked_precision(row):
    """A precision is the lowest that is allowed: a row stands where it was asked for, and says what it was computed in."""
    if "asked_precision" in row:
        row["computed_in"], row["precision"] = row["precision"], row.pop("asked_precision")
    return row


def merged(whole, section, found):
    """`whole` with a run's document in it: rows of `section` that were measured again anew, each with its date and the
    command of its run where that is known, and those of peers with their framework's version. Of our own rows the last
    run counts; of a peer's mode the fastest figure that it ever had with one version of its framework (`faster`). What
    limits a step is kept while its target is missed."""
    whole = whole or {"format": FORMAT}
    if whole["format"] != FORMAT:
        raise Trouble("the result file has another format: %s" % whole["format"])
    check_card(whole, section, found)
    for row in found["results"] if section in ("train", "streamed", "infer") else []:
        by_asked_precision(row)
    if section in ("train", "streamed", "infer"):
        whole.update({fact: found[fact] for fact in FACTS})
    if section == "limits":
        whole[section] = rows_with(whole.get(section, []), found, ("batch", "precision"))
    elif section not in KEYS:  # accuracy, copies: all of it at once
        if section == "accuracy":  # of which each part may be measured by itself
            found = {name: dict(part, date=found["date"]) if isinstance(part, dict) else part
                     for name, part in found.items()}
        whole[section] = dict(whole.get(section, {}), **found)
    else:
        before = whole.get(section, {})
        versions = dict(before.get("versions", {}), **found.get("versions", {}))
        for row in found["results"] if section == "peers" else []:
            if row["framework"] in found.get("versions", {}):
                row["version"] = found["versions"][row["framework"]]
        for row in before.get("results", []) if section == "peers" else []:  # from when only the section had one
            if "version" not in row and row["framework"] in before.get("versions", {}):
                row["version"] = before["versions"][row["framework"]]
        rows = rows_with(before.get("results", []), found, KEYS[section], faster if section == "peers" else None)
        whole[section] = {**before, **found, "results": rows}
        for name in ("command", "commands"):  # rows have their own
            whole[section].pop(name, None)
        commands = older_commands(before, rows)
        if commands:
            whole[section]["commands"] = commands
        if versions:
            whole[section]["versions"] = versions
        if section == "peers":
            mark_fastest(rows)
    if whole.get("limits"):
        whole["limits"] = live_limits(whole)
    return whole


def older_commands(before, rows):
    """{date: command} of runs from the time when rows did not have their command, while rows of that date are there. It
    stays as it is: of runs that ended in the same second it has one, and which rows are that one's is not known."""
    known = dict(before.get("commands", {}))
    if before.get("command"):
        known.setdefault(before.get("date"), before["command"])
    dates = {row.get("date") for row in rows if "command" not in row}
    return {date: command for date, command in known.items() if date in dates}


def check_card(whole, section, found):
    """Figures of two cards or drivers are not to stand in one file, whichever section names them."""
    known = card_of(None, whole)
    for name, one in whole.items():
        if isinstance(one, dict):
            known = {**card_of(name, one), **known}
    for fact, value in card_of(section, found).items():
        if known.get(fact, value) != value:
            raise Trouble("the result file has %s %s, this run %s: use another file" % (fact, known[fact], value))


def card_of(section, document):
    named = {fact: document[fact] for fact in ("device_name", "driver") if document.get(fact)}
    if section == "peers" and document.get("device"):
        named["device_name"] = document["device"]
    return named


def rows_with(rows, found, keys, choose=None):
    """`rows` and those of a run, which take the place of earlier ones or, where both have a figure, what `choose` makes
    of the two; a row that failed is kept in an earlier figure as `failed`, and does not replace it."""
    def key_of(row):
        return tuple(row[key] for key in keys)
    earlier, made = {key_of(row): row for row in rows}, {}
    for row in found["results"]:
        row["date"] = found["date"]
        if found.get("command"):
            row["command"] = found["command"]
        key = key_of(row)
        before = made.get(key) or earlier.get(key)
        if before and has_figure(before) and not has_figure(row):
            row = {**before, "failed": {"date": found["date"],
                                        "error": row.get("error") or row.get("message") or row.get("status", "failed")}}
        elif before and has_figure(before) and choose:
            row = choose(before, row)
        made[key] = row
    return [row for row in rows if key_of(row) not in made] + list(made.values())


def faster(before, row):
    """Of two rows of a peer's mode: a later run may be slower because something else used the GPU, and a framework is
    measured by what it can do. So with the same framework version the faster row stays, and the last slower figure that
    is not older is kept in it as `later`. With another version, or if one row has none, the new row replaces the
    other."""
    if not row.get("version") or row["version"] != before.get("version"):
        return row
    kept = min(row, before, key=lambda one: one["microseconds"])  # of equals the new one
    slower = [{"microseconds": one["microseconds"], "date": one["date"]}
              for one in (before, row, before.get("later")) if one and one["microseconds"] > kept["microseconds"]
              and one["date"] >= kept["date"]]
    made = {name: value for name, value in kept.items() if name not in ("later", "failed")}
    return {**made, "later": max(slower, key=lambda one: one["date"])} if slower else made


def live_limits(whole):
    """Accounts of targets that are missed, but for those older than the newest of their precision which are of another
    rung or of other kernels: these are no longer what runs."""
    targets = {(target["batch"], target["precision"]): target for target in load(TARGETS)["targets"]}
    newest = {}
    for one in sorted(whole["limits"], key=lambda one: one.get("date", "")):
        newest[one["precision"]] = one

    def is_live(one):
        target, last = targets.get((one["batch"], one["precision"])), newest[one["precision"]]
        if not target or judge(target, whole)["met"]:
            return False
        return one.get("date", "") == last.get("date", "") or what_runs(one) == what_runs(last)
    return [one for one in whole["limits"] if is_live(one)]


def what_runs(account):
    return account["rung"], [kernel["kernel"] for kernel in account["kernels"]]


def has_figure(row):
    return is_timed(row) or "errors" in row  # a time, or the errors of gradients


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
    """The speed-up of a row over the fastest peer; None: no peer was measured."""
    peer = fastest_peer(results.get("peers", {}).get("results", []), row["batch"], row["precision"])
    return peer["microseconds"] / row["microseconds"] if peer and is_timed(row) else None


def unheard_peers(rows, batch, precision):
    """Frameworks without a single figure there: the fastest of the others need not be the fastest of all."""
    fitting = [row for row in rows if row["batch"] == batch
               and row["precision"].split("-")[0] == PEER_OF.get(precision, precision)]
    heard = {row["framework"] for row in fitting if is_timed(row)}
    return sorted({row["framework"] for row in rows} - heard)


def modes_without_figure(rows, batch, precision, modes):
    """[(framework, mode)] of `modes`, {framework: [mode]}, that have no time at a batch in a peers' precision."""
    heard = {(row["framework"], row["mode"]) for row in rows
             if is_timed(row) and row["batch"] == batch and row["precision"] == precision}
    return [(framework, mode) for framework in sorted(modes) for mode in modes[framework]
            if (framework, mode) not in heard]


def against_16_bits(results, batch):
    """The speed-up of our tf32 over the fastest 16-bit peer; None: one of them was not measured."""
    own = fastest_own(results, batch, "tf32")
    rows = results.get("peers", {}).get("results", [])
    peers = [peer for peer in (fastest_peer(rows, batch, name) for name in ("bf16", "fp16")) if peer]
    return min(peer["microseconds"] for peer in peers) / own["microseconds"] if own and peers else None


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
