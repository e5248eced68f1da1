// The counters of the watch, by source line: places that are the same line to the reader (template instances, unrolled
// copies) are added up.
#include <string.h>

#include "report/internal.h"
#include "report/json.h"
#include "watch/watch.h"

typedef struct line_count {
    const sim_frame *frame;
    sim_count total; // its worst request is the worst of all
    struct line_count *next;
} line_count;

typedef struct kernel_lines {
    const char *kernel;
    line_count *lines;
} kernel_lines;

typedef struct branch_line {
    const sim_frame *frame;
    uint64_t executions, divergent;
    struct branch_line *next;
} branch_line;

typedef struct kernel_branches {
    const char *kernel;
    branch_line *lines;
} kernel_branches;

typedef struct totals {
    sim_json *out;
    uint64_t accesses, launches;
} totals;

static void want(const sim_count *count, void *context)
{
    (void)context;
    sim_lines_want(count->pc);
}

static void want_branch(const sim_branch_count *count, void *context)
{
    (void)context;
    sim_lines_want(count->pc);
}

void sim_counters_want(void)
{
    sim_counters_each(want, NULL);
    sim_branch_counts_each(want_branch, NULL);
}

// The order in the report, and which counts are added up.
static int compare_lines(const sim_frame *frame, const sim_count *count, const line_count *other)
{
    int order = sim_frame_compare(frame, other->frame);
    if (order == 0)
        order = count->kind - other->total.kind;
    if (order == 0)
        order = count->space - other->total.space;
    return order ? order : count->size - other->total.size;
}

static bool worse(const sim_count *a, const sim_count *b)
{
    if (a->worst_units != b->worst_units)
        return a->worst_units > b->worst_units;
    for (int i = 2; i >= 0; i--)
        if (a->worst_block[i] != b->worst_block[i])
            return a->worst_block[i] < b->worst_block[i];
    return a->worst_warp < b->worst_warp;
}

static void add_up(sim_count *total, const sim_count *count)
{
    sim_count sum = worse(count, total) ? *count : *total;
    sum.requests = total->requests + count->requests;
    sum.lanes = total->lanes + count->lanes;
    sum.units = total->units + count->units;
    sum.ideal = total->ideal + count->ideal;
    *total = sum;
}

static void add_line(const sim_count *count, void *context)
{
    kernel_lines *kernel = context;
    const sim_stack *stack = sim_lines_of(count->pc);
    if (!stack || !count->requests || strcmp(count->kernel ? count->kernel : "", kernel->kernel) != 0)
        return;
    line_count **link = &kernel->lines;
    while (*link && compare_lines(&stack->frames[0], count, *link) > 0)
        link = &(*link)->next;
    if (*link && compare_lines(&stack->frames[0], count, *link) == 0) {
        add_up(&(*link)->total, count);
        return;
    }
    line_count *line = sim_arena_take(sizeof *line);
    if (!line)
        return;
    *line = (line_count){&stack->frames[0], *count, *link};
    *link = line;
}

static void write_worst(sim_json *out, const sim_count *count)
{
    sim_json_open(out, "worst", '{');
    sim_json_unsigned(out, "units", count->worst_units);
    sim_json_unsigned(out, "mask", count->worst_mask);
    sim_json_unsigned(out, "lowest", count->worst_lowest);
    sim_json_open(out, "offsets", '[');
    for (size_t i = 0; i < sizeof count->worst_offset / sizeof *count->worst_offset; i++)
        sim_json_unsigned(out, NULL, count->worst_offset[i]);
    sim_json_close(out, ']');
    sim_json_triple(out, "block", count->worst_block);
    sim_json_unsigned(out, "warp", count->worst_warp);
    sim_json_close(out, '}');
}

static void write_line(sim_json *out, const line_count *line)
{
    static const char *const kinds[] = {"load", "store", "atomic"};
    static const char *const spaces[] = {"global", "shared", "device variable"};
    const sim_count *total = &line->total;
    sim_json_open(out, NULL, '{');
    sim_json_string(out, "file", line->frame->file);
    sim_json_unsigned(out, "line", line->frame->line);
    sim_json_string(out, "function", line->frame->function);
    sim_json_string(out, "kind", kinds[total->kind % 3]);
    sim_json_string(out, "space", spaces[total->space % 3]);
    sim_json_unsigned(out, "size", total->size);
    sim_json_unsigned(out, "requests", total->requests);
    sim_json_unsigned(out, "lanes", total->lanes);
    sim_json_unsigned(out, "units", total->units);
    sim_json_unsigned(out, "ideal", total->ideal);
    write_worst(out, total);
    sim_json_close(out, '}');
}

static void add_branch(const sim_branch_count *count, void *context)
{
    kernel_branches *kernel = context;
    const sim_stack *stack = sim_lines_of(count->pc);
    if (!stack || strcmp(count->kernel, kernel->kernel) != 0)
        return;
    branch_line **link = &kernel->lines;
    while (*link && sim_frame_compare(&stack->frames[0], (*link)->frame) > 0)
        link = &(*link)->next;
    if (!*link || sim_frame_compare(&stack->frames[0], (*link)->frame) != 0) {
        branch_line *line = sim_arena_take(sizeof *line);
        if (!line)
            return;
        *line = (branch_line){.frame = &stack->frames[0], .next = *link};
        *link = line;
    }
    (*link)->executions += count->executions;
    (*link)->divergent += count->divergent;
}

// Absent in a program that was not built to count them.
static void write_branches(sim_json *out, const char *kernel)
{
    kernel_branches branches = {kernel, NULL};
    sim_branch_counts_each(add_branch, &branches);
    if (!branches.lines)
        return;
    sim_json_open(out, "branches", '[');
    for (const branch_line *line = branches.lines; line; line = line->next) {
        sim_json_open(out, NULL, '{');
        sim_json_string(out, "file", line->frame->file);
        sim_json_unsigned(out, "line", line->frame->line);
        sim_json_string(out, "function", line->frame->function);
        sim_json_unsigned(out, "executions", line->executions);
        sim_json_unsigned(out, "divergent", line->divergent);
        sim_json_close(out, '}');
    }
    sim_json_close(out, ']');
}

static void write_kernel(const sim_kernel_count *count, void *context)
{
    totals *sum = context;
    sim_json *out = sum->out;
    kernel_lines lines = {count->kernel ? count->kernel : "", NULL};
    sim_counters_each(add_line, &lines);
    sum->accesses += count->accesses;
    sum->launches += count->launches;
    sim_json_open(out, NULL, '{');
    sim_json_string(out, "kernel", count->kernel);
    sim_json_triple(out, "grid", count->grid);
    sim_json_triple(out, "block", count->block);
    sim_json_unsigned(out, "shared", count->shared);
    sim_json_unsigned(out, "launches", count->launches);
    sim_json_unsigned(out, "repeated_launches", count->repeated);
    sim_json_unsigned(out, "accesses", count->accesses);
    sim_json_unsigned(out, "barriers", count->barriers);
    sim_json_unsigned(out, "threads", count->threads);
    sim_json_unsigned(out, "blocks", count->blocks);
    sim_json_unsigned(out, "watched_blocks", count->watched);
    sim_json_open(out, "lines", '[');
    for (const line_count *line = lines.lines; line; line = line->next)
        write_line(out, line);
    sim_json_close(out, ']');
    write_branches(out, lines.kernel);
    sim_json_close(out, '}');
}

void sim_counters_write(sim_json *out)
{
    totals sum = {.out = out};
    sim_json_open(out, "kernels", '[');
    sim_kernel_counts_each(write_kernel, &sum);
    sim_json_close(out, ']');
    sim_json_open(out, "totals", '{');
    sim_json_unsigned(out, "accesses", sum.accesses);
    sim_json_unsigned(out, "launches", sum.launches);
    sim_json_unsigned(out, "algorithms", sim_counters_algorithms());
    sim_json_seconds(out, "seconds", sim_report_seconds());
    if (sim_branch_counts_in_pieces())
        sim_json_bool(out, "branches_in_pieces", true);
    sim_json_close(out, '}');
}
