// The counters by source line beside the ideal, and the worst request of a warp as a picture of what it touches.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "check/describe.h"
#include "check/show.h"

enum {
    MOST_ROWS = 20,   // JSON and the page have all
    MOST_PICTURE = 8, // rows of the picture; more look alike
    SECTOR_BYTES = 32,
    LINE_BYTES = 128, // of the cache: what a row of the picture shows
    WORD_BYTES = 4,
    BANKS = 32,
    WORDS_IN_LINE = LINE_BYTES / WORD_BYTES,
    WORDS_IN_SECTOR = SECTOR_BYTES / WORD_BYTES,
};

// --- the picture -----------------------------------------------------------------------------------------------------

static const char *full_cell(const heddle_check_style *style)
{
    return style->utf8 ? "■" : "#";
}

static const char *empty_cell(const heddle_check_style *style)
{
    return style->utf8 ? "·" : ".";
}

// "0-3, 7": the lanes of a mask. Returns `text`.
static const char *lanes_text(uint32_t mask, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int lane = 0; lane < HEDDLE_CHECK_LANES && used < size; lane++) {
        if (!(mask >> lane & 1))
            continue;
        int last = lane;
        while (last + 1 < HEDDLE_CHECK_LANES && mask >> (last + 1) & 1)
            last++;
        const char *comma = used ? ", " : "";
        used += (size_t)(last > lane ? snprintf(text + used, size - used, "%s%d-%d", comma, lane, last)
                                     : snprintf(text + used, size - used, "%s%d", comma, lane));
        lane = last;
    }
    return text;
}

// What lanes touch of one cache line.
typedef struct touched_line {
    long long start; // address
    uint32_t words;  // bit i: word i of the line
    uint32_t lanes;
} touched_line;

static int compare_lines(const void *a, const void *b)
{
    long long x = ((const touched_line *)a)->start, y = ((const touched_line *)b)->start;
    return (x > y) - (x < y);
}

static long long line_start(long long address)
{
    long long rest = address % LINE_BYTES;
    return address - (rest < 0 ? rest + LINE_BYTES : rest);
}

static void touch(touched_line *lines, int *count, long long word, int lane)
{
    long long start = line_start(word);
    int i = 0;
    while (i < *count && lines[i].start != start)
        i++;
    if (i == *count)
        lines[(*count)++] = (touched_line){.start = start};
    lines[i].words |= UINT32_C(1) << ((word - start) / WORD_BYTES);
    lines[i].lanes |= UINT32_C(1) << lane;
}

enum { MOST_WORDS_OF_LANE = 8, MOST_LINES = HEDDLE_CHECK_LANES * (MOST_WORDS_OF_LANE + 1) };

static int collect_lines(const heddle_check_line *line, touched_line lines[MOST_LINES])
{
    const heddle_check_request *worst = line->worst;
    int count = 0;
    int size = line->size < 1                                 ? 1
               : line->size > MOST_WORDS_OF_LANE * WORD_BYTES ? MOST_WORDS_OF_LANE * WORD_BYTES
                                                              : line->size;
    for (int lane = 0; lane < HEDDLE_CHECK_LANES; lane++) {
        if (!(worst->mask >> lane & 1))
            continue;
        long long first = worst->lowest + worst->offsets[lane];
        long long begin = line_start(first) + (first - line_start(first)) / WORD_BYTES * WORD_BYTES;
        for (long long word = begin; word < first + size; word += WORD_BYTES)
            touch(lines, &count, word, lane);
    }
    qsort(lines, (size_t)count, sizeof *lines, compare_lines);
    return count;
}

static void draw_global(const heddle_check_line *line, const heddle_check_style *style, FILE *file)
{
    touched_line lines[MOST_LINES];
    int count = collect_lines(line, lines);
    fprintf(file, "    %-9s  %-*s  %s\n", "address", WORDS_IN_LINE + 2 * WORDS_IN_LINE / WORDS_IN_SECTOR,
            "sectors of 32 bytes, 8 words each", "lanes");
    for (int i = 0; i < count && i < MOST_PICTURE; i++) {
        char lanes[160];
        fprintf(file, "    +%-8lld  ", lines[i].start - lines[0].start);
        for (int word = 0; word < WORDS_IN_LINE; word++) {
            if (word % WORDS_IN_SECTOR == 0)
                fputc('[', file);
            fputs(lines[i].words >> word & 1 ? full_cell(style) : empty_cell(style), file);
            if (word % WORDS_IN_SECTOR == WORDS_IN_SECTOR - 1)
                fputc(']', file);
        }
        fprintf(file, "  %s\n", lanes_text(lines[i].lanes, lanes, sizeof lanes));
    }
    if (count > MOST_PICTURE)
        fprintf(file, "    and %d more lines of 128 bytes\n", count - MOST_PICTURE);
}

// How many different words each bank is asked for; the same word serves all lanes at once.
static int count_banks(const heddle_check_line *line, int depth[BANKS])
{
    long long words[HEDDLE_CHECK_LANES * (MOST_WORDS_OF_LANE + 1)];
    int count = 0, deepest = 0;
    memset(depth, 0, BANKS * sizeof *depth);
    for (int lane = 0; lane < HEDDLE_CHECK_LANES; lane++) {
        if (!(line->worst->mask >> lane & 1))
            continue;
        long long first = (line->worst->lowest + line->worst->offsets[lane]) / WORD_BYTES;
        int span = line->size > WORD_BYTES ? line->size / WORD_BYTES : 1;
        for (int w = 0; w < span && w < MOST_WORDS_OF_LANE; w++) {
            int known = 0;
            while (known < count && words[known] != first + w)
                known++;
            if (known < count)
                continue;
            words[count++] = first + w;
            int bank = (int)((((first + w) % BANKS) + BANKS) % BANKS);
            depth[bank]++;
            deepest = depth[bank] > deepest ? depth[bank] : deepest;
        }
    }
    return deepest;
}

static void draw_shared(const heddle_check_line *line, const heddle_check_style *style, FILE *file)
{
    int depth[BANKS];
    int deepest = count_banks(line, depth);
    fprintf(file, "    bank   0         10        20        30\n");
    for (int row = 0; row < deepest && row < MOST_PICTURE; row++) {
        fprintf(file, "    %-5s  ", row == 0 ? "words" : "");
        for (int bank = 0; bank < BANKS; bank++)
            fputs(depth[bank] > row ? full_cell(style) : empty_cell(style), file);
        fputc('\n', file);
    }
    if (deepest > MOST_PICTURE)
        fprintf(file, "    and %d more rows\n", deepest - MOST_PICTURE);
    int busiest = 0;
    for (int bank = 1; bank < BANKS; bank++)
        busiest = depth[bank] > depth[busiest] ? bank : busiest;
    fprintf(file, "    bank %d serves %d different words, one at a time\n", busiest, depth[busiest]);
}

void heddle_check_show_request(const heddle_check_line *line, const heddle_check_style *style, FILE *file)
{
    const heddle_check_request *worst = line->worst;
    heddle_check_frame frame = {.file = line->file, .line = line->line};
    char where[HEDDLE_CHECK_SENTENCE];
    double ideal = line->requests > 0 ? line->ideal / line->requests : 0;
    fprintf(file, "worst access: %s, %s %s of %d bytes per lane: %d %s where about %.3g would suffice\n",
            heddle_check_frame_text(&frame, where, sizeof where), line->space, line->access, line->size, worst->units,
            heddle_check_unit(line), ideal);
    fprintf(file, "    by warp %d of block (%d,%d,%d)\n", worst->warp, worst->block[0], worst->block[1],
            worst->block[2]);
    if (heddle_check_is_shared(line->space))
        draw_shared(line, style, file);
    else
        draw_global(line, style, file);
}

// --- the table -------------------------------------------------------------------------------------------------------

static void add_columns(heddle_table *table)
{
    heddle_table_column(table, "kernel", HEDDLE_LEFT);
    heddle_table_column(table, "line", HEDDLE_LEFT);
    heddle_table_column(table, "access", HEDDLE_LEFT);
    heddle_table_column(table, "requests", HEDDLE_RIGHT);
    heddle_table_column(table, "lanes", HEDDLE_RIGHT);
    heddle_table_column(table, "per request", HEDDLE_RIGHT);
    heddle_table_column(table, "ideal", HEDDLE_RIGHT);
    heddle_table_column(table, "excess", HEDDLE_RIGHT);
}

static void add_row(heddle_table *table, const heddle_check_row *row)
{
    const heddle_check_line *line = row->line;
    char count[32];
    double requests = line->requests > 0 ? line->requests : 1;
    heddle_table_cell(table, "%s", row->kernel->name);
    heddle_table_cell(table, "%s:%d", heddle_check_file_name(line->file), line->line);
    heddle_table_cell(table, "%s %s %d B", line->space, line->access, line->size);
    heddle_table_cell(table, "%s", heddle_check_count_text(line->requests, count, sizeof count));
    heddle_table_cell(table, "%.1f", line->lanes / requests);
    heddle_table_cell(table, "%.1f %s", line->units / requests, heddle_check_unit(line));
    heddle_table_cell(table, "%.1f", line->ideal / requests);
    heddle_table_cell(table, "%.0f %%", heddle_check_excess(line));
}

static heddle_status show_rows(const heddle_check_row *rows, int count, const heddle_check_style *style, FILE *file)
{
    heddle_table *table = heddle_table_create();
    add_columns(table);
    for (int i = 0; i < count && i < MOST_ROWS; i++)
        add_row(table, &rows[i]);
    HEDDLE_TRY(heddle_table_finish(table, file));
    if (count > MOST_ROWS)
        fprintf(file, "and %d more lines; --json and --html show all\n", count - MOST_ROWS);
    fputc('\n', file);
    if (rows[0].line->worst && rows[0].line->units > rows[0].line->ideal) {
        heddle_check_show_request(rows[0].line, style, file);
        fputc('\n', file);
    }
    return HEDDLE_OK;
}

heddle_status heddle_check_show_counters(const heddle_check_result *result, const heddle_check_style *style, FILE *file)
{
    heddle_check_row *rows = NULL;
    int count = 0;
    HEDDLE_TRY(heddle_check_rows(result, &rows, &count));
    heddle_status status = count > 0 ? show_rows(rows, count, style, file) : HEDDLE_OK;
    free(rows);
    return status;
}
