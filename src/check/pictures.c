// Writes the trace into the page, and the script of web/pictures, which the build puts into the library
// (cmake/HeddleEmbed.cmake). A page that is opened from a file can fetch nothing: all of it stands in the page.

#include "check/pictures.h"

#include <stdlib.h>

#include "base/text.h"
#include "check/trace.h"

#include "pictures_of_check.h"

#define EITHER(name, text) {name, text},
static const heddle_named_text texts[] = {HEDDLE_PICTURES(EITHER)};
#undef EITHER

static const char *text_called(const char *name)
{
    return heddle_text_named(texts, sizeof texts / sizeof *texts, name);
}

// Draws what suits each finding, and each launch that the trace has, where the page has a place for it.
static const char drawing[] =
    "const trace = JSON.parse(document.getElementById('trace').textContent);\n"
    "function add(parent, one) {\n"
    "  const element = document.createElement('div');\n"
    "  element.className = 'drawn';\n"
    "  parent.appendChild(element);\n"
    "  place(element, one.draw, trace, one.options);\n"
    "}\n"
    "for (const element of document.querySelectorAll('.pictures[data-finding]'))\n"
    "  for (const one of forFinding(trace, Number(element.dataset.finding)))\n"
    "    add(element, one);\n"
    "const section = document.getElementById('pictures');\n"
    "function fold(title, pictures) {\n"
    "  if (pictures.length === 0)\n"
    "    return;\n"
    "  const details = document.createElement('details'), summary = document.createElement('summary');\n"
    "  summary.textContent = title;\n"
    "  details.appendChild(summary);\n"
    "  details.addEventListener('toggle', () => pictures.forEach(one => add(details, one)), { once: true });\n"
    "  section.appendChild(details);\n"
    "}\n"
    "trace.launches.forEach((launch, index) => fold('Pictures of kernel ' + launch.kernel, forLaunch(trace, index)));\n"
    "if (new Set(trace.operations.map(one => one.stream)).size > 1)\n"
    "  fold('Pictures of the streams', [{ draw: streams, options: {} }]);\n";

const char *heddle_check_pictures_style(void)
{
    return text_called("style");
}

void heddle_check_pictures_place(const heddle_check_result *result, FILE *file, int finding)
{
    if (result->trace)
        fprintf(file, "\n<div class=\"pictures\" data-finding=\"%d\"></div>\n", finding);
}

void heddle_check_pictures_section(const heddle_check_result *result, FILE *file)
{
    if (result->trace)
        fputs("<section id=\"pictures\" aria-label=\"Pictures\"></section>\n", file);
}

// Nothing in it ends the element that it stands in.
static void print_json(FILE *file, const char *text)
{
    for (; *text; text++)
        if (*text == '<')
            fputs("\\u003c", file);
        else
            fputc(*text, file);
}

heddle_status heddle_check_pictures_script(const heddle_check_result *result, FILE *file)
{
    if (!result->trace)
        return HEDDLE_OK;
    cJSON *trace = heddle_check_trace_json_short(result);
    char *text = trace ? cJSON_PrintUnformatted(trace) : NULL;
    cJSON_Delete(trace);
    if (!text)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the pictures");
    fputs("<script type=\"application/json\" id=\"trace\">", file);
    print_json(file, text);
    free(text);
    fprintf(file, "</script>\n<script>\n(function () {\n'use strict';\n%s%s}());\n</script>\n", text_called("script"),
            drawing);
    return HEDDLE_OK;
}
