// A result as one page that needs nothing else: verdict, findings, and every source file line by line with what was
// found and counted there. `heddle bench --html` shows the same of what it measured. All text that comes from the
// program or its source goes through heddle_html_text.

#include <stdlib.h>
#include <string.h>

#include "base/html.h"
#include "check/describe.h"
#include "check/pictures.h"
#include "check/show.h"
#include "check/wrong.h"
#include "heddle/heddle.h"

enum { MOST_FILES = 64, MOST_OPEN = 8 }; // more files are folded, each below its name

// <tag class="name">text</tag>
static void print_element(FILE *file, const char *tag, const char *name, const char *text)
{
    fprintf(file, "<%s class=\"%s\">", tag, name);
    heddle_html_text(file, text);
    fprintf(file, "</%s>", tag);
}

static void print_sentence(FILE *file, const char *name, const char *text)
{
    fprintf(file, "<p class=\"%s\">", name);
    heddle_html_sentence(file, text);
    fputs("</p>", file);
}

// --- which files ----------------------------------------------------------------------------------------------------

typedef struct file_list {
    const char *paths[MOST_FILES];
    int count;
} file_list;

static int find_file(const file_list *files, const char *path)
{
    for (int i = 0; i < files->count; i++)
        if (strcmp(files->paths[i], path) == 0)
            return i;
    return -1;
}

static void add_file(const heddle_check_result *result, file_list *files, const char *path)
{
    if (path[0] == '\0' || files->count == MOST_FILES || find_file(files, path) >= 0)
        return;
    const heddle_check_source *source = heddle_check_sources_get(result->sources, path);
    if (source && source->count > 0)
        files->paths[files->count++] = path;
}

static void collect_files(const heddle_check_result *result, const heddle_check_row *rows, int row_count,
                          file_list *files)
{
    for (int i = 0; i < result->finding_count; i++)
        for (int p = 0; p < result->findings[i]->place_count; p++)
            if (result->findings[i]->places[p].frames)
                add_file(result, files, result->findings[i]->places[p].frame[0].file);
    for (int i = 0; i < row_count; i++)
        add_file(result, files, rows[i].line->file);
    for (int k = 0; result->branches && k < result->branches->kernel_count; k++)
        for (int i = 0; i < result->branches->kernels[k].branch_count; i++)
            add_file(result, files, result->branches->kernels[k].branches[i].file);
}

// --- findings --------------------------------------------------------------------------------------------------------

// A link to the line, where its file is on the page.
static void print_place(FILE *file, const file_list *files, const heddle_check_place *place)
{
    char text[HEDDLE_CHECK_SENTENCE];
    fputs("<li>", file);
    print_element(file, "span", "role", place->role);
    if (place->frames) {
        int index = find_file(files, place->frame[0].file);
        if (index >= 0)
            fprintf(file, " <a href=\"#f%d-%d\">", index, place->frame[0].line);
        heddle_html_text(file, heddle_check_frame_text(&place->frame[0], text, sizeof text));
        if (index >= 0)
            fputs("</a>", file);
    }
    fputc(' ', file);
    heddle_html_text(file, heddle_check_thread_text(place, text, sizeof text));
    fputs("</li>\n", file);
}

static void print_wrong(FILE *file, const heddle_check_wrong *wrong)
{
    fputs("\n<table class=\"wrong\">\n<tr>", file);
    for (int c = 0; c < wrong->column_count; c++)
        print_element(file, "th", "title", wrong->columns[c]);
    fputs("</tr>\n", file);
    for (int r = 0; r < wrong->row_count; r++) {
        fputs("<tr>", file);
        for (int c = 0; c < wrong->column_count; c++)
            print_element(file, "td", "cell", wrong->cells[r][c]);
        fputs("</tr>\n", file);
    }
    fputs("</table>\n", file);
    if (wrong->inputs[0])
        print_element(file, "p", "remark", wrong->inputs);
    if (wrong->pattern[0])
        print_element(file, "p", "pattern", wrong->pattern);
}

static void print_finding(const heddle_check_result *result, FILE *file, const file_list *files, int index)
{
    const heddle_check_finding *finding = result->findings[index];
    char text[HEDDLE_CHECK_SENTENCE];
    fprintf(file, "<article class=\"finding %s\" id=\"finding-%d\">\n<h2>", heddle_check_tier_name(finding->tier),
            index);
    print_element(file, "span", "tier", heddle_check_tier_name(finding->tier));
    fputc(' ', file);
    heddle_html_text(file, heddle_check_headline(finding, text, sizeof text));
    fputs("</h2>\n", file);
    print_sentence(file, "message", finding->message);
    if (finding->wrong)
        print_wrong(file, finding->wrong);
    fputs("\n<ul>\n", file);
    for (int i = 0; i < finding->place_count; i++)
        print_place(file, files, &finding->places[i]);
    fputs("</ul>\n", file);
    if (heddle_check_memory_sentence(finding, text, sizeof text)[0])
        print_element(file, "p", "memory", text);
    if (finding->note[0])
        print_sentence(file, "remark", finding->note);
    print_sentence(file, "cause", finding->cause);
    print_sentence(file, "cure", finding->cure);
    heddle_check_pictures_place(result, file, index);
    fputs("\n</article>\n", file);
}

// --- source ----------------------------------------------------------------------------------------------------------

static void print_line_findings(const heddle_check_result *result, FILE *file, const char *path, int line)
{
    char text[HEDDLE_CHECK_SENTENCE];
    for (int i = 0; i < result->finding_count; i++) {
        const heddle_check_finding *finding = result->findings[i];
        for (int p = 0; p < finding->place_count; p++) {
            const heddle_check_place *place = &finding->places[p];
            if (!place->frames || place->frame[0].line != line || strcmp(place->frame[0].file, path) != 0)
                continue;
            fprintf(file, "<a class=\"mark %s\" href=\"#finding-%d\">", heddle_check_tier_name(finding->tier), i);
            heddle_html_text(file, place->role);
            fputs(": ", file);
            heddle_html_text(file, heddle_check_headline(finding, text, sizeof text));
            fputs("</a>", file);
            break;
        }
    }
}

static void print_line_counters(FILE *file, const heddle_check_row *rows, int count, const char *path, int line)
{
    for (int i = 0; i < count; i++) {
        const heddle_check_line *counters = rows[i].line;
        if (counters->line != line || strcmp(counters->file, path) != 0)
            continue;
        double requests = counters->requests > 0 ? counters->requests : 1;
        fprintf(file, "<span class=\"counter%s\">", counters->units > counters->ideal ? " excess" : "");
        heddle_html_text(file, counters->space);
        fputc(' ', file);
        heddle_html_text(file, counters->access);
        fprintf(file, " %d B: %.0f requests, %.1f lanes, %.1f %s each, ideal %.1f</span>", counters->size,
                counters->requests, counters->lanes / requests, counters->units / requests, heddle_check_unit(counters),
                counters->ideal / requests);
    }
}

static void print_line_branches(const heddle_check_result *result, FILE *file, const char *path, int line)
{
    for (int k = 0; result->branches && k < result->branches->kernel_count; k++) {
        const heddle_check_kernel *kernel = &result->branches->kernels[k];
        for (int i = 0; i < kernel->branch_count; i++) {
            const heddle_check_branch *branch = &kernel->branches[i];
            if (branch->line == line && strcmp(branch->file, path) == 0)
                fprintf(file, "<span class=\"counter%s\">branch: %.0f executions, %.0f divergent</span>",
                        branch->divergent > 0 ? " excess" : "", branch->executions, branch->divergent);
        }
    }
}

static void print_file(const heddle_check_result *result, FILE *file, const file_list *files, int index,
                       const heddle_check_row *rows, int row_count)
{
    const char *path = files->paths[index];
    const heddle_check_source *source = heddle_check_sources_get(result->sources, path);
    const bool folded = files->count > MOST_OPEN;
    char text[HEDDLE_CHECK_SENTENCE];
    fputs(folded ? "<details>\n<summary>" : "", file);
    print_element(file, folded ? "span" : "h2", "file", heddle_check_short_path(path, text, sizeof text));
    fputs(folded ? "</summary>\n" : "", file);
    fputs("\n<table class=\"source\">\n", file);
    for (int line = 1; source && line <= source->count; line++) {
        fprintf(file, "<tr id=\"f%d-%d\"><td class=\"number\">%d</td><td class=\"code\"><pre>", index, line, line);
        heddle_html_text(file, source->lines[line - 1]);
        fputs("</pre>", file);
        print_line_findings(result, file, path, line);
        fputs("</td><td class=\"counters\">", file);
        print_line_counters(file, rows, row_count, path, line);
        print_line_branches(result, file, path, line);
        fputs("</td></tr>\n", file);
    }
    fputs("</table>\n", file);
    fputs(folded ? "</details>\n" : "", file);
}

// --- the page --------------------------------------------------------------------------------------------------------

static void print_messages(const heddle_check_result *result, FILE *file)
{
    if (!result->messages)
        return;
    fputs("<pre class=\"messages\">", file);
    for (const char *line = result->messages; *line; line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        char *copy = strndup(line, length);
        heddle_html_text(file, copy ? copy : "");
        free(copy);
        fputc('\n', file);
        line += length;
    }
    fputs("</pre>\n", file);
}

const char *heddle_check_html_style(const heddle_check_result *result)
{
    return result->trace ? heddle_check_pictures_style() : "";
}

heddle_status heddle_check_html_body(const heddle_check_result *result, const char *path, FILE *file)
{
    heddle_check_row *rows = NULL;
    int count = 0;
    file_list files = {.count = 0};
    HEDDLE_TRY(heddle_check_rows(result, &rows, &count));
    collect_files(result, rows, count, &files);
    add_file(result, &files, path);
    print_messages(result, file);
    for (int i = 0; i < result->finding_count; i++)
        print_finding(result, file, &files, i);
    for (int i = 0; i < result->note_count; i++)
        print_element(file, "p", "aside", result->notes[i]);
    heddle_check_pictures_section(result, file);
    for (int i = 0; i < files.count; i++)
        print_file(result, file, &files, i, rows, count);
    free(rows);
    if (files.count > 0)
        heddle_html_colour_source(file);
    return heddle_check_pictures_script(result, file);
}

heddle_status heddle_check_show_html(const heddle_check_result *result, FILE *file)
{
    char text[HEDDLE_CHECK_SENTENCE];
    snprintf(text, sizeof text, "%s%sheddle check", result->subject ? result->subject : "",
             result->subject ? " · " : "");
    heddle_html_begin(file, text, heddle_check_html_style(result));
    fprintf(file, "<h2 class=\"verdict %s\">",
            heddle_check_failed(result) ? "error"
            : result->warnings          ? "warning"
                                        : "good");
    heddle_html_text(file, heddle_check_verdict(result, text, sizeof text));
    fputs("</h2>\n", file);
    HEDDLE_TRY(heddle_check_html_body(result, "", file));
    fputs("<footer>heddle check ", file);
    heddle_html_text(file, heddle_version());
    fputs("</footer>\n", file);
    return heddle_html_end(file);
}
