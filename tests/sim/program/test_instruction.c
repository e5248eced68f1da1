// Where x86-64 instructions end and what they refer to: encodings of every form that the tables know apart, and, where
// the test runs on such a processor, all of its own code.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "program/instruction.h"
#include "program/program.h"

enum { MOST_BYTES = 16 };

enum { PLAIN, BRANCHES, REFERS, INDIRECT };

// What the GNU assembler makes of each text; `to` is where a distance leads, from the instruction's end.
static const struct {
    const char *text;
    unsigned bytes;
    uint8_t code[MOST_BYTES];
    int what, to;
} known[] = {
    {"push %rbp", 1, {0x55}, PLAIN, 0},
    {"push %r12", 2, {0x41, 0x54}, PLAIN, 0},
    {"ret", 1, {0xc3}, PLAIN, 0},
    {"endbr64", 4, {0xf3, 0x0f, 0x1e, 0xfa}, PLAIN, 0},
    {"nopw %cs:0x0(%rax,%rax,1)", 10, {0x66, 0x2e, 0x0f, 0x1f, 0x84}, PLAIN, 0},
    {"add $1,%al", 2, {0x04, 0x01}, PLAIN, 0},
    {"add $0x12345,%eax", 5, {0x05, 0x45, 0x23, 0x01}, PLAIN, 0},
    {"add $0x1234,%ax", 4, {0x66, 0x05, 0x34, 0x12}, PLAIN, 0},
    {"add $1,%rsp", 4, {0x48, 0x83, 0xc4, 0x01}, PLAIN, 0},
    {"cmpl $0x12345,0x8(%rbx)", 7, {0x81, 0x7b, 0x08, 0x45, 0x23, 0x01}, PLAIN, 0},
    {"cmpw $0x1234,0x8(%rbx)", 6, {0x66, 0x81, 0x7b, 0x08, 0x34, 0x12}, PLAIN, 0},
    {"mov (%rsp),%eax", 3, {0x8b, 0x04, 0x24}, PLAIN, 0},
    {"mov 0x18(%rsp),%r8", 5, {0x4c, 0x8b, 0x44, 0x24, 0x18}, PLAIN, 0},
    {"mov 0x1000(,%rax,8),%rax", 8, {0x48, 0x8b, 0x04, 0xc5, 0x00, 0x10}, PLAIN, 0},
    {"mov 0x1000(%rbp),%rax", 7, {0x48, 0x8b, 0x85, 0x00, 0x10}, PLAIN, 0},
    {"mov %fs:0x0,%rax", 9, {0x64, 0x48, 0x8b, 0x04, 0x25}, PLAIN, 0},
    {"movabs $0x123456789abcdef0,%rax", 10, {0x48, 0xb8, 0xf0, 0xde, 0xbc, 0x9a}, PLAIN, 0},
    {"mov $0x12345678,%edi", 5, {0xbf, 0x78, 0x56, 0x34, 0x12}, PLAIN, 0},
    {"movabs 0x123456789abcdef0,%eax", 9, {0xa1, 0xf0, 0xde}, PLAIN, 0},
    {"movb $1,(%rax)", 3, {0xc6, 0x00, 0x01}, PLAIN, 0},
    {"movq $1,(%rax)", 7, {0x48, 0xc7, 0x00, 0x01}, PLAIN, 0},
    {"testb $1,(%rax)", 3, {0xf6, 0x00, 0x01}, PLAIN, 0},
    {"notb (%rax)", 2, {0xf6, 0x10}, PLAIN, 0},
    {"testl $1,(%rax)", 6, {0xf7, 0x00, 0x01}, PLAIN, 0},
    {"idiv %ecx", 2, {0xf7, 0xf9}, PLAIN, 0},
    {"imul $0x64,%rdx,%rdx", 4, {0x48, 0x6b, 0xd2, 0x64}, PLAIN, 0},
    {"imul $0x3e8,%rdx,%rdx", 7, {0x48, 0x69, 0xd2, 0xe8, 0x03}, PLAIN, 0},
    {"shl $5,%rax", 4, {0x48, 0xc1, 0xe0, 0x05}, PLAIN, 0},
    {"rep stos %rax,(%rdi)", 3, {0xf3, 0x48, 0xab}, PLAIN, 0},
    {"lock cmpxchg %rdx,(%rsi)", 5, {0xf0, 0x48, 0x0f, 0xb1, 0x16}, PLAIN, 0},
    {"shld $4,%rax,%rdx", 5, {0x48, 0x0f, 0xa4, 0xc2, 0x04}, PLAIN, 0},
    {"bt $3,%eax", 4, {0x0f, 0xba, 0xe0, 0x03}, PLAIN, 0},
    {"bswap %eax", 2, {0x0f, 0xc8}, PLAIN, 0},
    {"cpuid", 2, {0x0f, 0xa2}, PLAIN, 0},
    {"femms", 2, {0x0f, 0x0e}, PLAIN, 0},
    {"ud2", 2, {0x0f, 0x0b}, PLAIN, 0},
    {"jne, short", 2, {0x75, 0xfe}, PLAIN, 0},
    {"jmp, short", 2, {0xeb, 0xfe}, PLAIN, 0},
    {"movss (%rax),%xmm0", 4, {0xf3, 0x0f, 0x10, 0x00}, PLAIN, 0},
    {"pshufd $0x4e,%xmm0,%xmm1", 5, {0x66, 0x0f, 0x70, 0xc8, 0x4e}, PLAIN, 0},
    {"pshufb %xmm1,%xmm0", 5, {0x66, 0x0f, 0x38, 0x00, 0xc1}, PLAIN, 0},
    {"pinsrd $1,%eax,%xmm0", 6, {0x66, 0x0f, 0x3a, 0x22, 0xc0, 0x01}, PLAIN, 0},
    {"vzeroupper", 3, {0xc5, 0xf8, 0x77}, PLAIN, 0},
    {"vaddps (%rax),%ymm1,%ymm0", 4, {0xc5, 0xf4, 0x58, 0x00}, PLAIN, 0},
    {"vfmadd231ps 0x20(%rax),%ymm1,%ymm0", 6, {0xc4, 0xe2, 0x75, 0xb8, 0x40, 0x20}, PLAIN, 0},
    {"vinsertf128 $1,%xmm1,%ymm0,%ymm0", 6, {0xc4, 0xe3, 0x7d, 0x18, 0xc1, 0x01}, PLAIN, 0},
    {"vaddps 0x40(%rax),%zmm1,%zmm0", 7, {0x62, 0xf1, 0x74, 0x48, 0x58, 0x40, 0x01}, PLAIN, 0},
    {"vpternlogd $0xff,%zmm0,%zmm0,%zmm0", 7, {0x62, 0xf3, 0x7d, 0x48, 0x25, 0xc0, 0xff}, PLAIN, 0},
    {"vpcmpeqb (%rax),%ymm0,%k1", 6, {0x62, 0xf1, 0x7d, 0x28, 0x74, 0x08}, PLAIN, 0},
    {"call", 5, {0xe8, 0x00, 0x01}, BRANCHES, 0x100},
    {"call of __tls_get_addr", 8, {0x66, 0x66, 0x48, 0xe8, 0xfe, 0xff, 0xff, 0xff}, BRANCHES, -2},
    {"jmp", 5, {0xe9, 0xff, 0xff, 0xff, 0xff}, BRANCHES, -1},
    {"jne", 6, {0x0f, 0x85, 0x10}, BRANCHES, 0x10},
    {"lea 0x20(%rip),%rdi", 7, {0x48, 0x8d, 0x3d, 0x20}, REFERS, 0x20},
    {"movl $7,0x20(%rip)", 10, {0xc7, 0x05, 0x20, 0x00, 0x00, 0x00, 0x07}, REFERS, 0x20},
    {"vmovaps 0x20(%rip),%ymm0", 8, {0xc5, 0xfc, 0x28, 0x05, 0x20}, REFERS, 0x20},
    {"call *0x20(%rip)", 6, {0xff, 0x15, 0x20}, REFERS, 0x20},
    {"jmp *0x20(%rip)", 6, {0xff, 0x25, 0x20}, REFERS, 0x20},
    {"call *%rax", 2, {0xff, 0xd0}, INDIRECT, 0},
    {"call *%r12", 3, {0x41, 0xff, 0xd4}, INDIRECT, 0},
    {"call *0x18(%rax)", 3, {0xff, 0x50, 0x18}, INDIRECT, 0},
    {"notrack jmp *%rax", 3, {0x3e, 0xff, 0xe0}, PLAIN, 0},
    {"incl (%rax)", 2, {0xff, 0x00}, PLAIN, 0},
    {"push 0x8(%rax)", 3, {0xff, 0x70, 0x08}, PLAIN, 0},
};

static void instructions_end_and_lead_where_they_do(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const uintptr_t at = (uintptr_t)known[i].code;
        sim_instruction found;
        if (!sim_instruction_read(at, at + MOST_BYTES, &found))
            fail_msg("%s is not known", known[i].text);
        if (found.bytes != known[i].bytes || found.branches != (known[i].what == BRANCHES) ||
            found.refers != (known[i].what == REFERS) || found.indirect != (known[i].what == INDIRECT))
            fail_msg("%s: %u bytes, branches %d, refers %d, indirect %d", known[i].text, found.bytes, found.branches,
                     found.refers, found.indirect);
        if (found.branches || found.refers)
            assert_true(found.target == at + found.bytes + (uintptr_t)(intptr_t)known[i].to);
    }
}

static void what_is_cut_off_is_no_instruction(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (unsigned bytes = 0; bytes < known[i].bytes; bytes++) {
            const uintptr_t at = (uintptr_t)known[i].code;
            sim_instruction found;
            if (sim_instruction_read(at, at + bytes, &found))
                fail_msg("%s is known by its first %u bytes", known[i].text, bytes);
        }
}

static void what_no_64_bit_code_has_is_not_known(void **state)
{
    (void)state;
    static const uint8_t none[][MOST_BYTES] = {{0x06}, {0x0e}, {0x27}, {0x60},      {0x82},
                                               {0x9a}, {0xd4}, {0xea}, {0x0f, 0x04}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        sim_instruction found;
        assert_false(sim_instruction_read((uintptr_t)none[i], (uintptr_t)none[i] + MOST_BYTES, &found));
    }
}

#if defined(__x86_64__)

// From its start, instruction by instruction.
static void read_whole(uintptr_t start, uintptr_t end)
{
    uintptr_t pc = start;
    for (sim_instruction next; pc < end; pc += next.bytes)
        if (!sim_instruction_read(pc, end, &next))
            fail_msg("%s: not known at +%#lx", sim_symbol_function(start, &(size_t){0}), (unsigned long)(pc - start));
    assert_true(pc == end);
}

// Had one been read too long or too short, what is taken for the next would sooner or later not be one, or go on beyond
// the function.
static void the_last_instruction_of_a_function_ends_it(void **state)
{
    (void)state;
    const sim_module *module = sim_module_self();
    int functions = 0;
    uintptr_t start, end;
    for (uintptr_t pc = module->text_lo; pc < module->text_hi; pc++)
        if (sim_symbol_function_bounds(pc, &start, &end) && start == pc && end > start) {
            read_whole(start, end);
            functions++;
            pc = end - 1;
        }
    assert_true(functions > 50);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_end_and_lead_where_they_do),
        cmocka_unit_test(what_is_cut_off_is_no_instruction),
        cmocka_unit_test(what_no_64_bit_code_has_is_not_known),
#if defined(__x86_64__)
        cmocka_unit_test(the_last_instruction_of_a_function_ends_it),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
