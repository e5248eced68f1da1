// Names that mean something else in device code, or that a macro cannot stand for: printf, malloc, free,
// clock, new and delete become the kernel's own (sim/kernel_calls.h), lrint and its kin too (sim/conversion.h);
// __noinline__ is only a keyword of CUDA's outside __attribute__; the address of a kernel as void * keeps the kernel's
// type; of several barriers on one line each after the first gets a number.

#include <stdio.h>
#include <string.h>

#include "rewrite/unit.h"

static bool is_member(const sim_source *source, const sim_tokens *code, int index)
{
    static const char *const joins[] = {"::", ".", "operator", NULL};
    const sim_token *before = sim_token_at(code, index - 1);
    return sim_token_is_any(source, before, joins) ||
           (sim_token_is(source, before, ">") && sim_token_is(source, sim_token_at(code, index - 2), "-"));
}

// Whether the name at `index` is called: not declared, not a member, not qualified.
static bool is_call(const sim_source *source, const sim_tokens *code, int index)
{
    static const char *const words[] = {"return", "else", "do", "case", NULL};
    const sim_token *before = sim_token_at(code, index - 1);
    bool declared = before->kind == SIM_TOKEN_NAME && !sim_token_is_any(source, before, words);
    return sim_token_is(source, sim_token_at(code, index + 1), "(") && !declared && !is_member(source, code, index);
}

static void edit_heap(sim_file *file, const sim_tokens *code, int index)
{
    const sim_source *source = &file->source;
    const sim_token *token = &code->at[index], *next = sim_token_at(code, index + 1);
    if (is_member(source, code, index))
        return;
    if (sim_token_is(source, token, "new") && !sim_token_is(source, next, "(")) {
        sim_edit_replace(file, token->start, token->end, "new (sim::heap)");
    } else if (sim_token_is(source, token, "delete") && sim_token_is(source, next, "[") && next->match == index + 2) {
        sim_edit_replace(file, token->start, code->at[next->match].end, "sim::heap_delete_array %");
    } else if (sim_token_is(source, token, "delete") && !sim_token_is(source, next, ";") &&
               !sim_token_is(source, next, ",")) {
        sim_edit_replace(file, token->start, token->end, "sim::heap_delete %");
    }
}

static void edit_call(sim_file *file, const sim_tokens *code, int index)
{
    const sim_source *source = &file->source;
    static const struct {
        const char *name, *ours;
    } calls[] = {{"printf", "SIM_PRINTF"},
                 {"malloc", "sim_kernel_malloc"},
                 {"free", "sim_kernel_free"},
                 {"clock", "sim_kernel_clock"},
                 {"lrint", "sim::nearest"},
                 {"lrintf", "sim::nearest"},
                 {"llrint", "sim::nearest"},
                 {"llrintf", "sim::nearest"},
                 {"lround", "sim::nearest_away"},
                 {"lroundf", "sim::nearest_away"},
                 {"llround", "sim::nearest_away"},
                 {"llroundf", "sim::nearest_away"},
                 {"cudaMalloc", "sim::kernel_cuda_malloc"},
                 {"cudaFree", "sim::kernel_cuda_free"}};
    const sim_token *token = &code->at[index];
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (sim_token_is(source, token, calls[i].name) && is_call(source, code, index))
            sim_edit_replace(file, token->start, token->end, calls[i].ours);
}

typedef struct line_barriers {
    uint32_t end; // of the last barrier's name
    int count;    // on its line, up to and with it
} line_barriers;

static void edit_barrier(sim_file *file, const sim_tokens *code, int index, line_barriers *last)
{
    const sim_source *source = &file->source;
    static const char *const names[] = {"__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or",
                                        NULL};
    const sim_token *token = &code->at[index];
    if (!sim_token_is_any(source, token, names) || !is_call(source, code, index))
        return;
    bool same_line = last->count > 0 && !memchr(source->text + last->end, '\n', token->start - last->end);
    *last = (line_barriers){token->end, same_line ? last->count + 1 : 1};
    if (!same_line)
        return;
    char ours[64];
    // "__syncthreads_or" to "sim_syncthreads_or_at<2>"
    snprintf(ours, sizeof ours, "sim_%.*s_at<%d>", (int)(token->end - token->start - 2),
             source->text + token->start + 2, last->count);
    sim_edit_replace(file, token->start, token->end, ours);
}

// (void *)kernel, (const void *)&kernel<float>, at the first parenthesis.
static void edit_address(const sim_unit *unit, sim_file *file, const sim_tokens *code, int index)
{
    const sim_source *source = &file->source;
    const sim_token *open = &code->at[index];
    int i = index + 1;
    if (sim_token_is(source, sim_token_at(code, i), "const"))
        i++;
    if (!sim_token_is(source, sim_token_at(code, i), "void") || !sim_token_is(source, sim_token_at(code, i + 1), "*") ||
        open->match != i + 2)
        return;
    int name = i + 3;
    if (sim_token_is(source, sim_token_at(code, name), "&"))
        name++;
    const sim_token *kernel = sim_token_at(code, name);
    bool called = sim_token_is(source, sim_token_at(code, name + 1), "(");
    if (kernel->kind == SIM_TOKEN_NAME && !called &&
        sim_kernel_find(unit, source->text + kernel->start, kernel->end - kernel->start))
        sim_edit_replace(file, open->start, code->at[open->match].end, "sim::kernel_address->*");
}

void sim_edit_calls(const sim_unit *unit, sim_file *file)
{
    const sim_source *source = &file->source;
    const sim_tokens *code = &source->code;
    line_barriers last = {0, 0};
    for (int i = 0; i < code->count; i++) {
        const sim_token *token = &code->at[i];
        if (sim_scope_is_device(sim_scope_of(source, token)) && token->kind == SIM_TOKEN_NAME) {
            edit_call(file, code, i);
            edit_heap(file, code, i);
            edit_barrier(file, code, i, &last);
        }
        if (sim_token_is(source, token, "("))
            edit_address(unit, file, code, i);
        const sim_token *before = sim_token_at(code, i - 1);
        if (sim_token_is(source, token, "__noinline__") && !sim_token_is(source, before, "(") &&
            !sim_token_is(source, before, ","))
            sim_edit_replace(file, token->start, token->end, "SIM_NOINLINE");
    }
    for (int i = 0; i < source->directive_count; i++)
        for (int t = source->directives[i].first; t < source->directives[i].last; t++)
            if (source->directives[i].kind == SIM_DIRECTIVE_DEFINE && t > source->directives[i].first &&
                sim_token_is(source, &source->lines.at[t], "__noinline__") &&
                !sim_token_is(source, &source->lines.at[t - 1], "("))
                sim_edit_replace(file, source->lines.at[t].start, source->lines.at[t].end, "SIM_NOINLINE");
}
