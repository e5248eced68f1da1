// The rewriter as a whole: reads the files, learns the names, makes the edits, says which files have changed.

#include "rewrite/rewrite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/includes.h"
#include "rewrite/unit.h"
#include "source/torch.h"

static void learn(sim_unit *unit)
{
    if (unit->torch)
        sim_torch_qualifiers(&unit->qualifiers);
    // Twice, because a macro may stand for one that a later file defines.
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < unit->file_count && (round == 0 || unit->qualifiers.count > 0); i++)
            sim_qualifiers_learn(&unit->qualifiers, &unit->files[i]->source);
    for (int i = 0; i < unit->file_count; i++)
        sim_scopes_find(&unit->files[i]->source, &unit->qualifiers);
    for (int i = 0; i < unit->file_count; i++)
        sim_names_learn(unit, &unit->files[i]->source);
    for (int i = 0; i < unit->file_count; i++)
        sim_names_learn_namesakes(unit, &unit->files[i]->source);
}

static void edit(const sim_unit *unit, int index)
{
    sim_file *file = unit->files[index];
    const sim_tokens *both[] = {&file->source.code, &file->source.lines};
    sim_edit_stores(unit, file);
    sim_edit_branches(unit, index, false);
    for (int i = 0; i < 2; i++) {
        sim_edit_assembly(file, both[i]);
        sim_edit_sanitizers(file, both[i]);
        sim_edit_launches(unit, file, both[i]);
        sim_edit_atomics(unit, file, both[i]);
    }
    sim_edit_kernels(unit, file);
    sim_edit_calls(unit, file);
    sim_edit_templates(unit, file);
    sim_edit_casts(unit, file);
    sim_edit_conversions(file);
    sim_edit_copies(file);
    sim_edit_fragments(file);
    sim_edit_arithmetic(unit, file);
    sim_edit_handled(unit, file);
    sim_edit_variables(unit, file);
    sim_edit_conditionals(unit, file);
    sim_edit_removed(unit, file);
    sim_edit_branches(unit, index, true);
}

// A file that includes a rewritten one must be rewritten, to include it from its new place.
static void find_changed(const sim_unit *unit, bool *changed)
{
    for (int i = 0; i < unit->file_count; i++)
        changed[i] = i == 0 || unit->files[i]->changed || unit->files[i]->edit_count > 0;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < unit->include_count; i++) {
            const sim_include *include = &unit->includes[i];
            if (changed[include->to] && include->to != 0 && !changed[include->from])
                changed[include->from] = more = true;
        }
    }
}

// A name may be as long as the file system allows: the numbers tell the copies apart, and its end is enough to read.
static char *shadow_name(const char *path, int index, const sim_rewrite_options *options)
{
    enum { LONGEST = 200 };
    const char *slash = strrchr(path, '/'), *own = slash ? slash + 1 : path;
    const size_t length = strlen(own);
    sim_text name = {0};
    sim_text_print(&name, "%s/%d-%d-%s", options->shadow_folder, options->number, index,
                   length > LONGEST ? own + length - LONGEST : own);
    return sim_text_take(&name);
}

static bool write_results(sim_rewritten *result)
{
    sim_unit *unit = result->unit;
    for (int i = 0; i < unit->file_count; i++) {
        sim_file *file = unit->files[i];
        result->files[i].path = file->source.path;
        if (i > 0 && !result->files[i].shadow)
            continue;
        sim_text text = {0};
        sim_edits_apply(file, &text);
        if (text.failed || file->failed || file->source.failed) {
            sim_text_free(&text);
            errno = ENOMEM;
            return false;
        }
        result->files[i].uses_ptx = file->uses_ptx;
        result->files[i].bytes = text.bytes;
        result->files[i].text = sim_text_take(&text);
    }
    return true;
}

static bool rewrite(sim_rewritten *result, const sim_rewrite_options *options)
{
    sim_unit *unit = result->unit;
    unit->branches = options->branches;
    unit->number = options->number;
    unit->torch = options->torch;
    if (options->shadow_folder)
        sim_includes_read(unit, options->folders);
    if (unit->torch) {
        sim_leave_out_torch(unit);
        unit->include_count = 0; // their lines have other numbers now
        sim_includes_read(unit, options->folders);
    }
    learn(unit);
    for (int i = 0; i < unit->file_count; i++)
        edit(unit, i);
    result->count = unit->file_count;
    result->files = calloc((size_t)unit->file_count, sizeof *result->files);
    bool *changed = calloc((size_t)unit->file_count, sizeof *changed);
    const char **shadows = calloc((size_t)unit->file_count, sizeof *shadows);
    bool fine = result->files && changed && shadows;
    if (fine) {
        find_changed(unit, changed);
        for (int i = 0; i < unit->file_count && options->shadow_folder; i++)
            if (changed[i])
                result->files[i].shadow = shadows[i] = shadow_name(unit->files[i]->source.path, i, options);
        sim_includes_edit(unit, shadows);
        fine = write_results(result);
    } else {
        errno = ENOMEM;
    }
    free(changed);
    free(shadows);
    return fine;
}

bool sim_rewrite_unit(const char *path, const sim_rewrite_options *options, sim_rewritten *result)
{
    *result = (sim_rewritten){.unit = calloc(1, sizeof *result->unit)};
    if (result->unit && sim_unit_read(result->unit, path) == 0 && rewrite(result, options))
        return true;
    int error = errno;
    sim_rewritten_free(result);
    errno = error;
    return false;
}

char *sim_rewrite_text(const char *path, const char *text, size_t bytes, size_t *result_bytes)
{
    sim_rewritten result = {.unit = calloc(1, sizeof *result.unit)};
    char *copy = malloc(bytes + 1), *rewritten = NULL;
    if (result.unit && copy) {
        memcpy(copy, text, bytes);
        copy[bytes] = 0;
        const sim_rewrite_options alone = {0};
        if (sim_unit_add(result.unit, path, copy, bytes) == 0 && rewrite(&result, &alone)) {
            rewritten = result.files[0].text;
            *result_bytes = result.files[0].bytes;
            result.files[0].text = NULL;
        }
    } else {
        free(copy);
    }
    sim_rewritten_free(&result);
    return rewritten;
}

void sim_rewritten_free(sim_rewritten *result)
{
    for (int i = 0; i < result->count && result->files; i++) {
        free(result->files[i].text);
        free((char *)result->files[i].shadow);
    }
    free(result->files);
    if (result->unit) {
        for (int i = 0; i < result->unit->file_count; i++) {
            sim_edits_free(result->unit->files[i]);
            sim_source_close(&result->unit->files[i]->source);
            free(result->unit->files[i]);
        }
        free(result->unit->files);
        free(result->unit->includes);
        sim_names_free(result->unit);
        free(result->unit);
    }
    *result = (sim_rewritten){0};
}

bool sim_rewritten_includes(const sim_rewritten *result, const char *const *names)
{
    for (int i = 0; i < result->count; i++) {
        const sim_source *source = &result->unit->files[i]->source;
        for (int d = 0; d < source->directive_count; d++) {
            const sim_directive *directive = &source->directives[d];
            bool one_name = directive->kind == SIM_DIRECTIVE_INCLUDE && directive->last - directive->first == 3;
            if (one_name && sim_token_is_any(source, &source->lines.at[directive->first + 1], names))
                return true;
        }
    }
    return false;
}

const char *const *sim_rewritten_device_functions(const sim_rewritten *result, int *count)
{
    *count = result->unit->device_functions.count;
    return (const char *const *)result->unit->device_functions.at;
}

// Start of a line in the text; its end when there are fewer.
static uint32_t line_start(const sim_source *source, int line)
{
    uint32_t at = 0;
    for (int i = 1; i < line && at < source->bytes; at++)
        i += source->text[at] == '\n';
    return at;
}

static const sim_file *file_of(const sim_rewritten *result, const char *path)
{
    for (int i = 0; i < result->count; i++)
        if (strcmp(result->unit->files[i]->source.path, path) == 0)
            return result->unit->files[i];
    return NULL;
}

// The innermost function that has device code on this line; NULL: none.
static const sim_scope *device_function_at(const sim_source *source, int line)
{
    int first, last;
    sim_tokens_on_line(&source->code, line, &first, &last);
    for (int i = first; i < last; i++) {
        const sim_scope *scope = sim_scope_of(source, &source->code.at[i]);
        if (sim_scope_is_device(scope))
            return scope;
    }
    return NULL;
}

bool sim_rewritten_is_device(const sim_rewritten *result, const char *path, int line)
{
    const sim_file *file = file_of(result, path);
    return file && device_function_at(&file->source, line);
}

// The name of the function whose brace is token `open`; NULL: it has none that could be found.
static const sim_token *function_name(const sim_source *source, int open)
{
    static const char *const others[] = {"__launch_bounds__", "__attribute__", "__align__", "alignas", NULL};
    const sim_tokens *code = &source->code;
    for (int i = sim_statement_start(source, code, open); i < open; i++) {
        if (!sim_token_is(source, &code->at[i], "("))
            continue;
        const sim_token *before = sim_token_at(code, i - 1);
        if (before->kind == SIM_TOKEN_NAME && !sim_token_is_any(source, before, others))
            return before;
        i = code->at[i].match > i ? code->at[i].match : i;
    }
    return NULL;
}

static int count_name(const sim_source *source, const char *name)
{
    const sim_tokens *const all[] = {&source->code, &source->lines};
    int count = 0;
    for (int list = 0; list < 2; list++)
        for (int i = 0; i < all[list]->count; i++)
            count += sim_token_is(source, &all[list]->at[i], name);
    return count;
}

static int count_in_unit(const sim_rewritten *result, const char *name)
{
    int count = 0;
    for (int i = 0; i < result->count; i++)
        count += count_name(&result->unit->files[i]->source, name);
    return count;
}

bool sim_rewritten_is_unused(const sim_rewritten *result, const char *path, int line)
{
    const sim_file *file = file_of(result, path);
    const sim_source *source = file ? &file->source : NULL;
    const sim_scope *scope = source ? device_function_at(source, line) : NULL;
    const sim_token *token = scope ? function_name(source, scope->open) : NULL;
    char name[128];
    if (!token || token->end - token->start >= sizeof name || count_in_unit(result, "main") == 0)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)(token->end - token->start), source->text + token->start);
    return count_in_unit(result, name) == 1;
}

int sim_rewritten_column(const sim_rewritten *result, const char *path, int line, int column)
{
    const sim_file *file = file_of(result, path);
    if (!file)
        return column;
    uint32_t start = line_start(&file->source, line), end = line_start(&file->source, line + 1);
    long shift = 0; // rewritten column minus the user's
    for (int i = 0; i < file->edit_count; i++) {
        const sim_edit *edit = &file->edits[i];
        if (edit->start < start || edit->start >= end)
            continue;
        long at = (long)(edit->start - start) + 1 + shift, grown = (long)strcspn(edit->inserted, "\n");
        if (column < at)
            break;
        if (column < at + grown)
            return (int)(at - shift);
        shift += grown - (long)edit->removed;
    }
    return column - shift > 0 ? (int)(column - shift) : 1;
}
