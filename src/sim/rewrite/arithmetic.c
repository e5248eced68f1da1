// Shifts and divisions of device code say so to sim/arithmetic.h: a count as large as the number of bits, or larger,
// and a divisor of zero give on a GPU what they do not on a host. Constants that are no such case stay as they are. A
// division in a macro with parameters is one of either side: the header asks when it runs.

#include "rewrite/unit.h"

static bool is_sign(const sim_source *source, const sim_tokens *tokens, int index, char sign)
{
    const char text[] = {sign, '\0'};
    return sim_token_is(source, sim_token_at(tokens, index), text);
}

static bool touch(const sim_tokens *tokens, int index)
{
    return sim_token_at(tokens, index)->end == sim_token_at(tokens, index + 1)->start;
}

typedef struct operation {
    const char *mark;
    int last; // token of its sign
    bool shift, right, assigns;
} operation;

// The operator that begins at token `index`.
static bool read_operation(const sim_source *source, const sim_tokens *tokens, int index, operation *found)
{
    static const struct {
        char sign;
        bool shift;
        const char *mark;
    } operators[] = {
        {'<', true, "sim_gpu<<"}, {'>', true, "sim_gpu>>"}, {'/', false, "sim_gpu/"}, {'%', false, "sim_gpu%"}};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        const char sign = operators[i].sign;
        if (!is_sign(source, tokens, index, sign) || is_sign(source, tokens, index - 1, sign))
            continue;
        int last = index + operators[i].shift;
        if (operators[i].shift && (!is_sign(source, tokens, last, sign) || !touch(tokens, index)))
            continue;
        bool assigns = is_sign(source, tokens, last + 1, '=') && touch(tokens, last);
        *found = (operation){assigns ? "sim_gpu=" : operators[i].mark, last + assigns, operators[i].shift, sign == '>',
                             assigns};
        return true;
    }
    return false;
}

// A number alone on the right: of a count, what binds tighter may follow.
static bool is_harmless(const sim_source *source, const sim_tokens *tokens, const operation *found)
{
    static const char *const goes_on[] = {"*", "/", "%", "+", "-", NULL};
    const sim_token *number = sim_token_at(tokens, found->last + 1), *behind = sim_token_at(tokens, found->last + 2);
    bool alone = (!found->shift && !found->assigns) || !sim_token_is_any(source, behind, goes_on);
    return number->kind == SIM_TOKEN_NUMBER && alone && (found->shift || !sim_token_is(source, number, "0"));
}

static bool is_left_operand(const sim_source *source, const sim_token *token)
{
    static const char *const others[] = {"operator", "return", "case", NULL};
    return token->kind == SIM_TOKEN_NUMBER || sim_token_is(source, token, ")") || sim_token_is(source, token, "]") ||
           (token->kind == SIM_TOKEN_NAME && !sim_token_is_any(source, token, others));
}

static bool is_right_operand(const sim_source *source, const sim_token *token)
{
    static const char *const begins[] = {"(", "-", "+", "~", "*", "!", "::", NULL};
    return token->kind == SIM_TOKEN_NAME || token->kind == SIM_TOKEN_NUMBER || token->kind == SIM_TOKEN_CHARACTER ||
           sim_token_is_any(source, token, begins);
}

// The two of >> may close lists of template arguments: not if none was opened in the statement.
static bool closes_templates(const sim_source *source, const sim_tokens *tokens, int index)
{
    for (int i = sim_statement_start(source, tokens, index); i < index; i++)
        if (is_sign(source, tokens, i, '<'))
            return true;
    return false;
}

// A bit-field, to which no reference can be bound: unsigned kind : 3.
static bool is_bit_field(const sim_source *source, const sim_token *name)
{
    const sim_tokens *code = &source->code;
    for (int i = 0; i + 2 < code->count; i++)
        if (is_sign(source, code, i + 1, ':') && code->at[i + 2].kind != SIM_TOKEN_STRING &&
            sim_tokens_equal(source, &code->at[i], source, name) &&
            sim_scope_of(source, &code->at[i])->kind == SIM_SCOPE_CLASS)
            return true;
    return false;
}

static void edit_operation(sim_file *file, const sim_tokens *tokens, int index)
{
    const sim_source *source = &file->source;
    operation found;
    if (!read_operation(source, tokens, index, &found))
        return;
    const sim_token *left = sim_token_at(tokens, index - 1), *right = sim_token_at(tokens, found.last + 1);
    if (!is_left_operand(source, left) || !is_right_operand(source, right) || is_harmless(source, tokens, &found))
        return;
    if (found.assigns && is_bit_field(source, left))
        return;
    if (tokens == &source->code) {
        const sim_scope *scope = sim_scope_of(source, &tokens->at[index]);
        if (!(found.shift ? sim_scope_is_device_only(scope) : sim_scope_is_device(scope)))
            return;
    }
    if (!found.right || found.assigns || !closes_templates(source, tokens, index))
        sim_edit_insert(file, tokens->at[found.last].end, found.mark);
}

// Whether the preprocessor computes with this macro, which knows no types.
static bool is_in_condition(const sim_unit *unit, const sim_source *source, const sim_token *name)
{
    for (int f = 0; f < unit->file_count; f++) {
        const sim_source *other = &unit->files[f]->source;
        for (int d = 0; d < other->directive_count; d++) {
            const sim_directive *directive = &other->directives[d];
            bool asks = directive->kind == SIM_DIRECTIVE_IF || directive->kind == SIM_DIRECTIVE_ELIF;
            for (int i = directive->first; asks && i < directive->last; i++)
                if (sim_tokens_equal(source, name, other, &other->lines.at[i]))
                    return true;
        }
    }
    return false;
}

// #define CEIL_DIV(a, b) (((a) + (b) - 1) / (b)).
static void edit_macro(const sim_unit *unit, sim_file *file, const sim_directive *directive)
{
    const sim_source *source = &file->source;
    const sim_tokens *lines = &source->lines;
    int open = directive->first + 1;
    if (directive->kind != SIM_DIRECTIVE_DEFINE || open >= directive->last || !is_sign(source, lines, open, '(') ||
        !touch(lines, open - 1) || lines->at[open].match < open ||
        is_in_condition(unit, source, &lines->at[directive->first]))
        return;
    for (int i = lines->at[open].match + 2; i + 1 < directive->last; i++)
        if (is_sign(source, lines, i, '/') || is_sign(source, lines, i, '%'))
            edit_operation(file, lines, i);
}

void sim_edit_arithmetic(const sim_unit *unit, sim_file *file)
{
    for (int i = 1; i + 1 < file->source.code.count; i++)
        edit_operation(file, &file->source.code, i);
    for (int i = 0; i < file->source.directive_count; i++)
        edit_macro(unit, file, &file->source.directives[i]);
}
