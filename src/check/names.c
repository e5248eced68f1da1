// An allocation has the name of the variable that cudaMalloc and its kin were given, or that malloc and new were
// assigned to. Every extern __shared__ declaration means one buffer: at a place it has the name that is declared there.

#include "check/names.h"

#include <stdio.h>
#include <string.h>

#include "check/access.h"
#include "sim/source/scope.h"

// --- reading a call --------------------------------------------------------------------------------------------------

typedef struct range {
    int first, last; // tokens [first, last)
} range;

static bool is(const sim_source *source, int token, const char *text)
{
    return sim_token_is(source, sim_token_at(&source->code, token), text);
}

static bool ends_with(const sim_source *source, int token, const char *end)
{
    const sim_token *name = sim_token_at(&source->code, token);
    size_t length = strlen(end);
    return name->kind == SIM_TOKEN_NAME && name->end - name->start >= length &&
           memcmp(source->text + name->end - length, end, length) == 0;
}

static int behind(const sim_source *source, int open)
{
    int match = sim_token_at(&source->code, open)->match;
    return match > open ? match + 1 : open + 1;
}

// "(void **)&d" to "&d", "reinterpret_cast<void **>(&d)" to "&d", "(&d)" and "&d" to "d".
static range without_casts(const sim_source *source, range argument)
{
    for (;;) {
        int first = argument.first, end = behind(source, first);
        if (ends_with(source, first, "_cast")) {
            while (first < argument.last && !is(source, first, "("))
                first++;
            argument = (range){first + 1, behind(source, first) - 1};
        } else if (is(source, first, "(") && end < argument.last) { // a type
            argument.first = end;
        } else if (is(source, first, "(") && end == argument.last) {
            argument = (range){first + 1, argument.last - 1};
        } else if (is(source, first, "&")) {
            argument.first++;
        } else {
            return argument;
        }
    }
}

// The text of "s.data", "rows[i]", "*out", "p->next": a variable, a member, an element; false for other things.
static bool copy_variable(const sim_source *source, range variable, char *name, size_t size)
{
    static const char *const signs[] = {".", "::", "*", "+", "-", ">", "[", "]", NULL};
    size_t used = 0;
    for (int i = variable.first; i < variable.last; i++) {
        const sim_token *token = &source->code.at[i];
        bool arrow = is(source, i, "-") ? is(source, i + 1, ">") : !is(source, i, ">") || is(source, i - 1, "-");
        size_t length = token->end - token->start;
        if ((token->kind == SIM_TOKEN_SIGN && (!sim_token_is_any(source, token, signs) || !arrow)) ||
            used + length + 1 > size)
            return false;
        memcpy(name + used, source->text + token->start, length);
        used += length;
    }
    name[used] = '\0';
    return used > 0;
}

// The first argument of the call whose name is a token.
static range first_argument(const sim_source *source, int call)
{
    int open = call + 1;
    while (open < source->code.count && !is(source, open, "(") && !is(source, open, ";")) // template arguments
        open++;
    range argument = {open + 1, open + 1};
    int close = behind(source, open) - 1;
    while (is(source, open, "(") && argument.last < close && !is(source, argument.last, ","))
        argument.last = sim_token_at(&source->code, argument.last)->match > argument.last
                            ? behind(source, argument.last)
                            : argument.last + 1;
    return argument;
}

// "float *p = (float *)malloc(n)", "p = new T": what stands before the sign, to the left of the call.
static range assigned(const sim_source *source, int call)
{
    static const char *const ends[] = {";", "{", "}", NULL};
    int sign = call;
    while (sign > 0 && !is(source, sign, "=") && !sim_token_is_any(source, &source->code.at[sign], ends))
        sign--;
    if (!is(source, sign, "="))
        return (range){0, 0};
    int first = sign;
    while (first > 0) {
        const sim_token *before = &source->code.at[first - 1];
        bool arrow = is(source, first - 1, ">") && is(source, first - 2, "-");
        bool name = before->kind == SIM_TOKEN_NAME &&
                    (first == sign || sim_token_at(&source->code, first)->kind != SIM_TOKEN_NAME);
        if (is(source, first - 1, "]") && before->match >= 0)
            first = before->match;
        else if (name || is(source, first - 1, "."))
            first--;
        else if (arrow)
            first -= 2;
        else
            break;
    }
    return (range){first, sign};
}

// "thrust::device_vector<float> weights(n)": the vector, whose memory it is; empty: the line makes none.
static range vector_on(const sim_source *source, range line)
{
    for (int i = line.first; i < line.last; i++) {
        int name = is(source, i, "device_vector") && is(source, i + 1, "<")
                       ? sim_behind_angles(source, &source->code, i + 1)
                       : -1;
        if (sim_token_at(&source->code, name)->kind == SIM_TOKEN_NAME)
            return (range){name, name + 1};
    }
    return (range){0, 0};
}

// --- allocations -----------------------------------------------------------------------------------------------------

// The tokens of the line, with those of the statements that begin before it or end behind it.
static range statements_on(const sim_source *source, int line)
{
    range found;
    sim_tokens_on_line(&source->code, line, &found.first, &found.last);
    if (found.first == found.last)
        return found;
    found.first = sim_statement_start(source, &source->code, found.first);
    while (found.last < source->code.count && !is(source, found.last - 1, ";"))
        found.last++;
    return found;
}

// The only call of the function among the tokens; of several, the one at the compiler's column, or in the arguments of
// the macro there. -1: none.
static int find_call(const sim_source *source, range among, const heddle_check_frame *frame)
{
    int found = -1, count = 0, column = sim_token_at_column(source, frame->line, frame->column);
    if (column >= 0 && is(source, column + 1, "(") && !is(source, column, frame->function))
        among = (range){column + 2, behind(source, column + 1) - 1};
    for (int i = among.first; i < among.last; i++) {
        bool called = is(source, i, "new") || is(source, i + 1, "(") || is(source, i + 1, "<");
        if (!called || !is(source, i, frame->function))
            continue;
        if (i == column || (is(source, column, "(") && first_argument(source, i).first == column + 1))
            return i;
        found = i;
        count++;
    }
    return count == 1 ? found : -1;
}

static bool name_allocation(const sim_source *source, const heddle_check_frame *allocated, char *name, size_t size)
{
    range line, among = statements_on(source, allocated->line);
    sim_tokens_on_line(&source->code, allocated->line, &line.first, &line.last);
    range vector = vector_on(source, line);
    if (vector.first < vector.last)
        return copy_variable(source, vector, name, size);
    bool returns = strcmp(allocated->function, "malloc") == 0 || strcmp(allocated->function, "new") == 0;
    int call = find_call(source, among, allocated);
    if (call < 0)
        return false;
    range variable = returns ? assigned(source, call) : without_casts(source, first_argument(source, call));
    return variable.first < variable.last && copy_variable(source, variable, name, size);
}

// --- extern __shared__ -----------------------------------------------------------------------------------------------

static bool is_inside(const sim_source *source, int scope, int other)
{
    while (scope > other)
        scope = source->scopes[scope].parent;
    return scope == other;
}

// The name that an extern __shared__ declaration gives, whose keyword is a token; -1: it is none.
static int declared_by(const sim_source *source, int keyword)
{
    int at = sim_statement_start(source, &source->code, keyword);
    bool external = false;
    for (; at < source->code.count && !is(source, at, "[") && !is(source, at, ";"); at++)
        external |= is(source, at, "extern");
    return external && is(source, at, "[") ? at - 1 : -1;
}

// The name that is declared last before the token and can be seen there; where none is, the only one of the file.
static int find_extern_shared(const sim_source *source, int token)
{
    int seen = -1, only = -1;
    bool several = false;
    for (int i = 0; i < source->code.count; i++) {
        int name = is(source, i, "__shared__") ? declared_by(source, i) : -1;
        if (name < 0)
            continue;
        const sim_token *declared = &source->code.at[name];
        several |= only >= 0 && !sim_tokens_equal(source, declared, source, &source->code.at[only]);
        only = name;
        if (name < token && is_inside(source, source->code.at[token].scope, declared->scope))
            seen = name;
    }
    return seen >= 0 || several ? seen : only;
}

static bool name_extern_shared(heddle_check_sources *sources, const heddle_check_place *place, char *name, size_t size)
{
    for (int i = 0; i < place->frames; i++) {
        int first, last, found = -1;
        const sim_source *source = heddle_check_sources_code(sources, place->frame[i].file);
        if (source)
            sim_tokens_on_line(&source->code, place->frame[i].line, &first, &last);
        if (source && last > 0)
            found = find_extern_shared(source, last - 1);
        if (found >= 0)
            return copy_variable(source, (range){found, found + 1}, name, size);
    }
    return false;
}

// --- all of it -------------------------------------------------------------------------------------------------------

// The array that the index at the compiler's column belongs to: "t[y]" of t[y][x] where the second is meant. Returns
// its length in the text, from the start of the access.
static size_t array_length(const sim_source *source, const heddle_check_frame *frame, const heddle_check_access *access)
{
    int bracket = sim_token_at_column(source, frame->line, frame->column);
    if (!is(source, bracket, "]") || source->code.at[bracket].match < 0)
        return strlen(access->name);
    uint32_t open = source->code.at[source->code.at[bracket].match].start;
    return open - source->code.at[bracket].start + (uint32_t)frame->column - (uint32_t)access->column;
}

// Whether a __shared__ declaration of the file names it.
static bool is_shared(const sim_source *source, const char *name)
{
    const sim_tokens *code = &source->code;
    bool declared = false;
    for (int i = 0; i < code->count; i++) {
        declared = is(source, i, "__shared__") || (declared && !is(source, i, ";"));
        if (declared && sim_token_is(source, &code->at[i], name) && is(source, i + 1, "["))
            return true;
    }
    return false;
}

// "index 40 is outside of an array of 32": which array that is.
static void name_array(heddle_check_finding *finding, heddle_check_sources *sources, heddle_arena *arena)
{
    static const char unnamed[] = "an array";
    const heddle_check_place *place = &finding->places[0];
    const heddle_check_frame *frame = &place->frame[0];
    const sim_source *source = heddle_check_sources_code(sources, frame->file);
    const char *line = heddle_check_sources_line(sources, frame->file, frame->line);
    const char *at = strstr(finding->message, unnamed);
    heddle_check_access access;
    char text[1024];
    if (!at || !source || !line || frame->column == 0 || !heddle_check_access_find(source, finding, place, &access))
        return;
    snprintf(text, sizeof text, "%.*s%.*s, %s", (int)(at - finding->message), finding->message,
             (int)array_length(source, frame, &access), line + access.column - 1, at);
    const char *copy = heddle_arena_copy_text(arena, text);
    finding->message = copy ? copy : finding->message;
    snprintf(text, sizeof text, "%s %s", is_shared(source, access.name) ? "shared memory" : "array", access.name);
    finding->array = heddle_arena_copy_text(arena, text);
}

void heddle_check_names_settle(heddle_check_finding *finding, heddle_check_sources *sources, heddle_arena *arena)
{
    heddle_check_memory *memory = finding->memory;
    char name[HEDDLE_CHECK_NAME] = "";
    bool located = finding->place_count > 0 && finding->places[0].frames > 0;
    if (located && strcmp(finding->places[0].role, "index") == 0)
        name_array(finding, sources, arena);
    if (!memory || memory->name[0])
        return;
    const sim_source *source = heddle_check_sources_code(sources, memory->allocated.file);
    bool named = memory->is_dynamic ? located && name_extern_shared(sources, &finding->places[0], name, sizeof name)
                                    : source && name_allocation(source, &memory->allocated, name, sizeof name);
    const char *copy = named ? heddle_arena_copy_text(arena, name) : NULL;
    memory->name = copy ? copy : memory->name;
}
