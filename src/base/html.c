// The look is that of all pages: web/style.css and web/report.css, which the build puts into the library.

#include "base/html.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

#include "look_of_reports.h"

#define EITHER(name, text) {name, text},
static const heddle_named_text texts[] = {HEDDLE_REPORT(EITHER)};
#undef EITHER

static const char *text_called(const char *name)
{
    return heddle_text_named(texts, sizeof texts / sizeof *texts, name);
}

void heddle_html_begin(FILE *file, const char *title, const char *style)
{
    fputs("<!DOCTYPE html>\n"
          "<html lang=\"en\">\n"
          "<head>\n"
          "<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<title>",
          file);
    heddle_html_text(file, title);
    fprintf(file,
            "</title>\n"
            "<style>\n%s%s</style>\n"
            "</head>\n"
            "<body>\n"
            "<main class=\"report\">\n"
            "<h1>",
            text_called("style"), style);
    heddle_html_text(file, title);
    fputs("</h1>\n", file);
}

static void print_letter(FILE *file, char letter)
{
    switch (letter) {
    case '&': fputs("&amp;", file); break;
    case '<': fputs("&lt;", file); break;
    case '>': fputs("&gt;", file); break;
    case '"': fputs("&quot;", file); break;
    case '\'': fputs("&#39;", file); break;
    default:
        if ((unsigned char)letter >= ' ' || letter == '\t')
            fputc(letter, file);
    }
}

void heddle_html_text(FILE *file, const char *text)
{
    for (; *text; text++)
        print_letter(file, *text);
}

void heddle_html_sentence(FILE *file, const char *text)
{
    bool in_code = false;
    for (; *text; text++) {
        if (*text != '`' || (!in_code && !strchr(text + 1, '`'))) {
            print_letter(file, *text);
            continue;
        }
        in_code = !in_code;
        fputs(in_code ? "<code>" : "</code>", file);
    }
}

// A comment may go over several lines: all lines of a file are coloured as one text.
static const char colouring[] = "for (const table of document.querySelectorAll('table.source')) {\n"
                                "  const lines = [...table.querySelectorAll('.code pre')];\n"
                                "  const pairs = tokens(lines.map((line) => line.textContent).join('\\n'));\n"
                                "  lines.forEach((line) => line.replaceChildren());\n"
                                "  let at = 0;\n"
                                "  for (const [kind, text] of pairs)\n"
                                "    text.split('\\n').forEach((part, index) => {\n"
                                "      at += index > 0;\n"
                                "      const span = document.createElement('span');\n"
                                "      if (kind) span.className = 'code-' + kind;\n"
                                "      span.textContent = part;\n"
                                "      if (part) lines[at].append(span);\n"
                                "    });\n"
                                "}\n";

void heddle_html_colour_source(FILE *file)
{
    fprintf(file, "<script>\n(function () {\n'use strict';\n%s%s}());\n</script>\n", text_called("script"), colouring);
}

heddle_status heddle_html_end(FILE *file)
{
    fputs("</main>\n</body>\n</html>\n", file);
    return ferror(file) ? heddle_fail(HEDDLE_IO, "cannot write the page") : HEDDLE_OK;
}
