"""Mistakes that can be planted in C sources: where they fit, and which are drawn."""
import hashlib
import itertools
import os
import re

TOKEN = re.compile(r"""
    (?P<skip> \s+ | //[^\n]* | /\*.*?\*/ | ^[ \t]*\#(?:[^\n\\]|\\.)* )
  | (?P<text> "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' )
  | (?P<number> \.?\d(?:[eEpP][+-]|[\w.])* )
  | (?P<word> [A-Za-z_]\w* )
  | (?P<sign> <<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|. )
""", re.VERBOSE | re.MULTILINE | re.DOTALL)

RELATIONS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
NO_EXPRESSION = {"return", "if", "for", "while", "do", "else", "case", "default", "break", "continue", "goto", "switch",
                 "typedef", "static", "const", "struct", "enum", "union", "extern", "unsigned", "signed", "volatile",
                 "register", "_Thread_local", "_Static_assert", "__asm__", "asm", "sizeof"}
INTEGER = re.compile(r"^(\d+)([uUlL]*)$")


class Token:
    def __init__(self, match):
        self.kind, self.text, self.start, self.end = match.lastgroup, match.group(), match.start(), match.end()


class Mutant:
    def __init__(self, path, text, function, block, edit):
        self.kind, start, end, replacement = edit
        self.block = block  # where the block begins that it is in
        self.path, self.function, self.line = path, function, text.count("\n", 0, start) + 1
        # As many lines as before, so that no line number, and nothing that depends on one, changes.
        missing = text.count("\n", start, end) - replacement.count("\n")
        self.text = text[:start] + replacement + "\n" * missing + text[end:]
        first, last = text.rfind("\n", 0, start) + 1, text.index("\n", end)
        self.was, self.now = (" ".join(lines.split()) for lines in
                              (text[first:last], text[first:start] + replacement + text[end:last]))
        self.id = ""

    def number(self, seen):
        """A name that no change of another function alters."""
        key = (self.path, self.function, self.kind, self.was, self.now)
        seen[key] = seen.get(key, 0) + 1
        self.id = digest("\n".join(key) + "\n%d" % seen[key])

    def change(self):
        return {"file": self.path, "function": self.function, "was": self.was, "now": self.now}

    def __str__(self):
        return "%s:%d: %s in %s" % (self.path, self.line, self.kind, self.function)


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def tokens_of(text):
    return [Token(match) for match in TOKEN.finditer(text) if match.lastgroup != "skip"]


def partners(tokens):
    """The index of the closing bracket by that of the opening one."""
    found, open_ones = {}, []
    for index, token in enumerate(tokens):
        if token.kind == "sign" and token.text in "([{":
            open_ones.append(index)
        elif token.kind == "sign" and token.text in ")]}" and open_ones:
            found[open_ones.pop()] = index
    return found


def bodies(tokens, closing):
    """(name, first, past the last) of each function's tokens: the braces that follow a parenthesis outside of all others."""
    opening, index = {last: first for first, last in closing.items()}, 0
    while index < len(tokens):
        if tokens[index].text == "{" and index in closing:
            if index > 0 and tokens[index - 1].text == ")":
                yield tokens[opening[index - 1] - 1].text, index + 1, closing[index]
            index = closing[index]
        index += 1


def block_of(tokens, closing, begin, start):
    """Where the innermost block around this place begins, in a function whose first token is `begin`."""
    opening, found = {last: first for first, last in closing.items()}, begin - 1
    for index in range(begin, len(tokens)):
        if tokens[index].start >= start:
            break
        before = tokens[index - 1].text
        control = before == ")" and tokens[opening[index - 1] - 1].text in ("if", "for", "while")
        if tokens[index].text == "{" and (control or before in ("else", "do")) and tokens[closing[index]].start >= start:
            found = index
    return tokens[found].end


def is_removable(statement):
    """A call, an assignment or an increment; not a declaration, which others depend on."""
    first, texts = statement[0], [token.text for token in statement]
    if first.text in NO_EXPRESSION or not (first.kind == "word" or first.text in ("*", "(", "++", "--")):
        return False
    if first.kind == "word" and len(statement) > 1:
        second = statement[1]
        pointer = second.text == "*" and len(statement) > 2 and statement[2].kind == "word"
        if second.kind == "word" or (pointer and not texts[3:4] == ["("]) or second.text == ":":
            return False
    if texts[:2] == ["(", "void"] or first.text == "free":  # what leaks shows in `make test-sanitize`
        return False
    return any(text == "(" or text in ("++", "--") or (text.endswith("=") and text not in RELATIONS) for text in texts)


def constants(tokens, begin, end):
    for index in range(begin, end):
        match = tokens[index].kind == "number" and INTEGER.match(tokens[index].text)
        around = [token.text for token in tokens[index - 1:index + 2]]
        length = around == ["[", tokens[index].text, "]"] and tokens[index - 3].kind == "word"  # of an array declared here
        more = tokens[index - 2].text == "calloc"  # memory than needed
        zeros = around == ["{", "0", "}"]  # the usual way to say that all is zero
        octal = match and len(match.group(1)) > 1 and match.group(1)[0] == "0"
        if match and not (length or more or zeros or octal):
            value = int(match.group(1))
            for other in {value + 1, abs(value - 1)}:
                yield "constant", tokens[index].start, tokens[index].end, "%d%s" % (other, match.group(2))


def statements(tokens, begin, end, closing):
    """(first, past the last) of what may be a statement: from behind a boundary to a semicolon on the same level."""
    opening = {last: first for first, last in closing.items()}
    index = begin
    while index < end:
        if tokens[index].text in ("(", "[") and index in closing:
            index = closing[index]  # nothing inside is a statement
        boundary = tokens[index].text in (";", "{", "}", "else")
        if tokens[index].text == ":":
            boundary = tokens[index - 1].text == "default" or tokens[index - 2].text == "case"
        if tokens[index].text == ")" and index in opening:
            boundary = tokens[opening[index] - 1].text in ("if", "while", "for", "switch")
        first = last = index + 1
        while boundary and last < end and tokens[last].text not in (";", "{", "}"):
            last = closing.get(last, last) + 1 if tokens[last].text in ("(", "[") else last + 1
        if first < last < end and tokens[last].text == ";":
            yield first, last
        index += 1


def edits_of(tokens, begin, end, closing):
    """(kind, start, end, replacement) of each mistake that can be made in a function's body."""
    yield from constants(tokens, begin, end)
    for index in range(begin, end):
        token = tokens[index]
        for other in RELATIONS.get(token.text, ()) if token.kind == "sign" else ():
            yield "relation", token.start, token.end, other
        if token.text in ("&&", "||"):
            yield "and/or", token.start, token.end, "||" if token.text == "&&" else "&&"
        if token.text in ("if", "while") and index + 1 in closing:
            first, last = tokens[index + 1], tokens[closing[index + 1]]
            yield "negated condition", first.end, first.end, "!("
            yield "negated condition end", last.start, last.start, ")"
    for first, last in statements(tokens, begin - 1, end, closing):
        start, stop = tokens[first].start, tokens[last].start
        if tokens[first].text == "return" and last > first + 1:
            value = " ".join(token.text for token in tokens[first + 1:last])
            if value != "NULL":
                yield "return value", start, stop, "return 1" if value in ("0", "false", "HEDDLE_OK") else "return 0"
        elif is_removable(tokens[first:last]):
            yield "removed statement", start, stop, ""


def mutants_of(path, text):
    tokens = tokens_of(text)
    closing = partners(tokens)
    found, seen = [], {}
    for function, begin, end in bodies(tokens, closing):
        edits = list(edits_of(tokens, begin, end, closing))
        for index, (kind, start, stop, replacement) in enumerate(edits):
            if kind == "negated condition":
                close = edits[index + 1][1]
                stop, replacement = close, "!(" + text[start:close] + ")"
            if kind != "negated condition end":
                block = block_of(tokens, closing, begin, start)
                found.append(Mutant(path, text, function, block, (kind, start, stop, replacement)))
    for mutant in found:
        mutant.number(seen)
    return found


def kinds_in_turn(mutants, seed):
    """Every kind as often as the others, as long as there are any: constants would outnumber all else."""
    by_kind = {}
    for mutant in sorted(mutants, key=lambda mutant: digest("%d %s" % (seed, mutant.id))):
        by_kind.setdefault(mutant.kind, []).append(mutant)
    for turn in itertools.zip_longest(*(by_kind[kind] for kind in sorted(by_kind))):
        yield from (mutant for mutant in turn if mutant)


def draw(mutants, count, seed):
    """As many from each folder as from the others; folder by folder, because each has tests of its own."""
    by_folder = {}
    for mutant in mutants:
        by_folder.setdefault(os.path.dirname(mutant.path), []).append(mutant)
    queues = [kinds_in_turn(found, seed) for found in by_folder.values()]
    drawn = [mutant for turn in itertools.zip_longest(*queues) for mutant in turn if mutant][:count]
    return [mutant for folder in by_folder for mutant in drawn if os.path.dirname(mutant.path) == folder]
