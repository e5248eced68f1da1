// Brackets and scopes. A declaration is distinguished from an expression by its head: the tokens between the end of the
// last statement and the brace.

#include "source/scope.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST_CONDITIONAL = 64 }; // #if inside #if; deeper ones are read as if they were not there

static const char *const attributes[] = {"__attribute__", "__launch_bounds__", "__align__",   "alignas",  "__declspec",
                                         "decltype",      "__cluster_dims__",  "__maxnreg__", "noexcept", NULL};

typedef struct open_stack {
    int *at;
    int count, room;
} open_stack;

typedef struct scope_finder {
    sim_source *source;
    const sim_qualifiers *known;
    open_stack open; // brackets
    int scope;       // innermost
    struct {
        open_stack open;
        int scope;
    } saved[DEEPEST_CONDITIONAL];
    int depth;
} scope_finder;

// --- qualifiers ------------------------------------------------------------------------------------------------------

static unsigned own_side(const sim_source *source, const sim_token *token)
{
    if (sim_token_is(source, token, "__device__"))
        return SIM_SIDE_DEVICE;
    if (sim_token_is(source, token, "__global__"))
        return SIM_SIDE_GLOBAL;
    if (sim_token_is(source, token, "__host__"))
        return SIM_SIDE_HOST;
    if (sim_token_is(source, token, "__constant__") || sim_token_is(source, token, "__managed__"))
        return SIM_SIDE_VARIABLE;
    return 0;
}

unsigned sim_qualifier_side(const sim_qualifiers *known, const sim_source *source, const sim_token *token)
{
    if (token->kind != SIM_TOKEN_NAME)
        return 0;
    unsigned side = own_side(source, token);
    for (int i = 0; !side && i < known->count; i++)
        if (sim_token_is(source, token, known->at[i].name))
            side = known->at[i].side;
    return side;
}

// The token behind the attributes, __attribute__((always_inline)) or __launch_bounds__(256), that begin at `index` of a
// preprocessor line; `index`: none do.
static int behind_attributes(const sim_source *source, int index, int last)
{
    const sim_token *tokens = source->lines.at;
    if (index >= last)
        return index;
    bool opens = sim_token_is_any(source, &tokens[index], attributes) && sim_token_is(source, &tokens[index + 1], "(");
    int depth = 0;
    for (int i = index + 1; i < last && opens; i++) {
        depth += sim_token_is(source, &tokens[i], "(") ? 1 : sim_token_is(source, &tokens[i], ")") ? -1 : 0;
        if (depth == 0)
            return behind_attributes(source, i + 1, last);
    }
    return index;
}

void sim_qualifiers_learn(sim_qualifiers *known, const sim_source *source)
{
    for (int i = 0; i < source->directive_count; i++) {
        const sim_directive *directive = &source->directives[i];
        if (directive->kind != SIM_DIRECTIVE_DEFINE || directive->last - directive->first < 2)
            continue;
        const sim_token *name = &source->lines.at[directive->first];
        // A macro whose body has a bracket makes a whole function or more: its call is not a qualifier.
        unsigned side = 0;
        bool brackets = false;
        for (int t = directive->first + 1; t < directive->last; t++) {
            t = behind_attributes(source, t, directive->last);
            const sim_token *token = sim_token_at(&source->lines, t);
            side |= sim_qualifier_side(known, source, token);
            brackets |= sim_token_is(source, token, "(") || sim_token_is(source, token, "{");
        }
        if (!side || brackets || !sim_array_grow(&known->at, known->count, &known->room, sizeof *known->at))
            continue;
        char *copy = strndup(source->text + name->start, name->end - name->start);
        if (copy)
            known->at[known->count++] = (struct sim_qualifier){copy, side};
    }
}

void sim_qualifiers_free(sim_qualifiers *known)
{
    for (int i = 0; i < known->count; i++)
        free(known->at[i].name);
    free(known->at);
    *known = (sim_qualifiers){0};
}

// --- heads -----------------------------------------------------------------------------------------------------------

static bool is_access_label(const sim_source *source, const sim_tokens *tokens, int colon)
{
    static const char *const labels[] = {"public", "private", "protected", NULL};
    return sim_token_is(source, sim_token_at(tokens, colon), ":") &&
           sim_token_is_any(source, sim_token_at(tokens, colon - 1), labels);
}

int sim_statement_start(const sim_source *source, const sim_tokens *tokens, int index)
{
    static const char *const ends[] = {";", "{", "(", "[", NULL};
    int i = index;
    while (i > 0) {
        const sim_token *before = &tokens->at[i - 1];
        bool closes = sim_token_is(source, before, ")") || sim_token_is(source, before, "]");
        if (closes && before->match >= 0) {
            i = before->match;
            continue;
        }
        if (sim_token_is(source, before, "}")) {
            // Braces in a constructor's list of members do not end its head: X(int a) : b{a}, c{a} {
            const sim_token *after = &tokens->at[i < tokens->count ? i : i - 1];
            bool list = sim_token_is(source, after, ",") || sim_token_is(source, after, "{");
            if (!list || before->match < 1 || tokens->at[before->match - 1].kind != SIM_TOKEN_NAME)
                return i;
            i = before->match;
            continue;
        }
        if (before->kind == SIM_TOKEN_BREAK || sim_token_is_any(source, before, ends) ||
            is_access_label(source, tokens, i - 1))
            return i;
        i--;
    }
    return 0;
}

// The side of a lambda whose body opens at `brace`: [=] __device__ (int i) {. 0: not one of a written side.
static unsigned lambda_side(const scope_finder *finder, int start, int brace)
{
    const sim_tokens *code = &finder->source->code;
    unsigned side = 0;
    for (int i = brace - 1; i >= start; i--) {
        const sim_token *token = &code->at[i];
        if (sim_token_is(finder->source, token, "]"))
            return side;
        if (sim_token_is(finder->source, token, ")") && token->match >= 0)
            i = token->match;
        else if (sim_token_is(finder->source, token, "="))
            return 0;
        else
            side |= sim_qualifier_side(finder->known, finder->source, token);
    }
    return 0;
}

static sim_scope describe(const scope_finder *finder, int brace)
{
    static const char *const classes[] = {"class", "struct", "union", "enum", NULL};
    const sim_source *source = finder->source;
    const sim_tokens *code = &source->code;
    const sim_scope *parent = &source->scopes[finder->scope];
    int start = sim_statement_start(source, code, brace);
    sim_scope scope = {.kind = SIM_SCOPE_OTHER, .open = brace, .parent = finder->scope};
    unsigned lambda = lambda_side(finder, start, brace);
    if (lambda || parent->kind == SIM_SCOPE_FUNCTION) {
        scope.kind = SIM_SCOPE_FUNCTION;
        scope.side = lambda ? lambda : parent->side;
        return scope;
    }
    bool call = false, assigned = false, class = false;
    int angles = 0;
    for (int i = start; i < brace; i++) {
        const sim_token *token = &code->at[i];
        scope.side |= sim_qualifier_side(finder->known, source, token);
        if (sim_token_is(source, token, "namespace") || sim_token_is(source, token, "extern")) {
            bool linkage = i + 2 == brace && code->at[i + 1].kind == SIM_TOKEN_STRING;
            if (linkage || sim_token_is(source, token, "namespace")) {
                scope.kind = SIM_SCOPE_FILE;
                return scope;
            }
        }
        angles += sim_token_is(source, token, "<") ? 1 : sim_token_is(source, token, ">") && angles > 0 ? -1 : 0;
        class |= angles == 0 && sim_token_is_any(source, token, classes);
        assigned |= angles == 0 && !call && sim_token_is(source, token, "=") &&
                    !sim_token_is(source, sim_token_at(code, i - 1), "operator");
        if (sim_token_is(source, token, "(")) {
            call |= !sim_token_is_any(source, sim_token_at(code, i - 1), attributes);
            i = token->match > i ? token->match : i;
        }
    }
    if (call && !assigned)
        scope.kind = SIM_SCOPE_FUNCTION;
    else if (class && !assigned)
        scope.kind = SIM_SCOPE_CLASS;
    return scope;
}

// --- the walk --------------------------------------------------------------------------------------------------------

static bool push(open_stack *stack, int value)
{
    if (!sim_array_grow(&stack->at, stack->count, &stack->room, sizeof *stack->at))
        return false;
    stack->at[stack->count++] = value;
    return true;
}

static void copy_stack(scope_finder *finder, open_stack *to, const open_stack *from)
{
    to->count = 0;
    for (int i = 0; i < from->count; i++)
        if (!push(to, from->at[i]))
            finder->source->failed = true;
}

static void at_directive(scope_finder *finder, sim_directive_kind kind)
{
    if (kind == SIM_DIRECTIVE_IF) {
        if (finder->depth < DEEPEST_CONDITIONAL) {
            copy_stack(finder, &finder->saved[finder->depth].open, &finder->open);
            finder->saved[finder->depth].scope = finder->scope;
        }
        finder->depth++;
    } else if (kind == SIM_DIRECTIVE_ELIF || kind == SIM_DIRECTIVE_ELSE) {
        if (finder->depth > 0 && finder->depth <= DEEPEST_CONDITIONAL) {
            copy_stack(finder, &finder->open, &finder->saved[finder->depth - 1].open);
            finder->scope = finder->saved[finder->depth - 1].scope;
        }
    } else if (kind == SIM_DIRECTIVE_ENDIF && finder->depth > 0) {
        finder->depth--;
    }
}

static int add_scope(scope_finder *finder, sim_scope scope)
{
    sim_source *source = finder->source;
    if (!sim_array_grow(&source->scopes, source->scope_count, &source->scope_room, sizeof *source->scopes)) {
        source->failed = true;
        return finder->scope;
    }
    source->scopes[source->scope_count] = scope;
    return source->scope_count++;
}

static void close_bracket(scope_finder *finder, sim_tokens *tokens, int index, char opens)
{
    const char *text = finder->source->text;
    int top = finder->open.count - 1;
    // A brace closes whatever was left open inside it; a parenthesis only what is innermost.
    while (opens == '{' && top >= 0 && text[tokens->at[finder->open.at[top]].start] != '{')
        top--;
    if (top < 0 || text[tokens->at[finder->open.at[top]].start] != opens)
        return;
    int open = finder->open.at[top];
    finder->open.count = top;
    if (tokens->at[open].match < 0)
        tokens->at[open].match = index;
    tokens->at[index].match = open;
    if (opens == '{' && tokens == &finder->source->code) {
        int parent = finder->source->scopes[finder->scope].parent;
        if (parent >= 0)
            finder->scope = parent;
    }
}

static void match_token(scope_finder *finder, sim_tokens *tokens, int index)
{
    char c = tokens->at[index].kind == SIM_TOKEN_SIGN ? finder->source->text[tokens->at[index].start] : 0;
    if (c == ')' || c == ']' || c == '}')
        close_bracket(finder, tokens, index, c == ')' ? '(' : c == ']' ? '[' : '{');
    if (c == '{' && tokens == &finder->source->code)
        finder->scope = add_scope(finder, describe(finder, index));
    if ((c == '(' || c == '[' || c == '{') && !push(&finder->open, index))
        finder->source->failed = true;
}

void sim_scopes_find(sim_source *source, const sim_qualifiers *known)
{
    scope_finder finder = {.source = source, .known = known};
    source->scope_count = 0;
    add_scope(&finder, (sim_scope){.kind = SIM_SCOPE_FILE, .open = -1, .parent = -1});
    int next = 0;
    for (int i = 0; i < source->code.count && !source->failed; i++) {
        for (; next < source->directive_count && source->directives[next].code <= i; next++)
            at_directive(&finder, source->directives[next].kind);
        source->code.at[i].scope = finder.scope;
        match_token(&finder, &source->code, i);
    }
    finder.open.count = 0;
    for (int i = 0; i < source->lines.count && !source->failed; i++) {
        if (source->lines.at[i].kind == SIM_TOKEN_BREAK)
            finder.open.count = 0;
        match_token(&finder, &source->lines, i);
    }
    for (int i = 0; i < DEEPEST_CONDITIONAL; i++)
        free(finder.saved[i].open.at);
    free(finder.open.at);
}

const sim_scope *sim_scope_of(const sim_source *source, const sim_token *token)
{
    static const sim_scope file = {.kind = SIM_SCOPE_FILE, .open = -1, .parent = -1};
    return token->scope >= 0 && token->scope < source->scope_count ? &source->scopes[token->scope] : &file;
}

bool sim_scope_is_device(const sim_scope *scope)
{
    return scope->kind == SIM_SCOPE_FUNCTION && (scope->side & (SIM_SIDE_DEVICE | SIM_SIDE_GLOBAL));
}

bool sim_scope_is_device_only(const sim_scope *scope)
{
    return sim_scope_is_device(scope) && !(scope->side & SIM_SIDE_HOST);
}
