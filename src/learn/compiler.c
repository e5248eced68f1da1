// Compiler errors, against the learner's own line, with what they usually mean.

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "learn/judging.h"

// What gcc and clang say, as parts of a message that all have to be there, and what that usually means.
typedef struct meaning {
    const char *parts[2];
    const char *means;
} meaning;

static const meaning meanings[] = {
    {{"expected ‘;’", NULL}, "A semicolon is missing, often at the end of the line before."},
    {{"expected ';'", NULL}, "A semicolon is missing, often at the end of the line before."},
    {{"expected ‘,’ or ‘;’", NULL}, "A semicolon is missing, often at the end of the line before."},
    {{"expected initializer", NULL},
     "A semicolon is missing at the end of the line before, or a declaration is misspelt."},
    {{"at end of input", NULL}, "A closing brace } is missing: count the opening and the closing ones."},
    {{"expected ‘}’", NULL}, "A closing brace } is missing: count the opening and the closing ones."},
    {{"expected '}'", NULL}, "A closing brace } is missing: count the opening and the closing ones."},
    {{"expected ‘)’", NULL}, "A closing parenthesis is missing, or something stands before it that does not belong."},
    {{"expected ')'", NULL}, "A closing parenthesis is missing, or something stands before it that does not belong."},
    {{"expected ‘]’", NULL}, "A closing bracket ] is missing."},
    {{"expected unqualified-id", NULL},
     "Code stands outside every function, mostly because there is one closing brace } too many."},
    {{"expected declaration", NULL}, "There is one closing brace } too many, or code outside every function."},
    {{"was not declared in this scope", NULL},
     "The compiler does not know this name: it is misspelt, declared further down, or declared within other braces."},
    {{"undeclared", NULL},
     "The compiler does not know this name: it is misspelt, declared further down, or declared within other braces."},
    {{"does not name a type", NULL}, "A type is misspelt, or a declaration has no type before its name."},
    {{"unknown type name", NULL}, "A type is misspelt, or a declaration has no type before its name."},
    {{"implicit declaration of function", NULL},
     "The compiler has not seen this function: its name is misspelt, or its header is not included."},
    {{"lvalue required as left operand", NULL},
     "Only a variable or an element can stand on the left of =. To compare, write ==."},
    {{"not assignable", NULL}, "Only a variable or an element can stand on the left of =. To compare, write ==."},
    {{"assignment of read-only", NULL}, "What is declared const can only be read. Is this the array to write to?"},
    {{"const-qualified", "cannot assign"}, "What is declared const can only be read. Is this the array to write to?"},
    {{"arguments of this launch", NULL},
     "The values in kernel<<<…>>>(…) must match the kernel's parameters in number, order and type."},
    {{"a launch is configured", NULL}, "A launch needs two numbers: kernel<<<blocks, threads per block>>>(…)."},
    {{"no matching function", NULL},
     "No function of this name takes these arguments: compare their number and types with its declaration."},
    {{"too few arguments", NULL}, "The call passes fewer arguments than the function has parameters."},
    {{"too many arguments", NULL}, "The call passes more arguments than the function has parameters."},
    {{"invalid conversion", NULL},
     "The two types do not fit, for instance a pointer and a number. Is a * or an index [i] missing or too many?"},
    {{"cannot convert", NULL},
     "The two types do not fit, for instance a pointer and a number. Is a * or an index [i] missing or too many?"},
    {{"incompatible", NULL},
     "The two types do not fit, for instance a pointer and a number. Is a * or an index [i] missing or too many?"},
    {{"makes pointer from integer", NULL}, "A number stands where an address is expected: is an & missing?"},
    {{"makes integer from pointer", NULL}, "An address stands where a number is expected: is a * or an [i] missing?"},
    {{"for array subscript", NULL}, "Only an array or a pointer can be indexed with [ ]."},
    {{"subscripted value", NULL}, "Only an array or a pointer can be indexed with [ ]."},
    {{"invalid operands", NULL},
     "The operator does not work on these types. Two pointers cannot be added: add their elements, a[i] + b[i]."},
    {{"has no member named", NULL}, "The struct has no such member: threadIdx and its like have x, y and z."},
    {{"no member named", NULL}, "The struct has no such member: threadIdx and its like have x, y and z."},
    {{"base operand of ‘->’", NULL}, "-> is for pointers to a struct. A struct itself takes a dot."},
    {{"is a pointer", "maybe you meant"}, "A pointer to a struct takes -> where a struct itself takes a dot."},
    {{"redefinition of", NULL}, "The same name is defined twice. Rename one of them, or delete it."},
    {{"redeclaration of", NULL}, "The same name is declared twice. Rename one of them, or drop the second type."},
    {{"conflicting declaration", NULL}, "The same name is declared twice, with different types."},
    {{"return-statement with a value", NULL},
     "A kernel is void: it returns nothing. Write its result to an array instead."},
    {{"void value not ignored", NULL}, "A void function returns nothing that could be used."},
    {{"stray ‘", NULL},
     "A character that C does not know, often a curly quote or dash from a web page: type it again."},
    {{"missing terminating", NULL}, "A closing quotation mark is missing."},
    {{"expected primary-expression", NULL},
     "Something is missing here: a value, a name, or what stands on the other side of an operator."},
    {{"expected expression", NULL},
     "Something is missing here: a value, a name, or what stands on the other side of an operator."},
    {{"undefined reference", NULL}, "The function is declared but defined nowhere: its name may be misspelt."},
    {{"No such file or directory", NULL},
     "The header does not exist, or its name is misspelt. No header is needed here."},
};

// --- what a message means in this line -------------------------------------------------------------------------------

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// The built-in variable that the line uses without .x, .y or .z; NULL: none.
static const char *bare_index(const char *line)
{
    static const char *const names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (const char *at = strstr(line, names[i]); at; at = strstr(at + 1, names[i])) {
            const char *behind = at + strlen(names[i]);
            if (!is_word(*behind) && behind[strspn(behind, " \t")] != '.')
                return names[i];
        }
    return NULL;
}

// A vector type that the message names, such as float4, and how many parts it has; NULL: none.
static const char *vector_type(heddle_arena *arena, const char *message, int *parts)
{
    static const char *const bases[] = {"float", "double", "int", "uint", "char", "uchar", "short", "ushort"};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        for (const char *at = strstr(message, bases[i]); at; at = strstr(at + 1, bases[i])) {
            const char *digit = at + strlen(bases[i]);
            if ((at > message && is_word(at[-1])) || *digit < '2' || *digit > '4' || is_word(digit[1]))
                continue;
            *parts = *digit - '0';
            return heddle_learn_format(arena, "%s%d", bases[i], *parts);
        }
    return NULL;
}

const char *heddle_learn_first_argument(heddle_arena *arena, const char *line, const char *call, bool by_address)
{
    const char *at = strstr(line, call), *cast = "(void **)";
    if (!at)
        return NULL;
    at += strlen(call);
    at += strspn(at, " ");
    if (strncmp(at, cast, strlen(cast)) == 0)
        at += strlen(cast);
    at += strspn(at, " ");
    if (by_address && *at++ != '&')
        return NULL;
    size_t length = 0;
    while (is_word(at[length]))
        length++;
    return length > 0 ? heddle_learn_format(arena, "%.*s", (int)length, at) : NULL;
}

const char *heddle_learn_advise_malloc(heddle_arena *arena, const char *line)
{
    const char *pointer = heddle_learn_first_argument(arena, line, "cudaMalloc(", false);
    return pointer
               ? heddle_learn_format(arena,
                                     "cudaMalloc stores the address in your pointer, so it needs the address of the "
                                     "pointer: `&%s`.",
                                     pointer)
               : NULL;
}

// The same of calls and launches.
static const char *meaning_of_call(heddle_arena *arena, const char *message, const char *line)
{
    if (strstr(message, "no matching function") && strstr(message, "cudaMalloc("))
        return heddle_learn_advise_malloc(arena, line);
    const char *target = strstr(message, "from ‘const void*’ to ‘void*’")
                             ? heddle_learn_first_argument(arena, line, "cudaMemcpy(", false)
                             : NULL;
    if (target)
        return heddle_learn_format(
            arena,
            "The first argument of cudaMemcpy is the destination, and `%s` is const. Are the first "
            "two arguments swapped?",
            target);
    if (strstr(line, "cudaMemcpy(") &&
        (strstr(message, "too few arguments") || strstr(message, "requires 4 arguments")))
        return "cudaMemcpy needs to know where to, where from, how many bytes, and the direction: "
               "cudaMemcpyHostToDevice or cudaMemcpyDeviceToHost.";
    if (strstr(line, "<<<") && !strstr(line, ">>>"))
        return "A launch is `kernel<<<blocks, threads>>>(…)`: three `<` and three `>`.";
    if (strstr(message, "‘CUDA_CHECK") && strstr(message, "not declared"))
        return "CUDA_CHECK is a macro of the course, not of CUDA: add `#include \"cuda_check.h\"` at the top.";
    return strstr(message, "storage size of") && strstr(line, "__shared__")
               ? "The size of a shared array must be known when compiling. If the launch decides it, write "
                 "`extern __shared__ float row[];` and give its bytes as the third number of the launch."
               : NULL;
}

// Advice that the line itself gives; NULL: none.
static const char *meaning_in(heddle_arena *arena, const char *message, const char *line)
{
    static const char *const names_of_parts[] = {".x and .y", ".x, .y and .z", ".x, .y, .z and .w"};
    int parts = 0;
    const char *of_call = meaning_of_call(arena, message, line);
    if (of_call)
        return of_call;
    bool triple = strstr(message, "uint3") || strstr(message, "dim3") || strstr(message, "sim_extent");
    const char *bare = triple ? bare_index(line) : NULL;
    if (bare)
        return heddle_learn_format(arena, "%s has three parts: write %s.x.", bare, bare);
    const char *element = strstr(message, "invalid types ‘"), *index = element ? strchr(element, '[') : NULL;
    if (index && strstr(line, "][")) {
        element += strlen("invalid types ‘");
        return heddle_learn_format(arena, "A %.*s * has one index: row * length + column.", (int)(index - element),
                                   element);
    }
    bool value = strstr(message, "no match for ‘operator[]’") || strstr(message, "::float4(");
    const char *indexed = value ? vector_type(arena, message, &parts) : NULL;
    if (indexed)
        return heddle_learn_format(
            arena,
            "A %s is one value, not an array. To use an array as an array of %ss, cast its pointer: "
            "`(const %s *)`, with a star.",
            indexed, indexed, indexed);
    bool arithmetic = strstr(message, "no match for ‘operator") || strstr(message, "binary expression");
    const char *type = arithmetic ? vector_type(arena, message, &parts) : NULL;
    return type ? heddle_learn_format(arena, "%s has no arithmetic: use %s.", type, names_of_parts[parts - 2]) : NULL;
}

// The message without the expression as the compiler has understood it, which no one wrote, without the macro that the
// judge puts in place of a CUDA call, and cut where it would fill more than two lines.
static const char *shorten(heddle_arena *arena, const char *message)
{
    enum { MOST = 160 };
    static const char macro[] = "macro \"cuda";
    const char *quote = strncmp(message, macro, strlen(macro)) == 0 ? strchr(message + strlen(macro), '"') : NULL;
    if (quote) {
        const char *name = message + strlen("macro \"");
        message = heddle_learn_format(arena, "%.*s%s", (int)(quote - name), name, quote + 1);
        if (!message)
            return "";
    }
    size_t length = strcspn(message, "\n");
    const char *begin = strstr(message, "no match for ‘") ? strstr(message, " in ‘") : NULL;
    const char *end = begin ? strstr(begin, "’ (") : NULL;
    if (end && end < message + length)
        message = heddle_learn_format(arena, "%.*s%.*s", (int)(begin - message), message,
                                      (int)(message + length - end - strlen("’")), end + strlen("’"));
    length = message ? strcspn(message, "\n") : 0;
    bool cut = length > MOST;
    if (cut)
        length = MOST;
    while (cut && length > 0 && ((unsigned char)message[length] & 0xc0) == 0x80)
        length--;
    const char *made = message ? heddle_learn_format(arena, "%.*s%s", (int)length, message, cut ? " …" : "") : NULL;
    return made ? made : "";
}

static const char *meaning_of(const char *message)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strstr(message, meanings[i].parts[0]) && (!meanings[i].parts[1] || strstr(message, meanings[i].parts[1])))
            return meanings[i].means;
    return NULL;
}

// An error at the first word of a line is mostly about the end of the line before, which is shown too.
static void quote_error(const heddle_learn_judging *judging, heddle_learn_reason *reason,
                        const heddle_check_place *place)
{
    const heddle_check_frame *frame = &place->frame[0];
    const char *text = heddle_check_sources_line(judging->sources, frame->file, frame->line);
    bool own = heddle_learn_is_learners(judging, frame->file);
    bool first = own && text && frame->column > 0 && strspn(text, " \t") + 1 >= (size_t)frame->column;
    heddle_check_place before = {.frame = {{.file = frame->file, .line = frame->line - 1, .function = ""}},
                                 .frames = 1};
    while (first && (text = heddle_check_sources_line(judging->sources, frame->file, before.frame[0].line)) != NULL &&
           text[strspn(text, " \t\r")] == '\0')
        before.frame[0].line--;
    if (first && text)
        heddle_learn_quote(judging, reason, &before, "");
    heddle_learn_quote(judging, reason, place, "");
    if (own) {
        reason->line = frame->line;
        reason->column = frame->column;
    }
}

// The judge includes the learner's file: what is missing at its end is missed behind it.
static bool is_cut_short(const char *message)
{
    return strncmp(message, "expected", strlen("expected")) == 0 || strstr(message, "end of input") ||
           strstr(message, "function-definition is not allowed") ||
           strstr(message, "function definition is not allowed") || strstr(message, "invalid storage class");
}

static void tell_cut_short(const heddle_learn_judging *judging, heddle_learn_reason *reason)
{
    heddle_check_place place = {.frame = {{.file = judging->source, .function = ""}}, .frames = 1};
    const heddle_check_source *source = heddle_check_sources_get(judging->sources, judging->source);
    int line = source ? source->count : 0;
    while (line > 1 && source->lines[line - 1][strspn(source->lines[line - 1], " \t\r")] == '\0')
        line--;
    place.frame[0].line = line;
    heddle_learn_quote(judging, reason, &place, "the last line of your file");
    heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_ADVICE,
                          "Your file ends in the middle of something: a closing brace } or a semicolon is missing in "
                          "it. Count the opening and the closing braces.");
}

static void tell_judge(const heddle_learn_judging *judging, heddle_learn_reason *reason)
{
    heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_ADVICE,
                          "The judge calls your code as the start has it: keep the names and parameters of its "
                          "functions and kernels. `heddle learn reset` brings the start back, and keeps your text in a "
                          "file beside it.");
    const heddle_check_source *source = heddle_check_sources_get(judging->sources, judging->source);
    for (int i = 0; source && i < source->code.directive_count; i++)
        if (source->code.directives[i].kind == SIM_DIRECTIVE_DEFINE) {
            heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_ADVICE,
                                  "Your file has a #define. The judge includes your file, so a macro replaces that "
                                  "name in the judge too: choose a name that nothing else uses.");
            return;
        }
}

void heddle_learn_explain_error(const heddle_learn_judging *judging, const char *file, int line, int column,
                                const char *message)
{
    heddle_learn_verdict *verdict = judging->verdict;
    const char *said = heddle_learn_clean(judging, message);
    bool own = heddle_learn_is_learners(judging, file);
    // An error in the learner's file mostly causes those in the judge, which includes it.
    int rank = own ? HEDDLE_LEARN_RANK_COMPILE : HEDDLE_LEARN_RANK_ERROR;
    if (!own && heddle_learn_has_reason(verdict, "compile"))
        rank = HEDDLE_LEARN_RANK_FOLLOWS;
    heddle_learn_reason *reason =
        heddle_learn_add_reason(verdict, "compile", rank, "it does not compile: %s", shorten(verdict->arena, said));
    heddle_check_place place = {.frame = {{.file = file, .line = line, .column = column, .function = ""}},
                                .frames = file[0] != '\0'};
    bool cut_short = !own && file[0] && is_cut_short(said);
    if (place.frames > 0 && !cut_short)
        quote_error(judging, reason, &place);
    const char *text = own ? heddle_check_sources_line(judging->sources, file, line) : NULL;
    const char *means = text ? meaning_in(verdict->arena, said, text) : NULL;
    means = means ? means : meaning_of(said);
    if (own && means)
        heddle_learn_add_item(verdict, reason, HEDDLE_LEARN_ADVICE, "%s", means);
    else if (cut_short)
        tell_cut_short(judging, reason);
    else if (!own)
        tell_judge(judging, reason);
}

bool heddle_learn_read_place(const char *text, char file[HEDDLE_PLACE_SIZE], heddle_check_frame *frame)
{
    size_t length = strcspn(text, ":\n");
    char *end;
    // A folder's name may have a colon, too: the place is a number that ends there.
    while (text[length] == ':' && text[length + 1] != ' ' &&
           !strchr(":, )\n", text[length + 1 + strspn(text + length + 1, "0123456789")]))
        length += 1 + strcspn(text + length + 1, ":\n");
    *frame = (heddle_check_frame){.file = file, .function = ""};
    file[0] = '\0';
    if (text[length] != ':' || length >= HEDDLE_PLACE_SIZE || !isdigit((unsigned char)text[length + 1]))
        return false;
    snprintf(file, HEDDLE_PLACE_SIZE, "%.*s", (int)length, text);
    frame->line = (int)strtol(text + length + 1, &end, 10);
    if (end[0] == ':' && isdigit((unsigned char)end[1]))
        frame->column = (int)strtol(end + 1, NULL, 10);
    return true;
}

// Calls `explain` for each line of the form FILE:LINE:COLUMN: MARK TEXT with one of the marks.
static void read_messages(const heddle_learn_judging *judging, const char *messages, const char *const *marks,
                          void (*explain)(const heddle_learn_judging *judging, const heddle_check_frame *frame,
                                          const char *message))
{
    for (const char *line = messages; *line && judging->verdict->reason_count < HEDDLE_LEARN_MOST_REASONS;) {
        size_t length = strcspn(line, "\n");
        bool marked = memmem(line, length, "error: ", strlen("error: ")) ||
                      memmem(line, length, "warning: ", strlen("warning: ")) ||
                      memmem(line, length, "undefined", strlen("undefined"));
        const char *text = marked ? heddle_learn_format(judging->verdict->arena, "%.*s", (int)length, line) : NULL,
                   *said = NULL;
        for (int i = 0; text && !said && marks[i]; i++) {
            said = strstr(text, marks[i]);
            if (said)
                said += marks[i][strlen(marks[i]) - 1] == ' ' ? strlen(marks[i]) : 2;
        }
        if (said) {
            char file[HEDDLE_PLACE_SIZE];
            heddle_check_frame frame;
            heddle_learn_read_place(text, file, &frame);
            explain(judging, &frame, said);
        }
        line += length + (line[length] == '\n');
    }
}

static void explain_frame(const heddle_learn_judging *judging, const heddle_check_frame *frame, const char *message)
{
    heddle_learn_explain_error(judging, frame->file, frame->line, frame->column, message);
}

void heddle_learn_explain_messages(const heddle_learn_judging *judging, const char *messages)
{
    static const char *const marks[] = {": error: ", ": fatal error: ", ": undefined reference", NULL};
    read_messages(judging, messages, marks, explain_frame);
    if (!heddle_learn_has_reason(judging->verdict, "compile"))
        heddle_learn_explain_error(judging, "", 0, 0, messages[0] ? messages : "the compiler failed");
}

// A local variable of the learner's that is or may be read before it is set. What a finding tells is not told again.
static void explain_doubt(const heddle_learn_judging *judging, const heddle_check_frame *frame, const char *message)
{
    heddle_learn_verdict *verdict = judging->verdict;
    heddle_check_place place = {.frame = {*frame}, .frames = 1};
    if (!strstr(message, "used uninitialized") || !heddle_learn_is_learners(judging, frame->file))
        return;
    for (int i = 0; i < verdict->reason_count; i++)
        if (strcmp(verdict->reasons[i].tag, "uninitialised") == 0 && verdict->reasons[i].line == frame->line)
            return;
    const char *verb = strstr(message, " may be used") ? strstr(message, " may be used") : strstr(message, " is used");
    heddle_learn_reason *reason = heddle_learn_add_reason(
        verdict, "uninitialised", HEDDLE_LEARN_RANK_WARNING, "%.*s %s read before it is set",
        (int)(verb ? verb - message : 0), message, verb && strncmp(verb, " is", 3) == 0 ? "is" : "may be");
    heddle_learn_quote(judging, reason, &place, "");
    heddle_learn_add_item(verdict, reason, HEDDLE_LEARN_ADVICE,
                          "A local variable holds anything at first. Give it a value where it is declared.");
}

void heddle_learn_explain_doubts(const heddle_learn_judging *judging, const char *messages)
{
    static const char *const marks[] = {": warning: ", NULL};
    read_messages(judging, messages, marks, explain_doubt);
}
