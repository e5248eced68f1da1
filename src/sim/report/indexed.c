// The array that an index is outside of: the compiler tells the column, and the source line the name. Columns are those
// of the rewritten text: on a line that the rewriter may have edited nothing is said, nor where the column does not
// meet exactly what the compiler would mean.
#define _GNU_SOURCE 1
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "report/internal.h"

static bool in_name(const char *line, size_t at)
{
    bool arrow = line[at] == '>' ? at > 0 && line[at - 1] == '-' : line[at] == '-' && line[at + 1] == '>';
    return isalnum((unsigned char)line[at]) || line[at] == '_' || line[at] == '.' || arrow;
}

// The bracket that the one at `close` closes; `close` itself where there is none.
static size_t opening(const char *line, size_t close)
{
    int depth = 0;
    for (size_t at = close + 1; at-- > 0;) {
        depth += (line[at] == ']') - (line[at] == '[');
        if (depth == 0)
            return at;
    }
    return close;
}

// What the rewriter edits within a line, names and all that begins with them; of barriers it is the second one.
static bool may_have_moved(const char *line, size_t length)
{
    static const char *const edited[] = {"printf", "malloc", "free", "clock", "new",  "delete",
                                         "atomic", "asm",    "<<<",  "<< <",  "goto", "__shared__"};
    const char barrier[] = "__syncthreads";
    for (size_t i = 0; i < sizeof edited / sizeof *edited; i++)
        if (memmem(line, length, edited[i], strlen(edited[i])))
            return true;
    const char *first = memmem(line, length, barrier, strlen(barrier));
    return first && memmem(first + 1, length - (size_t)(first + 1 - line), barrier, strlen(barrier));
}

// gcc means the bracket that closes the subscript, clang the array's name or its last member.
static bool find_array(const char *line, size_t length, size_t at, size_t *start, size_t *end)
{
    if (at + 1 >= length)
        return false;
    size_t open = at;
    bool begins = isalpha((unsigned char)line[at]) || line[at] == '_';
    if (line[at] == ']')
        open = opening(line, at);
    else if (!begins || (at > 0 && (isalnum((unsigned char)line[at - 1]) || line[at - 1] == '_')))
        return false;
    else
        while (open + 1 < length && in_name(line, open))
            open++;
    if (line[open] != '[')
        return false;
    size_t first = open;
    while (first > 0 && line[first - 1] == ']' && opening(line, first - 1) < first - 1)
        first = opening(line, first - 1);
    while (first > 0 && in_name(line, first - 1))
        first--;
    *start = first;
    *end = open;
    return first < open && (isalpha((unsigned char)line[first]) || line[first] == '_');
}

void sim_indexed_name(sim_record *record)
{
    sim_finding *finding = &record->finding;
    const sim_stack *where = record->where[0];
    size_t length = 0, start = 0, end = 0;
    const char *line =
        finding->column && where ? sim_source_line(where->frames[0].file, where->frames[0].line, &length) : NULL;
    bool found = line && !may_have_moved(line, length) && find_array(line, length, finding->column - 1, &start, &end);
    finding->column = found ? (unsigned)start + 1 : 0;
    char *before = found ? strstr(finding->message, SIM_AN_ARRAY) : NULL;
    if (!before)
        return;
    char rest[sizeof finding->message];
    snprintf(rest, sizeof rest, "%s", before);
    snprintf(before, sizeof finding->message - (size_t)(before - finding->message), "%.*s, %s",
             (int)(end - start < 80 ? end - start : 80), line + start, rest);
}
