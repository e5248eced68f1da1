// Tokens and preprocessor lines of a text. Never fails on wrong source: an open string ends with its line, an open
// comment with the file; the compiler will say what is wrong.

#include "source/lexer.h"

#include <stdlib.h>
#include <string.h>

typedef struct lexer_state {
    sim_source *source;
    const char *text;
    uint32_t at, end;
    uint32_t counted; // lines before here are in `line`
    int32_t line;
    bool line_start; // only white space since the last newline
} lexer_state;

bool sim_array_grow(void *array, int count, int *room, size_t element)
{
    if (count < *room)
        return true;
    int wanted = *room < 32 ? 64 : *room + *room / 2;
    void *old, *grown;
    memcpy(&old, array, sizeof old);
    grown = realloc(old, (size_t)wanted * element);
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof grown);
    *room = wanted;
    return true; // cppcheck-suppress memleak
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (unsigned char)c >= 128;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool sim_is_name(char c)
{
    return is_name_start(c) || is_digit(c);
}

static char ahead(const lexer_state *lexer, uint32_t by)
{
    return lexer->end - lexer->at > by ? lexer->text[lexer->at + by] : 0;
}

static void add(lexer_state *lexer, sim_tokens *tokens, uint32_t start, sim_token_kind kind)
{
    if (!sim_array_grow(&tokens->at, tokens->count, &tokens->room, sizeof *tokens->at)) {
        lexer->source->failed = true;
        return;
    }
    for (; lexer->counted < start; lexer->counted++)
        lexer->line += lexer->text[lexer->counted] == '\n';
    tokens->at[tokens->count++] =
        (sim_token){.start = start, .end = lexer->at, .line = lexer->line, .match = -1, .kind = kind};
}

// Length of a backslash with the newline after it; 0: none.
static uint32_t continuation(const lexer_state *lexer)
{
    if (ahead(lexer, 0) != '\\')
        return 0;
    if (ahead(lexer, 1) == '\n')
        return 2;
    return ahead(lexer, 1) == '\r' && ahead(lexer, 2) == '\n' ? 3 : 0;
}

static void skip_line_comment(lexer_state *lexer)
{
    while (lexer->at < lexer->end && lexer->text[lexer->at] != '\n') {
        uint32_t joined = continuation(lexer);
        lexer->at += joined ? joined : 1;
    }
}

static void skip_block_comment(lexer_state *lexer)
{
    lexer->at += 2;
    while (lexer->at < lexer->end && !(ahead(lexer, 0) == '*' && ahead(lexer, 1) == '/'))
        lexer->at++;
    lexer->at = lexer->end - lexer->at < 2 ? lexer->end : lexer->at + 2;
}

static void skip_quoted(lexer_state *lexer, char quote)
{
    lexer->at++;
    while (lexer->at < lexer->end) {
        char c = lexer->text[lexer->at];
        if (c == '\n')
            return;
        uint32_t joined = continuation(lexer);
        if (joined)
            lexer->at += joined;
        else if (c == '\\' && lexer->at + 1 < lexer->end && lexer->text[lexer->at + 1] != '\n')
            lexer->at += 2;
        else
            lexer->at++;
        if (c == quote)
            return;
    }
}

// At the quote of R"delimiter(...)delimiter".
static void skip_raw(lexer_state *lexer)
{
    enum { LONGEST_DELIMITER = 16 };
    uint32_t start = lexer->at + 1, open = start;
    while (open < lexer->end && open - start <= LONGEST_DELIMITER && lexer->text[open] != '(')
        open++;
    if (open >= lexer->end || lexer->text[open] != '(') {
        skip_quoted(lexer, '"');
        return;
    }
    uint32_t length = open - start;
    for (uint32_t i = open + 1; i < lexer->end; i++) {
        if (lexer->text[i] == ')' && lexer->end - i > length + 1 && lexer->text[i + 1 + length] == '"' &&
            memcmp(lexer->text + i + 1, lexer->text + start, length) == 0) {
            lexer->at = i + length + 2;
            return;
        }
    }
    lexer->at = lexer->end;
}

static void skip_number(lexer_state *lexer)
{
    while (lexer->at < lexer->end) {
        char c = lexer->text[lexer->at];
        bool sign = (c == '+' || c == '-') && strchr("eEpP", lexer->text[lexer->at - 1]);
        bool separator = c == '\'' && sim_is_name(ahead(lexer, 1));
        if (!sim_is_name(c) && c != '.' && !sign && !separator)
            return;
        lexer->at++;
    }
}

static bool is_string_prefix(const char *text, uint32_t length, bool *raw)
{
    *raw = length > 0 && text[length - 1] == 'R';
    uint32_t left = length - (*raw ? 1 : 0);
    return (left == 0 && *raw) || (left == 1 && strchr("uUL", text[0])) || (left == 2 && !memcmp(text, "u8", 2));
}

static void lex_name(lexer_state *lexer, sim_tokens *tokens)
{
    uint32_t start = lexer->at;
    while (lexer->at < lexer->end && sim_is_name(lexer->text[lexer->at]))
        lexer->at++;
    char next = ahead(lexer, 0);
    bool raw = false;
    if ((next == '"' || next == '\'') && is_string_prefix(lexer->text + start, lexer->at - start, &raw)) {
        if (next == '"' && raw)
            skip_raw(lexer);
        else
            skip_quoted(lexer, next);
        add(lexer, tokens, start, next == '"' ? SIM_TOKEN_STRING : SIM_TOKEN_CHARACTER);
        return;
    }
    add(lexer, tokens, start, SIM_TOKEN_NAME);
}

// At something that is neither white space, comment nor the start of a preprocessor line.
static void lex_token(lexer_state *lexer, sim_tokens *tokens)
{
    uint32_t start = lexer->at;
    char c = lexer->text[start];
    if (is_name_start(c)) {
        lex_name(lexer, tokens);
    } else if (is_digit(c) || (c == '.' && is_digit(ahead(lexer, 1)))) {
        lexer->at++;
        skip_number(lexer);
        add(lexer, tokens, start, SIM_TOKEN_NUMBER);
    } else if (c == '"' || c == '\'') {
        skip_quoted(lexer, c);
        add(lexer, tokens, start, c == '"' ? SIM_TOKEN_STRING : SIM_TOKEN_CHARACTER);
    } else {
        lexer->at += c == ':' && ahead(lexer, 1) == ':' ? 2 : 1;
        add(lexer, tokens, start, SIM_TOKEN_SIGN);
    }
}

static void lex_comment(lexer_state *lexer)
{
    const uint32_t start = lexer->at;
    if (ahead(lexer, 1) == '/')
        skip_line_comment(lexer);
    else
        skip_block_comment(lexer);
    add(lexer, &lexer->source->comments, start, SIM_TOKEN_COMMENT);
}

// Skips white space and takes comments; stops at a newline when asked to.
static void skip_space(lexer_state *lexer, bool stop_at_newline)
{
    while (lexer->at < lexer->end) {
        char c = lexer->text[lexer->at];
        uint32_t joined = continuation(lexer);
        if (c == '\n') {
            if (stop_at_newline)
                return;
            lexer->line_start = true;
            lexer->at++;
        } else if (joined) {
            lexer->at += joined;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' || c == 0) {
            lexer->at++;
        } else if (c == '/' && (ahead(lexer, 1) == '/' || ahead(lexer, 1) == '*')) {
            lex_comment(lexer);
        } else {
            return;
        }
    }
}

static sim_directive_kind directive_kind(const sim_source *source, const sim_token *name)
{
    static const struct {
        const char *name;
        sim_directive_kind kind;
    } kinds[] = {{"define", SIM_DIRECTIVE_DEFINE}, {"include", SIM_DIRECTIVE_INCLUDE}, {"if", SIM_DIRECTIVE_IF},
                 {"ifdef", SIM_DIRECTIVE_IF},      {"ifndef", SIM_DIRECTIVE_IF},       {"elif", SIM_DIRECTIVE_ELIF},
                 {"elifdef", SIM_DIRECTIVE_ELIF},  {"elifndef", SIM_DIRECTIVE_ELIF},   {"else", SIM_DIRECTIVE_ELSE},
                 {"endif", SIM_DIRECTIVE_ENDIF}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (sim_token_is(source, name, kinds[i].name))
            return kinds[i].kind;
    return SIM_DIRECTIVE_OTHER;
}

static void lex_directive(lexer_state *lexer)
{
    sim_source *source = lexer->source;
    if (!sim_array_grow(&source->directives, source->directive_count, &source->directive_room, sizeof(sim_directive))) {
        source->failed = true;
        lexer->at = lexer->end;
        return;
    }
    sim_directive directive = {.start = lexer->at, .first = source->lines.count, .code = source->code.count};
    lexer->at++;
    for (skip_space(lexer, true); lexer->at < lexer->end && lexer->text[lexer->at] != '\n'; skip_space(lexer, true))
        lex_token(lexer, &source->lines);
    directive.end = lexer->at;
    directive.last = source->lines.count;
    if (directive.last > directive.first) {
        directive.kind = directive_kind(source, &source->lines.at[directive.first]);
        directive.first++;
    }
    add(lexer, &source->lines, lexer->at, SIM_TOKEN_BREAK);
    source->directives[source->directive_count++] = directive;
}

static void lex(sim_source *source)
{
    lexer_state lexer = {
        .source = source, .text = source->text, .end = (uint32_t)source->bytes, .line = 1, .line_start = true};
    for (skip_space(&lexer, false); lexer.at < lexer.end && !source->failed; skip_space(&lexer, false)) {
        bool directive = lexer.line_start && lexer.text[lexer.at] == '#';
        lexer.line_start = false;
        if (directive)
            lex_directive(&lexer);
        else
            lex_token(&lexer, &source->code);
    }
}

void sim_source_open(sim_source *source, const char *path, char *text, size_t bytes)
{
    *source = (sim_source){.path = strdup(path), .bytes = bytes};
    source->text = text;
    const char mark[] = "\xEF\xBB\xBF"; // the byte order mark that some editors write: nvcc passes over it
    if (bytes >= strlen(mark) && memcmp(text, mark, strlen(mark)) == 0)
        memset(text, ' ', strlen(mark));
    if (!source->path || bytes >= INT32_MAX) {
        source->failed = true;
        return;
    }
    lex(source);
}

void sim_source_close(sim_source *source)
{
    free(source->scopes);
    free(source->directives);
    free(source->comments.at);
    free(source->lines.at);
    free(source->code.at);
    free(source->text);
    free(source->path);
    *source = (sim_source){0};
}

bool sim_token_is(const sim_source *source, const sim_token *token, const char *text)
{
    size_t length = token->end - token->start;
    return token->kind != SIM_TOKEN_BREAK && strlen(text) == length &&
           memcmp(source->text + token->start, text, length) == 0;
}

bool sim_token_is_any(const sim_source *source, const sim_token *token, const char *const *texts)
{
    for (; *texts; texts++)
        if (sim_token_is(source, token, *texts))
            return true;
    return false;
}

bool sim_tokens_equal(const sim_source *source, const sim_token *token, const sim_source *other_source,
                      const sim_token *other)
{
    size_t length = token->end - token->start;
    return length == other->end - other->start &&
           memcmp(source->text + token->start, other_source->text + other->start, length) == 0;
}

const sim_token *sim_token_at(const sim_tokens *tokens, int index)
{
    static const sim_token outside = {.kind = SIM_TOKEN_BREAK, .match = -1};
    return index >= 0 && index < tokens->count ? &tokens->at[index] : &outside;
}

void sim_tokens_on_line(const sim_tokens *tokens, int line, int *first, int *last)
{
    for (*first = 0; *first < tokens->count && tokens->at[*first].line < line; ++*first)
        continue;
    for (*last = *first; *last < tokens->count && tokens->at[*last].line == line; ++*last)
        continue;
}

uint32_t sim_line_start(const sim_source *source, const sim_token *token)
{
    uint32_t start = token->start;
    while (start > 0 && source->text[start - 1] != '\n')
        start--;
    return start;
}

bool sim_comment_begins_line(const sim_source *source, const sim_token *comment)
{
    const uint32_t start = sim_line_start(source, comment);
    return strspn(source->text + start, " \t") >= comment->start - start;
}

size_t sim_comment_on_line(const sim_source *source, const sim_token *comment, int line, const char **text)
{
    const char *at = source->text + comment->start, *end = source->text + comment->end, *newline;
    if (line < comment->line)
        return 0;
    for (int number = comment->line;; number++, at = newline + 1) {
        newline = memchr(at, '\n', (size_t)(end - at));
        if (number == line)
            break;
        if (!newline)
            return 0;
    }
    *text = at;
    return (size_t)((newline ? newline : end) - at);
}

int sim_token_at_column(const sim_source *source, int line, int column)
{
    int first, last;
    sim_tokens_on_line(&source->code, line, &first, &last);
    for (int i = first; column > 0 && i < last; i++) {
        const sim_token *token = &source->code.at[i];
        uint32_t offset = sim_line_start(source, token) + (uint32_t)column - 1;
        if (offset >= token->start && offset < token->end)
            return i;
    }
    return -1;
}

char *sim_included_name(const sim_source *source, const sim_directive *directive, bool *quoted)
{
    if (directive->first >= directive->last)
        return NULL;
    const sim_token *first = &source->lines.at[directive->first], *last = &source->lines.at[directive->last - 1];
    *quoted = first->kind == SIM_TOKEN_STRING;
    if (*quoted && source->text[first->start] == '"' && first->end - first->start > 2)
        return strndup(source->text + first->start + 1, first->end - first->start - 2);
    if (sim_token_is(source, first, "<") && sim_token_is(source, last, ">") && last > first + 1)
        return strndup(source->text + first->end, last->start - first->end);
    return NULL;
}

int sim_behind_angles(const sim_source *source, const sim_tokens *tokens, int open)
{
    int depth = 0;
    for (int i = open; i < tokens->count; i++) {
        const sim_token *token = &tokens->at[i];
        if (sim_token_is(source, token, "("))
            i = token->match > i ? token->match : i;
        depth += sim_token_is(source, token, "<") ? 1 : sim_token_is(source, token, ">") ? -1 : 0;
        if (depth == 0)
            return i + 1;
        if (sim_token_is(source, token, ";") || sim_token_is(source, token, "{"))
            return -1;
    }
    return -1;
}
