// Cuts CUDA C++ source into tokens and preprocessor lines: the one reader of C++, for the rewriter and for the
// explanation of findings. Comments are apart, white space is left out; every token knows where it stands in the text.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sim_token_kind {
    SIM_TOKEN_NAME,
    SIM_TOKEN_NUMBER,
    SIM_TOKEN_STRING,
    SIM_TOKEN_CHARACTER,
    SIM_TOKEN_SIGN,    // one character, or ::
    SIM_TOKEN_COMMENT, // from // to the end of the line, without it, or from /* to */
    SIM_TOKEN_BREAK    // between the preprocessor lines of a list
} sim_token_kind;

typedef struct sim_token {
    uint32_t start, end; // in the text
    int32_t line;        // from 1
    int32_t match;       // of a bracket: the token that closes or opens it; -1: none
    int32_t scope;       // see scope.h
    uint8_t kind;
} sim_token;

typedef struct sim_tokens {
    sim_token *at;
    int count, room;
} sim_tokens;

typedef enum sim_directive_kind {
    SIM_DIRECTIVE_OTHER,
    SIM_DIRECTIVE_DEFINE,
    SIM_DIRECTIVE_INCLUDE,
    SIM_DIRECTIVE_IF, // if, ifdef, ifndef
    SIM_DIRECTIVE_ELIF,
    SIM_DIRECTIVE_ELSE,
    SIM_DIRECTIVE_ENDIF,
} sim_directive_kind;

typedef struct sim_directive {
    sim_directive_kind kind;
    uint32_t start, end; // of the line in the text, without its last newline
    int first, last;     // its tokens after the directive's name: [first, last) of sim_source.lines
    int code;            // the code token that follows it
} sim_directive;

// One file: its text and all that is known about it.
typedef struct sim_source {
    char *path; // as the user would write it
    char *text;
    size_t bytes;
    sim_tokens code;  // what is not on a preprocessor line
    sim_tokens lines; // what is, line after line, with a break after each
    sim_tokens comments;
    sim_directive *directives;
    int directive_count, directive_room;
    struct sim_scope *scopes; // see scope.h
    int scope_count, scope_room;
    bool failed; // out of memory, or larger than 2 GB
} sim_source;

// Takes over text, which must end with a 0 at text[bytes].
void sim_source_open(sim_source *source, const char *path, char *text, size_t bytes);
void sim_source_close(sim_source *source);

bool sim_is_name(char c); // whether it can be part of a name
bool sim_token_is(const sim_source *source, const sim_token *token, const char *text);
bool sim_token_is_any(const sim_source *source, const sim_token *token, const char *const *texts); // NULL ends the list
// Whether two tokens, perhaps of different sources, are the same text.
bool sim_tokens_equal(const sim_source *source, const sim_token *token, const sim_source *other_source,
                      const sim_token *other);
// The token at this index, or a break when it is outside.
const sim_token *sim_token_at(const sim_tokens *tokens, int index);
// The tokens of a line, [*first, *last); empty when there are none.
void sim_tokens_on_line(const sim_tokens *tokens, int line, int *first, int *last);
// The code token at a column of a line, both from 1, in bytes; -1: none.
int sim_token_at_column(const sim_source *source, int line, int column);
// Where the line of a token begins in the text.
uint32_t sim_line_start(const sim_source *source, const sim_token *token);
// Whether a comment is the first in its line.
bool sim_comment_begins_line(const sim_source *source, const sim_token *comment);
// The part of a comment that stands on a line, from 1: its bytes; 0: none of it does.
size_t sim_comment_on_line(const sim_source *source, const sim_token *comment, int line, const char **text);
// The token behind the template arguments that open at `open`; -1: they do not close.
int sim_behind_angles(const sim_source *source, const sim_tokens *tokens, int open);

// The name in #include "name" or <name>, to be freed; NULL: it is neither (a macro), or memory ran out.
char *sim_included_name(const sim_source *source, const sim_directive *directive, bool *quoted);

// Grows an array so that one more fits; false when memory ran out.
bool sim_array_grow(void *array, int count, int *room, size_t element);
