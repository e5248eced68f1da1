// Recognises the few messages that a wrong launch leads to, and what messages tell about the templates and macros that
// launches and operators become.

#include "build/wording.h"

#include <string.h>

static const char *find(const char *text, size_t bytes, const char *part)
{
    return memmem(text, bytes, part, strlen(part));
}

// Adds a list of types without what passing them on has added: int* const& is int*.
static void add_types(sim_text *out, const char *types, size_t bytes)
{
    static const char *const additions[] = {" const&", " const &", "&", NULL};
    for (size_t i = 0; i < bytes;) {
        size_t skipped = 0;
        for (int a = 0; additions[a] && !skipped; a++) {
            size_t length = strlen(additions[a]);
            if (bytes - i >= length && memcmp(types + i, additions[a], length) == 0)
                skipped = length;
        }
        if (!skipped)
            sim_text_add_bytes(out, types + i, 1);
        i += skipped ? skipped : 1;
    }
}

// The text between the last pair of parentheses that stand at the end: ... (int*&, S&)’
static const char *last_list(const char *text, size_t bytes, size_t *list_bytes)
{
    size_t end = bytes;
    while (end > 0 && text[end - 1] != ')')
        end--;
    size_t start = end;
    int depth = 0;
    while (start > 0) {
        start--;
        depth += text[start] == ')' ? 1 : text[start] == '(' ? -1 : 0;
        if (depth == 0)
            break;
    }
    if (end == 0 || depth != 0)
        return NULL;
    *list_bytes = end - start - 2;
    return text + start + 1;
}

static void add_launch(const char *text, size_t bytes, const char *launcher, sim_text *out)
{
    size_t given_bytes = 0;
    const char *given = find(text, bytes, "no match for call to") ? last_list(text, bytes, &given_bytes) : NULL;
    sim_text_add(out, "the arguments of this launch");
    if (given) {
        sim_text_add(out, ", (");
        add_types(out, given, given_bytes);
        sim_text_add(out, "),");
    }
    sim_text_add(out, " do not fit the kernel's parameters");
    const char *open = launcher ? strchr(launcher, '<') : NULL;
    size_t length = 0;
    for (int depth = 0; open && open + length < text + bytes; length++) {
        depth += open[length] == '<' ? 1 : open[length] == '>' ? -1 : 0;
        if (depth == 0)
            break;
    }
    if (open && length > 1) {
        sim_text_add(out, ", (");
        sim_text_add_bytes(out, open + 1, length - 1);
        sim_text_add(out, ")");
    }
}

// no match for ‘operator/’ in ‘std::forward<float4&>(…) / right’ (operand types are ‘float4’ and ‘float’): the types
// say it. Returns where the clause begins and ends; false: there is none.
static bool passed_on(const char *text, size_t bytes, size_t *start, size_t *end)
{
    const char *in = find(text, bytes, " in ‘std::forward<"), *types = find(text, bytes, " (operand types are");
    if (!in || !types || types < in)
        return false;
    *start = (size_t)(in - text);
    *end = (size_t)(types - text);
    return true;
}

// What a directive says, #error "words", is the words alone.
static void add_plain(const char *text, size_t bytes, sim_text *out)
{
    size_t start, end;
    if (passed_on(text, bytes, &start, &end)) {
        sim_text_add_bytes(out, text, start);
        sim_text_add_bytes(out, text + end, bytes - end);
        return;
    }
    static const char directive[] = "#error ";
    const size_t length = sizeof directive - 1;
    if (bytes > length && memcmp(text, directive, length) == 0) {
        text += length;
        bytes -= length;
    }
    bool quoted = bytes > 2 && text[0] == '"' && text[bytes - 1] == '"';
    sim_text_add_bytes(out, text + quoted, bytes - 2 * (size_t)quoted);
}

bool sim_wording(sim_message_kind kind, const char *text, size_t bytes, sim_text *out, bool *launch)
{
    *launch = false;
    if (find(text, bytes, "sim::choice<false>"))
        return false;
    if (kind == SIM_MESSAGE_NOTE) {
        static const char *const useless[] = {"in expansion of macro ‘SIM_",
                                              "sim_arguments",
                                              "sim::call_launcher<",
                                              "sim::pointer_launcher<",
                                              "expanded from macro 'SIM_",
                                              "template argument deduction/substitution failed",
                                              NULL};
        for (int i = 0; useless[i]; i++)
            if (find(text, bytes, useless[i]))
                return false;
    }
    const char *launcher = find(text, bytes, "pointer_launcher<");
    bool lambda = find(text, bytes, "<lambda(auto:") || find(text, bytes, "(lambda at ");
    bool mismatch =
        find(text, bytes, "no match for call to") || find(text, bytes, "no matching function for call to object");
    if (mismatch && (launcher || lambda)) {
        *launch = true;
        add_launch(text, bytes, launcher, out);
    } else if (find(text, bytes, "arguments to function ‘sim_config sim::configure")) {
        sim_text_add(out,
                     "a launch is configured by <<<grid, block>>>, or also by bytes of shared memory and a stream");
    } else {
        add_plain(text, bytes, out);
    }
    return true;
}
