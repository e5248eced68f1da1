// Measures rungs: checks each against the float64 reference, times it, and says how far it is from the vendor's rung
// and from what the device can do. A number is only given for a result that was checked before and after the timing.
#pragma once

#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "bench/rounds.h"
#include "heddle/op.h"

enum { HEDDLE_BENCH_TEXT = 320, HEDDLE_BENCH_MESSAGE = 1024 };

typedef enum heddle_bench_state {
    HEDDLE_BENCH_RIGHT,     // checked, and timed where the device has a clock
    HEDDLE_BENCH_WRONG,     // an element is not what the reference says
    HEDDLE_BENCH_FAILED,    // the launch or the device failed
    HEDDLE_BENCH_UNCHECKED, // no reference for this shape: no number
    HEDDLE_BENCH_NOT_RUN,   // it does not support the shape, does not fit the device or would take minutes, and was not
                            // asked for by name
} heddle_bench_state;
// "right", "wrong", ..., by heddle_bench_state.
extern const char *const heddle_bench_state_names[];

typedef struct heddle_bench_result {
    const heddle_op *op;
    const heddle_rung *rung;
    char shape[HEDDLE_BENCH_TEXT];
    const char *precision; // "f32", "tf32", "bf16", ...
    heddle_bench_state state;
    char message[HEDDLE_BENCH_MESSAGE]; // what was wrong, or why it was not run
    const char *reason;                 // NOT_RUN: what several rungs have in common; NULL: the message is its own
    heddle_bench_timing timing;         // all 0 on sim, and where the state is not RIGHT
    heddle_cost cost;
    double worst, worst_share; // largest |got - expected|, and as a share of what is allowed

    double ratio; // time of `versus` over this rung's, in the same rounds: above 1 is faster. NAN: not compared
    const char *versus;

    // Set by heddle_bench_conclude; NAN: not known.
    double flops_per_second, bytes_per_second;
    double roofline;   // share of the least time this device could take
    const char *bound; // what the roofline is made of: "memory", "f32 peak", "cublas"; NULL: not known
    bool best_own;     // the fastest of its precision at its shape that is not a vendor's
} heddle_bench_result;

typedef struct heddle_bench_options {
    uint64_t seed;
    double seconds;              // of timing per rung
    double slow;                 // on cpu: a launch that takes longer is timed once, as it is checked; 0: none is
    const char *precision;       // only rungs of this one; NULL: all
    const char *against;         // rung to compare with; NULL: the vendor's
    const char *sweep;           // fields that differ from shape to shape, such as "m,n,k=256:4096"; NULL: none
    volatile sig_atomic_t *stop; // set by a signal: heddle_bench_measure returns HEDDLE_INTERRUPTED; may be NULL
    void (*listener)(void *context,
                     const char *text); // "matmul_forward m=4096 ... 03_shared_tiles: checking"; may be NULL
    // Called with true before a long call that touches no result, and with false after it. While away, the callee may
    // block forever and use the results so far (heddle_bench_abandon). May be NULL.
    void (*away)(void *context, bool away);
    void *listener_context; // of both
} heddle_bench_options;

typedef struct heddle_bench {
    heddle_bench_options options;
    heddle_device *device, *host;
    heddle_stream *stream;
    heddle_bench_timer *timer;              // NULL on sim, which has no timings
    heddle_device_info info;                // clocks as they were before
    double clock_after, memory_clock_after; // right after the last rung was timed
    double copy_bandwidth;                  // bytes per second, read and written; 0 on sim
    time_t began;
    heddle_bench_result *results;
    int count, room;
    int left_out;                     // rungs that are not in this build or cannot run on this GPU
    struct heddle_bench_group *group; // that is being measured; NULL: none
    bool complete;
} heddle_bench;

// Measures the copy bandwidth. The device stays the caller's.
heddle_status heddle_bench_open(heddle_device *device, const heddle_bench_options *options, heddle_bench **made);
void heddle_bench_close(heddle_bench *bench);

// Checks the operator's rungs at a shape, `text` ("m=1024 n=1024 k=1024"), times those that are right in turn, and
// checks them again; `only` alone when it is not NULL, with the rungs it is compared with. A rung that is wrong is a
// result, not a failure of the call; when the call fails there are only results that are final.
heddle_status heddle_bench_measure(heddle_bench *bench, const heddle_op *op, const char *text, const char *only);
// While heddle_bench_measure is away and will not return: keeps only the results that are final.
void heddle_bench_abandon(heddle_bench *bench);
// Figures that need all results: rates, rooflines, which is the best.
void heddle_bench_conclude(heddle_bench *bench);
// Whether a rung was wrong or failed.
bool heddle_bench_found_wrong(const heddle_bench *bench);

// "tf32" for a rung of that arithmetic, else the dtype of the operator's first operand.
const char *heddle_bench_precision(const heddle_op *op, const heddle_rung *rung);
// Whether the rung is there: for this device, in its module, and not too new for the GPU.
bool heddle_bench_has_rung(const heddle_op *op, const heddle_rung *rung, heddle_device_kind device);

// Whether a result has a time: it is right, and the device has a clock.
bool heddle_bench_is_timed(const heddle_bench_result *result);

// The results of one operator at one shape stand together: [*first, *last) is the group that begins at *first.
int heddle_bench_group_end(const heddle_bench *bench, int first);

// One table per shape, slowest first.
heddle_status heddle_bench_show_text(const heddle_bench *bench, int first, int last, FILE *file);
// One table for all shapes of [first, last), which are one operator's: at each value that options.sweep names its
// fastest own rung, or `only` where that is not NULL. What was wrong is in lines above. For a device with timings.
heddle_status heddle_bench_show_sweep(const heddle_bench *bench, int first, int last, const char *only, FILE *file);
// Device, versions and method, in a few lines.
void heddle_bench_show_machine(const heddle_bench *bench, FILE *file);
// One line if the clocks changed while measuring, and one if some times vary a lot.
void heddle_bench_show_doubts(const heddle_bench *bench, FILE *file);
// The document that docs/measuring.md describes; the caller frees it with cJSON_Delete. NULL: no memory.
struct cJSON;
struct cJSON *heddle_bench_json(const heddle_bench *bench);
// What others add to the page: style for its head, and what stands at its end.
typedef struct heddle_bench_more {
    const char *style;
    heddle_status (*print)(void *context, FILE *file);
    void *context;
} heddle_bench_more;
// One self-contained page. more NULL: nothing is added.
heddle_status heddle_bench_show_page(const heddle_bench *bench, const heddle_bench_more *more, FILE *file);
