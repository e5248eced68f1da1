// Signals that the hardware sends for a wrong access, and the watchdog's. In a CUDA thread they become a finding and
// the launch ends; the handler itself does next to nothing: it makes the thread go on in a function of ours, on a fresh
// part of its stack, where everything is allowed. In host code the report is written and the program dies as it would
// have.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "core/fault.h"
#include "core/scheduler.h"
#include "program/program.h"
#include "progress/spin.h"
#include "progress/watchdog.h"
#include "report/report.h"

enum {
    ALTERNATE_BYTES = 256 * 1024, // the report of a host crash is written on it
    REPORT_SECONDS = 20,          // a crashed program may hold the very lock that the report needs
    STACK_WORDS = 1024,           // looked through for a return address where the calls cannot be followed
    MOST_CALLS = 256,             // followed outwards from a fault; the program's own code is a few calls away
    STACK_END = 64 * 1024,        // host code that faults so near to the end of its stack has used it up
    LARGEST_FRAME = 16 << 20,     // of a function that steps over that end
};

// A failed assertion or an uncaught exception of host code ends in an abort: what the kernels did before is told first.
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
enum { FAULTS = sizeof faults / sizeof *faults };
static struct sigaction before[FAULTS];

#if defined(__x86_64__)
#define SIM_HANDLER __attribute__((force_align_arg_pointer)) // qemu enters handlers with the stack misaligned
static uintptr_t pc_of(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}
static uintptr_t sp_of(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
}
static uintptr_t caller_of(const ucontext_t *context)
{
    (void)context;
    return 0;
}
enum { REGISTERS = 15 };
static void registers_of(const ucontext_t *context, uint64_t registers[REGISTERS])
{
    static const int which[REGISTERS] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_R8,
                                         REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    for (int i = 0; i < REGISTERS; i++)
        registers[i] = (uint64_t)context->uc_mcontext.gregs[which[i]];
}
enum { BELOW_STACK = 128 }; // a function that calls nobody may keep variables there
static uint64_t flags_of(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_EFL];
}
// As xsave writes them: 512 bytes that every machine has, and behind them what this one has besides.
static uint64_t hash_vectors(uint64_t seed, const ucontext_t *context)
{
    enum { PLAIN_BYTES = 512, MAGIC_AT = 464, SIZE_AT = 468 };
    const char *state = (const char *)context->uc_mcontext.fpregs;
    uint32_t magic = 0, bytes = PLAIN_BYTES;
    if (!state)
        return seed;
    memcpy(&magic, state + MAGIC_AT, sizeof magic);
    if (magic == 0x46505853)
        memcpy(&bytes, state + SIZE_AT, sizeof bytes);
    return sim_spin_hash_all(seed, (const uint64_t *)state, (const uint64_t *)(state + bytes / 8 * 8));
}
static void continue_in(ucontext_t *context, void (*function)(void), uintptr_t top)
{
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)function;
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)((top & ~(uintptr_t)15) - sizeof(uintptr_t));
}
#elif defined(__aarch64__)
#define SIM_HANDLER
static uintptr_t pc_of(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.pc;
}
static uintptr_t sp_of(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.sp;
}
static uintptr_t caller_of(const ucontext_t *context)
{
    enum { LINK_REGISTER = 30 };
    return (uintptr_t)context->uc_mcontext.regs[LINK_REGISTER];
}
enum { REGISTERS = 31 };
static void registers_of(const ucontext_t *context, uint64_t registers[REGISTERS])
{
    for (int i = 0; i < REGISTERS; i++)
        registers[i] = context->uc_mcontext.regs[i];
}
enum { BELOW_STACK = 0 };
static uint64_t flags_of(const ucontext_t *context)
{
    return context->uc_mcontext.pstate;
}
// The kernel writes records, each with what it is and how long; those that find no room stand elsewhere.
static uint64_t hash_vectors(uint64_t seed, const ucontext_t *context)
{
    const uint32_t fault_register = 0x45535201, elsewhere = 0x45585401;
    struct {
        uint32_t magic, size;
        uint64_t start;
        uint32_t bytes;
    } record;
    const char *at = (const char *)context->uc_mcontext.__reserved;
    const char *end = at + sizeof context->uc_mcontext.__reserved;
    for (; at + sizeof record <= end; at += record.size) {
        memcpy(&record, at, sizeof record);
        if (record.magic == 0 || record.size < 16 || record.size > (size_t)(end - at))
            break;
        const char *from = record.magic == elsewhere ? (const char *)(uintptr_t)record.start : at;
        size_t bytes = record.magic == elsewhere ? record.bytes : record.size;
        if (record.magic != fault_register)
            seed = sim_spin_hash_all(seed, (const uint64_t *)from, (const uint64_t *)(from + bytes / 8 * 8));
    }
    return seed;
}
static void continue_in(ucontext_t *context, void (*function)(void), uintptr_t top)
{
    context->uc_mcontext.pc = (uintptr_t)function;
    context->uc_mcontext.sp = top & ~(uintptr_t)15;
}
#else
#error "fault.c needs to know where this machine keeps the program counter of an interrupted thread"
#endif

static bool in_program(uintptr_t pc)
{
    const sim_module *module = sim_module_self();
    return pc >= module->text_lo && pc < module->text_hi;
}

extern const char sim_runtime_begins[]; // machine/begin.c

static bool in_kernel_code(uintptr_t pc)
{
    return in_program(pc) && pc < (uintptr_t)sim_runtime_begins;
}

static bool in_stacks(const sim_worker *worker, uintptr_t address)
{
    return address >= worker->stacks_lo && address < worker->stacks_hi;
}

static uintptr_t top_of(sim_worker *worker)
{
    const sim_resident *resident = sim_resident_of(worker->block);
    return (uintptr_t)sim_stacks_top(&sim_runner_of(worker)->stacks, resident->threads.stack[worker->thread]);
}

static bool is_gap(sim_worker *worker, uintptr_t address)
{
    const sim_stacks *stacks = &sim_runner_of(worker)->stacks;
    return in_stacks(worker, address) && (address - worker->stacks_lo) % stacks->slot < stacks->slot - stacks->size;
}

typedef struct walk {
    uintptr_t interrupted, place;
    bool reached; // the interrupted function; the handler's own calls come before it
    int calls;
} walk;

// Ends at the first of the program's functions: what lies beyond may have been overwritten by it.
static _Unwind_Reason_Code look_at_call(struct _Unwind_Context *call, void *data)
{
    walk *one = data;
    uintptr_t pc = (uintptr_t)_Unwind_GetIP(call);
    if (pc == one->interrupted)
        one->reached = true;
    else if (one->reached && in_kernel_code(pc))
        one->place = pc;
    return one->place || ++one->calls > MOST_CALLS ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// The first word that could be a return address. It may be any other pointer to code that somebody left on the stack.
static uintptr_t likely_return_address(sim_worker *worker, uintptr_t sp)
{
    const sim_stacks *stacks = &sim_runner_of(worker)->stacks;
    uintptr_t low = (uintptr_t)sim_stacks_low(stacks, sim_resident_of(worker->block)->threads.stack[worker->thread]);
    const uintptr_t *word = (const uintptr_t *)((sp < low ? low : sp) & ~(sizeof(uintptr_t) - 1));
    for (int i = 0; i < STACK_WORDS && (uintptr_t)&word[i] < top_of(worker); i++)
        if (in_kernel_code(word[i]))
            return word[i];
    return 0;
}

// The place in the program that led to the fault: a function of ours or of a library that was given a wild pointer, or
// the last piece of a stack, is not where the mistake is.
static uintptr_t place_of(sim_worker *worker, const ucontext_t *context)
{
    uintptr_t pc = pc_of(context);
    if (in_kernel_code(pc))
        return pc + 1; // findings hold return addresses, which lie behind their call
    walk outwards = {.interrupted = pc};
    _Unwind_Backtrace(look_at_call, &outwards);
    if (outwards.place)
        return outwards.place;
    if (in_kernel_code(caller_of(context)))
        return caller_of(context);
    uintptr_t likely = likely_return_address(worker, sp_of(context));
    return likely || !in_program(pc) ? likely : pc + 1;
}

// Instances of the standard library's templates lie in the program too, but are not where the mistake is.
static bool in_own_code(uintptr_t pc)
{
    size_t offset;
    const char *name = in_kernel_code(pc) ? sim_symbol_function(pc, &offset) : NULL;
    static const char *const standard[] = {"_ZSt", "_ZNSt", "_ZNKSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx"};
    for (size_t i = 0; name && i < sizeof standard / sizeof *standard; i++)
        if (strncmp(name, standard[i], strlen(standard[i])) == 0)
            return false;
    return name != NULL;
}

static _Unwind_Reason_Code look_at_host_call(struct _Unwind_Context *call, void *data)
{
    walk *one = data;
    uintptr_t pc = (uintptr_t)_Unwind_GetIP(call);
    one->reached |= pc == one->interrupted;
    if (one->reached && pc != one->interrupted && in_own_code(pc - 1))
        one->place = pc;
    return one->place || ++one->calls > MOST_CALLS ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// The line of the program's own that host code crashed at, or that called what crashed; 0: none is on the stack.
static uintptr_t host_place_of(const ucontext_t *context)
{
    uintptr_t pc = pc_of(context);
    if (in_own_code(pc))
        return pc + 1;
    walk outwards = {.interrupted = pc};
    _Unwind_Backtrace(look_at_host_call, &outwards);
    return outwards.place;
}

static const char *name_of(int signal)
{
    switch (signal) {
    case SIGSEGV: return "invalid memory access";
    case SIGBUS: return "access beyond the end of mapped memory";
    case SIGFPE: return "arithmetic fault (an integer division by zero?)";
    case SIGTRAP: return "trap";
    case SIGABRT: return "abort";
    default: return "illegal instruction";
    }
}

static void report_fault(void)
{
    sim_worker *worker = sim_worker_here;
    sim_runner *runner = sim_runner_of(worker);
    bool overflow = runner->fault.signal == SIGSEGV && is_gap(worker, runner->fault.address);
    sim_current = worker; // it may have been in a function that is not watched
    bool arithmetic = runner->fault.signal == SIGFPE;
    sim_finding finding = sim_finding_make(worker,
                                           overflow     ? SIM_STACK_OVERFLOW
                                           : arithmetic ? SIM_DIVISION_BY_ZERO
                                                        : SIM_FAULT,
                                           SIM_ERROR);
    if (overflow)
        snprintf(finding.message, sizeof finding.message, "stack overflow: the thread has %zu KiB of stack (SIM_STACK)",
                 runner->stacks.size / 1024);
    else if (runner->fault.signal == SIGSEGV || runner->fault.signal == SIGBUS)
        snprintf(finding.message, sizeof finding.message, "%s at address %#llx", name_of(runner->fault.signal),
                 (unsigned long long)runner->fault.address);
    else
        snprintf(finding.message, sizeof finding.message, "%s", name_of(runner->fault.signal));
    finding.place[0] = sim_place_of(worker, worker->thread, runner->fault.pc, "call");
    sim_report(&finding);
    sim_thread_fail(SIM_ERROR_ILLEGAL_ADDRESS);
}

static void report_endless(bool repeats)
{
    sim_worker *worker = sim_worker_here;
    sim_runner_of(worker)->busy = true;
    sim_current = worker;
    sim_watchdog_report(worker, sim_runner_of(worker)->fault.pc, repeats);
    sim_thread_fail(SIM_ERROR_TIMEOUT);
}

static void report_timeout(void)
{
    report_endless(false);
}

static void report_repeating(void)
{
    report_endless(true);
}

// Asks for the stack's bounds only where the address is near: that may take a lock that the crash has left held.
static bool has_used_up_stack(int signal, uintptr_t address, uintptr_t sp)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t bytes;
    if ((signal != SIGSEGV && signal != SIGBUS) || address - (sp - LARGEST_FRAME) > 2 * (uintptr_t)LARGEST_FRAME ||
        pthread_getattr_np(pthread_self(), &attributes) != 0)
        return false;
    const bool known = pthread_attr_getstack(&attributes, &low, &bytes) == 0;
    pthread_attr_destroy(&attributes);
    return known && sp - ((uintptr_t)low - LARGEST_FRAME) < LARGEST_FRAME + STACK_END;
}

static void tell_crash(int signal, const siginfo_t *info, const ucontext_t *context, char *status, size_t room)
{
    if (signal == SIGABRT)
        snprintf(status, room, "crashed: abort in host code");
    else if (has_used_up_stack(signal, (uintptr_t)info->si_addr, sp_of(context)))
        snprintf(status, room, "crashed: the stack is used up (%s) in host code", strsignal(signal));
    else
        snprintf(status, room, "crashed: %s (%s) at address %p in host code", name_of(signal), strsignal(signal),
                 info->si_addr);
}

static void crash(int signal, const siginfo_t *info, const ucontext_t *context)
{
    static volatile sig_atomic_t crashed;
    int which = 0;
    while (which < FAULTS - 1 && faults[which] != signal)
        which++;
    sigaction(signal, &before[which], NULL);
    if (!crashed) {
        crashed = 1;
        char status[128];
        struct sigaction standard = {.sa_handler = SIG_DFL};
        sigaction(SIGALRM, &standard, NULL);
        alarm(REPORT_SECONDS);
        sim_crashed_at = host_place_of(context);
        tell_crash(signal, info, context, status, sizeof status);
        sim_report_write(status);
        alarm(0);
    }
    if (info->si_code <= 0)
        raise(signal); // somebody sent it: it does not come again by itself
}

SIM_HANDLER static void on_fault(int signal, siginfo_t *info, void *interrupted)
{
    sim_worker *worker = sim_worker_here;
    ucontext_t *context = interrupted;
    if (!worker || !worker->block || !in_stacks(worker, sp_of(context))) {
        crash(signal, info, context);
        return;
    }
    sim_runner *runner = sim_runner_of(worker);
    runner->fault.signal = signal;
    runner->fault.address = (uintptr_t)info->si_addr;
    runner->fault.pc = place_of(worker, context);
    continue_in(context, report_fault, top_of(worker));
}

static uint64_t hash_of(sim_worker *worker, const ucontext_t *context)
{
    uint64_t registers[REGISTERS];
    registers_of(context, registers);
    uint64_t seed = worker->block->number * SIM_THREADS + (uint64_t)worker->thread;
    uint64_t hash = sim_spin_hash(seed, registers, registers + REGISTERS);
    return sim_spin_hash(hash, (const uint64_t *)(sp_of(context) & ~(uintptr_t)7), (const uint64_t *)top_of(worker));
}

// All that a loop without hooks can depend on: where it is, every register, and its whole stack.
static uint64_t hash_of_all(sim_worker *worker, const ucontext_t *context)
{
    uint64_t registers[REGISTERS + 3];
    registers_of(context, registers);
    registers[REGISTERS] = pc_of(context);
    registers[REGISTERS + 1] = sp_of(context);
    registers[REGISTERS + 2] = flags_of(context);
    uint64_t hash = sim_spin_hash_all(0, registers, registers + REGISTERS + 3);
    hash = hash_vectors(hash, context);
    return sim_spin_hash_all(hash, (const uint64_t *)((sp_of(context) - BELOW_STACK) & ~(uintptr_t)7),
                             (const uint64_t *)top_of(worker));
}

static bool on_own_stack(sim_worker *worker, uintptr_t sp)
{
    const sim_stacks *stacks = &sim_runner_of(worker)->stacks;
    uint32_t stack = sim_resident_of(worker->block)->threads.stack[worker->thread];
    return sp >= (uintptr_t)sim_stacks_low(stacks, stack) && sp < top_of(worker);
}

// Runs on the thread's own stack, because another thread may run before it returns.
SIM_HANDLER static void on_watchdog(int signal, siginfo_t *info, void *interrupted)
{
    sim_worker *worker = sim_worker_here;
    ucontext_t *context = interrupted;
    (void)signal;
    (void)info;
    // In the runtime or in a library the thread may hold a lock or be half switched: it is asked again later. A
    // simulated library is at work, however long it takes.
    if (!worker || !sim_current || !worker->block || worker->launch->kernel->library || sim_runner_of(worker)->busy ||
        !in_kernel_code(pc_of(context)) || !on_own_stack(worker, sp_of(context)))
        return;
    if (sim_watch_log_all(worker)) // it may read memory all the time, and now that is seen
        return;
    sim_runner *runner = sim_runner_of(worker);
    bool alike = sim_spin_alike(worker, hash_of(worker, context));
    if (runner->progress.timed_out || (!sim_watching && sim_spin_interrupted_long(worker))) {
        runner->progress.timed_out = false;
        runner->fault.pc = place_of(worker, context);
        continue_in(context, report_timeout, top_of(worker));
    } else if (sim_watching && sim_spin_repeats(worker, hash_of_all(worker, context))) {
        runner->fault.pc = place_of(worker, context);
        continue_in(context, report_repeating, top_of(worker));
    } else if (!sim_watching && alike) {
        int error = errno;
        runner->progress.interrupted_alike = 0;
        sim_thread_interrupted(worker, place_of(worker, context));
        errno = error;
    }
}

void sim_fault_alternate_stack(void)
{
    void *stack = mmap(NULL, ALTERNATE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t alternate = {.ss_sp = stack, .ss_size = ALTERNATE_BYTES};
    if (stack != MAP_FAILED)
        sigaltstack(&alternate, NULL);
}

void sim_fault_install(void)
{
    static bool installed;
    if (installed)
        return;
    installed = true;
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    for (int i = 0; i < FAULTS; i++)
        sigaction(faults[i], &action, &before[i]);
    action.sa_sigaction = on_watchdog;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
    sigaction(SIGURG, &action, NULL);
}

#ifndef SIM_LOADABLE
// The program takes too long for whoever started it: what was found until now is reported before it ends.
SIM_HANDLER static void on_terminate(int signal, siginfo_t *info, void *interrupted)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    (void)info;
    (void)interrupted;
    sigaction(signal, &standard, NULL);
    sigaction(SIGALRM, &standard, NULL);
    alarm(REPORT_SECONDS); // it may hold the very lock that the report needs
    sim_report_write("ended: a signal asked the program to end (SIGTERM)");
    raise(signal); // and ends it when this handler returns
}

// Before main, so that a crash of host code before the first launch is reported too. A module that is loaded into a
// running program waits for the first launch instead.
__attribute__((constructor)) static void install_early(void)
{
    stack_t present;
    sim_fault_install();
    if (sigaltstack(NULL, &present) == 0 && (present.ss_flags & SS_DISABLE))
        sim_fault_alternate_stack();
    struct sigaction terminate;
    if (sigaction(SIGTERM, NULL, &terminate) != 0 || terminate.sa_handler != SIG_DFL)
        return;
    terminate = (struct sigaction){.sa_sigaction = on_terminate, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGTERM, &terminate, NULL);
}
#endif
