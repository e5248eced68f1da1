"""What the scripts that fill pages share: tables, figures as text, and blocks between marks, each between
`<!-- figures: NAME -->` and `<!-- end -->`. Standard library only."""
import re

from result_file import Trouble

NOTHING = "Not measured yet."
BLOCK = re.compile(r"(<!-- figures: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def table(titles, rows):
    lines = ["| %s |" % " | ".join(titles), "|%s|" % "|".join("---" for _ in titles)]
    return "\n".join(lines + ["| %s |" % " | ".join(cell(text) for text in row) for row in rows])


def digits(number):
    """At least three significant digits: 1.23, 12.3, 123, 1234."""
    return "%.*f" % (2 if abs(number) < 10 else 1 if abs(number) < 100 else 0, number)


def filled(text, results, blocks, others=()):
    """The page with each block made anew by the function of its name; `others` are left to another script."""
    def fill(match):
        name = match.group(2)
        if name in others:
            return match.group(0)
        if name not in blocks:
            raise Trouble("there are no figures '%s'; there are %s" % (name, ", ".join(blocks)))
        return "%s\n%s\n\n%s" % (match.group(1), blocks[name](results), match.group(3))
    return BLOCK.sub(fill, text)


def fill(paths, results, blocks, check, complaint, others=()):
    """Fills the pages; with `check` writes nothing, and prints `complaint` for each page that is out of date. Returns
    the exit code."""
    wrong = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        made = filled(text, results, blocks, others)
        if made == text:
            continue
        if check:
            print("%s %s" % (path, complaint))
            wrong = 1
            continue
        with open(path, "w", encoding="utf-8") as file:
            file.write(made)
    return wrong
