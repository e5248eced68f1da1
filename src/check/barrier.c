// The lines are those of the two accesses, moved out of the blocks that only one of them is in. A branch that both are
// in is named too, for threads that do not take it would not come to a barrier within it.

#include "check/barrier.h"

#include <stdio.h>
#include <string.h>

#include "check/code.h"

// Between two accesses, and back to the head of a loop; of a line, of blocks and of #if that are inside each other.
enum { MOST_LINES = 20, MOST_COLUMNS = 1000, DEEPEST = 64, DEEPEST_IF = 16 };

// --- reading a file line by line -------------------------------------------------------------------------------------

typedef struct line_reader {
    heddle_check_sources *sources;
    const char *file;
    int line; // the last that was read
    bool comment;
    char code[MOST_COLUMNS + 1];
    int branches[DEEPEST]; // of the blocks that are open behind the line: the line of the if or switch; 0: of another
    int depth, at_if[DEEPEST_IF], ifs;
    int parentheses;
    int branch;        // the same of the statement that is being read
    int least;         // depth within the line
    bool other_branch; // the line is an #else or #elif
} line_reader;

// Each branch of an #if begins as deep as the #if stood.
static void enter_branch(line_reader *reader, const char *directive)
{
    directive += strspn(directive, "# ");
    if (strncmp(directive, "if", 2) == 0) {
        if (reader->ifs++ < DEEPEST_IF)
            reader->at_if[reader->ifs - 1] = reader->depth;
    } else if (strncmp(directive, "el", 2) == 0) {
        reader->other_branch = true;
        if (reader->ifs > 0 && reader->ifs <= DEEPEST_IF)
            reader->depth = reader->at_if[reader->ifs - 1];
    } else if (strncmp(directive, "endif", 5) == 0 && reader->ifs > 0) {
        reader->ifs--;
    }
}

static void read_sign(line_reader *reader, char sign)
{
    reader->parentheses += sign == '(' ? 1 : sign == ')' && reader->parentheses > 0 ? -1 : 0;
    if (sign == '{') {
        if (reader->depth < DEEPEST)
            reader->branches[reader->depth] = reader->branch;
        reader->depth++;
        reader->parentheses = 0; // those around a lambda
    }
    if (sign == '}')
        reader->depth -= reader->depth > 0;
    if (sign == '{' || sign == '}' || (sign == ';' && reader->parentheses == 0))
        reader->branch = 0;
    reader->least = reader->depth < reader->least ? reader->depth : reader->least;
}

static void read_code(line_reader *reader)
{
    const char *at = reader->code;
    while (*at) {
        const char *word = at;
        size_t length = heddle_check_word_length(word);
        at += length;
        if (length == 0) {
            read_sign(reader, *at++);
        } else if (heddle_check_word_is(word, length, "if") || heddle_check_word_is(word, length, "else") ||
                   heddle_check_word_is(word, length, "switch")) {
            reader->branch = reader->branch > 0 ? reader->branch : reader->line;
        } else if (heddle_check_word_is(word, length, "constexpr")) {
            reader->branch = 0; // all threads take it alike
        }
    }
}

static bool read_line(line_reader *reader)
{
    const char *text = heddle_check_sources_line(reader->sources, reader->file, ++reader->line);
    if (!text)
        return false;
    heddle_check_code_of(text, &reader->comment, reader->code, sizeof reader->code);
    const char *first = reader->code + strspn(reader->code, " ");
    reader->least = reader->depth;
    reader->other_branch = false;
    if (*first == '#') {
        enter_branch(reader, first);
        reader->code[0] = '\0';
    }
    read_code(reader);
    return true;
}

static void read_before(line_reader *reader, int line)
{
    while (reader->line + 1 < line && read_line(reader))
        continue;
}

// --- the place -------------------------------------------------------------------------------------------------------

static bool any_line_calls(const heddle_check_result *result, const char *file, int first, int last,
                           const char *const *words)
{
    line_reader reader = {.sources = result->sources, .file = file};
    read_before(&reader, first);
    while (reader.line < last && read_line(&reader))
        for (int i = 0; words[i]; i++)
            if (heddle_check_has_call(reader.code, words[i]))
                return true;
    return false;
}

// `if (...)`, `for (...)`: a line whose statement is the next one.
static bool heads_next(const char *code)
{
    size_t length = strlen(code);
    while (length > 0 && code[length - 1] == ' ')
        length--;
    return length > 0 && code[length - 1] == ')' &&
           (heddle_check_has_call(code, "if") || heddle_check_has_call(code, "for") ||
            heddle_check_has_call(code, "while"));
}

// What is known of a line between the two accesses.
typedef struct line_shape {
    int before, after, least; // depth
    bool has_else, heads_next, begins_block;
} line_shape;

typedef struct gap {
    int first, last; // lines
    int branch;      // the line of a branch that is around both; 0: none
} gap;

static bool read_shape(line_reader *reader, line_shape *shape)
{
    shape->before = reader->depth;
    if (!read_line(reader))
        return false;
    shape->after = reader->depth;
    shape->least = reader->least;
    shape->has_else = heddle_check_find_word(reader->code, reader->code, "else") || reader->other_branch;
    shape->heads_next = heads_next(reader->code);
    shape->begins_block = reader->code[strspn(reader->code, " ")] == '{';
    return true;
}

// The outermost of the branches among the blocks that are open up to a depth.
static int branch_around(const line_reader *reader, int depth)
{
    for (int i = 0; i < depth && i < DEEPEST; i++)
        if (reader->branches[i] > 0)
            return reader->branches[i];
    return 0;
}

// A barrier belongs behind the block that the first access is in and before the one that only the other is in: moves
// the lines there. False where no lines can be named, as between the two branches of an if.
static bool narrow(const heddle_check_result *result, const char *file, gap *between)
{
    line_shape shapes[MOST_LINES + 1] = {0};
    line_reader reader = {.sources = result->sources, .file = file};
    read_before(&reader, between->first);
    int level = reader.depth; // of the block that the barrier is to be in
    int first = between->first, last = between->last, closed = first, opened = 0;
    for (int line = first; line <= last; line++) {
        line_shape *shape = &shapes[line - first];
        if (!read_shape(&reader, shape) || (line > first && shape->has_else))
            return false;
        if (line == first && (shape->after != shape->before || shape->least < shape->before))
            return false; // which side of the brace the access is on is not known
        if (line == last)
            break;
        int around = level;
        level = shape->least < level ? shape->least : level;
        if (level < around || (shape->before > level && shape->after == level))
            closed = line; // behind a block between the two as well, not inside it
        if (shape->after > level && (shape->before == around || closed == line))
            opened = line;
    }
    if (shapes[last - first].before > level)
        last = opened - shapes[opened - first].begins_block;
    while (last - 1 > closed && shapes[last - 1 - first].heads_next)
        last--;
    *between = (gap){closed, last, branch_around(&reader, level)};
    return closed < last;
}

static bool same_function(const heddle_check_frame *one, const heddle_check_frame *other)
{
    return strcmp(one->file, other->file) == 0 && strcmp(one->function, other->function) == 0;
}

// The innermost function that both accesses are in, themselves or by what they call there; false: there is none.
static bool find_common(const heddle_check_finding *finding, const heddle_check_frame **one,
                        const heddle_check_frame **other)
{
    const heddle_check_place *places = finding->places;
    for (int i = 0; i < places[0].frames; i++)
        for (int j = 0; j < places[1].frames; j++)
            if (same_function(&places[0].frame[i], &places[1].frame[j])) {
                *one = &places[0].frame[i];
                *other = &places[1].frame[j];
                return true;
            }
    return false;
}

// Where there is a barrier between the two lines already, they meet the other way round: in the next turn of a loop.
static const char *barrier_place(const heddle_check_result *result, const heddle_check_finding *finding, char *text,
                                 size_t size)
{
    static const char *const loops[] = {"for", "while", NULL};
    static const char *const barriers[] = {"__syncthreads", "sync", "arrive_and_wait", "wait", "__syncwarp", NULL};
    const heddle_check_frame *one, *other;
    if (!find_common(finding, &one, &other))
        return NULL;
    int first = one->line < other->line ? one->line : other->line;
    int last = one->line < other->line ? other->line : one->line;
    if (first == last || first <= 0 || last - first > MOST_LINES ||
        any_line_calls(result, one->file, first, first, barriers) ||
        any_line_calls(result, one->file, last, last, barriers))
        return NULL;
    bool barrier_between = any_line_calls(result, one->file, first + 1, last - 1, barriers);
    gap between = {first, last, 0};
    if (!barrier_between && narrow(result, one->file, &between)) {
        int used = snprintf(text, size, "between line %d and line %d", between.first, between.last);
        if (between.branch > 0)
            snprintf(text + used, size - (size_t)used,
                     ", outside the branch of line %d unless all threads of the block take it", between.branch);
    } else if (barrier_between &&
               any_line_calls(result, one->file, first > MOST_LINES ? first - MOST_LINES : 1, first, loops))
        snprintf(text, size, "behind line %d, before the loop comes back to line %d", last, first);
    else
        return NULL;
    return text;
}

// "Put __syncthreads() between the two, or ...": which lines that is.
void heddle_check_barrier_settle(heddle_check_result *result, heddle_check_finding *finding)
{
    static const char vague[] = "between the two";
    char place[192], text[1024];
    const char *at = finding->cure ? strstr(finding->cure, vague) : NULL;
    bool known = finding->kind == HEDDLE_CHECK_RACE && at && finding->place_count == 2 &&
                 finding->places[0].frames > 0 && finding->places[1].frames > 0 &&
                 barrier_place(result, finding, place, sizeof place);
    if (!known)
        return;
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - finding->cure), finding->cure, place, at + sizeof vague - 1);
    const char *copy = heddle_arena_copy_text(result->arena, text);
    finding->cure = copy ? copy : finding->cure;
}
