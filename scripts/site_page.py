"""One page of the site: Markdown by cmark-gfm, and what the site changes in its HTML: links to other pages, anchors of
headings as GitHub makes them, code with colours, pictures with their size, tables that scroll. Standard library only."""
import html
import html.parser
import os
import re
import subprocess
import unicodedata

import course_pictures
from site_code import coloured

WIDE_PICTURE = 540  # pixels: on a narrow screen such a picture scrolls, because its words would be too small
LONG_WORD = 14   # characters of a name in a table that may break after an underscore
LONG_CELL = 60   # characters of a cell that needs some width
VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
PLACE = "HEDDLE:PICTURE:%s"  # stands for a comment that asks for one
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def markdown(text):
    """Raw HTML is left out, and so are comments."""
    done = subprocess.run(["cmark-gfm", "-e", "table", "-e", "strikethrough", "-e", "tasklist"],
                          input=text, capture_output=True, text=True, check=True)
    return COMMENT.sub("", done.stdout)


def anchor_of(heading):
    """Letters, digits, - and _ stay, blanks become -, the rest goes."""
    kept = []
    for character in heading.strip().lower():
        if character in "-_ " or unicodedata.category(character)[0] in "LN" or unicodedata.category(character) == "Mn":
            kept.append("-" if character == " " else character)
    return "".join(kept)


def picture_size(path):
    """Width and height of an SVG or PNG, so that the page does not jump when it arrives; None: not known."""
    with open(path, "rb") as file:
        head = file.read(2000)
    if head[:8] == b"\x89PNG\r\n\x1a\n":
        return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
    match = re.search(rb'<svg[^>]*?\swidth="(\d+)[^"]*"[^>]*?\sheight="(\d+)', head)
    return (int(match.group(1)), int(match.group(2))) if match else None


class Rewriter(html.parser.HTMLParser):
    """HTML of cmark-gfm in, HTML of the site out. `resolve(address)` gives the address on the site, and `picture` the
    file of a picture. Collects headings as (level, anchor, text), and the text below each for the search."""

    def __init__(self, resolve, picture):
        super().__init__(convert_charrefs=False)
        self.resolve, self.picture = resolve, picture
        self.out = []
        self.headings = []
        self.sections = [["", "", []]]  # anchor, title, text
        self.heading = None             # (level, place in out, text) of the one that is open
        self.code = None                # (language, text) of the block that is open
        self.cell = None                # (place in out, length) of the table cell that is open
        self.anchors = {}

    def emit(self, text):
        self.out.append(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "pre":
            self.code = ["", []]
            return
        if self.code is not None:  # <code class="language-x"> inside <pre>
            words = given.get("class", "").removeprefix("language-").split()
            self.code[0] = words[0] if words else ""
            return
        if re.fullmatch("h[1-6]", tag):
            self.heading = (int(tag[1]), len(self.out), [])
            self.emit("")
            return
        if tag == "a" and "href" in given:
            given["href"] = self.resolve(given["href"])
        if tag == "img":
            source = given["src"]
            file = self.picture(source)
            size = picture_size(file) if file else None
            given["src"] = self.resolve(given["src"])
            if size:
                given["width"], given["height"] = size
            given["loading"] = "lazy"
            self.emit('<span class="figure%s">' % (" wide" if size and size[0] > WIDE_PICTURE else ""))
            self.emit_dark(source)
        if tag == "table":
            self.emit('<div class="scroll">')
        if tag in ("th", "td"):
            self.cell = [len(self.out), 0]
            if "align" in given:
                given["class"] = given.pop("align")
        self.emit("<%s%s>" % (tag, "".join(' %s="%s"' % (name, html.escape(str(value))) for name, value in given.items()
                                           if value is not None)))
        if tag == "img":
            self.emit("</picture></span>")

    def emit_dark(self, source):
        """A picture called NAME-light.png has a twin for dark screens, NAME-dark.png, if that is there."""
        dark = re.sub(r"-light(\.\w+)$", r"-dark\1", source)
        self.emit("<picture>")
        if dark != source and self.picture(dark):
            self.emit('<source media="(prefers-color-scheme: dark)" srcset="%s">' % html.escape(self.resolve(dark)))

    def handle_endtag(self, tag):
        if tag == "code" and self.code is not None:
            return
        if tag == "pre":
            language, text = self.code[0], "".join(self.code[1])
            self.code = None
            self.add_text(text)
            self.emit('<pre><code>%s</code></pre>' % coloured(text, language))
        elif self.heading and tag == "h%d" % self.heading[0]:
            self.end_heading(tag)
        elif tag not in VOID:
            if tag in ("th", "td"):
                self.end_cell()
            self.emit("</%s>" % tag)
            if tag == "table":
                self.emit("</div>")

    def end_cell(self):
        place, length = self.cell
        self.cell = None
        if length > LONG_CELL:
            self.out[place] = self.out[place].replace("<td>", '<td class="long">')

    def end_heading(self, tag):
        level, place, words = self.heading
        self.heading = None
        title = " ".join("".join(words).split())
        anchor = anchor_of("".join(words))
        before = self.anchors.get(anchor, 0)
        self.anchors[anchor] = before + 1
        anchor = "%s-%d" % (anchor, before) if before else anchor
        self.out[place] = '<%s id="%s">' % (tag, html.escape(anchor))
        self.emit(' <a class="anchor" href="#%s" aria-label="Link to this section">#</a></%s>' % (html.escape(anchor), tag))
        self.headings.append((level, anchor, title))
        self.sections.append([anchor if level > 1 else "", title, []])

    def handle_data(self, text):
        if self.code is not None:
            self.code[1].append(text)
            return
        shown = html.escape(text, quote=False)
        if self.cell:
            self.cell[1] += len(text)
            shown = re.sub(r"\w{%d,}" % LONG_WORD, lambda match: match.group().replace("_", "_<wbr>"), shown)
        self.emit(shown)
        self.add_text(text)

    def add_text(self, text):
        (self.heading[2] if self.heading else self.sections[-1][2]).append(text)

    def handle_entityref(self, name):
        self.handle_data(html.unescape("&%s;" % name))

    def handle_charref(self, name):
        self.handle_data(html.unescape("&#%s;" % name))


class Page:
    """A page that has been rendered: `body`, `title`, `headings`, `sections`."""

    def __init__(self, text, resolve, picture):
        self.pictures = course_pictures.wanted(text)  # drawn by a script
        rewriter = Rewriter(resolve, picture)
        rewriter.feed(markdown(course_pictures.COMMENT.sub(lambda match: PLACE % match.group(1).replace(" ", "|"), text)))
        rewriter.close()
        self.body = re.sub("<p>%s</p>" % (PLACE % r"([\w.=|-]+)"), lambda match: '<div class="recorded" data-picture="%s"></div>'
                           % match.group(1).replace("|", " "), "".join(rewriter.out))
        self.headings = rewriter.headings
        self.title = next((title for level, _, title in self.headings if level == 1), "")
        self.sections = [(anchor, title, " ".join(re.sub(PLACE % r"[\w.=|-]+", "", "".join(words)).split()))
                         for anchor, title, words in rewriter.sections if title or words]


def relative(to, source):
    """The address of the site's file `to` on the page `source`."""
    return os.path.relpath(to, os.path.dirname(source) or ".").replace(os.sep, "/")
