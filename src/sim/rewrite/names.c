// What is known about names over a whole translation unit: which kernels are templates, overloaded or have default
// arguments, because only those need the slower form of launch; and which atomics the user wrote himself.

#include <stdlib.h>
#include <string.h>

#include "rewrite/unit.h"

static const char *const attribute_calls[] = {"__launch_bounds__", "__attribute__",  "__cluster_dims__", "__maxnreg__",
                                              "alignas",           "__block_size__", "__declspec",       NULL};
static const char *const atomics[] = {"atomicAdd", "atomicSub", "atomicExch", "atomicMin", "atomicMax", "atomicInc",
                                      "atomicDec", "atomicAnd", "atomicOr",   "atomicXor", NULL};
static const char *const atomic_scopes[] = {"", "_block", "_system", NULL};

bool sim_name_list_has(const sim_name_list *names, const sim_source *source, const sim_token *token)
{
    for (int i = 0; i < names->count; i++)
        if (sim_token_is(source, token, names->at[i]))
            return true;
    return false;
}

static void add_name(sim_name_list *names, const sim_source *source, const sim_token *token)
{
    char *copy = strndup(source->text + token->start, token->end - token->start);
    if (copy && sim_array_grow(&names->at, names->count, &names->room, sizeof *names->at))
        names->at[names->count++] = copy;
    else
        free(copy);
}

static void free_names(sim_name_list *names)
{
    for (int i = 0; i < names->count; i++)
        free(names->at[i]);
    free(names->at);
}

const sim_kernel_name *sim_kernel_find(const sim_unit *unit, const char *name, size_t length)
{
    for (int i = 0; i < unit->kernel_count; i++)
        if (strlen(unit->kernels[i].name) == length && memcmp(unit->kernels[i].name, name, length) == 0)
            return &unit->kernels[i];
    return NULL;
}

// The types of a parameter list: its tokens without the names of the parameters, so that a declaration without them and
// the definition agree.
static char *parameter_types(const sim_source *source, const sim_tokens *code, int open, bool *has_defaults)
{
    static const char *const starts[] = {"const", "volatile", "struct", "unsigned", "signed", "long", NULL};
    sim_text types = {0};
    int close = code->at[open].match, parameter = open + 1;
    bool in_default = false;
    for (int i = open + 1; i < close; i++) {
        const sim_token *token = &code->at[i];
        bool ends = i + 1 == close || sim_token_is(source, &code->at[i + 1], ",") ||
                    sim_token_is(source, &code->at[i + 1], "=") || sim_token_is(source, &code->at[i + 1], "[");
        if (sim_token_is(source, token, "=") && !in_default)
            *has_defaults = in_default = true;
        if (sim_token_is(source, token, ",")) {
            in_default = false;
            parameter = i + 1;
        }
        bool name = token->kind == SIM_TOKEN_NAME && ends && i > parameter &&
                    !sim_token_is(source, &code->at[i - 1], "::") &&
                    !sim_token_is_any(source, &code->at[i - 1], starts);
        if (!in_default && !name) {
            sim_text_add_bytes(&types, source->text + token->start, token->end - token->start);
            sim_text_add(&types, " ");
        }
    }
    return sim_text_take(&types);
}

static sim_kernel_name *learn_kernel(sim_unit *unit, const sim_source *source, int name, int open, bool is_template)
{
    const sim_token *token = &source->code.at[name];
    bool has_defaults = false;
    char *types = parameter_types(source, &source->code, open, &has_defaults);
    const char *text = source->text + token->start;
    sim_kernel_name *known = (sim_kernel_name *)sim_kernel_find(unit, text, token->end - token->start);
    if (!known && sim_array_grow(&unit->kernels, unit->kernel_count, &unit->kernel_room, sizeof *unit->kernels)) {
        char *copy = strndup(text, token->end - token->start);
        if (copy) {
            known = &unit->kernels[unit->kernel_count++];
            *known = (sim_kernel_name){.name = copy, .parameters = types};
            types = NULL;
        }
    }
    if (known) {
        known->is_template |= is_template;
        known->has_defaults |= has_defaults;
        known->overloaded |= types && known->parameters && strcmp(types, known->parameters) != 0;
    }
    free(types);
    return known;
}

// The kernel's name after its qualifier, and the bracket that opens its parameters; -1: it is no declaration of one.
static int kernel_name_at(const sim_source *source, int qualifier, int *parameters)
{
    const sim_tokens *code = &source->code;
    for (int i = qualifier + 1; i + 1 < code->count; i++) {
        const sim_token *token = &code->at[i], *next = &code->at[i + 1];
        if (sim_token_is(source, token, ";") || sim_token_is(source, token, "{"))
            return -1;
        if (sim_token_is(source, token, "(")) {
            i = token->match > i ? token->match : i;
            continue;
        }
        if (token->kind != SIM_TOKEN_NAME || sim_token_is_any(source, token, attribute_calls))
            continue;
        int open = i + 1;
        if (sim_token_is(source, next, "<")) // a specialisation: k<float>(...)
            open = sim_behind_angles(source, code, open);
        if (open > 0 && open < code->count && sim_token_is(source, &code->at[open], "(") &&
            code->at[open].match > open) {
            *parameters = open;
            return i;
        }
    }
    return -1;
}

// Only what is certain: a name that is not known may stand for void.
static bool returns_value(const sim_source *source, int start, int name)
{
    static const char *const types[] = {"int",  "unsigned", "signed", "float", "double", "bool",
                                        "char", "short",    "long",   "half",  "size_t", NULL};
    for (int i = start; i < name; i++) {
        const sim_token *token = &source->code.at[i];
        if (sim_token_is(source, token, "(") && token->match > i)
            i = token->match;
        else if (sim_token_is(source, token, "<")) {
            int after = sim_behind_angles(source, &source->code, i);
            i = after > i ? after - 1 : i;
        } else if (sim_token_is_any(source, token, types) || sim_token_is(source, token, "*"))
            return true;
    }
    return false;
}

static void learn_kernel_at(sim_unit *unit, const sim_source *source, int qualifier)
{
    int open, name = kernel_name_at(source, qualifier, &open);
    int start = sim_statement_start(source, &source->code, qualifier);
    bool is_template = false;
    for (int i = start; i < qualifier; i++)
        is_template |= sim_token_is(source, &source->code.at[i], "template");
    sim_kernel_name *known = name >= 0 ? learn_kernel(unit, source, name, open, is_template) : NULL;
    if (known)
        known->returns_value |= returns_value(source, start, name);
}

// The first argument of __launch_bounds__ among the tokens from `start` on, before `end`; 0 bytes: there is none, or
// none that is certain: a comma behind an angle may belong to template arguments.
static uint32_t bound_of(const sim_source *source, int start, int end, uint32_t *bytes)
{
    const sim_tokens *code = &source->code;
    *bytes = 0;
    for (int i = start; i + 1 < end; i++) {
        if (!sim_token_is(source, &code->at[i], "__launch_bounds__") || !sim_token_is(source, &code->at[i + 1], "("))
            continue;
        int last = i + 2, close = code->at[i + 1].match;
        bool angles = false;
        for (; last < close && !sim_token_is(source, &code->at[last], ","); last++) {
            angles |= sim_token_is(source, &code->at[last], "<");
            if (sim_token_is(source, &code->at[last], "(") && code->at[last].match > last)
                last = code->at[last].match;
        }
        if (last > i + 2 && !angles)
            *bytes = code->at[last - 1].end - code->at[i + 2].start;
        return code->at[i + 2].start;
    }
    return 0;
}

// Behind the body of a kernel that is one function: the runtime learns its __launch_bounds__ before main.
static void edit_bound(const sim_unit *unit, sim_file *file, int start, int name, int open)
{
    const sim_source *source = &file->source;
    const sim_tokens *code = &source->code;
    const sim_token *token = &code->at[name];
    int length = (int)(token->end - token->start);
    const char *text = source->text + token->start;
    const sim_kernel_name *known = sim_kernel_find(unit, text, (size_t)length);
    uint32_t bytes, bound = bound_of(source, start, name, &bytes);
    const sim_token *body = sim_token_at(code, code->at[open].match + 1);
    if (bytes == 0 || !known || known->is_template || known->overloaded || open != name + 1 ||
        !sim_token_is(source, body, "{") || body->match < 0)
        return;
    sim_text call = {0};
    sim_text_print(&call,
                   " static const int sim_bound_of_%.*s __attribute__((unused)) = "
                   "sim_launch_bound((const void *)&%.*s, (unsigned)(%.*s));",
                   length, text, length, text, (int)bytes, source->text + bound);
    if (call.at && !memchr(call.at, '\n', call.bytes))
        sim_edit_insert(file, code->at[body->match].end, call.at);
    sim_text_free(&call);
}

void sim_edit_kernels(const sim_unit *unit, sim_file *file)
{
    const sim_source *source = &file->source;
    for (int i = 0; i < source->code.count; i++) {
        if (!(sim_qualifier_side(&unit->qualifiers, source, &source->code.at[i]) & SIM_SIDE_GLOBAL))
            continue;
        int open, name = kernel_name_at(source, i, &open), start = sim_statement_start(source, &source->code, i);
        if (name >= 0 && returns_value(source, start, name))
            sim_edit_insert(file, source->code.at[start].start,
                            "_Pragma(\"GCC error \\\"a __global__ function must return void\\\"\") ");
        else if (name >= 0)
            edit_bound(unit, file, start, name, open);
    }
}

static bool is_atomic_name(const sim_source *source, const sim_token *token)
{
    size_t length = token->end - token->start;
    const char *text = source->text + token->start;
    if (token->kind != SIM_TOKEN_NAME || length < 8 || memcmp(text, "atomic", 6) != 0)
        return false;
    for (int i = 0; atomics[i]; i++) {
        size_t stem = strlen(atomics[i]);
        if (length < stem || memcmp(text, atomics[i], stem) != 0)
            continue;
        for (int s = 0; atomic_scopes[s]; s++)
            if (length == stem + strlen(atomic_scopes[s]) && !memcmp(text + stem, atomic_scopes[s], length - stem))
                return true;
    }
    return false;
}

// A declaration or definition, seen by the type or qualifier right before the name.
static void learn_atomic(sim_unit *unit, const sim_source *source, int index)
{
    static const char *const not_types[] = {"return", "else", "do", "case", "throw", NULL};
    const sim_token *token = &source->code.at[index], *before = sim_token_at(&source->code, index - 1);
    const sim_scope *scope = sim_scope_of(source, token);
    if (before->kind != SIM_TOKEN_NAME || scope->kind == SIM_SCOPE_FUNCTION || scope->kind == SIM_SCOPE_OTHER ||
        sim_token_is_any(source, before, not_types))
        return;
    add_name(&unit->own_atomics, source, token);
}

bool sim_is_plain_atomic(const sim_unit *unit, const sim_source *source, const sim_token *token)
{
    return is_atomic_name(source, token) && !sim_name_list_has(&unit->own_atomics, source, token);
}

static void learn_device_function(sim_unit *unit, const sim_source *source, int qualifier)
{
    int open, name = kernel_name_at(source, qualifier, &open);
    unsigned side = 0;
    for (int i = sim_statement_start(source, &source->code, qualifier); i < name; i++)
        side |= sim_qualifier_side(&unit->qualifiers, source, &source->code.at[i]);
    if (name >= 0 && !(side & SIM_SIDE_HOST))
        add_name(&unit->device_functions, source, &source->code.at[name]);
}

// template <int n> static void cast(float *to), in a class; at `template`.
static void learn_member_template(sim_unit *unit, const sim_source *source, int index)
{
    static const char *const ends[] = {"(", ";", "{", "=", "template", NULL};
    const sim_tokens *code = &source->code;
    int i = sim_token_is(source, sim_token_at(code, index + 1), "<") ? sim_behind_angles(source, code, index + 1) : -1;
    while (i > 0 && i < code->count && !sim_token_is_any(source, &code->at[i], ends))
        i++;
    const sim_token *name = sim_token_at(code, i - 1);
    if (i > 0 && sim_token_is(source, sim_token_at(code, i), "(") && name->kind == SIM_TOKEN_NAME &&
        !sim_name_list_has(&unit->member_templates, source, name))
        add_name(&unit->member_templates, source, name);
}

void sim_names_learn(sim_unit *unit, const sim_source *source)
{
    for (int i = 0; i < source->code.count; i++) {
        const sim_token *token = &source->code.at[i];
        unsigned side = sim_qualifier_side(&unit->qualifiers, source, token);
        if (side & SIM_SIDE_GLOBAL)
            learn_kernel_at(unit, source, i);
        else if (side & SIM_SIDE_DEVICE && sim_scope_of(source, token)->kind == SIM_SCOPE_FILE)
            learn_device_function(unit, source, i);
        else if (is_atomic_name(source, token) && sim_token_is(source, sim_token_at(&source->code, i + 1), "("))
            learn_atomic(unit, source, i);
        else if (sim_token_is(source, token, "template") && sim_scope_of(source, token)->kind == SIM_SCOPE_CLASS)
            learn_member_template(unit, source, i);
        bool operates = sim_token_is(source, token, "operator");
        unit->has_operators |= operates;
        unit->has_subscripts |= operates && sim_token_is(source, sim_token_at(&source->code, i + 1), "[");
    }
}

// Function templates of the standard library that kernels are called after. After `using namespace std` the name stands
// for both.
static bool is_in_std(const char *name)
{
    static const char *const names[] = {"accumulate",
                                        "advance",
                                        "apply",
                                        "begin",
                                        "clamp",
                                        "copy",
                                        "count",
                                        "data",
                                        "distance",
                                        "end",
                                        "equal",
                                        "exchange",
                                        "fill",
                                        "find",
                                        "for_each",
                                        "gcd",
                                        "generate",
                                        "get",
                                        "hypot",
                                        "includes",
                                        "inner_product",
                                        "inclusive_scan",
                                        "exclusive_scan",
                                        "iota",
                                        "max",
                                        "max_element",
                                        "merge",
                                        "min",
                                        "min_element",
                                        "mismatch",
                                        "move",
                                        "next",
                                        "norm",
                                        "partial_sum",
                                        "partition",
                                        "pow",
                                        "prev",
                                        "reduce",
                                        "remove",
                                        "replace",
                                        "reverse",
                                        "rotate",
                                        "search",
                                        "shuffle",
                                        "size",
                                        "sort",
                                        "swap",
                                        "transform",
                                        "transform_reduce",
                                        "unique",
                                        NULL};
    for (int i = 0; names[i]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void learn_std(sim_unit *unit, const sim_source *source)
{
    const sim_tokens *code = &source->code;
    bool used = false;
    for (int i = 0; i + 2 < code->count && !used; i++)
        used = sim_token_is(source, &code->at[i], "using") && sim_token_is(source, &code->at[i + 1], "namespace") &&
               sim_token_is(source, &code->at[i + 2], "std");
    for (int i = 0; used && i < unit->kernel_count; i++)
        unit->kernels[i].overloaded |= is_in_std(unit->kernels[i].name);
}

// The declaration of a function that shares its name with a kernel and is none: `kernel` is then the name of two.
static bool is_namesake(const sim_unit *unit, const sim_source *source, int index)
{
    const sim_tokens *code = &source->code;
    const sim_scope *scope = sim_scope_of(source, &code->at[index]);
    if (scope->kind == SIM_SCOPE_FUNCTION || scope->kind == SIM_SCOPE_OTHER ||
        !sim_token_is(source, sim_token_at(code, index + 1), "("))
        return false;
    int start = sim_statement_start(source, code, index);
    for (int i = start; i < index; i++)
        if (sim_qualifier_side(&unit->qualifiers, source, &code->at[i]) & SIM_SIDE_GLOBAL)
            return false;
    return start < index;
}

void sim_names_learn_namesakes(sim_unit *unit, const sim_source *source)
{
    learn_std(unit, source);
    for (int i = 0; i < source->code.count && unit->kernel_count > 0; i++) {
        const sim_token *token = &source->code.at[i];
        if (token->kind != SIM_TOKEN_NAME)
            continue;
        sim_kernel_name *kernel =
            (sim_kernel_name *)sim_kernel_find(unit, source->text + token->start, token->end - token->start);
        if (kernel && !kernel->overloaded)
            kernel->overloaded = is_namesake(unit, source, i);
    }
}

void sim_names_free(sim_unit *unit)
{
    for (int i = 0; i < unit->kernel_count; i++) {
        free(unit->kernels[i].name);
        free(unit->kernels[i].parameters);
    }
    free(unit->kernels);
    free_names(&unit->own_atomics);
    free_names(&unit->device_functions);
    free_names(&unit->member_templates);
    sim_qualifiers_free(&unit->qualifiers);
}
