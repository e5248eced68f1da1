// What a kernel can reach, read from the machine code: its calls, and the calls of what it calls. So a fence in one
// kernel costs nothing in another. Whatever cannot be followed, such as a call through a pointer, counts as a use of
// everything: a use too many costs time, one too few would cost a verdict. Launches are the exception: every program
// can reach them, and a kernel that is not seen to is taken to be ordered before what it launches (watch/watch.c).
#include <stdlib.h>
#include <string.h>

#include "machine/options.h"
#include "program/instruction.h"
#include "program/program.h"
#include "sim/abi.h"

extern const char sim_runtime_begins[]; // machine/begin.c

enum { EVERYTHING = ~SIM_USES_LAUNCHES, FIRST_ROOM = 64 };

// Functions of the program that the kernel can reach, by their bounds; the first `scanned` have been read.
typedef struct reached {
    struct function {
        uintptr_t start, end;
    } * functions;
    size_t count, room, scanned;
    unsigned uses;
} reached;

static void add(reached *reach, uintptr_t start, uintptr_t end)
{
    for (size_t i = 0; i < reach->count; i++)
        if (reach->functions[i].start == start)
            return;
    if (reach->count == reach->room) {
        size_t room = reach->room ? 2 * reach->room : FIRST_ROOM;
        struct function *functions = realloc(reach->functions, room * sizeof *functions);
        if (!functions) {
            reach->uses |= (unsigned)EVERYTHING;
            return;
        }
        reach->functions = functions;
        reach->room = room;
    }
    reach->functions[reach->count++] = (struct function){start, end};
}

// The code goes on at `target`, or has its address. exact: only if a function starts there.
static void reaches(reached *reach, uintptr_t target, bool exact)
{
    const sim_module *module = sim_module_self();
    uintptr_t start, end;
    int count;
    const sim_use *told = sim_uses_told(&count);
    if (target < module->text_lo || target >= module->text_hi)
        return;
    for (int i = 0; i < count; i++)
        reach->uses |= told[i].function == target ? told[i].uses : 0;
    bool own = target < (uintptr_t)sim_runtime_begins;
    if (own && sim_symbol_function_bounds(target, &start, &end) && (!exact || start == target))
        add(reach, start, end);
}

// A pointer that the program's constants hold, as the table of addresses that the linker makes does.
static void reaches_through(reached *reach, uintptr_t place)
{
    const sim_module *module = sim_module_self();
    if (place % sizeof(uintptr_t) == 0 && place >= module->tables_lo && place + sizeof(uintptr_t) <= module->tables_hi)
        reaches(reach, *(const uintptr_t *)place, true); // NOLINT(performance-no-int-to-ptr)
}

#if defined(__aarch64__)

enum { REGISTERS = 32, PAGE_SHIFT = 12 };

// Bits [low, low + bits) of an instruction, as a signed number.
static intptr_t field(uint32_t instruction, unsigned low, unsigned bits)
{
    return (intptr_t)((int64_t)((uint64_t)instruction << (64 - low - bits)) >> (64 - bits));
}

static bool is(uint32_t instruction, uint32_t mask, uint32_t value)
{
    return (instruction & mask) == value;
}

// bl, b; b.cond, cbz, cbnz; tbz, tbnz.
static void follow_branch(reached *reach, uintptr_t pc, uint32_t instruction)
{
    if (is(instruction, 0x7c000000, 0x14000000))
        reaches(reach, pc + (uintptr_t)(4 * field(instruction, 0, 26)), false);
    else if (is(instruction, 0xff000010, 0x54000000) || is(instruction, 0x7e000000, 0x34000000))
        reaches(reach, pc + (uintptr_t)(4 * field(instruction, 5, 19)), false);
    else if (is(instruction, 0x7e000000, 0x36000000))
        reaches(reach, pc + (uintptr_t)(4 * field(instruction, 5, 14)), false);
}

// adrp with a following add or ldr, and adr. page[r]: what adrp put into register r last.
static void follow_address(reached *reach, uintptr_t pc, uint32_t instruction, uintptr_t page[REGISTERS])
{
    unsigned to = instruction & 31, from = instruction >> 5 & 31, immediate = instruction >> 10 & 0xfff;
    intptr_t distance = field(instruction, 5, 19) * 4 | (instruction >> 29 & 3);
    if (is(instruction, 0x9f000000, 0x90000000))
        page[to] = ((pc >> PAGE_SHIFT) + (uintptr_t)distance) << PAGE_SHIFT;
    else if (is(instruction, 0x9f000000, 0x10000000))
        reaches(reach, pc + (uintptr_t)distance, true);
    else if (is(instruction, 0xffc00000, 0x91000000) && page[from])
        reaches(reach, page[from] + immediate, true);
    else if (is(instruction, 0xffc00000, 0xf9400000) && page[from])
        reaches_through(reach, page[from] + (uintptr_t)immediate * sizeof(uintptr_t));
}

// In a shared library, the address of a variable of the thread: ldr xN, [x0, ...]; add x0, x0, ...; blr xN.
static bool is_thread_local(uint32_t call, uint32_t before, uint32_t earlier)
{
    return is(before, 0xffc003ff, 0x91000000) && is(earlier, 0xffc003e0, 0xf9400000) &&
           (earlier & 31) == (call >> 5 & 31);
}

// blr and its kin; br, unless an addition before it makes it the jump of a switch.
static bool is_indirect_call(uint32_t instruction, uint32_t before, uint32_t earlier)
{
    bool call = is(instruction, 0xfefff000, 0xd63f0000), jump = is(instruction, 0xfefff000, 0xd61f0000);
    return (call && !is_thread_local(instruction, before, earlier)) ||
           (jump && !is(before, 0xffc00000, 0x8b000000) && !is(before, 0xffe00000, 0x8b200000));
}

// Returns whether it calls through a pointer.
static bool scan(reached *reach, uintptr_t start, uintptr_t end)
{
    uintptr_t page[REGISTERS] = {0};
    uint32_t before = 0, earlier = 0;
    bool indirect = false;
    for (uintptr_t pc = start; pc + sizeof before <= end; pc += sizeof before) {
        uint32_t instruction;
        memcpy(&instruction, (const void *)pc, sizeof instruction); // NOLINT(performance-no-int-to-ptr)
        follow_branch(reach, pc, instruction);
        follow_address(reach, pc, instruction, page);
        indirect |= is_indirect_call(instruction, before, earlier);
        earlier = before;
        before = instruction;
    }
    return indirect;
}

#elif defined(__x86_64__)

// Returns whether it calls through a pointer, as far as it can be read.
static bool scan(reached *reach, uintptr_t start, uintptr_t end)
{
    sim_instruction next;
    for (uintptr_t pc = start; pc < end; pc += next.bytes) {
        if (!sim_instruction_read(pc, end, &next) || next.indirect)
            return true;
        if (next.branches || next.refers)
            reaches(reach, next.target, next.refers);
        if (next.refers)
            reaches_through(reach, next.target);
    }
    return false;
}

#else

static bool scan(reached *reach, uintptr_t start, uintptr_t end)
{
    (void)reach;
    return start < end;
}

#endif

static unsigned find_uses(const sim_kernel *kernel)
{
    reached reach = {0};
    uintptr_t run = (uintptr_t)kernel->run, function = (uintptr_t)kernel->function, start, end;
    if (!sim_symbol_function_bounds(run, &start, &end) ||
        (function && !sim_symbol_function_bounds(function, &start, &end)))
        return (unsigned)EVERYTHING;
    reaches(&reach, run, false);
    if (function)
        reaches(&reach, function, false);
    while (reach.scanned < reach.count && (reach.uses & (unsigned)EVERYTHING) != (unsigned)EVERYTHING) {
        const struct function next = reach.functions[reach.scanned++];
        // What calls the kernel for each thread may have a pointer to it.
        bool passes_on = function && run - next.start < next.end - next.start;
        if (scan(&reach, next.start, next.end) && !passes_on)
            reach.uses |= (unsigned)EVERYTHING;
    }
    free(reach.functions);
    return reach.uses;
}

// The uses of which functions are told: others are the whole program's.
static unsigned located(void)
{
    int count;
    unsigned uses = 0;
    const sim_use *told = sim_uses_told(&count);
    for (int i = 0; i < count; i++)
        uses |= told[i].uses;
    return uses;
}

typedef struct known {
    void (*run)(void *closure);
    const void *function;
    unsigned uses;
    struct known *next;
} known;

unsigned sim_kernel_uses(const sim_kernel *kernel)
{
    static known *all;
    const unsigned everywhere = sim_program_uses & ~located();
    for (const known *one = all; one; one = one->next)
        if (one->run == kernel->run && one->function == kernel->function)
            return one->uses | everywhere;
    unsigned uses = find_uses(kernel) & located();
    known *made = malloc(sizeof *made);
    if (made) {
        *made = (known){kernel->run, kernel->function, uses, all};
        all = made;
    }
    return uses | everywhere;
}
