// The style of the pages: colours are variables, so that tables and plots follow light and dark alike.

#include "bench/html.h"

static const char head[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<head>\n"
    "<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<title>%s</title>\n"
    "<style>\n"
    ":root { color-scheme: light dark; --back: #ffffff; --text: #1c1c1c; --dim: #6b6b6b; --line: #e2e2e2;\n"
    "  --pale: #8fb4d9; --strong: #1f6feb; --warm: #d9822b; --error: #b3261e; }\n"
    "@media (prefers-color-scheme: dark) { :root { --back: #16181b; --text: #e6e6e6; --dim: #9a9a9a; --line: #33363a;\n"
    "  --pale: #44627f; --strong: #6cb0ff; --warm: #f0a35a; --error: #ff8a80; } }\n"
    "body { background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; margin: 1em auto;\n"
    "  max-width: 60em; padding: 0 1em; }\n"
    "h1 { margin-bottom: 0; } h2 { margin: 1.6em 0 0.3em; font-size: 1.15em; }\n"
    ".aside { color: var(--dim); } .wrong { color: var(--error); font-weight: 600; overflow-wrap: anywhere; }\n"
    "svg { width: 100%%; display: block; } .ladder, .roofline { max-width: 44em; }\n"
    "svg text { fill: var(--text); font: 10px system-ui, sans-serif; }\n"
    ".figure { text-anchor: end; } .tick { text-anchor: middle; }\n"
    ".own, .in { fill: var(--pale); background: var(--pale); }\n"
    ".best, .compute { fill: var(--strong); background: var(--strong); }\n"
    ".vendor, .out { fill: var(--warm); background: var(--warm); }\n"
    ".grid { stroke: var(--line); stroke-width: 1; } .roof { stroke: var(--text); stroke-width: 1.5; fill: none; }\n"
    ".key span { display: inline-block; width: 0.9em; height: 0.9em; border-radius: 2px; margin: 0 0.3em 0 1em;\n"
    "  vertical-align: -0.1em; }\n"
    ".scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: 0.85em; margin-top: 0.6em; }\n"
    "td, th { padding: 0.15em 0.7em; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap;\n"
    "  font-variant-numeric: tabular-nums; }\n"
    "td:first-child, th:first-child, td:last-child, th:last-child { text-align: left; }\n"
    "</style>\n"
    "</head>\n"
    "<body>\n"
    "<h1>%s</h1>\n";

void heddle_html_begin(FILE *file, const char *title)
{
    fprintf(file, head, title, title);
}

void heddle_html_text(FILE *file, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&': fputs("&amp;", file); break;
        case '<': fputs("&lt;", file); break;
        case '>': fputs("&gt;", file); break;
        case '"': fputs("&quot;", file); break;
        default: fputc(*text, file);
        }
    }
}

heddle_status heddle_html_end(FILE *file)
{
    fputs("</body>\n</html>\n", file);
    return ferror(file) ? heddle_fail(HEDDLE_IO, "cannot write the page") : HEDDLE_OK;
}
