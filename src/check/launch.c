// Reads the launch comment: a recursive descent over whole-number expressions.

#include "check/launch.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "check/fields.h"
#include "sim/source/lexer.h"

enum {
    LARGEST_SOURCE = 16 << 20,
    MOST_THREADS = 1024,     // of a block, on every GPU so far
    MOST_SHARED = 256 << 10, // bytes: more than any GPU has
    DEEPEST = 32,            // brackets within brackets
};

typedef struct reader {
    const char *at;
    const heddle_op *op;
    const void *shape;
    int depth;
} reader;

static char next(reader *in)
{
    while (isspace((unsigned char)*in->at))
        in->at++;
    return *in->at;
}

static bool take(reader *in, char sign)
{
    if (next(in) != sign)
        return false;
    in->at++;
    return true;
}

static heddle_status unreadable(const reader *in)
{
    return heddle_fail(HEDDLE_INVALID,
                       "launch: cannot parse it from '%s' on; write it like <<<(n + 255) / 256, 256>>> or "
                       "<<<dim3(...), dim3(...), bytes>>>",
                       in->at);
}

static heddle_status sum(reader *in, long long *value);

static heddle_status read_field(reader *in, long long *value)
{
    size_t length = 0;
    while (sim_is_name(in->at[length]))
        length++;
    for (int i = 0; i < in->op->field_count; i++) {
        const heddle_field *field = &in->op->fields[i];
        if (strlen(field->name) == length && memcmp(in->at, field->name, length) == 0) {
            *value = (long long)heddle_check_field_value(field, in->shape);
            in->at += length;
            return HEDDLE_OK;
        }
    }
    return heddle_fail(HEDDLE_INVALID, "launch: %s has no field '%.*s'", in->op->name, (int)length, in->at);
}

static heddle_status atom(reader *in, long long *value)
{
    char first = next(in);
    if (isdigit((unsigned char)first)) {
        char *end;
        *value = strtoll(in->at, &end, 0);
        in->at = end;
        return HEDDLE_OK;
    }
    if (isalpha((unsigned char)first) || first == '_')
        return read_field(in, value);
    if (first != '(' || in->depth == DEEPEST)
        return unreadable(in);
    in->at++;
    in->depth++;
    HEDDLE_TRY(sum(in, value));
    in->depth--;
    return take(in, ')') ? HEDDLE_OK : unreadable(in);
}

static heddle_status combine(char sign, long long *value, long long other)
{
    bool overflow = false;
    if ((sign == '/' || sign == '%') && (other == 0 || (other == -1 && *value == LLONG_MIN)))
        return heddle_fail(HEDDLE_INVALID, "launch: division by zero");
    switch (sign) {
    case '+': overflow = __builtin_add_overflow(*value, other, value); break;
    case '-': overflow = __builtin_sub_overflow(*value, other, value); break;
    case '*': overflow = __builtin_mul_overflow(*value, other, value); break;
    case '/': *value /= other; break;
    default: *value %= other; break;
    }
    return overflow ? heddle_fail(HEDDLE_INVALID, "launch: a number is too large") : HEDDLE_OK;
}

static heddle_status product(reader *in, long long *value)
{
    long long other = 0;
    HEDDLE_TRY(atom(in, value));
    for (char sign = next(in); sign == '*' || sign == '/' || sign == '%'; sign = next(in)) {
        in->at++;
        HEDDLE_TRY(atom(in, &other));
        HEDDLE_TRY(combine(sign, value, other));
    }
    return HEDDLE_OK;
}

static heddle_status sum(reader *in, long long *value)
{
    long long other = 0;
    HEDDLE_TRY(product(in, value));
    for (char sign = next(in); sign == '+' || sign == '-'; sign = next(in)) {
        in->at++;
        HEDDLE_TRY(product(in, &other));
        HEDDLE_TRY(combine(sign, value, other));
    }
    return HEDDLE_OK;
}

static heddle_status count(reader *in, unsigned *number)
{
    long long value = 0;
    HEDDLE_TRY(sum(in, &value));
    if (value < 0 || value > INT_MAX)
        return heddle_fail(HEDDLE_INVALID, "launch: %lld is not a size of a grid or block", value);
    *number = (unsigned)value;
    return HEDDLE_OK;
}

// dim3(x, y, z), of which y and z may be left out, or x alone.
static heddle_status dimensions(reader *in, unsigned size[3])
{
    static const char word[] = "dim3";
    const size_t length = sizeof word - 1;
    size[1] = size[2] = 1;
    next(in);
    if (strncmp(in->at, word, length) != 0)
        return count(in, &size[0]);
    in->at += length;
    if (!take(in, '('))
        return unreadable(in);
    HEDDLE_TRY(count(in, &size[0]));
    for (int i = 1; i < 3 && take(in, ','); i++)
        HEDDLE_TRY(count(in, &size[i]));
    return take(in, ')') ? HEDDLE_OK : unreadable(in);
}

heddle_status heddle_check_launch_read(const char *text, const heddle_op *op, const void *shape,
                                       heddle_check_launch *launch)
{
    reader in = {text, op, shape, 0};
    *launch = (heddle_check_launch){.shared = 0};
    HEDDLE_TRY(dimensions(&in, launch->grid));
    if (!take(&in, ','))
        return unreadable(&in);
    HEDDLE_TRY(dimensions(&in, launch->block));
    if (take(&in, ','))
        HEDDLE_TRY(count(&in, &launch->shared));
    if (next(&in) != '\0')
        return unreadable(&in);
    const unsigned *block = launch->block;
    unsigned long long threads = (unsigned long long)block[0] * block[1];
    if (threads <= MOST_THREADS)
        threads *= block[2];
    if (threads < 1 || threads > MOST_THREADS)
        return heddle_fail(HEDDLE_INVALID, "launch: a block of %u by %u by %u threads; a block has 1 to %d", block[0],
                           block[1], block[2], MOST_THREADS);
    if (launch->shared > MOST_SHARED)
        return heddle_fail(HEDDLE_INVALID, "launch: %u bytes of shared memory are more than a GPU has", launch->shared);
    return HEDDLE_OK;
}

// The text between the marks of a "// launch: <<<...>>>"; NULL: the comment is none.
static const char *between(const char *line, size_t *length)
{
    static const char mark[] = "// launch:", open[] = "<<<", close[] = ">>>";
    if (strncmp(line, mark, sizeof mark - 1) != 0)
        return NULL;
    line += sizeof mark - 1;
    line += strspn(line, " \t");
    if (strncmp(line, open, sizeof open - 1) != 0)
        return NULL;
    line += sizeof open - 1;
    const char *end = strstr(line, close);
    *length = end ? (size_t)(end - line) : 0;
    return end && !memchr(line, '\n', *length) && *length < HEDDLE_CHECK_LAUNCH_SIZE ? line : NULL;
}

heddle_status heddle_check_launch_find(const char *path, char text[HEDDLE_CHECK_LAUNCH_SIZE])
{
    char *content = NULL;
    size_t size = 0, length = 0;
    sim_source source;
    text[0] = '\0';
    HEDDLE_TRY(heddle_file_read(path, LARGEST_SOURCE, &content, &size));
    sim_source_open(&source, path, content, size);
    for (int i = 0; i < source.comments.count && !text[0]; i++) {
        const sim_token *comment = &source.comments.at[i];
        const char *found =
            sim_comment_begins_line(&source, comment) ? between(source.text + comment->start, &length) : NULL;
        if (found)
            snprintf(text, HEDDLE_CHECK_LAUNCH_SIZE, "%.*s", (int)length, found);
    }
    sim_source_close(&source);
    return HEDDLE_OK;
}
