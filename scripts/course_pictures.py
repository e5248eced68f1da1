"""Pictures in chapters, drawn by web/pictures from what the simulator recorded. A line of a chapter's page,

    <!-- picture: KIND PROGRAM.cu [KERNEL[.BUFFER]] [-DNAME=VALUE...] -->

asks for one: of a warp's access (`warp`), of shared memory's `banks`, of a `block` in time, of a `race`, of a `tile`'s way, or
of `streams`. `heddle check --trace` records it; what the picture needs is kept in pictures.json beside the page, which
`scripts/course-test --pictures` writes and course-test compares with a new recording. Standard library only."""
import json
import os
import re
import subprocess

COMMENT = re.compile(r"^<!-- picture: ([\w.= -]+) -->$", re.M)
KINDS = ("warp", "banks", "block", "race", "tile", "streams")
FILE = "pictures.json"
SECONDS = 120  # for one program, on a loaded machine


class Trouble(Exception):
    pass


def wanted(text):
    """The pictures that a page asks for, in its order and words."""
    return list(dict.fromkeys(COMMENT.findall(text)))


def parts(words):
    """(kind, program, kernel or "", flags)"""
    kind, program, *rest = words.split()
    kernel = rest[0] if rest and not rest[0].startswith("-") else ""
    flags = rest[1:] if kernel else rest
    if kind not in KINDS or not program.endswith(".cu") or not all(flag.startswith("-D") for flag in flags):
        raise Trouble("'%s': write KIND PROGRAM.cu [KERNEL[.BUFFER]] [-DNAME=VALUE...], and as the kind one of %s"
                      % (words, ", ".join(KINDS)))
    return kind, program, kernel, flags


def trace_of(heddle, folder, program, flags):
    path = os.path.join(folder, "trace.json")
    result = subprocess.run([heddle, "check", "--no-nvcc", "--quiet", "--trace", path, *flags, program], cwd=folder,
                            timeout=SECONDS, capture_output=True, text=True, check=False)
    if result.returncode not in (0, 1) or not os.path.exists(path):
        raise Trouble("`heddle check %s` exits with %d: %s" % (program, result.returncode, result.stderr.strip()))
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    os.remove(path)
    return trace


def first_of_each(trace, events, buffer):
    """The first access of the first warp at each place, or only those to a buffer of that name."""
    found = {}
    for event in events:
        if event.get("warp") == 0 and "offsets" in event and buffer in ("", trace["buffers"][event["buffer"]]["name"]):
            found.setdefault(event["place"], event)
    if not found:
        raise Trouble("the first warp does not access '%s'" % buffer)
    return list(found.values())


def launches_of(trace, kind, kernel, findings):
    """The launch that is shown, with its one block."""
    if kind == "streams":
        return []
    kernel, _, buffer = kernel.partition(".")
    at = findings[0]["places"][0]["events"][0] if findings else {}
    for number, launch in enumerate(trace["launches"]):
        if launch["blocks"] and (number == at["launch"] if at else launch["kernel"] == kernel):
            block = launch["blocks"][at.get("block", 0)]
            events = first_of_each(trace, block["events"], buffer) if kind in ("warp", "banks") else block["events"]
            return [dict(launch, blocks=[dict(block, events=events)])]
    raise Trouble("the trace has no launch of '%s'" % kernel)


class Kept:
    """The entries of a list that something refers to, with new indices."""

    def __init__(self, entries):
        self.entries, self.places, self.kept = entries, {}, []

    def index(self, old):
        if old is None or old < 0:
            return old
        if old not in self.places:
            self.places[old] = len(self.kept)
            self.kept.append(dict(self.entries[old]))
        return self.places[old]


def renumbered(item, places, buffers):
    """The same with the new indices, whatever it is."""
    if isinstance(item, list):
        return [renumbered(one, places, buffers) for one in item]
    if not isinstance(item, dict):
        return item
    made = {}
    for name, value in item.items():
        if name == "place":
            made[name] = places.index(value)
        elif name == "buffer":
            made[name] = buffers.index(value)
        elif name == "buffers" and isinstance(value, list):
            made[name] = [buffers.index(one) for one in value]
        else:
            made[name] = renumbered(value, places, buffers)
    return made


def moved(finding):
    """A finding whose events are in the one block that is kept."""
    places = [dict(place, events=[dict(event, launch=0, block=0) for event in place.get("events", [])])
              for place in finding["places"]]
    return dict({name: finding[name] for name in ("kind", "note") if name in finding}, places=places)


def kept(trace, kind, kernel):
    """What one picture needs of a trace: nothing that changes from one machine or version to the next."""
    findings = [finding for finding in trace["findings"] if finding["kind"] == "race"][:1] if kind == "race" else []
    if kind == "race" and not (findings and all(place.get("events") for place in findings[0]["places"])):
        raise Trouble("there is no race in the trace")
    places, buffers = Kept(trace["places"]), Kept(trace["buffers"])
    launches = renumbered(launches_of(trace, kind, kernel, findings), places, buffers)
    operations = renumbered(trace["operations"] if kind == "streams" else [], places, buffers)
    buffers.kept = renumbered(buffers.kept, places, buffers)
    files = {place["file"] for place in places.kept} | {place["file"] for one in findings for place in one["places"]}
    sources = [dict(source, file=os.path.basename(source["file"])) for source in trace["sources"] if source["file"] in files]
    made = {"launches": launches, "operations": operations, "buffers": buffers.kept, "places": places.kept,
            "findings": [moved(finding) for finding in findings], "sources": sources, "limits": trace["limits"]}
    return without_folders(made)


def without_folders(item):
    """Names of files without their folders, and no offsets of instructions."""
    if isinstance(item, list):
        return [without_folders(one) for one in item]
    if not isinstance(item, dict):
        return item
    return {name: os.path.basename(value) if name == "file" else without_folders(value) for name, value in item.items()
            if not (name == "offset" and "line" in item)}


def record(heddle, folder, text):
    """What pictures.json has to hold for a page; `folder`: a copy of the page's, in which programs may be built."""
    made, traces = {}, {}
    for words in wanted(text):
        kind, program, kernel, flags = parts(words)
        key = (program, *flags)
        if key not in traces:
            traces[key] = trace_of(heddle, folder, program, flags)
        made[words] = kept(traces[key], kind, kernel)
    return made


def written(pictures):
    """As the file has it: one picture per line."""
    rows = ",\n".join("%s:%s" % (json.dumps(words), json.dumps(trace, separators=(",", ":"), ensure_ascii=False))
                      for words, trace in pictures.items())
    return "{\n%s\n}\n" % rows
