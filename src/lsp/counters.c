// The counters of a line: all of them as a hover, the shortest form as an inlay hint.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/describe.h"
#include "lsp/show.h"

typedef struct line_text {
    FILE *file;
    char *text;
    size_t size;
} line_text;

static bool begin(line_text *out)
{
    *out = (line_text){0};
    out->file = open_memstream(&out->text, &out->size);
    return out->file != NULL;
}

// The text, which the caller frees; NULL: it is empty, or there was no memory.
static char *end(line_text *out)
{
    if (fclose(out->file) == 0 && out->size > 0)
        return out->text;
    free(out->text);
    return NULL;
}

static bool is_at(const char *file, int number, const char *path, int line)
{
    return number == line + 1 && strcmp(file, path) == 0;
}

// --- hover -----------------------------------------------------------------------------------------------------------

static void print_access(FILE *file, const heddle_check_line *line)
{
    char count[32];
    const double requests = line->requests > 0 ? line->requests : 1;
    const bool shared = heddle_check_is_shared(line->space);
    fprintf(file, "%s %s, %d bytes per lane | %s | %.1f | %.1f %s | %.1f | %.0f %%%s |\n", line->space, line->access,
            line->size, heddle_check_count_text(line->requests, count, sizeof count), line->lanes / requests,
            line->units / requests, heddle_check_unit(line), line->ideal / requests, heddle_check_excess(line),
            shared && line->units > line->ideal ? ", bank conflicts" : "");
}

static bool print_accesses(FILE *file, const heddle_check_result *result, const char *path, int line)
{
    bool any = false;
    const heddle_check_report *run = result->run_count > 0 ? result->runs[0] : NULL;
    for (int k = 0; run && k < run->kernel_count; k++)
        for (int i = 0; i < run->kernels[k].line_count; i++) {
            const heddle_check_line *row = &run->kernels[k].lines[i];
            if (!is_at(row->file, row->line, path, line))
                continue;
            if (!any)
                fputs("| kernel | access | requests | lanes | per request | ideal | excess |\n"
                      "|---|---|---:|---:|---:|---:|---:|\n",
                      file);
            any = true;
            fprintf(file, "| `%s` | ", run->kernels[k].name);
            print_access(file, row);
        }
    return any;
}

static void print_branches(FILE *file, const heddle_check_result *result, const char *path, int line)
{
    const heddle_check_report *run = result->branches;
    char executions[32], divergent[32];
    for (int k = 0; run && k < run->kernel_count; k++)
        for (int i = 0; i < run->kernels[k].branch_count; i++) {
            const heddle_check_branch *branch = &run->kernels[k].branches[i];
            if (is_at(branch->file, branch->line, path, line))
                fprintf(file, "\n\n`%s`: warps execute the branches of this line %s times, divergent %s times.\n",
                        run->kernels[k].name,
                        heddle_check_count_text(branch->executions, executions, sizeof executions),
                        heddle_check_count_text(branch->divergent, divergent, sizeof divergent));
        }
}

cJSON *heddle_lsp_hover(const heddle_check_result *result, const char *path, int line)
{
    line_text out;
    if (!begin(&out))
        return NULL;
    if (print_accesses(out.file, result, path, line))
        fputs("\nA request is one access of a warp. A sector is 32 bytes of global memory; wavefronts of shared memory "
              "beyond the ideal are bank conflicts.\n",
              out.file);
    print_branches(out.file, result, path, line);
    char *text = end(&out);
    if (!text)
        return NULL;
    cJSON *hover = cJSON_CreateObject(), *contents = cJSON_AddObjectToObject(hover, "contents");
    cJSON_AddStringToObject(contents, "kind", "markdown");
    cJSON_AddStringToObject(contents, "value", text + strspn(text, "\n"));
    free(text);
    return hover;
}

// --- inlay hints -----------------------------------------------------------------------------------------------------

// "load 4.0 sectors", "store 32.0 wavefronts (ideal 1.0)", "divergent 12 of 64"
static char *short_text(const heddle_check_result *result, const char *path, int line)
{
    line_text out;
    const heddle_check_report *run = result->run_count > 0 ? result->runs[0] : NULL;
    const char *comma = "";
    if (!begin(&out))
        return NULL;
    for (int k = 0; run && k < run->kernel_count; k++)
        for (int i = 0; i < run->kernels[k].line_count; i++) {
            const heddle_check_line *row = &run->kernels[k].lines[i];
            const double requests = row->requests > 0 ? row->requests : 1;
            if (!is_at(row->file, row->line, path, line))
                continue;
            fprintf(out.file, "%s%s %.1f %s", comma, row->access, row->units / requests, heddle_check_unit(row));
            if (row->units > row->ideal)
                fprintf(out.file, " (ideal %.1f)", row->ideal / requests);
            comma = ", ";
        }
    run = result->branches;
    for (int k = 0; run && k < run->kernel_count; k++)
        for (int i = 0; i < run->kernels[k].branch_count; i++) {
            const heddle_check_branch *branch = &run->kernels[k].branches[i];
            char executions[32], divergent[32];
            if (!is_at(branch->file, branch->line, path, line) || branch->divergent <= 0)
                continue;
            fprintf(out.file, "%sdivergent %s of %s", comma,
                    heddle_check_count_text(branch->divergent, divergent, sizeof divergent),
                    heddle_check_count_text(branch->executions, executions, sizeof executions));
            comma = ", ";
        }
    return end(&out);
}

cJSON *heddle_lsp_hints(const heddle_check_result *result, const char *path, int first, int last,
                        const heddle_lsp_form *form)
{
    cJSON *hints = cJSON_CreateArray();
    for (int line = first < 0 ? 0 : first; line <= last; line++) {
        const char *source = heddle_check_sources_line(result->sources, path, line + 1);
        if (!source)
            break;
        char *text = short_text(result, path, line);
        if (!text)
            continue;
        cJSON *hint = cJSON_CreateObject(), *position = cJSON_AddObjectToObject(hint, "position");
        cJSON_AddNumberToObject(position, "line", line);
        cJSON_AddNumberToObject(position, "character", heddle_lsp_column(source, strlen(source), form));
        cJSON_AddStringToObject(hint, "label", text);
        cJSON_AddBoolToObject(hint, "paddingLeft", true);
        cJSON_AddItemToArray(hints, hint);
        free(text);
    }
    return hints;
}
