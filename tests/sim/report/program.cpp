// A program that reports findings at lines of its own, as the simulator would; report.py runs it and reads what is
// written. The lines it speaks of end in a comment that names them.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "fakes.h"
#include "stand_in/intrinsic.h"
extern "C" {
#include "report/internal.h"
}

#define SHARED static thread_local
#define PLAIN  __attribute__((noinline))

extern "C" __thread char scratch[]; // extern __shared__
thread_local int file_tile[16];
int device_table[8] = {1};
namespace deep
{
namespace
{
int counter[2] = {1, 2};
}
} // namespace deep

struct box {
    float *data;
};

static void *cudaMalloc_at(void *pc, size_t bytes)
{
    return fake_malloc(pc, bytes);
}
#define cudaMalloc(pointer, bytes) (*(void **)(pointer) = cudaMalloc_at(here(), (bytes)))
#define CHECK(call)                ((void)(call))

template <int N> PLAIN void mm(int block, int thread, bool swapped)
{
    SHARED float tile[N * 8];
    void *write = here(); // line: write
    void *read = here();  // line: read
    fake_place one = {write, "write", block, thread}, other = {read, "read", block, thread + 1};
    fake_finding(SIM_RACE, SIM_ERROR, N == 1 ? "mm<1>" : "mm<2>", "two threads", swapped ? other : one,
                 swapped ? one : other, tile + 3, 4);
}

__attribute__((always_inline)) static inline void *inlined_load()
{
    void *pc = here(); // line: inlined
    asm volatile("" : "+r"(pc));
    return pc;
}

PLAIN void *kernel_with_helper()
{
    void *pc = inlined_load(); // line: caller
    asm volatile("" : "+r"(pc));
    return pc;
}

static void at(int kind, int tier, void *pc, const void *address = nullptr, const char *kernel = "mm<1>")
{
    fake_finding(kind, tier, kernel, "something \"quoted\"\n\x01 and \xff odd", {pc, "read", 0, 0}, {}, address, 4);
}

static void dedupe()
{
    mm<1>(1, 5, false);
    mm<1>(0, 7, true);
    mm<1>(0, 9, false);
    mm<2>(3, 1, false);
}

static void rank()
{
    at(SIM_LEAK, SIM_ERROR, here());
    at(SIM_RACE, SIM_WARNING, here()); // line: rank warning
    at(SIM_RACE, SIM_ERROR, here());   // line: rank second
    at(SIM_OUT_OF_BOUNDS, SIM_WARNING, here());
    at(SIM_OUT_OF_BOUNDS, SIM_ERROR, here());
    at(SIM_RACE, SIM_ERROR, here()); // line: rank third
}

static void names()
{
    float *d_c, *d_e, *d_f, *rows[2];
    box s;
    CHECK(cudaMalloc((void **)&d_c, 400)); // line: d_c
    cudaMalloc(&s.data, 32);
    // clang-format off
    cudaMalloc(&d_e, 8); cudaMalloc(reinterpret_cast<void **>(&d_f), 8);
    cudaMalloc(
        &rows[1],
        16);
    // clang-format on
    at(SIM_OUT_OF_BOUNDS, SIM_ERROR, here(), (char *)d_c + 400); // line: use d_c
    at(SIM_UNINITIALISED, SIM_ERROR, here(), s.data);
    at(SIM_UNINITIALISED, SIM_ERROR, here(), d_e);
    at(SIM_UNINITIALISED, SIM_ERROR, here(), d_f);
    at(SIM_UNINITIALISED, SIM_ERROR, here(), rows[1] + 2);
    fake_free(d_c, here()); // line: free d_c
    at(SIM_USE_AFTER_FREE, SIM_ERROR, here(), d_c);
}

static void variables()
{
    SHARED int local[4];
    auto in_lambda = [] {
        SHARED short corner[2];
        return &corner[1];
    };
    fake_worker((void *)sim_module_tls(), scratch, 64);
    at(SIM_UNINITIALISED, SIM_ERROR, here(), &local[1]);
    at(SIM_UNINITIALISED, SIM_ERROR, here(), in_lambda());
    at(SIM_UNINITIALISED, SIM_ERROR, here(), &file_tile[15]);
    at(SIM_OUT_OF_BOUNDS, SIM_ERROR, here(), scratch + 68);
    at(SIM_UNINITIALISED, SIM_ERROR, here(), &device_table[2]);
    at(SIM_UNINITIALISED, SIM_ERROR, here(), &deep::counter[1]);
    at(SIM_HOST_POINTER, SIM_ERROR, here(), malloc(4));
    sim_shared_variable const *all;
    size_t count;
    all = sim_shared_variables(&count);
    for (size_t i = 0; i < count; i++)
        printf("shared %s %zu\n", all[i].name, all[i].bytes);
    sim_symbol symbol;
    printf("at %d\n",
           sim_symbol_at((uintptr_t)&local[2], &symbol) && (uintptr_t)local == symbol.start && symbol.shared);
}

static void suppress()
{
    void *often = here();
    for (int i = 0; i < 3; i++)
        at(SIM_RACE, SIM_ERROR, often);
    at(SIM_RACE, SIM_ERROR, here());
    at(SIM_LEAK, SIM_ERROR, here());
    at(SIM_UNINITIALISED, SIM_ERROR, here()); // line: in file
    at(SIM_TRAP, SIM_ERROR, here(), nullptr, "legacy_kernel");
    at(SIM_TRAP, SIM_ERROR, here(), nullptr, "new_kernel"); // line: left
}

static void barriers()
{
    void *one = here(), *copy = here();
    void *other = here();
    fake_finding(SIM_BARRIER_DIVERGENT, SIM_ERROR, "k", "copies of one barrier", {one, "barrier", 0, 0},
                 {copy, "barrier", 0, 1}, 0, 0);
    fake_finding(SIM_BARRIER_DIVERGENT, SIM_ERROR, "k", "two barriers", {one, "barrier", 0, 0},
                 {other, "barrier", 0, 1}, 0, 0);
}

static void inlining()
{
    at(SIM_RACE, SIM_ERROR, kernel_with_helper());
    fake_count(kernel_with_helper(), "mm<1>", 4);
    void *one = here(), *two = here(); // line: counted
    fake_count(one, "mm<1>", 4);
    fake_count(two, "mm<1>", 32);
}

static void headers()
{
    at(SIM_RACE, SIM_ERROR, intrinsic()); // line: intrinsic
}

static void threads()
{
    void *pc = here();
    auto report = [pc] {
        for (int i = 0; i < 1000; i++)
            at(SIM_RACE, SIM_ERROR, pc);
    };
    std::thread first(report), second(report);
    first.join();
    second.join();
}

static void forks()
{
    at(SIM_RACE, SIM_ERROR, here());
    pid_t child = fork();
    if (child == 0)
        exit(0);
    waitpid(child, nullptr, 0);
    printf("parent %d\n", access(getenv("SIM_REPORT"), F_OK)); // -1: the child wrote nothing
}

static void race_at(void *pc, sim_tier tier, bool ask_values)
{
    sim_finding finding = {};
    finding.kind = SIM_RACE;
    finding.tier = tier;
    finding.kernel = "mm<1>";
    finding.place[0] = finding.place[1] = {(uintptr_t)pc, "write", true, {}, {}};
    finding.ask_values = ask_values;
    sim_report(&finding);
}

static void values()
{
    void *one = here(), *other = here(); // line: two stores
    race_at(one, SIM_ERROR, true);
    race_at(other, SIM_ERROR, true);
}

static void settled()
{
    void *one = here(), *other = here(); // line: a store in question, one of one value
    race_at(one, SIM_ERROR, true);
    race_at(other, SIM_WARNING, false);
    void *third = here(), *fourth = here(), *fifth = here(); // line: and one that is wrong for certain
    race_at(third, SIM_ERROR, true);
    race_at(fourth, SIM_WARNING, false);
    race_at(fifth, SIM_ERROR, false);
}

static void calls()
{
    void *pcs[] = {here(), here(), here()}; // line: three calls
    static const char *const messages[] = {"cudaFree fails with cudaErrorInvalidValue: one",
                                           "cudaFreeHost fails with cudaErrorInvalidValue: two",
                                           "cudaFree fails with cudaErrorInvalidValue: three"};
    for (int i = 0; i < 3; i++)
        fake_finding(SIM_BAD_CALL, SIM_ERROR, nullptr, messages[i], {pcs[i], "call", 0, 0}, {}, nullptr, 0);
}

// Two places of one line race with each other and with themselves.
static void ways()
{
    void *one = here(), *other = here(); // line: two ways
    fake_finding(SIM_RACE, SIM_ERROR, "mm<1>", "a race", {one, "read", 0, 0}, {other, "write", 0, 1}, nullptr, 0);
    fake_finding(SIM_RACE, SIM_ERROR, "mm<1>", "a race", {other, "write", 0, 2}, {other, "write", 0, 3}, nullptr, 0);
}

static void parts()
{
    for (int block = 2; block > 0; block--) {
        sim_report_part(block == 2 ? "the first" : "the second");
        mm<1>(block, 5, false);
        mm<1>(block, 3, false);
    }
    at(SIM_UNINITIALISED, SIM_ERROR, here());
}

int main(int, char **arguments)
{
    const struct {
        const char *name;
        void (*run)();
    } scenarios[] = {{"dedupe", dedupe},     {"rank", rank},         {"names", names},       {"variables", variables},
                     {"suppress", suppress}, {"barriers", barriers}, {"inlining", inlining}, {"forks", forks},
                     {"values", values},     {"settled", settled},   {"headers", headers},   {"threads", threads},
                     {"calls", calls},       {"ways", ways},         {"parts", parts}};
    for (const auto &scenario : scenarios)
        if (strcmp(scenario.name, arguments[1]) == 0)
            scenario.run();
    if (strcmp(arguments[1], "crash") == 0) {
        at(SIM_RACE, SIM_ERROR, here());
        sim_finding finding = {};
        finding.kind = SIM_FAULT;
        finding.place[0] = {(uintptr_t)here(), "call", false, {}, {}}; // line: crash
        sim_report(&finding);
        sim_report_write("crashed: SIGSEGV");
        sim_report_write("crashed: twice");
        _exit(139);
    }
    return arguments[2] ? atoi(arguments[2]) : 0;
}
