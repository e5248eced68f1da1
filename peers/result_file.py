"""Result files: JSON with one row per line, so that a change of one figure is one line of a diff. Standard library
only."""
import json
import os


class Trouble(Exception):
    """Something a person has to put right; its text is the one line that is shown."""


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as problem:
        raise Trouble("%s: %s" % (path, problem))


def text_of(value, indent=0):
    """An element of a list is one line, whatever it holds. An object that holds lists or objects has one line per
    member. Everything else is one line. `heddle ... --json` writes the same way (src/base/json.c)."""
    if isinstance(value, dict) and any(isinstance(one, (dict, list)) for one in value.values()):
        lines = ["%s: %s" % (json.dumps(name), text_of(one, indent + 1)) for name, one in value.items()]
        opening, closing = "{", "}"
    elif isinstance(value, list) and any(isinstance(one, (dict, list)) for one in value):
        lines, opening, closing = [json.dumps(one) for one in value], "[", "]"
    else:
        return json.dumps(value)
    inner, outer = "\n" + " " * (indent + 1), "\n" + " " * indent
    return opening + inner + ("," + inner).join(lines) + outer + closing


def save(path, document):
    """Whole or not at all: a run that is cut off leaves the file as it was."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text_of(document) + "\n")
    os.replace(path + ".new", path)
