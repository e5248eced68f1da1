// From
//     bl      __tsan_read4
// to
//     if (rotate(address - range.lo) >= range.open) sim_read4(address, &range);
// The range is thread-local, one for each call. To rotate the distance right by the size's logarithm tests that the
// address is aligned, too: a misaligned one becomes a huge number. Registers that a call may change are free there.

#include "build/checks.h"

#include <string.h>

#if defined(__aarch64__)
static const char *const calls[] = {"bl", NULL};
#elif defined(__x86_64__)
static const char *const calls[] = {"call", "callq", NULL};
#else
static const char *const calls[] = {NULL};
#endif

static bool skip(const char **at, const char *end, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(end - *at) < length || memcmp(*at, word, length) != 0)
        return false;
    *at += length;
    return true;
}

// "\tbl\t", and what is in other columns.
static bool skip_call(const char **at, const char *end)
{
    const char *start = *at;
    for (int i = 0; calls[i]; i++) {
        *at = start;
        if (skip(at, end, "\t") && skip(at, end, calls[i]) && skip(at, end, "\t"))
            return true;
    }
    return false;
}

typedef struct check {
    bool write;
    unsigned shift; // 1 << shift bytes
    unsigned number;
} check;

static bool read_check(const char *at, const char *end, check *read)
{
    static const char *const sizes[] = {"1", "2", "4", "8", "16"};
    if (!skip_call(&at, end) || !skip(&at, end, "__tsan_"))
        return false;
    read->write = skip(&at, end, "write");
    if (!read->write && !skip(&at, end, "read"))
        return false;
    const char *size = at;
    for (read->shift = 0; read->shift < sizeof sizes / sizeof *sizes; read->shift++) {
        at = size;
        if (skip(&at, end, sizes[read->shift]) && (skip(&at, end, "@PLT\n") || skip(&at, end, "\n")) && at == end)
            return true;
    }
    return false;
}

// __shared__ variables are in .tbss, and stay at the start of all that is thread-local: banks are counted from there.
static void add_range(sim_text *out, unsigned number)
{
    if (number == 0)
        sim_text_print(out, "\t.pushsection .tbss,\"awT\",@nobits\n\t.popsection\n");
    sim_text_print(out,
                   "\t.pushsection .tbss.sim_ranges,\"awT\",@nobits\n"
                   "\t.balign 32\n"
                   ".Lsim_range_%u:\n"
                   "\t.zero 32\n"
                   "\t.popsection\n",
                   number);
}

#if defined(__x86_64__)

static void add_code(sim_text *out, const check *made)
{
    const unsigned number = made->number;
    sim_text_print(out, "\tmovq %%rdi, %%rax\n\tsubq %%fs:.Lsim_range_%u@tpoff, %%rax\n", number);
    if (made->shift)
        sim_text_print(out, "\trorq $%u, %%rax\n", made->shift);
    sim_text_print(out,
                   "\tcmpq %%fs:.Lsim_range_%u@tpoff+8, %%rax\n"
                   "\tjb .Lsim_open_%u\n"
                   "\tmovq %%fs:0, %%rsi\n"
                   "\tleaq .Lsim_range_%u@tpoff(%%rsi), %%rsi\n"
                   "\tcall sim_%s%u@PLT\n"
                   ".Lsim_open_%u:\n",
                   number, number, number, made->write ? "write" : "read", 1u << made->shift, number);
}

#else

static void add_code(sim_text *out, const check *made)
{
    const unsigned number = made->number;
    sim_text_print(out,
                   "\tmrs x1, tpidr_el0\n"
                   "\tmovz x2, #:tprel_g1:.Lsim_range_%u\n"
                   "\tmovk x2, #:tprel_g0_nc:.Lsim_range_%u\n"
                   "\tadd x1, x1, x2\n"
                   "\tldp x2, x3, [x1]\n"
                   "\tsub x2, x0, x2\n",
                   number, number);
    if (made->shift)
        sim_text_print(out, "\tror x2, x2, #%u\n", made->shift);
    sim_text_print(out,
                   "\tcmp x2, x3\n"
                   "\tb.lo .Lsim_open_%u\n"
                   "\tbl sim_%s%u\n"
                   ".Lsim_open_%u:\n",
                   number, made->write ? "write" : "read", 1u << made->shift, number);
}

#endif

// Ranges are part of every thread's stack: 256 KiB of a file at most. Other accesses have the hook alone.
enum { MOST_CHECKS = 1 << 13 };

bool sim_check_line(const char *line, size_t bytes, unsigned *count, sim_text *out)
{
    check made;
    if (*count == MOST_CHECKS || !read_check(line, line + bytes, &made))
        return false;
    made.number = (*count)++;
    add_code(out, &made); // first: the line number before the call is that of the next instruction
    add_range(out, made.number);
    return true;
}
