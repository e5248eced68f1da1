// Kernels by their shape: __global__ ... NAME ( ... ) {  at file scope, in a namespace, or in the body of a macro that
// is called there.

#include "check/extension_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/own.h"
#include "sim/source/scope.h"
#include "sim/source/torch.h"

enum { TEXT_SIZE = 4096, MOST_MACRO = 1 << 16, MOST_PLACE = 512 };

// --- text of tokens --------------------------------------------------------------------------------------------------

static bool is_word(const sim_token *token)
{
    return token->kind == SIM_TOKEN_NAME || token->kind == SIM_TOKEN_NUMBER;
}

// Tokens [first, last) as a person writes them: const scalar_t *__restrict__ x.
const char *heddle_check_tokens_text(heddle_arena *arena, const sim_source *source, int first, int last)
{
    char text[TEXT_SIZE];
    size_t used = 0;
    text[0] = '\0';
    for (int i = first; i < last; i++) {
        const sim_token *token = &source->code.at[i], *before = sim_token_at(&source->code, i - 1);
        bool star = sim_token_is(source, token, "*") || sim_token_is(source, token, "&");
        bool after_star = sim_token_is(source, before, "*") || sim_token_is(source, before, "&");
        bool gap = i > first && ((is_word(token) && is_word(before)) || sim_token_is(source, before, ",") ||
                                 (star && !after_star) || (is_word(token) && sim_token_is(source, before, ">")));
        int length = snprintf(text + used, sizeof text - used, "%s%.*s", gap ? " " : "",
                              (int)(token->end - token->start), source->text + token->start);
        used += length > 0 ? (size_t)length : 0;
        if (used >= sizeof text)
            break;
    }
    return heddle_arena_copy_text(arena, text);
}

// --- one kernel ------------------------------------------------------------------------------------------------------

// The next comma of a list, or its end; brackets and angles are passed over.
int heddle_check_item_end(const sim_source *source, int first, int last)
{
    int angles = 0;
    for (int i = first; i < last; i++) {
        const sim_token *token = &source->code.at[i];
        if ((sim_token_is(source, token, "(") || sim_token_is(source, token, "[") ||
             sim_token_is(source, token, "{")) &&
            token->match > i)
            i = token->match;
        else if (sim_token_is(source, token, "<"))
            angles++;
        else if (sim_token_is(source, token, ">") && angles > 0)
            angles--;
        else if (sim_token_is(source, token, ",") && angles == 0)
            return i;
    }
    return last;
}

static int find_sign(const sim_source *source, int first, int last, const char *sign)
{
    for (int i = first; i < last; i++)
        if (sim_token_is(source, &source->code.at[i], sign))
            return i;
    return last;
}

static void read_parameter(heddle_arena *arena, const sim_source *source, int first, int last, int number,
                           heddle_check_parameter *parameter)
{
    static const char *const accessors[] = {"PackedTensorAccessor",   "PackedTensorAccessor32",
                                            "PackedTensorAccessor64", "GenericPackedTensorAccessor",
                                            "TensorAccessor",         NULL};
    static const char *const types[] = {"int",  "float", "double", "long",  "unsigned", "short",
                                        "char", "bool",  "void",   "const", "size_t",   NULL};
    char unnamed[32];
    int behind = find_sign(source, first, last, "="), array = behind;
    for (int i = first; i < behind; i++)
        if (sim_token_is(source, &source->code.at[i], "[") && array == behind)
            array = i;
    parameter->has_default = behind < last;
    parameter->alias = "";
    int name = array - 1;
    const sim_token *token = sim_token_at(&source->code, name), *before = sim_token_at(&source->code, name - 1);
    bool named = name > first && token->kind == SIM_TOKEN_NAME && !sim_token_is_any(source, token, types) &&
                 !sim_token_is(source, before, "::") && !sim_token_is(source, token, "__restrict__");
    snprintf(unnamed, sizeof unnamed, "argument%d", number + 1);
    parameter->name =
        named ? heddle_check_tokens_text(arena, source, name, name + 1) : heddle_arena_copy_text(arena, unnamed);
    int end = named ? name : array, angles = 0;
    parameter->type = heddle_check_tokens_text(arena, source, first, end);
    for (int i = first; i < end; i++) {
        const sim_token *one = &source->code.at[i];
        angles += sim_token_is(source, one, "<") ? 1 : sim_token_is(source, one, ">") && angles > 0 ? -1 : 0;
        if (sim_token_is_any(source, one, accessors)) {
            int comma = heddle_check_item_end(source, i + 2, end);
            const sim_token *rank = sim_token_at(&source->code, comma + 1);
            parameter->kind = HEDDLE_CHECK_ACCESSOR;
            parameter->dimensions =
                rank->kind == SIM_TOKEN_NUMBER ? (int)strtol(source->text + rank->start, NULL, 10) : 0;
        }
        parameter->is_const |= parameter->kind != HEDDLE_CHECK_POINTER && sim_token_is(source, one, "const");
        if (sim_token_is(source, one, "*") && angles == 0)
            parameter->kind = HEDDLE_CHECK_POINTER;
    }
    if (array < behind)
        parameter->kind = HEDDLE_CHECK_POINTER;
}

static void read_parameters(heddle_arena *arena, const sim_source *source, int open, heddle_check_global *kernel)
{
    int last = source->code.at[open].match;
    bool none = open + 1 == last || (open + 2 == last && sim_token_is(source, &source->code.at[open + 1], "void"));
    for (int first = open + 1; !none && first < last && kernel->count < HEDDLE_CHECK_MOST_PARAMETERS;) {
        int end = heddle_check_item_end(source, first, last);
        read_parameter(arena, source, first, end, kernel->count, &kernel->parameters[kernel->count]);
        kernel->count++;
        first = end + 1;
    }
}

static void read_templates(heddle_arena *arena, const sim_source *source, int open, int behind,
                           heddle_check_global *kernel)
{
    static const char *const types[] = {"typename", "class", NULL};
    kernel->templates = heddle_check_tokens_text(arena, source, open + 1, behind - 1);
    for (int first = open + 1; first < behind - 1 && kernel->template_count < HEDDLE_CHECK_MOST_PARAMETERS;) {
        int end = heddle_check_item_end(source, first, behind - 1), equal = find_sign(source, first, end, "=");
        int number = kernel->template_count++;
        kernel->template_names[number] = heddle_check_tokens_text(arena, source, equal - 1, equal);
        kernel->template_is_type[number] = sim_token_is_any(source, &source->code.at[first], types);
        bool pack = find_sign(source, first, end, ".") < end;
        if (equal == end && !pack)
            kernel->template_required = kernel->template_count;
        first = end + 1;
    }
}

// "a::b::" of the namespaces around a token; those without a name need none.
static void read_namespaces(const sim_source *source, int token, char *text, size_t size)
{
    char before[MOST_PLACE];
    text[0] = '\0';
    for (const sim_scope *scope = sim_scope_of(source, &source->code.at[token]); scope && scope->open >= 0;
         scope = scope->parent >= 0 ? &source->scopes[scope->parent] : NULL) {
        // Not beyond the statement that opens the scope: `namespace cg = cooperative_groups;` may stand before extern
        // "C" {
        int first = sim_statement_start(source, &source->code, scope->open);
        while (first < scope->open && !sim_token_is(source, &source->code.at[first], "namespace"))
            first++;
        if (!sim_token_is(source, &source->code.at[first], "namespace"))
            continue;
        snprintf(before, sizeof before, "%s", text);
        const uint32_t start = source->code.at[first].end, end = source->code.at[scope->open].start;
        char name[128];
        size_t used = 0;
        for (uint32_t i = start; i < end && used + 1 < sizeof name; i++)
            if (sim_is_name(source->text[i]) || source->text[i] == ':')
                name[used++] = source->text[i];
        name[used] = '\0';
        if (used > 0)
            snprintf(text, size, "%s::%s", name, before);
    }
}

static bool is_in_code(const sim_source *source, int token)
{
    sim_scope_kind kind = sim_scope_of(source, &source->code.at[token])->kind;
    return kind == SIM_SCOPE_FUNCTION || kind == SIM_SCOPE_CLASS;
}

// The bracket of the parameters of the kernel whose __global__ is token `index`; -1: this is no definition.
static int find_parameters(const sim_source *source, int index)
{
    static const char *const attributes[] = {"__launch_bounds__",
                                             "__attribute__",
                                             "__cluster_dims__",
                                             "__maxnreg__",
                                             "__block_size__",
                                             "__grid_constant__",
                                             NULL};
    const sim_tokens *code = &source->code;
    for (int i = index + 1; i < code->count; i++) {
        const sim_token *token = &code->at[i], *before = sim_token_at(code, i - 1);
        if (sim_token_is(source, token, ";") || sim_token_is(source, token, "{"))
            return -1;
        if (!sim_token_is(source, token, "(") || token->match <= i)
            continue;
        bool bounds = before->kind == SIM_TOKEN_NAME && before->end - before->start > 17 &&
                      memcmp(source->text + before->start, "C10_LAUNCH_BOUNDS", 17) == 0;
        if (bounds || sim_token_is_any(source, before, attributes)) {
            i = token->match;
            continue;
        }
        bool body = sim_token_is(source, sim_token_at(code, token->match + 1), "{");
        return before->kind == SIM_TOKEN_NAME && body ? i : -1; // a specialisation has > before the bracket
    }
    return -1;
}

static bool is_repeated(const heddle_check_globals *globals, const heddle_check_global *kernel)
{
    for (int i = 0; i < globals->count; i++) {
        const heddle_check_global *other = globals->at[i];
        bool same = strcmp(other->qualified, kernel->qualified) == 0 && other->count == kernel->count &&
                    strcmp(other->templates, kernel->templates) == 0;
        for (int p = 0; p < kernel->count && same; p++)
            same = strcmp(other->parameters[p].type, kernel->parameters[p].type) == 0;
        if (same)
            return true; // in the other branch of an #if
    }
    return false;
}

// `place`: where a macro is called, whose expansion `source` is; -1: the file itself.
static void add_kernel(heddle_check_globals *globals, const sim_source *source, int index, const sim_source *caller,
                       int place)
{
    heddle_arena *arena = globals->arena;
    int open = is_in_code(source, index) ? -1 : find_parameters(source, index);
    heddle_check_global *kernel = open >= 0 ? heddle_arena_alloc(arena, sizeof *kernel) : NULL;
    if (!kernel || globals->count == HEDDLE_CHECK_MOST_KERNELS)
        return;
    char around[MOST_PLACE], qualified[2 * MOST_PLACE];
    int start = sim_statement_start(source, &source->code, index);
    kernel->templates = kernel->launch_templates = kernel->grid = kernel->block = kernel->shared = kernel->bounds = "";
    kernel->tile[0] = kernel->tile[1] = "";
    if (sim_token_is(source, &source->code.at[start], "template") &&
        sim_token_is(source, sim_token_at(&source->code, start + 1), "<")) {
        int behind = sim_behind_angles(source, &source->code, start + 1);
        if (behind > 0)
            read_templates(arena, source, start + 1, behind, kernel);
    }
    read_namespaces(caller ? caller : source, caller ? place : index, around, sizeof around);
    kernel->name = heddle_check_tokens_text(arena, source, open - 1, open);
    snprintf(qualified, sizeof qualified, "%s%s", around, kernel->name);
    kernel->qualified = heddle_arena_copy_text(arena, qualified);
    kernel->file = heddle_arena_copy_text(arena, caller ? caller->path : source->path);
    kernel->line = caller ? caller->code.at[place].line : source->code.at[open - 1].line;
    read_parameters(arena, source, open, kernel);
    heddle_check_body_read(arena, source, source->code.at[open].match + 1, kernel);
    if (!is_repeated(globals, kernel))
        globals->at[globals->count++] = kernel;
}

static void add_kernels(heddle_check_globals *globals, const sim_source *source, const sim_qualifiers *known,
                        const sim_source *caller, int place)
{
    for (int i = 0; i < source->code.count; i++)
        if (sim_qualifier_side(known, source, &source->code.at[i]) & SIM_SIDE_GLOBAL)
            add_kernel(globals, source, i, caller, place);
}

// --- macros that make kernels ----------------------------------------------------------------------------------------

typedef struct expansion {
    char text[MOST_MACRO];
    size_t used;
} expansion;

static void put(expansion *to, const char *text, size_t length)
{
    if (to->used + length + 2 >= sizeof to->text)
        return;
    memcpy(to->text + to->used, text, length);
    to->used += length;
}

// The argument with this number of the call whose bracket is `open`: its text.
static void put_argument(expansion *to, const sim_source *source, int open, int number)
{
    int last = source->code.at[open].match, first = open + 1, end = heddle_check_item_end(source, first, last);
    for (int i = 0; i < number && end < last; i++) {
        first = end + 1;
        end = heddle_check_item_end(source, first, last);
    }
    if (end > first)
        put(to, source->text + source->code.at[first].start,
            source->code.at[end - 1].end - source->code.at[first].start);
}

static int parameter_of_macro(const sim_source *source, const sim_directive *macro, const sim_token *token)
{
    int number = 0;
    for (int t = macro->first + 2; t < macro->last && !sim_token_is(source, &source->lines.at[t], ")"); t++) {
        if (sim_tokens_equal(source, &source->lines.at[t], source, token) && token->kind == SIM_TOKEN_NAME)
            return number;
        number += sim_token_is(source, &source->lines.at[t], ",");
    }
    return -1;
}

static void expand(expansion *to, const sim_source *home, const sim_directive *macro, const sim_source *caller,
                   int open)
{
    int body = macro->first + 1;
    while (body < macro->last && !sim_token_is(home, &home->lines.at[body], ")"))
        body++;
    for (int t = body + 1; t < macro->last; t++) {
        const sim_token *token = &home->lines.at[t];
        if (sim_token_is(home, token, "#")) { // ## joins what stands around it
            while (to->used > 0 && to->text[to->used - 1] == ' ')
                to->used--;
            continue;
        }
        int number = parameter_of_macro(home, macro, token);
        if (number >= 0)
            put_argument(to, caller, open, number);
        else
            put(to, home->text + token->start, token->end - token->start);
        if (!sim_token_is(home, sim_token_at(&home->lines, t + 1), "#"))
            put(to, " ", 1);
    }
}

static void add_from_call(heddle_check_globals *globals, const sim_qualifiers *known, const sim_source *home,
                          const sim_directive *macro, const sim_source *caller, int call)
{
    expansion *to = calloc(1, sizeof *to);
    char *text = NULL;
    if (to) {
        expand(to, home, macro, caller, call + 1);
        text = strndup(to->text, to->used);
    }
    if (text) {
        sim_source made = {0};
        sim_source_open(&made, caller->path, text, to->used);
        sim_scopes_find(&made, known);
        add_kernels(globals, &made, known, caller, call);
        sim_source_close(&made);
    }
    free(to);
}

static bool makes_kernel(const sim_source *source, const sim_directive *macro)
{
    bool function = false, global = false;
    if (macro->kind != SIM_DIRECTIVE_DEFINE || macro->last - macro->first < 4)
        return false;
    const sim_token *name = &source->lines.at[macro->first], *open = name + 1;
    function = sim_token_is(source, open, "(") && open->start == name->end;
    for (int t = macro->first; t < macro->last; t++)
        global |= sim_token_is(source, &source->lines.at[t], "__global__");
    bool body = false;
    for (int t = macro->first; t < macro->last; t++)
        body |= sim_token_is(source, &source->lines.at[t], "{");
    return function && global && body;
}

static void add_from_macros(heddle_check_globals *globals, const heddle_check_own_files *files,
                            const sim_qualifiers *known)
{
    for (int f = 0; f < files->count; f++)
        for (int d = 0; d < files->at[f]->directive_count; d++) {
            const sim_source *home = files->at[f];
            const sim_directive *macro = &home->directives[d];
            if (!makes_kernel(home, macro))
                continue;
            for (int c = 0; c < files->count; c++)
                for (int t = 0; t + 1 < files->at[c]->code.count; t++) {
                    const sim_source *caller = files->at[c];
                    bool calls = sim_tokens_equal(caller, &caller->code.at[t], home, &home->lines.at[macro->first]) &&
                                 sim_token_is(caller, &caller->code.at[t + 1], "(") &&
                                 caller->code.at[t + 1].match > t && !is_in_code(caller, t);
                    if (calls)
                        add_from_call(globals, known, home, macro, caller, t);
                }
        }
}

// --- all files -------------------------------------------------------------------------------------------------------

static void find_left_out(heddle_check_globals *globals, const heddle_check_own_files *files)
{
    const sim_source *sources[HEDDLE_CHECK_MOST_FILES + 1] = {NULL};
    sim_torch_names names = {0};
    char text[TEXT_SIZE];
    size_t used = 0;
    text[0] = '\0';
    memcpy(sources, files->at, (size_t)files->count * sizeof *sources);
    for (bool grew = globals->uses_torch; grew;) {
        grew = false;
        for (int i = 0; i < files->count; i++)
            grew |= sim_torch_learn(files->at[i], sources, &names);
    }
    for (int i = 0; i < files->count && globals->uses_torch; i++) {
        sim_torch_parts parts = {0};
        sim_torch_find(files->at[i], &names, &parts);
        for (int p = 0; p < parts.count && used < sizeof text; p++)
            if (parts.at[p].runs)
                used += (size_t)snprintf(text + used, sizeof text - used, "%s%s (%s:%d)", used ? ", " : "",
                                         parts.at[p].name, heddle_check_file_name(files->at[i]->path),
                                         files->at[i]->code.at[parts.at[p].first].line);
        sim_torch_parts_free(&parts);
    }
    sim_torch_names_free(&names);
    globals->left_out = heddle_arena_copy_text(globals->arena, text);
}

static void read_all(heddle_check_globals *globals, const heddle_check_own_files *files)
{
    sim_qualifiers known = {0};
    sim_torch_qualifiers(&known);
    for (int i = 0; i < files->count; i++) {
        globals->uses_torch |= sim_torch_is_used(files->at[i]);
        sim_qualifiers_learn(&known, files->at[i]);
    }
    for (int i = 0; i < files->count; i++)
        add_kernels(globals, files->at[i], &known, NULL, -1);
    add_from_macros(globals, files, &known);
    heddle_check_launches_read(globals, files);
    find_left_out(globals, files);
    sim_qualifiers_free(&known);
}

heddle_status heddle_check_globals_read(const char *const *paths, const char *const *folders,
                                        heddle_check_globals *globals)
{
    heddle_check_own_files files = {.count = 0};
    heddle_check_sources *sources = heddle_check_sources_create();
    *globals = (heddle_check_globals){.arena = heddle_arena_create(), .left_out = ""};
    if (!globals->arena || !sources) {
        heddle_check_sources_free(sources);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to read the kernels");
    }
    for (int i = 0; paths[i]; i++)
        heddle_check_own_files_find(&files, sources, heddle_check_sources_code(sources, paths[i]), folders);
    read_all(globals, &files);
    heddle_check_sources_free(sources);
    return HEDDLE_OK;
}

void heddle_check_globals_free(heddle_check_globals *globals)
{
    heddle_arena_destroy(globals->arena);
    *globals = (heddle_check_globals){0};
}

const char *heddle_check_global_text(const heddle_check_global *kernel, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s%s%s%s(", kernel->qualified, kernel->templates[0] ? "<" : "",
                                   kernel->templates, kernel->templates[0] ? ">" : "");
    for (int i = 0; i < kernel->count && used < size; i++) {
        const heddle_check_parameter *one = &kernel->parameters[i];
        size_t length = strlen(one->type);
        bool star = length > 0 && one->type[length - 1] == '*';
        used += (size_t)snprintf(text + used, size - used, "%s%s%s%s", i ? ", " : "", one->type, star ? "" : " ",
                                 one->name);
    }
    if (used < size)
        snprintf(text + used, size - used, ")");
    return text;
}

const char *heddle_check_globals_text(const heddle_check_globals *globals, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < globals->count && used < size; i++) {
        char one[2048];
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "; " : "",
                                 heddle_check_global_text(globals->at[i], one, sizeof one));
    }
    return text;
}
