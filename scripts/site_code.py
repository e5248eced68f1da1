"""Code as HTML with colours: C, C++ and CUDA, Python, shell, JSON, and what a terminal shows. The classes are those of
web/style.css. Standard library only."""
import html
import re

KEYWORDS = {
    "c": """alignas alignof asm auto break case catch class const constexpr const_cast continue decltype default delete do
        dynamic_cast else enum explicit extern false for friend goto if inline mutable namespace new noexcept nullptr
        operator private protected public register reinterpret_cast restrict return sizeof static static_assert
        static_cast struct switch template this throw true try typedef typeid typename union using virtual volatile while
        NULL""",
    "python": """and as assert async await break class continue def del elif else except False finally for from global if
        import in is lambda None nonlocal not or pass raise return True try while with yield""",
    "sh": "case do done elif else esac export fi for function if in local return set then unset until while",
    "json": "true false null",
}
KEYWORDS = {language: frozenset(words.split()) for language, words in KEYWORDS.items()}
TYPES = frozenset("""bool char double float int long short signed size_t ssize_t unsigned void wchar_t int8_t int16_t int32_t
    int64_t uint8_t uint16_t uint32_t uint64_t half float2 float4 int2 int4 uint2 uint4 double2 dim3 FILE""".split())
CUDA = re.compile(r"threadIdx|blockIdx|blockDim|gridDim|warpSize|__\w+|(cuda|atomic)[A-Z]\w*|(cublas|cudnn)\w+")

STRING = r"\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?"
NUMBER = r"\b(?:0[xX][0-9a-fA-F]+|\d[\d.]*(?:[eE][+-]?\d+)?)[uUlLfF]*\b"
WORD = r"[A-Za-z_]\w*"
PATTERNS = {
    "c": (r"(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))|(?P<string>%s)|(?P<directive>^[ \t]*\#[ \t]*\w+)|(?P<number>%s)|"
          r"(?P<word>%s)|(?P<cuda><<<|>>>)" % (STRING, NUMBER, WORD)),
    "python": (r"(?P<comment>\#[^\n]*)|(?P<string>\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z)|%s)|(?P<directive>^[ \t]*@[\w.]+)|"
               r"(?P<number>%s)|(?P<word>%s)" % (STRING, NUMBER, WORD)),
    "sh": r"(?P<comment>(?:(?<=\s)|^)\#[^\n]*)|(?P<string>\"(?:\\.|[^\"\\])*\"|'[^']*')|(?P<word>(?<![\w./-])[a-z]+(?![\w./=-]))",
    "json": r"(?P<string>%s)|(?P<number>-?%s)|(?P<word>%s)" % (STRING, NUMBER, WORD),
}
PATTERNS = {language: re.compile(pattern, re.MULTILINE | re.DOTALL) for language, pattern in PATTERNS.items()}

# By the word after the fence, and by the end of a file's name.
LANGUAGES = {"c": "c", "cpp": "c", "cuda": "c", "cu": "c", "cuh": "c", "h": "c", "python": "python", "py": "python",
             "sh": "sh", "bash": "sh", "json": "json", "console": "console", "dockerfile": "sh", "make": "sh"}


def kind_of(language, match):
    if match.lastgroup != "word":
        return match.lastgroup
    word = match.group()
    if word in KEYWORDS[language]:
        return "keyword"
    if language == "c":
        return "type" if word in TYPES else "cuda" if CUDA.fullmatch(word) else None
    return None


def console(text):
    """A line with a prompt is what one types."""
    lines = []
    for line in text.splitlines(keepends=True):
        plain = html.escape(line, quote=False)
        lines.append("<b><span class=\"prompt\">$ </span>%s</b>" % plain[2:] if line.startswith("$ ") else plain)
    return "".join(lines)


def coloured(text, name):
    language = LANGUAGES.get(name)
    if language == "console":
        return console(text)
    if language is None:
        return html.escape(text, quote=False)
    parts, end = [], 0
    for match in PATTERNS[language].finditer(text):
        kind = kind_of(language, match)
        if kind:
            parts.append(html.escape(text[end:match.start()], quote=False))
            parts.append("<span class=\"code-%s\">%s</span>" % (kind, html.escape(match.group(), quote=False)))
            end = match.end()
    return "".join(parts) + html.escape(text[end:], quote=False)


def numbered(text, name):
    """A whole file, with numbers that links such as #L12 lead to. A comment over several lines is coloured line by
    line, so that each line is whole."""
    whole, inside = [], ""
    for number, line in enumerate(coloured(text.rstrip("\n"), name).split("\n"), 1):
        line = inside + line
        opened = re.findall(r"<span class=\"[\w-]+\">|</span>", line)
        inside = opened[-1] if opened and opened[-1] != "</span>" else ""
        whole.append('<span class="line" id="L%d">%s%s</span>' % (number, line, "</span>" if inside else ""))
    return "\n".join(whole)
