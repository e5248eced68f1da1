// From cudaMalloc(&da, ...) by way of add<<<...>>>(da, ...) to __global__ void add(const float *a, ...). A wrong name
// is worse than none: where launches differ, where the pointer may reach the kernel in another way than by its name, or
// where it is no local variable of the one function that allocates and launches (what others share, other files may
// launch with), nothing is said.

#include "check/parameter.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/code.h"

enum { LONGEST_LINE = 400, NOT_FOUND = -1, NOT_CLEAR = -2 };

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \n");
}

// The file's text without comments and literals, behind an empty line; *offset: where the line begins. The caller frees
// it; NULL: there is none.
static char *code_of(const heddle_check_result *result, const char *path, int line, size_t *offset)
{
    const heddle_check_source *source = path[0] ? heddle_check_sources_get(result->sources, path) : NULL;
    char *text = source && source->count > 0 ? malloc((size_t)source->count * (LONGEST_LINE + 1) + 2) : NULL;
    size_t used = 0;
    bool comment = false;
    if (text)
        text[used++] = '\n';
    for (int i = 0; text && i < source->count; i++) {
        if (i + 1 == line)
            *offset = used;
        heddle_check_code_of(source->lines[i], &comment, text + used, LONGEST_LINE);
        used += strlen(text + used);
        text[used++] = '\n';
    }
    if (text)
        text[used] = '\0';
    return text;
}

// --- lists in brackets -----------------------------------------------------------------------------------------------

typedef struct piece {
    const char *start;
    size_t length;
} piece;

static bool is_text(piece it, const char *text)
{
    return heddle_check_word_is(it.start, it.length, text);
}

// The item that begins at `at` and ends at a comma or at the bracket that closes the list; blanks around it left out.
static piece item_at(const char *at, const char **end)
{
    int depth = 0;
    at = skip_blanks(at);
    const char *close = at;
    for (; *close && (depth > 0 || (*close != ',' && *close != ')')); close++) {
        depth += *close == '(' || *close == '[' || *close == '{';
        depth -= *close == ')' || *close == ']' || *close == '}';
    }
    *end = close;
    while (close > at && isspace((unsigned char)close[-1]))
        close--;
    return (piece){at, (size_t)(close - at)};
}

// Whether the list, which opens before `at`, can be told apart by its commas: those of a template's arguments look like
// any other.
static bool is_plain(const char *at)
{
    for (;; at++) {
        piece item = item_at(at, &at);
        if (memchr(item.start, '<', item.length))
            return false;
        if (*at != ',')
            return true;
    }
}

// Where in the list, which opens before `at`, the name stands alone.
static int index_in(const char *at, const char *name)
{
    int found = NOT_FOUND;
    if (!is_plain(at))
        return NOT_CLEAR;
    for (int i = 0;; i++, at++) {
        piece item = item_at(at, &at);
        if (is_text(item, name))
            found = found == NOT_FOUND ? i : NOT_CLEAR;
        if (*at != ',')
            return found;
    }
}

// The name of a parameter: its last word, before any [ ] and any default. Of length 0 where it has none.
static piece name_in(const char *at, int index)
{
    piece item = {at, 0};
    if (!is_plain(at))
        return item;
    for (int i = 0; i <= index; i++) {
        if (i > 0 && *at++ != ',')
            return (piece){at, 0};
        item = item_at(at, &at);
    }
    size_t end = 0;
    while (end < item.length && item.start[end] != '=' && item.start[end] != '[')
        end++;
    while (end > 0 && !heddle_check_is_word(item.start[end - 1]))
        end--;
    size_t begin = end;
    while (begin > 0 && heddle_check_is_word(item.start[begin - 1]))
        begin--;
    return (piece){item.start + begin, end - begin};
}

// Behind the bracket that opens the arguments of the launch whose kernel's name ends at `at`; NULL: it is no launch.
static const char *arguments_of(const char *at)
{
    const char *open = *skip_blanks(at) == '<' ? strstr(at, "<<<") : NULL;
    const char *close = open && (size_t)(open - at) < strcspn(at, ";{}") ? strstr(open, ">>>") : NULL;
    if (!close)
        return NULL;
    close = skip_blanks(close + 3);
    return *close == '(' ? close + 1 : NULL;
}

// --- functions -------------------------------------------------------------------------------------------------------

// What stands between the braces of a function; end NULL: none.
typedef struct body {
    const char *start, *end;
} body;

static bool is_within(body it, const char *at)
{
    return it.end && at >= it.start && at < it.end;
}

// Behind `template <...>`.
static const char *skip_template(const char *at, const char *end)
{
    static const char word[] = "template";
    int depth = 0;
    at = skip_blanks(at);
    if (strncmp(at, word, sizeof word - 1) != 0)
        return at;
    for (at += strcspn(at, "<"); at < end; at++) {
        depth += *at == '<';
        depth -= *at == '>';
        if (depth == 0)
            return skip_template(at + 1, end);
    }
    return end;
}

// Whether the brace at `open` is that of a class, a namespace or extern "C", in which functions stand. What it opens is
// said before any bracket: void f(struct pair p).
static bool holds_functions(const char *text, const char *open)
{
    static const char *const scopes[] = {"namespace", "struct", "class", "union", "enum"};
    const char *head = open;
    while (head > text && !strchr(";{}", head[-1]))
        head--;
    head = skip_template(head, open);
    const size_t external = strlen("extern");
    if (heddle_check_word_is(head, heddle_check_word_length(head), "extern") && skip_blanks(head + external) == open)
        return true; // the "C" is blanked
    for (const char *at = head; at < open && *at != '('; at++) {
        const size_t length = heddle_check_word_length(at);
        for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
            if (heddle_check_word_is(at, length, scopes[i]))
                return true;
        at += length > 0 ? length - 1 : 0;
    }
    return false;
}

// The body of the function in which `at` stands, looked for from `from` on, which is in none. Braces that do not close,
// as preprocessor lines can have it, make none.
static body body_around(const char *text, const char *from, const char *at)
{
    for (const char *open = from; (open = strchr(open, '{')) != NULL && open < at; open++) {
        if (holds_functions(text, open))
            continue;
        int depth = 1;
        const char *end = open + 1;
        for (; *end && depth > 0; end++)
            depth += (*end == '{') - (*end == '}');
        if (depth > 0)
            break;
        if (at < end)
            return (body){open + 1, end - 1};
        open = end - 1;
    }
    return (body){text, NULL};
}

// --- what is done with the pointer -----------------------------------------------------------------------------------

// The last sign before `at`, blanks left out; the text begins with one that means nothing.
static const char *sign_before(const char *text, const char *at)
{
    while (at > text && isspace((unsigned char)at[-1]))
        at--;
    return at > text ? at - 1 : text;
}

// The word that ends at `last`; of length 0 where none does.
static piece word_to(const char *text, const char *last)
{
    const char *first = last + 1;
    while (first > text && heddle_check_is_word(first[-1]))
        first--;
    return (piece){first, (size_t)(last + 1 - first)};
}

// "float *name" and ", *name".
static bool is_declared(const char *text, const char *name)
{
    static const char *const others[] = {"return", "sizeof", "else", "do"};
    const char *sign = sign_before(text, name);
    if (*sign != '*')
        return false;
    while (*sign == '*')
        sign = sign_before(text, sign);
    if (!heddle_check_is_word(*sign))
        return *sign == ',';
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_text(word_to(text, sign), others[i]))
            return false;
    return true;
}

// "name = ...", but not "*name = ...".
static bool is_set(const char *text, const char *name, size_t length)
{
    const char *next = skip_blanks(name + length);
    return *next == '=' && next[1] != '=' && (*sign_before(text, name) != '*' || is_declared(text, name));
}

// The bracket that opens the arguments among which `at` stands, those of an expression left out; NULL: it is in none.
static const char *bracket_around(const char *text, const char *at)
{
    int depth = 0;
    while (at-- > text) {
        if (depth == 0 && strchr(";{}", *at))
            return NULL;
        depth += *at == ')';
        if (*at == '(' && depth-- == 0) {
            const char *sign = sign_before(text, at);
            if (heddle_check_is_word(*sign) || *sign == '>')
                return at;
            depth = 0;
        }
    }
    return NULL;
}

static bool begins(piece word, const char *with)
{
    return word.length >= strlen(with) && memcmp(word.start, with, strlen(with)) == 0;
}

static bool has_text(const char *from, const char *end, const char *text)
{
    for (; from < end; from++)
        if (strncmp(from, text, strlen(text)) == 0)
            return true;
    return false;
}

// A call of the runtime, but for those that launch, or that give the pointer another name.
static bool is_of_runtime(piece callee)
{
    static const char *const others[] = {"cudaLaunch", "cudaHostGet", "cudaPointerGet"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (begins(callee, others[i]))
            return false;
    return begins(callee, "cuda") && isupper((unsigned char)callee.start[4]);
}

// Whether the line, or the one that it goes on from, is the preprocessor's.
static bool is_in_directive(const char *text, const char *at)
{
    for (;; at--) {
        while (at > text && at[-1] != '\n')
            at--;
        if (at == text || *sign_before(text, at) != '\\')
            return *skip_blanks(at) == '#';
    }
}

// Whether the use of the pointer at `at` leaves no other way for it into a kernel than a launch that names it. Any
// function that is given it may change it, keep it or launch with it.
static bool is_harmless(const char *text, const char *at, size_t length)
{
    static const char *const looks[] = {"if", "while", "assert", "printf", "fprintf"};
    const char *next = skip_blanks(at + length), *before = sign_before(text, at);
    if (is_declared(text, at) || is_set(text, at, length))
        return false;
    const bool element = *next == '[' || (*next == '-' && next[1] == '>') || *before == '*';
    const char *bracket = bracket_around(text, at);
    if (!bracket)
        return element && *before != '&';
    const char *sign = sign_before(text, bracket);
    if (*sign == '>' && sign - text >= 2 && sign[-1] == '>' && sign[-2] == '>')
        return (*before == '(' || *before == ',') && (*next == ')' || *next == ',');
    piece callee = word_to(text, sign);
    if (is_of_runtime(callee))
        return *before != '&' || !begins(callee, "cudaMemcpy"); // which would copy the pointer itself
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        if (is_text(callee, looks[i]))
            return element || strchr("(,!|", *before) != NULL;
    return *before != '&' && element;
}

// Whether the function is one that a GPU runs.
static bool is_on_device(const char *text, body function)
{
    const char *open = function.start - 1, *head = open;
    while (head > text && !strchr(";{}", head[-1]))
        head--;
    return has_text(head, open, "__global__") || has_text(head, open, "__device__");
}

// Whether the kernel may be launched with pointers that its launches in host code do not name: by another name, by a
// macro, by a kernel.
static bool has_hidden_launches(const char *text, const char *kernel)
{
    body around = {text, text};
    for (const char *at = text; (at = heddle_check_find_word(text, at, kernel)) != NULL; at++) {
        const char *behind = at + strlen(kernel);
        const bool launch = arguments_of(behind) != NULL, declared = *skip_blanks(behind) == '(';
        const char *bracket = launch || declared ? NULL : bracket_around(text, at);
        if (launch && !is_within(around, at))
            around = body_around(text, around.end, at);
        const bool hidden = launch
                                ? !around.end || is_on_device(text, around)
                                : !declared && !(bracket && is_of_runtime(word_to(text, sign_before(text, bracket))));
        if (hidden)
            return true;
    }
    return false;
}

// Where the allocation's call names the pointer; NULL: it does not.
static const char *find_allocation(const char *text, const char *line, const char *name)
{
    const char *at = heddle_check_find_word(text, line, name);
    while (at && is_declared(text, at))
        at = heddle_check_find_word(text, at + 1, name);
    return at;
}

static bool is_local(const char *text, body function, const char *allocated, const char *name)
{
    for (const char *at = function.start; (at = heddle_check_find_word(text, at, name)) != NULL && at < allocated; at++)
        if (is_declared(text, at))
            return true;
    return false;
}

// Whether the pointer comes into kernels by launches in this function alone, and by its name. Before it is allocated,
// it may be declared and set.
static bool is_certain(const char *text, body function, const char *allocated, const char *name)
{
    if (!is_local(text, function, allocated, name))
        return false;
    for (const char *at = text; (at = heddle_check_find_word(text, at, name)) != NULL; at++) {
        const bool first = at < allocated && (is_declared(text, at) || is_set(text, at, strlen(name)));
        if (is_in_directive(text, at) || (is_within(function, at) && !first && !is_harmless(text, at, strlen(name))))
            return false;
    }
    return true;
}

// --- the way from name to name ---------------------------------------------------------------------------------------

// Behind the bracket that opens the parameters of the only definition; NULL: there is none, or several.
static const char *find_definition(const char *text, const char *kernel)
{
    const char *found = NULL;
    for (const char *at = text; (at = heddle_check_find_word(text, at, kernel)) != NULL; at++) {
        const char *open = skip_blanks(at + strlen(kernel)), *end = open;
        if (*open != '(')
            continue;
        while (*end && *end != '{' && *end != ';')
            end++;
        const char *begin = at;
        while (begin > text && !strchr(";{}", begin[-1]))
            begin--;
        if (*end != '{' || !has_text(begin, at, "__global__"))
            continue;
        if (found)
            return NULL;
        found = open + 1;
    }
    return found;
}

// The argument by which the function's launches hand the pointer over.
static int find_argument(const char *text, body function, const char *kernel, const char *name)
{
    int found = NOT_FOUND;
    for (const char *at = text; (at = heddle_check_find_word(text, at, kernel)) != NULL; at++) {
        const char *arguments = is_within(function, at) ? arguments_of(at + strlen(kernel)) : NULL;
        int index = arguments ? index_in(arguments, name) : NOT_FOUND;
        if (index != NOT_FOUND)
            found = found == NOT_FOUND || found == index ? index : NOT_CLEAR;
    }
    return found;
}

// Whether the kernel, whose parameters open before `parameters`, gives this one another value than from its old one.
static bool is_set_anew(const char *text, const char *parameters, const char *name)
{
    const char *open = strchr(parameters, '{');
    const body kernel = open ? body_around(text, text, open + 1) : (body){text, NULL};
    for (const char *at = open; (at = heddle_check_find_word(text, at, name)) != NULL && is_within(kernel, at); at++) {
        const char *value = skip_blanks(skip_blanks(at + strlen(name)) + 1);
        if (is_set(text, at, strlen(name)) && heddle_check_find_word(text, value, name) != value)
            return true;
    }
    return false;
}

// "add" of "space::add<float>".
static piece own_name(const char *kernel)
{
    size_t length = strcspn(kernel, "<");
    size_t begin = length;
    while (begin > 0 && heddle_check_is_word(kernel[begin - 1]))
        begin--;
    return (piece){kernel + begin, length - begin};
}

static bool is_plain_name(const char *name)
{
    return name[heddle_check_word_length(name)] == '\0';
}

// The parameter of the kernel that is the pointer `name`, allocated in this line of `host`. False: not certain.
static bool find_parameter(const char *host, const char *line, const char *device, const char *kernel, const char *name,
                           char *parameter, size_t size)
{
    const char *parameters = find_definition(device, kernel);
    const char *allocated = parameters && is_plain_name(name) ? find_allocation(host, line, name) : NULL;
    const body function = body_around(host, host, allocated ? allocated : host);
    if (!allocated || !function.end || !is_certain(host, function, allocated, name) ||
        has_hidden_launches(host, kernel) || has_hidden_launches(device, kernel))
        return false;
    int index = find_argument(host, function, kernel, name);
    piece found = index >= 0 ? name_in(parameters, index) : (piece){"", 0};
    if (found.length == 0 || found.length >= size)
        return false;
    snprintf(parameter, size, "%.*s", (int)found.length, found.start);
    return !is_set_anew(device, parameters, parameter);
}

// The first place in code of the kernel's own: a function that it calls has names of its own. NULL: there is none.
static const heddle_check_place *place_in_kernel(const heddle_check_finding *finding)
{
    for (int i = 0; i < finding->place_count; i++)
        if (heddle_check_is_in_kernel(finding, &finding->places[i]))
            return &finding->places[i];
    return NULL;
}

static void settle(heddle_check_result *result, heddle_check_finding *finding)
{
    const heddle_check_memory *memory = finding->memory;
    const heddle_check_place *place = place_in_kernel(finding);
    char kernel[128], name[128];
    size_t line = 0, ignored = 0;
    piece own = own_name(finding->kernel);
    if (!place || own.length >= sizeof kernel)
        return;
    snprintf(kernel, sizeof kernel, "%.*s", (int)own.length, own.start);
    char *host = code_of(result, memory->allocated.file, memory->allocated.line, &line);
    char *device = code_of(result, place->frame[0].file, 0, &ignored);
    if (host && device && find_parameter(host, host + line, device, kernel, memory->name, name, sizeof name)) {
        const char *copy = heddle_arena_copy_text(result->arena, name);
        finding->parameter = copy ? copy : "";
    }
    free(host);
    free(device);
}

// An access far from all memory is told by the allocation that happens to be nearest.
static bool is_near(const heddle_check_memory *memory)
{
    const long long reach = memory->bytes + 4096;
    return memory->offset >= -reach && memory->offset <= memory->bytes + reach;
}

bool heddle_check_is_in_kernel(const heddle_check_finding *finding, const heddle_check_place *place)
{
    if (!finding->kernel || !place->has_thread || place->frames != 1)
        return false;
    piece kernel = own_name(finding->kernel), function = own_name(place->frame[0].function);
    return kernel.length > 0 && kernel.length == function.length &&
           memcmp(kernel.start, function.start, kernel.length) == 0;
}

void heddle_check_parameters_settle(heddle_check_result *result)
{
    for (int i = 0; i < result->finding_count; i++) {
        heddle_check_finding *finding = result->findings[i];
        const heddle_check_memory *memory = finding->memory;
        bool of_host = memory && !heddle_check_is_shared(memory->space) && !strstr(memory->space, "variable");
        if (!of_host || !memory->name[0] || !finding->kernel)
            continue;
        if (memory->allocated.line > 0 || !is_near(memory))
            finding->parameter = "";
        if (memory->allocated.line > 0 && is_near(memory))
            settle(result, finding);
    }
}
