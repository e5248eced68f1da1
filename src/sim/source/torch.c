// A walk over the declarations at file scope. What is host code, or a class, and names PyTorch is a part of PyTorch's.

#include "source/torch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// What the stand-in (include/sim/torch.h) has of PyTorch's names: a declaration that uses nothing else stays.
static const char *const provided[] = {"Half",
                                       "BFloat16",
                                       "Float8_e4m3fn",
                                       "Float8_e5m2",
                                       "complex",
                                       "PackedTensorAccessor",
                                       "PackedTensorAccessor32",
                                       "PackedTensorAccessor64",
                                       "GenericPackedTensorAccessor",
                                       "TensorAccessor",
                                       "RestrictPtrTraits",
                                       "DefaultPtrTraits",
                                       "acc_type",
                                       "acc_type_device",
                                       "opmath_type",
                                       "opmath_t",
                                       "numeric_limits",
                                       "ScalarType",
                                       "kFloat",
                                       "kDouble",
                                       "kHalf",
                                       "kBFloat16",
                                       "kInt",
                                       "kLong",
                                       "kBool",
                                       "kByte",
                                       "kChar",
                                       "kShort",
                                       "CppTypeToScalarType",
                                       "compat",
                                       "Array",
                                       NULL};
// Macros of the stand-in that host functions without tensors may use.
static const char *const harmless[] = {"C10_CUDA_CHECK",
                                       "C10_CUDA_KERNEL_LAUNCH_CHECK",
                                       "AT_CUDA_CHECK",
                                       "AT_ASSERT",
                                       "AT_ASSERTM",
                                       "AT_ERROR",
                                       "TORCH_CHECK",
                                       "TORCH_INTERNAL_ASSERT",
                                       "TORCH_CUDA_CU_API",
                                       "TORCH_API",
                                       "C10_HOST_DEVICE",
                                       "C10_DEVICE",
                                       "C10_HOST",
                                       "C10_ALWAYS_INLINE",
                                       "C10_RESTRICT",
                                       "C10_WARP_SIZE",
                                       "C10_LAUNCH_BOUNDS_0",
                                       "C10_LAUNCH_BOUNDS_1",
                                       "C10_LAUNCH_BOUNDS_2",
                                       "C10_UNUSED",
                                       "C10_LIKELY",
                                       "C10_UNLIKELY",
                                       NULL};

bool sim_torch_is_header(const char *name)
{
    static const char *const folders[] = {"torch/", "ATen/", "c10/", "caffe2/", "pybind11/", "THC/", "TH/", NULL};
    for (int i = 0; folders[i]; i++)
        if (strncmp(name, folders[i], strlen(folders[i])) == 0)
            return true;
    return strcmp(name, "Python.h") == 0;
}

bool sim_torch_included(const sim_source *source, const sim_directive *directive)
{
    bool quoted;
    char *name = directive->kind == SIM_DIRECTIVE_INCLUDE ? sim_included_name(source, directive, &quoted) : NULL;
    bool is_torch = name && sim_torch_is_header(name);
    free(name);
    return is_torch;
}

bool sim_torch_is_program(const sim_source *source)
{
    for (int i = 0; i + 1 < source->code.count; i++)
        if (sim_token_is(source, &source->code.at[i], "main") && sim_token_is(source, &source->code.at[i + 1], "(") &&
            sim_scope_of(source, &source->code.at[i])->kind == SIM_SCOPE_FILE)
            return true;
    return false;
}

bool sim_torch_is_used(const sim_source *source)
{
    for (int i = 0; i < source->directive_count; i++)
        if (sim_torch_included(source, &source->directives[i]))
            return true;
    return false;
}

void sim_torch_qualifiers(sim_qualifiers *known)
{
    static const char text[] = "#define C10_HOST_DEVICE __host__ __device__\n#define C10_DEVICE __device__\n"
                               "#define C10_HOST __host__\n#define GPU_LAMBDA __host__ __device__\n"
                               "#define TORCH_DSA_KERNEL_ARGS\n";
    sim_source source = {0};
    char *copy = strdup(text);
    if (!copy)
        return;
    sim_source_open(&source, "", copy, sizeof text - 1);
    sim_qualifiers_learn(known, &source);
    sim_source_close(&source);
}

// --- names -----------------------------------------------------------------------------------------------------------

static bool is_known(const sim_torch_names *names, const sim_source *source, const sim_token *token)
{
    for (int i = 0; i < names->count; i++)
        if (sim_token_is(source, token, names->at[i]))
            return true;
    return false;
}

static bool add_name(sim_torch_names *names, const sim_source *source, const sim_token *token)
{
    if (token->kind != SIM_TOKEN_NAME || is_known(names, source, token) ||
        !sim_array_grow(&names->at, names->count, &names->room, sizeof *names->at))
        return false;
    char *copy = strndup(source->text + token->start, token->end - token->start);
    if (!copy)
        return false;
    names->at[names->count++] = copy;
    return true;
}

void sim_torch_names_free(sim_torch_names *names)
{
    for (int i = 0; i < names->count; i++)
        free(names->at[i]);
    free(names->at);
    *names = (sim_torch_names){0};
}

void sim_torch_parts_free(sim_torch_parts *parts)
{
    for (int i = 0; i < parts->count; i++)
        free(parts->at[i].name);
    free(parts->at);
    *parts = (sim_torch_parts){0};
}

static bool begins(const sim_source *source, const sim_token *token, const char *text)
{
    size_t length = strlen(text);
    return token->kind == SIM_TOKEN_NAME && token->end - token->start >= length &&
           memcmp(source->text + token->start, text, length) == 0;
}

// A macro of PyTorch's that needs it.
static bool is_torch_macro(const sim_source *source, const sim_token *token)
{
    static const char *const prefixes[] = {"TORCH_", "AT_", "C10_", "PYBIND11_", "STABLE_TORCH_", "THC", NULL};
    bool found = false;
    for (int i = 0; prefixes[i] && !found; i++)
        found = begins(source, token, prefixes[i]);
    return found && !sim_token_is_any(source, token, harmless);
}

static bool is_root(const sim_source *source, const sim_token *token)
{
    static const char *const roots[] = {"torch", "at", "c10", "pybind11", "caffe2", "ATen", NULL};
    return token->kind == SIM_TOKEN_NAME && sim_token_is_any(source, token, roots);
}

// Whether the names behind at:: are those of the stand-in.
static bool is_provided(const sim_source *source, const sim_tokens *tokens, int index)
{
    bool any = false;
    for (int i = index + 2; sim_token_is(source, sim_token_at(tokens, i - 1), "::"); i += 2)
        any |= sim_token_is_any(source, sim_token_at(tokens, i), provided);
    return any;
}

// `strict`: in host code, where nothing of PyTorch's runs; otherwise what the stand-in has is no reason.
static bool names_torch(const sim_source *source, const sim_tokens *tokens, int index, const sim_torch_names *names,
                        bool strict)
{
    const sim_token *token = &tokens->at[index], *before = sim_token_at(tokens, index - 1);
    if (token->kind != SIM_TOKEN_NAME || sim_token_is(source, before, ".") || sim_token_is(source, before, ">"))
        return false;
    if (is_torch_macro(source, token) || is_known(names, source, token))
        return true;
    if (sim_token_is(source, token, "pybind11"))
        return true;
    bool qualifies = sim_token_is(source, sim_token_at(tokens, index + 1), "::");
    return is_root(source, token) && qualifies && (strict || !is_provided(source, tokens, index));
}

// --- declarations ----------------------------------------------------------------------------------------------------

typedef enum declared { DECLARED_OTHER, DECLARED_FUNCTION, DECLARED_CLASS, DECLARED_MACRO } declared;

typedef struct declaration {
    declared kind;
    int first, last; // tokens, both included
    int body;        // its brace; -1: none
    unsigned side;
} declaration;

// What a brace opens: the token behind it, even the one that closes it, stands inside. NULL: it is never closed.
static const sim_scope *scope_opened(const sim_source *source, int brace)
{
    const sim_scope *scope = sim_scope_of(source, sim_token_at(&source->code, brace + 1));
    return scope->open == brace ? scope : NULL;
}

static bool is_upper(const sim_source *source, const sim_token *token)
{
    for (uint32_t i = token->start; i < token->end; i++)
        if (islower((unsigned char)source->text[i]))
            return false;
    return token->kind == SIM_TOKEN_NAME && token->end - token->start > 2;
}

// A call of a macro that stands alone, without a semicolon: REGISTER(x) and then another declaration.
static int lone_macro(const sim_source *source, int index)
{
    const sim_tokens *code = &source->code;
    const sim_token *open = sim_token_at(code, index + 1);
    if (!is_upper(source, &code->at[index]) || !sim_token_is(source, open, "(") || open->match <= index ||
        begins(source, &code->at[index], "C10_LAUNCH_BOUNDS") || begins(source, &code->at[index], "__"))
        return -1;
    const sim_token *after = sim_token_at(code, open->match + 1);
    bool ends = after->kind == SIM_TOKEN_NAME || after->kind == SIM_TOKEN_BREAK || sim_token_is(source, after, "[") ||
                sim_token_is(source, after, "}");
    return ends ? open->match : -1;
}

// The declaration that begins at a token. Returns the token behind it; a namespace is entered, and *one has kind OTHER
// and no tokens.
static int read_declaration(const sim_source *source, int index, declaration *one)
{
    const sim_tokens *code = &source->code;
    *one = (declaration){.first = index, .last = index - 1, .body = -1};
    int lone = lone_macro(source, index);
    if (lone >= 0) {
        *one = (declaration){.kind = DECLARED_MACRO, .first = index, .last = lone, .body = -1};
        return lone + 1;
    }
    for (int i = index; i < code->count; i++) {
        const sim_token *token = &code->at[i];
        bool opens = sim_token_is(source, token, "(") || sim_token_is(source, token, "[");
        if (opens && token->match > i) {
            i = token->match;
        } else if (sim_token_is(source, token, ";")) {
            one->last = i;
            return i + 1;
        } else if (sim_token_is(source, token, "}")) {
            return i + 1; // of a namespace, or of an #if that is not taken
        } else if (sim_token_is(source, token, "{")) {
            const sim_scope *scope = scope_opened(source, i);
            if (!scope || scope->kind == SIM_SCOPE_FILE || token->match <= i)
                return i + 1;
            one->body = i;
            one->side |= scope->side;
            one->kind = scope->kind == SIM_SCOPE_FUNCTION ? DECLARED_FUNCTION : DECLARED_CLASS;
            i = token->match;
            one->last = i;
            if (one->kind == DECLARED_FUNCTION && !sim_token_is(source, sim_token_at(code, i + 1), "catch"))
                return i + 1; // a function may be one try
        }
    }
    return code->count;
}

// The name that it declares; -1: none was found.
static int declared_name(const sim_source *source, const declaration *one)
{
    static const char *const keys[] = {"struct", "class", "union", "enum", "using", "namespace", NULL};
    static const char *const attributes[] = {"__attribute__", "__launch_bounds__", "alignas",     "decltype",
                                             "__align__",     "defined",           "enable_if_t", NULL};
    const sim_tokens *code = &source->code;
    if (one->kind == DECLARED_MACRO)
        return one->first;
    int last = one->body >= 0 ? one->body : one->last;
    for (int i = one->first, angles = 0; i < last; i++) {
        const sim_token *token = &code->at[i];
        angles += sim_token_is(source, token, "<") ? 1 : sim_token_is(source, token, ">") && angles > 0 ? -1 : 0;
        if (angles > 0)
            continue;
        const sim_token *after = sim_token_at(code, i + 1);
        bool directive = sim_token_is(source, after, "namespace"); // using namespace
        if (sim_token_is_any(source, token, keys) && after->kind == SIM_TOKEN_NAME && !directive) {
            int name = i + 1;
            while (sim_token_is(source, sim_token_at(code, name + 1), "::")) // using at::Tensor
                name += 2;
            return name;
        }
        bool calls = sim_token_is(source, token, "(") && i > one->first && code->at[i - 1].kind == SIM_TOKEN_NAME;
        if (calls && !sim_token_is_any(source, &code->at[i - 1], attributes))
            return i - 1;
        if (sim_token_is(source, token, "(") && token->match > i)
            i = token->match;
        if ((sim_token_is(source, token, "=") || sim_token_is(source, token, "{")) && i > one->first)
            return i - 1;
    }
    return last > one->first ? last - 1 : -1;
}

static unsigned written_side(const sim_source *source, const declaration *one, const sim_qualifiers *known)
{
    unsigned side = one->side;
    int last = one->body >= 0 ? one->body : one->last;
    for (int i = one->first; i < last; i++)
        side |= sim_qualifier_side(known, source, &source->code.at[i]);
    return side;
}

static bool is_constant(const sim_source *source, const declaration *one)
{
    for (int i = one->first; i < one->body; i++)
        if (sim_token_is(source, &source->code.at[i], "constexpr"))
            return true;
    return false;
}

static bool needs_torch(const sim_source *source, const declaration *one, const sim_torch_names *names,
                        const sim_qualifiers *known)
{
    if (written_side(source, one, known) & (SIM_SIDE_DEVICE | SIM_SIDE_GLOBAL | SIM_SIDE_VARIABLE) &&
        one->kind != DECLARED_CLASS)
        return false;
    bool strict = one->kind == DECLARED_FUNCTION && !is_constant(source, one);
    for (int i = one->first; i <= one->last; i++) {
        bool device = one->kind == DECLARED_CLASS && sim_scope_is_device(sim_scope_of(source, &source->code.at[i]));
        if (!device && names_torch(source, &source->code, i, names, strict))
            return true;
    }
    return false;
}

// --- the walk --------------------------------------------------------------------------------------------------------

typedef void visit(void *context, const sim_source *source, const declaration *one);

static void walk(const sim_source *source, const sim_torch_names *names, visit *found, void *context)
{
    sim_qualifiers known = {0};
    sim_torch_qualifiers(&known);
    sim_qualifiers_learn(&known, source);
    for (int i = 0; i < source->code.count;) {
        declaration one;
        i = read_declaration(source, i, &one);
        if (one.last >= one.first && needs_torch(source, &one, names, &known))
            found(context, source, &one);
    }
    sim_qualifiers_free(&known);
}

typedef struct learner {
    sim_torch_names *names;
    bool grew;
} learner;

static void learn_declared(void *context, const sim_source *source, const declaration *one)
{
    learner *learning = context;
    int name = declared_name(source, one);
    if (name >= 0)
        learning->grew |= add_name(learning->names, source, &source->code.at[name]);
}

// A macro whose body needs PyTorch, unless it makes device code.
static bool macro_needs_torch(const sim_source *source, const sim_directive *directive, const sim_torch_names *names)
{
    static const char *const device[] = {"__global__", "__device__", NULL};
    bool found = false;
    for (int t = directive->first + 1; t < directive->last; t++) {
        if (sim_token_is_any(source, &source->lines.at[t], device))
            return false;
        found |= names_torch(source, &source->lines, t, names, true);
    }
    return found;
}

static bool defines_class(const sim_source *const *sources, const char *name)
{
    static const char *const keys[] = {"struct", "class", NULL};
    for (; *sources; sources++)
        for (int i = 0; i + 1 < (*sources)->code.count; i++)
            if (sim_token_is_any(*sources, &(*sources)->code.at[i], keys) &&
                sim_token_is(*sources, &(*sources)->code.at[i + 1], name))
                return true;
    return false;
}

bool sim_torch_learn(const sim_source *source, const sim_source *const *sources, sim_torch_names *names)
{
    static const char *const types[] = {"Tensor", "TensorList", "IntArrayRef", "TensorOptions", "ITensorListRef"};
    learner learning = {names, false};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        bool own = defines_class(sources, types[i]);
        for (int t = 0; t < source->code.count && !own; t++)
            if (sim_token_is(source, &source->code.at[t], types[i]))
                learning.grew |= add_name(names, source, &source->code.at[t]);
    }
    for (int i = 0; i < source->directive_count; i++) {
        const sim_directive *directive = &source->directives[i];
        if (directive->kind == SIM_DIRECTIVE_DEFINE && directive->last > directive->first &&
            macro_needs_torch(source, directive, names) &&
            !sim_token_is_any(source, &source->lines.at[directive->first], harmless))
            learning.grew |= add_name(names, source, &source->lines.at[directive->first]);
    }
    walk(source, names, learn_declared, &learning);
    return learning.grew;
}

static void add_part(void *context, const sim_source *source, const declaration *one)
{
    sim_torch_parts *parts = context;
    int name = declared_name(source, one);
    const sim_token *token = sim_token_at(&source->code, name);
    if (!sim_array_grow(&parts->at, parts->count, &parts->room, sizeof *parts->at))
        return;
    sim_torch_part part = {one->first, one->last, NULL, one->kind == DECLARED_FUNCTION || one->kind == DECLARED_MACRO};
    part.name = name >= 0 ? strndup(source->text + token->start, token->end - token->start) : strdup("");
    parts->at[parts->count++] = part;
}

void sim_torch_find(const sim_source *source, const sim_torch_names *names, sim_torch_parts *parts)
{
    walk(source, names, add_part, parts);
}

// --- leaving them out ------------------------------------------------------------------------------------------------

static void blank(char *text, uint32_t start, uint32_t end)
{
    for (uint32_t i = start; i < end; i++)
        if (text[i] != '\n')
            text[i] = ' ';
}

// Whether every #if between two places has its #endif there.
static bool is_balanced(const sim_source *source, uint32_t start, uint32_t end)
{
    int depth = 0;
    for (int i = 0; i < source->directive_count; i++) {
        const sim_directive *directive = &source->directives[i];
        if (directive->start < start || directive->end > end)
            continue;
        depth += directive->kind == SIM_DIRECTIVE_IF ? 1 : directive->kind == SIM_DIRECTIVE_ENDIF ? -1 : 0;
        if (depth < 0 ||
            (depth == 0 && (directive->kind == SIM_DIRECTIVE_ELSE || directive->kind == SIM_DIRECTIVE_ELIF)))
            return false;
    }
    return depth == 0;
}

void sim_torch_blank(sim_source *source, const sim_torch_parts *parts)
{
    for (int i = 0; i < parts->count; i++) {
        uint32_t at = source->code.at[parts->at[i].first].start, end = source->code.at[parts->at[i].last].end;
        bool whole = is_balanced(source, at, end);
        for (int d = 0; d < source->directive_count && !whole; d++) {
            const sim_directive *directive = &source->directives[d];
            if (directive->start < at || directive->end > end)
                continue;
            blank(source->text, at, directive->start);
            at = directive->end;
        }
        blank(source->text, at, end);
    }
    for (int i = 0; i < source->directive_count; i++)
        if (sim_torch_included(source, &source->directives[i]))
            blank(source->text, source->directives[i].start, source->directives[i].end);
}
