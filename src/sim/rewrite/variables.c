// __device__, __constant__ and __managed__ variables are marked, so that the runtime knows the addresses that belong to
// the card: SIM_DEVICE_VARIABLE and its kin put them into sections of their own, and SIM_DEVICE_STATIC names those of
// device functions. alignas, which may stand
// among CUDA's qualifiers but not among C++'s, is moved to the front of its declaration. __shared__ is replaced by
// what fits an extern, a static or another declaration (sim/keywords.h).

#include <stdlib.h>
#include <string.h>

#include "rewrite/unit.h"

typedef struct declaration {
    bool is_variable, is_template, is_extern, is_inline, is_constant, is_managed;
    bool in_constant_memory; // __constant__; what is_constant says is const
} declaration;

// Behind the name at `index` with all that `::` joins to it and its template arguments: n::limits<int>::most.
static int behind_name(const sim_source *source, const sim_tokens *code, int index, int end)
{
    int next = index + 1, behind = -1;
    if (sim_token_is(source, sim_token_at(code, next), "<"))
        behind = sim_behind_angles(source, code, next);
    next = behind > next && behind <= end ? behind : next;
    bool joined =
        sim_token_is(source, sim_token_at(code, next), "::") && sim_token_at(code, next + 1)->kind == SIM_TOKEN_NAME;
    return joined ? behind_name(source, code, next + 1, end) : next;
}

static bool is_value(const sim_source *source, const sim_token *token)
{
    static const char *const values[] = {"-", "+", "!", "~", "true", "false", "nullptr", "NULL", "sizeof", NULL};
    return token->kind == SIM_TOKEN_NUMBER || token->kind == SIM_TOKEN_STRING || token->kind == SIM_TOKEN_CHARACTER ||
           sim_token_is_any(source, token, values);
}

// Whether the bracket behind a name holds what a function or a type is given to make a value, as in P p(twice(3), 4).
// T (&tile)[4], T (*f)(int), T (n::C::*member) and ALIGNED(16) float x are parameters.
static bool makes_value(const sim_source *source, const sim_tokens *code, int open, bool is_type)
{
    static const char *const declared[] = {"&", "*", "void", "int", "float", "double", NULL};
    static const char *const behind[] = {"(", "[", NULL};
    const sim_token *first = sim_token_at(code, open + 1);
    int close = sim_token_at(code, open)->match;
    const sim_token *next = sim_token_at(code, close + 1);
    if (close < open || sim_token_is_any(source, first, declared) || next->kind == SIM_TOKEN_NAME ||
        sim_token_is_any(source, next, behind) || sim_token_is(source, sim_token_at(code, close - 1), "*"))
        return false;
    return !is_type || is_value(source, first);
}

// Whether a bracket holds what a constructor is given, as in P p(4), and no parameters of a function: it begins with a
// value, or with a name that something follows as only a value's may.
static bool holds_values(const sim_source *source, const sim_tokens *code, int open)
{
    static const char *const behind_value[] = {"+", "-", "/", "%", ".", "?", "|", "^", "{", NULL};
    static const char *const asked[] = {"decltype", "typeof", "alignas", "__attribute__", "__align__", NULL};
    static const char *const types[] = {"void", "bool", "char", "int", "unsigned", "float", "double", NULL};
    const sim_token *name = sim_token_at(code, open - 1), *first = sim_token_at(code, open + 1);
    if (name->kind != SIM_TOKEN_NAME || sim_token_is(source, name, "__launch_bounds__"))
        return false;
    if (is_value(source, first))
        return true;
    int next = behind_name(source, code, open + 1, code->at[open].match);
    if (first->kind != SIM_TOKEN_NAME || sim_token_is_any(source, first, asked))
        return false;
    if (sim_token_is(source, sim_token_at(code, next), "("))
        return makes_value(source, code, next, sim_token_is_any(source, first, types));
    return sim_token_is_any(source, sim_token_at(code, next), behind_value) &&
           !sim_token_is(source, sim_token_at(code, next + 1), "."); // a pack: T... values
}

static const char *const class_words[] = {"class", "struct", "union", "enum", NULL};
static const char *const attribute_words[] = {"__attribute__", "__align__", "alignas", NULL};

// Behind the type that begins at `index` with one of class_words, named or written out: `struct params` of
// `struct params p`, all before `p` of `struct params { int a; } p`.
static int behind_class(const sim_source *source, const sim_tokens *code, int index)
{
    int next = index + 1;
    while (sim_token_is_any(source, sim_token_at(code, next), class_words)) // enum class
        next++;
    while (sim_token_is_any(source, sim_token_at(code, next), attribute_words) &&
           sim_token_at(code, next + 1)->match > next)
        next = sim_token_at(code, next + 1)->match + 1;
    if (sim_token_at(code, next)->kind == SIM_TOKEN_NAME)
        next = behind_name(source, code, next, code->count);
    if (sim_token_is(source, sim_token_at(code, next), ":")) // what it is derived from
        while (next < code->count && !sim_token_is(source, &code->at[next], "{") &&
               !sim_token_is(source, &code->at[next], ";"))
            next++;
    bool body = sim_token_is(source, sim_token_at(code, next), "{") && sim_token_at(code, next)->match > next;
    return body ? sim_token_at(code, next)->match + 1 : next;
}

// Constants are left where they are: host code may read them too, and a section is writable or not.
static declaration read_declaration(const sim_source *source, const sim_tokens *code, int start, int qualifier)
{
    static const char *const others[] = {"typedef", "using", "namespace", "friend", NULL};
    declaration found = {.is_variable = true};
    int angles = 0;
    bool to_function = false; // float (*f)(float)
    for (int i = start; i < code->count; i++) {
        const sim_token *token = &code->at[i];
        if (angles == 0 && sim_token_is_any(source, token, class_words)) {
            i = behind_class(source, code, i) - 1;
            found.is_variable &= !sim_token_is(source, sim_token_at(code, i + 1), ";"); // else only a type is declared
            continue;
        }
        if (sim_token_is(source, token, ";") || sim_token_is(source, token, "{") || sim_token_is(source, token, "=") ||
            sim_token_is(source, token, "[")) {
            found.is_variable &= i > qualifier; // else it belongs to a lambda in the initialiser
            return found;
        }
        found.is_template |= sim_token_is(source, token, "template");
        found.is_extern |= sim_token_is(source, token, "extern");
        found.is_inline |= sim_token_is(source, token, "inline");
        found.is_managed |= sim_token_is(source, token, "__managed__");
        found.in_constant_memory |= sim_token_is(source, token, "__constant__");
        angles += sim_token_is(source, token, "<") ? 1 : sim_token_is(source, token, ">") ? -1 : 0;
        if (sim_token_is(source, token, "const") || sim_token_is(source, token, "constexpr"))
            found.is_constant = true;
        if (sim_token_is(source, token, "*") && angles == 0)
            found.is_constant = false; // const float *pointer: what may change is the pointer
        bool call = sim_token_is(source, token, "(");
        bool attribute = call && sim_token_is_any(source, sim_token_at(code, i - 1), attribute_words);
        bool pointer = call && sim_token_is(source, sim_token_at(code, i + 1), "*");
        to_function |= pointer;
        bool constructed = call && i > qualifier + 1 && holds_values(source, code, i);
        if ((call && !attribute && !to_function && !constructed) || sim_token_is_any(source, token, others))
            found.is_variable = false;
        if (call)
            i = token->match > i ? token->match : i;
    }
    found.is_variable = false;
    return found;
}

// __shared__ alignas(16) float s[4] becomes alignas(16) __shared__ float s[4].
static void edit_alignment(sim_file *file, const sim_tokens *code, int index)
{
    const sim_source *source = &file->source;
    static const char *const storage[] = {"__shared__", "extern", "static", NULL};
    const sim_token *open = sim_token_at(code, index + 1);
    int start = sim_statement_start(source, code, index);
    bool moved = false;
    for (int i = start; i < index; i++) {
        moved |= sim_token_is_any(source, &code->at[i], storage);
        if (sim_token_is_any(source, &code->at[i], class_words))
            return;
    }
    if (!moved || !sim_token_is(source, open, "(") || open->match < 0)
        return;
    uint32_t first = code->at[index].start, end = code->at[open->match].end;
    char *text = strndup(source->text + first, end - first);
    sim_text front = {0};
    for (const char *at = text; at && *at; at++) // its newlines, if any, stay behind
        sim_text_add_bytes(&front, *at == '\n' || *at == '\r' ? " " : at, 1);
    sim_text_add(&front, " ");
    free(text);
    text = sim_text_take(&front);
    if (text) {
        sim_edit_insert(file, code->at[start].start, text);
        sim_edit_replace(file, first, end, "");
    }
    free(text);
}

static void edit_shared(sim_file *file, const sim_tokens *tokens)
{
    const sim_source *source = &file->source;
    for (int i = 0; i < tokens->count; i++) {
        const sim_token *token = &tokens->at[i];
        bool is_extern = false, is_static = false;
        if (!sim_token_is(source, token, "__shared__"))
            continue;
        for (int before = sim_statement_start(source, tokens, i); before < i; before++) {
            is_extern |= sim_token_is(source, &tokens->at[before], "extern");
            is_static |= sim_token_is(source, &tokens->at[before], "static");
        }
        // On the line of a macro the start of the declaration is not known, nor what comes after it.
        bool whole = tokens == &source->code && !sim_token_is(source, sim_token_at(tokens, i + 1), "static") &&
                     !sim_token_is(source, sim_token_at(tokens, i + 1), "extern");
        if (is_extern || is_static || whole)
            sim_edit_replace(file, token->start, token->end,
                             is_extern   ? "SIM_SHARED_EXTERN"
                             : is_static ? "SIM_SHARED_STATIC"
                                         : "SIM_SHARED");
    }
}

// Statics of device functions, which the card has with or without __device__. They cannot go into its sections: those
// of templates and inline functions may be in several objects, and one section does not hold both kinds. A tag in their
// names tells them instead.
static void edit_statics(sim_file *file)
{
    const sim_source *source = &file->source;
    const sim_tokens *code = &source->code;
    static const char *const thread_local_words[] = {"__shared__", "thread_local", "extern", NULL};
    for (int i = 0; i < code->count; i++) {
        if (!sim_token_is(source, &code->at[i], "static") ||
            !sim_scope_is_device_only(sim_scope_of(source, &code->at[i])))
            continue;
        const int start = sim_statement_start(source, code, i);
        const declaration found = read_declaration(source, code, start, i);
        bool other = !found.is_variable || found.is_constant || found.is_template;
        for (int at = start; at < code->count && !other && !sim_token_is(source, &code->at[at], ";"); at++)
            other = sim_token_is_any(source, &code->at[at], thread_local_words);
        if (!other)
            sim_edit_insert(file, code->at[i].start,
                            found.in_constant_memory ? "SIM_CONSTANT_STATIC " : "SIM_DEVICE_STATIC ");
    }
}

void sim_edit_variables(const sim_unit *unit, sim_file *file)
{
    const sim_source *source = &file->source;
    const sim_tokens *code = &source->code;
    edit_shared(file, code);
    edit_shared(file, &source->lines);
    for (int i = 0; i < code->count; i++)
        if (sim_token_is(source, &code->at[i], "alignas"))
            edit_alignment(file, code, i);
    edit_statics(file);
    int done = 0; // the first token after the last declaration that was marked
    for (int i = 0; i < code->count; i++) {
        unsigned side = sim_qualifier_side(&unit->qualifiers, source, &code->at[i]);
        if (!(side & (SIM_SIDE_DEVICE | SIM_SIDE_VARIABLE)) || (side & SIM_SIDE_GLOBAL) || i < done ||
            sim_scope_of(source, &code->at[i])->kind != SIM_SCOPE_FILE)
            continue;
        int start = sim_statement_start(source, code, i);
        declaration found = read_declaration(source, code, start, i);
        if (found.is_variable && !found.is_template && !found.is_extern && !found.is_inline && !found.is_constant)
            sim_edit_insert(file, code->at[start].start,
                            found.is_managed           ? "SIM_MANAGED_VARIABLE "
                            : found.in_constant_memory ? "SIM_CONSTANT_VARIABLE "
                                                       : "SIM_DEVICE_VARIABLE ");
        while (i < code->count && !sim_token_is(source, &code->at[i], ";") && !sim_token_is(source, &code->at[i], "{"))
            i++;
        done = i;
    }
}
