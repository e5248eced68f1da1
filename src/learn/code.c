// Reads a learner's source with the simulator's lexer.

#include "learn/code.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST_IF = 64, LONGEST_NUMBER = 64 };

// What is known of the conditions of an #if and the #elifs behind it so far.
typedef enum branch { BRANCH_UNKNOWN, BRANCH_TAKEN, BRANCH_NOT_TAKEN } branch;

typedef struct condition {
    branch known;
    bool outer; // whether the code around it counts
} condition;

typedef struct code_reader {
    heddle_learn_code *code;
    condition conditions[DEEPEST_IF];
    int depth;
    bool counts; // the code here
} code_reader;

// --- reading ---------------------------------------------------------------------------------------------------------

static void add(heddle_learn_code *code, const sim_token *token)
{
    if (!sim_array_grow(&code->tokens.at, code->tokens.count, &code->tokens.room, sizeof *token)) {
        code->source.failed = true;
        return;
    }
    code->tokens.at[code->tokens.count++] = *token;
}

static void add_range(code_reader *reader, const sim_tokens *tokens, int first, int last)
{
    for (int i = first; reader->counts && i < last; i++)
        add(reader->code, &tokens->at[i]);
}

// Conditions of one number are known; others may hold or not.
static branch evaluate(const sim_source *source, const sim_directive *directive)
{
    const sim_token *name = sim_token_at(&source->lines, directive->first - 1);
    const sim_token *value = sim_token_at(&source->lines, directive->first);
    if (directive->last - directive->first != 1 || value->kind != SIM_TOKEN_NUMBER ||
        !(sim_token_is(source, name, "if") || sim_token_is(source, name, "elif")))
        return BRANCH_UNKNOWN;
    return strtol(source->text + value->start, NULL, 0) != 0 ? BRANCH_TAKEN : BRANCH_NOT_TAKEN;
}

static void read_condition(code_reader *reader, const sim_directive *directive)
{
    bool begins = directive->kind == SIM_DIRECTIVE_IF;
    if (begins && reader->depth < DEEPEST_IF)
        reader->conditions[reader->depth++] = (condition){BRANCH_NOT_TAKEN, reader->counts};
    if (reader->depth == 0)
        return;
    condition *now = &reader->conditions[reader->depth - 1];
    branch here = directive->kind == SIM_DIRECTIVE_ELSE ? BRANCH_TAKEN : evaluate(&reader->code->source, directive);
    reader->counts = now->outer && now->known != BRANCH_TAKEN && here != BRANCH_NOT_TAKEN;
    if (now->known == BRANCH_NOT_TAKEN)
        now->known = here;
    if (directive->kind == SIM_DIRECTIVE_ENDIF) {
        reader->counts = now->outer;
        reader->depth--;
    }
}

static void read_directive(code_reader *reader, const sim_directive *directive, int first)
{
    const sim_source *source = &reader->code->source;
    if (directive->kind >= SIM_DIRECTIVE_IF) {
        read_condition(reader, directive);
        return;
    }
    sim_token sign = {.start = directive->start, .end = directive->start + 1, .match = -1, .kind = SIM_TOKEN_SIGN};
    sign.line = sim_token_at(&source->lines, first)->line;
    if (reader->counts)
        add(reader->code, &sign);
    add_range(reader, &source->lines, first, directive->last);
}

heddle_status heddle_learn_code_read(const char *text, heddle_learn_code *code)
{
    code_reader reader = {.code = code, .counts = true};
    char *copy = strdup(text);
    *code = (heddle_learn_code){0};
    if (!copy)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the source");
    sim_source *source = &code->source;
    sim_source_open(source, "", copy, strlen(copy));
    int next = 0, first = 0;
    for (int i = 0; i < source->directive_count; i++) {
        add_range(&reader, &source->code, next, source->directives[i].code);
        next = source->directives[i].code;
        read_directive(&reader, &source->directives[i], first);
        first = source->directives[i].last + 1; // behind the break
    }
    add_range(&reader, &source->code, next, source->code.count);
    if (!source->failed)
        return HEDDLE_OK;
    heddle_learn_code_free(code);
    return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the source");
}

void heddle_learn_code_free(heddle_learn_code *code)
{
    free(code->tokens.at);
    sim_source_close(&code->source);
    code->tokens = (sim_tokens){0};
}

// --- looking ---------------------------------------------------------------------------------------------------------

bool heddle_learn_code_is(const heddle_learn_code *code, int index, const char *text)
{
    return sim_token_is(&code->source, sim_token_at(&code->tokens, index), text);
}

// 1024, 1'024 and 1024u are one number.
static double number_of(const sim_source *source, const sim_token *token)
{
    char digits[LONGEST_NUMBER];
    size_t count = 0;
    for (uint32_t i = token->start; i < token->end && count + 1 < sizeof digits; i++)
        if (source->text[i] != '\'')
            digits[count++] = source->text[i];
    digits[count] = '\0';
    return strtod(digits, NULL);
}

static bool is_same(const heddle_learn_code *code, const sim_token *token, const heddle_learn_code *words,
                    const sim_token *word)
{
    if (token->kind != word->kind || token->kind == SIM_TOKEN_STRING || token->kind == SIM_TOKEN_CHARACTER)
        return false;
    if (token->kind == SIM_TOKEN_NUMBER)
        return number_of(&code->source, token) == number_of(&words->source, word);
    return sim_tokens_equal(&code->source, token, &words->source, word);
}

int heddle_learn_code_find(const heddle_learn_code *code, const heddle_learn_code *words, int *count)
{
    *count = words->tokens.count;
    for (int i = 0; *count > 0 && i + *count <= code->tokens.count; i++) {
        int same = 0;
        while (same < *count && is_same(code, &code->tokens.at[i + same], words, &words->tokens.at[same]))
            same++;
        if (same == *count)
            return i;
    }
    return -1;
}
