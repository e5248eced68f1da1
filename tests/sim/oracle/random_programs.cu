// Random programs against the brute-force oracle: one kernel interprets them, the race detector watches, and the bytes
// it calls racy, or read without the reader's fence, are held against the bytes the oracle does. A difference is
// printed with the seed that repeats it.
//
//   random_programs [--seed N] [--count N] [--verbose]
#include "oracle.h"
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The race detector's own door for tests: called at every racing access, before findings are made of them.
extern "C" void sim_race_observe(void (*callback)(uintptr_t address, size_t bytes, void *context), void *context);
// The same for reads behind an atomic that no fence follows.
extern "C" void sim_unfenced_observe(void (*callback)(uintptr_t address, size_t bytes, void *context), void *context);

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t status_ = (call);                                                                                  \
        if (status_ != cudaSuccess) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_));                           \
            exit(2);                                                                                                   \
        }                                                                                                              \
    } while (0)

// --- the interpreter
// --------------------------------------------------------------------------------------------------

// The program's own text and results are read and written behind the detector's back: only what the program does
// counts.
struct phase_text {
    int first, end, sync;
    unsigned mask;
};

UNWATCHED __device__ __noinline__ void fetch_phase(const script *program, int block, int phase, int thread,
                                                   phase_text *text)
{
    int slot = (block * PHASES + phase) * THREADS + thread;
    text->first = program->first[slot];
    text->end = program->first[slot + 1];
    text->sync = program->sync[block][phase];
    text->mask = program->mask[block][phase][thread];
}

UNWATCHED __device__ __noinline__ void fetch_operation(const script *program, int i, operation *what)
{
    *what = program->operations[i];
}

UNWATCHED __device__ __noinline__ bool is_shared(const script *program)
{
    return program->shared != 0;
}

UNWATCHED __device__ __noinline__ void record(unsigned long long *where, unsigned long long value)
{
    *where = value;
}

__device__ unsigned load(const unsigned char *p, int bytes)
{
    switch (bytes) {
    case 1: return *p;
    case 2: return *(const unsigned short *)p;
    case 4: return *(const unsigned *)p;
    case 8: return (unsigned)*(const unsigned long long *)p;
    default: {
        uint4 four = *(const uint4 *)p;
        return four.x + four.y + four.z + four.w;
    }
    }
}

__device__ void store(unsigned char *p, int bytes)
{
    switch (bytes) {
    case 1: *p = 0; break;
    case 2: *(unsigned short *)p = 0; break;
    case 4: *(unsigned *)p = 0; break;
    case 8: *(unsigned long long *)p = 0; break;
    default: *(uint4 *)p = make_uint4(0, 0, 0, 0); break;
    }
}

__device__ unsigned long long add_bit(unsigned char *p, operation what)
{
    unsigned long long bit = 1ull << what.bit;
    if (what.bytes == 8)
        return what.scope == DEVICE_SCOPE ? atomicAdd((unsigned long long *)p, bit)
                                          : atomicAdd_block((unsigned long long *)p, bit);
    return what.scope == DEVICE_SCOPE ? atomicAdd((unsigned *)p, (unsigned)bit)
                                      : atomicAdd_block((unsigned *)p, (unsigned)bit);
}

__device__ void add_bit_discard(unsigned char *p, operation what)
{
    unsigned long long bit = 1ull << what.bit;
    if (what.bytes == 8 && what.scope == DEVICE_SCOPE)
        atomicAdd((unsigned long long *)p, bit);
    else if (what.bytes == 8)
        atomicAdd_block((unsigned long long *)p, bit);
    else if (what.scope == DEVICE_SCOPE)
        atomicAdd((unsigned *)p, (unsigned)bit);
    else
        atomicAdd_block((unsigned *)p, (unsigned)bit);
}

__device__ unsigned wait_for_bit(unsigned char *p, operation what)
{
    unsigned mine = 1u << what.bit, awaited = 1u << what.awaited_bit, seen;
    for (;;) {
        seen = what.scope == DEVICE_SCOPE ? atomicOr((unsigned *)p, mine) : atomicOr_block((unsigned *)p, mine);
        if (seen & awaited)
            break;
        __nanosleep(20);
    }
    return seen;
}

__device__ unsigned interpret_one(operation what, unsigned char *memory, unsigned long long *results)
{
    unsigned char *p = memory + what.offset;
    switch (what.kind) {
    case READ: return load(p, what.bytes);
    case WRITE: store(p, what.bytes); break;
    case ATOMIC: record(&results[what.result], add_bit(p, what)); break;
    case ATOMIC_DISCARD: add_bit_discard(p, what); break;
    case WAIT: record(&results[what.result], wait_for_bit(p, what)); break;
    case FENCE:
        if (what.scope == DEVICE_SCOPE)
            __threadfence();
        else
            __threadfence_block();
        break;
    }
    return 0;
}

__global__ void interpret(const script *program, unsigned char *memory, unsigned long long *results,
                          unsigned long long *shared_at, unsigned *sink)
{
    __shared__ __align__(16) unsigned char box[BLOCKS][MEMORY_BYTES];
    int block = blockIdx.x, thread = threadIdx.x;
    unsigned sum = 0;
    if (is_shared(program)) {
        memory = box[block];
        if (thread < MEMORY_BYTES / 4)
            ((unsigned *)memory)[thread] = 0;
        if (thread == 0)
            record(&shared_at[block], (unsigned long long)memory);
        __syncthreads();
    }
    for (int phase = 0; phase < PHASES; phase++) {
        phase_text text;
        fetch_phase(program, block, phase, thread, &text);
        for (int i = text.first; i < text.end; i++) {
            operation what;
            fetch_operation(program, i, &what);
            sum += interpret_one(what, memory, results);
        }
        unsigned mask = text.mask;
        switch (text.sync) {
        case SYNC_BLOCK: __syncthreads(); break;
        case SYNC_WARP:
            if (mask)
                __syncwarp(mask);
            break;
        case SYNC_SHUFFLE:
            if (mask)
                sum += __shfl_sync(mask, sum, __ffs(mask) - 1);
            break;
        }
    }
    sink[block * THREADS + thread] = sum;
}

// --- what the detector says
// -------------------------------------------------------------------------------------------

enum { MAX_RANGES = 1 << 16 };

struct observed {
    uintptr_t address;
    size_t bytes;
};

struct observations {
    observed ranges[MAX_RANGES];
    int count;
};

static observations races_seen, unfenced_seen;

// Called in the middle of a kernel: its own accesses are none of the kernel's. A program with atomics has one worker.
UNWATCHED static void observe(uintptr_t address, size_t bytes, void *context)
{
    observations *seen = (observations *)context;
    if (seen->count < MAX_RANGES)
        seen->ranges[seen->count++] = observed{address, bytes};
}

// --- one program
// ------------------------------------------------------------------------------------------------------

struct machine {
    script *program[LAUNCHES];
    unsigned long long *results[LAUNCHES], *shared_at;
    unsigned char *memory;
    unsigned *sink;
};

struct tally {
    long programs, racy, missed, false_alarms, impossible, clean;
    long unfenced, unfenced_missed, unfenced_false;
};

static script programs[LAUNCHES];
static uint64_t results[LAUNCHES][MAX_OPERATIONS];
static oracle judge;

static void run(const machine *m, int launches, bool wait_between, uint64_t *shared_at)
{
    races_seen.count = unfenced_seen.count = 0;
    CHECK(cudaMemset(m->memory, 0, MEMORY_BYTES));
    for (int l = 0; l < launches; l++)
        CHECK(cudaMemcpy(m->program[l], &programs[l], sizeof programs[l], cudaMemcpyHostToDevice));
    for (int l = 0; l < launches; l++) {
        interpret<<<programs[l].blocks, THREADS>>>(m->program[l], m->memory, m->results[l], m->shared_at, m->sink);
        CHECK(cudaGetLastError());
        if (wait_between)
            CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaDeviceSynchronize());
    for (int l = 0; l < launches; l++)
        CHECK(cudaMemcpy(results[l], m->results[l], sizeof results[l], cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(shared_at, m->shared_at, BLOCKS * sizeof(uint64_t), cudaMemcpyDeviceToHost));
}

// Whether the range touches this program's memory; then *block and *offset say where it begins.
UNWATCHED static bool locate(const observed *range, const machine *m, bool shared, const uint64_t *shared_at,
                             int *block, int *offset)
{
    for (*block = 0; *block < (shared ? BLOCKS : 1); ++*block) {
        uintptr_t base = shared ? (uintptr_t)shared_at[*block] : (uintptr_t)m->memory;
        if (range->address >= base && range->address < base + MEMORY_BYTES) {
            *offset = (int)(range->address - base);
            return true;
        }
    }
    return false;
}

UNWATCHED static void compare(const machine *m, bool shared, const uint64_t *shared_at, bool want[BLOCKS][MEMORY_BYTES],
                              uint64_t seed, tally *t)
{
    static bool got[BLOCKS][MEMORY_BYTES];
    int block, offset, differences = 0;
    memset(got, 0, sizeof got);
    for (int i = 0; i < races_seen.count; i++) {
        const observed *range = &races_seen.ranges[i];
        bool located = locate(range, m, shared, shared_at, &block, &offset);
        // The first byte races for certain. Of the rest no more than its word: each word is reported for itself.
        for (size_t k = 0; located && k < range->bytes && (k == 0 || (offset + k) % 4 != 0); k++)
            got[block][offset + k] = true;
        if (!(located && want[block][offset]) && t->false_alarms++ < 20 && differences++ < 3) {
            printf("seed %llu: false alarm on %zu bytes at %d of block %d, %s memory\n", (unsigned long long)seed,
                   range->bytes, offset, block, shared ? "shared" : "global");
        }
    }
    for (block = 0; block < BLOCKS; block++)
        for (offset = 0; offset < MEMORY_BYTES; offset++) {
            t->racy += want[block][offset];
            t->clean += !want[block][offset];
            if (want[block][offset] && !got[block][offset] && t->missed++ < 20 && differences++ < 3) {
                printf("seed %llu: missed byte %d of block %d, %s memory\n", (unsigned long long)seed, offset, block,
                       shared ? "shared" : "global");
            }
        }
}

// Bytes that race are left out: what is certain of them depends on what the detector has forgotten.
UNWATCHED static void compare_unfenced(const machine *m, bool shared, const uint64_t *shared_at,
                                       bool racy[BLOCKS][MEMORY_BYTES], bool want[BLOCKS][MEMORY_BYTES], uint64_t seed,
                                       tally *t)
{
    static bool got[BLOCKS][MEMORY_BYTES];
    int block, offset;
    memset(got, 0, sizeof got);
    for (int i = 0; i < unfenced_seen.count; i++) {
        const observed *range = &unfenced_seen.ranges[i];
        bool located = locate(range, m, shared, shared_at, &block, &offset);
        for (size_t k = 0; located && k < range->bytes && (k == 0 || (offset + k) % 4 != 0); k++)
            got[block][offset + k] = true;
        if (!(located && (want[block][offset] || racy[block][offset])) && t->unfenced_false++ < 20)
            printf("seed %llu: a fence is called missing at byte %d of block %d, %s memory\n", (unsigned long long)seed,
                   offset, block, shared ? "shared" : "global");
    }
    for (block = 0; block < BLOCKS; block++)
        for (offset = 0; offset < MEMORY_BYTES; offset++) {
            bool wanted = want[block][offset] && !racy[block][offset];
            t->unfenced += wanted;
            if (wanted && !got[block][offset] && t->unfenced_missed++ < 20)
                printf("seed %llu: no fence is missed at byte %d of block %d, %s memory\n", (unsigned long long)seed,
                       offset, block, shared ? "shared" : "global");
        }
}

UNWATCHED static void try_program(const machine *m, uint64_t seed, bool verbose, tally *t)
{
    static bool want[BLOCKS][MEMORY_BYTES], unfenced[BLOCKS][MEMORY_BYTES];
    static generator g;
    uint64_t shared_at[BLOCKS] = {0};
    memset(&g, 0, sizeof g);
    memset(want, 0, sizeof want);
    memset(unfenced, 0, sizeof unfenced);
    g.state = seed * 0x2545f4914f6cdd1dull;
    bool shared = draw(&g, 2), wait_between = draw(&g, 2);
    int launches = 1 + (int)draw(&g, LAUNCHES);
    uint32_t before[LAUNCHES][BLOCKS][MEMORY_BYTES];
    for (int l = 0; l < launches; l++) {
        for (int b = 0; b < BLOCKS; b++)
            for (int i = 0; i < MEMORY_BYTES; i++)
                before[l][b][i] = (1u << g.bits[b][i]) - 1;
        draw_script(&g, shared, &programs[l]);
    }
    run(m, launches, wait_between, shared_at);
    memset(&judge, 0, sizeof judge);
    for (int l = 0; l < launches; l++) {
        memcpy(judge.before, before[l], sizeof judge.before);
        if (!oracle_run(&judge, &programs[l], results[l], want, unfenced)) {
            printf("seed %llu: no order of events explains what its atomics returned\n", (unsigned long long)seed);
            t->impossible++;
            return;
        }
        for (int b = 0; verbose && b < (shared ? BLOCKS : 1); b++)
            for (int i = 0; i < MEMORY_BYTES; i++) {
                printf("  launch %d, byte %d of block %d%s\n", l, i, b, want[b][i] ? ", racy" : "");
                oracle_explain(&judge, b, i);
            }
    }
    t->programs++;
    compare(m, shared, shared_at, want, seed, t);
    compare_unfenced(m, shared, shared_at, want, unfenced, seed, t);
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, count = 1000;
    bool verbose = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 0);
        else if (strcmp(argv[i], "--count") == 0 && i + 1 < argc)
            count = strtoull(argv[++i], NULL, 0);
        else if (strcmp(argv[i], "--verbose") == 0)
            verbose = true;
        else
            return fprintf(stderr, "usage: random_programs [--seed N] [--count N] [--verbose]\n"), 2;
    }
    machine m;
    for (int l = 0; l < LAUNCHES; l++) {
        CHECK(cudaMalloc(&m.program[l], sizeof(script)));
        CHECK(cudaMalloc(&m.results[l], sizeof results[l]));
        CHECK(cudaMemset(m.results[l], 0, sizeof results[l]));
    }
    CHECK(cudaMalloc(&m.shared_at, BLOCKS * sizeof(uint64_t)));
    CHECK(cudaMemset(m.shared_at, 0, BLOCKS * sizeof(uint64_t)));
    CHECK(cudaMalloc(&m.memory, MEMORY_BYTES));
    CHECK(cudaMalloc(&m.sink, ALL_THREADS * sizeof(unsigned)));
    sim_race_observe(observe, &races_seen);
    sim_unfenced_observe(observe, &unfenced_seen);

    tally t = {};
    for (uint64_t i = 0; i < count; i++)
        try_program(&m, seed + i, verbose, &t);
    printf("%ld programs, seeds %llu to %llu: racy bytes %ld, missed %ld, false alarms %ld, clean bytes %ld, not "
           "explained %ld\n",
           t.programs, (unsigned long long)seed, (unsigned long long)(seed + count - 1), t.racy, t.missed,
           t.false_alarms, t.clean, t.impossible);
    printf("bytes read without the reader's fence %ld, missed %ld, false alarms %ld\n", t.unfenced, t.unfenced_missed,
           t.unfenced_false);
    for (int l = 0; l < LAUNCHES; l++) {
        CHECK(cudaFree(m.program[l]));
        CHECK(cudaFree(m.results[l]));
    }
    CHECK(cudaFree(m.shared_at));
    CHECK(cudaFree(m.memory));
    CHECK(cudaFree(m.sink));
    bool differs = t.missed || t.false_alarms || t.impossible || t.unfenced_missed || t.unfenced_false;
    return differs || !t.racy || !t.unfenced ? 1 : 0;
}
