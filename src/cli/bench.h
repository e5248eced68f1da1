// Shared by the parts of `heddle bench`: bench.c reads the command line, bench_request.c what of the ladders it names,
// bench_rungs.c measures ladders, bench_network*.c whole networks, bench_out_of_core.c and bench_collectives.c their
// own jobs.
#pragma once

#include "bench/bench.h"
#include "cli/cli.h"
#include "cli/device.h"
#include "heddle/op.h"

typedef struct heddle_cli_bench_settings {
    // ladders
    heddle_cli_list shapes;
    const char *against, *html, *op;
    const char *sweep; // NULL: none
    int dtype;         // of heddle_cli_bench_dtypes
    uint64_t seed;
    bool quick;
    // networks
    const char *data, *folder, *model;
    const char *batch, *kernels, *precision; // lists such as "64,1024"; the last two may be NULL: all
    const char *gradients;                   // file for the gradients of one step
    int rounds, data_place;
    double sustained; // seconds after the rounds; 0: none
    int peers;        // heddle_cli_peers
    bool unordered;
    // collectives
    int dist;       // heddle_dist_choice
    double largest; // MB; 0: the default of the device
    // all
    const char *device;
    heddle_cli_json json;
    int threads;
    double seconds; // 0: the default of the job
} heddle_cli_bench_settings;

// Whether PyTorch and JAX are measured as well.
typedef enum heddle_cli_peers {
    HEDDLE_CLI_PEERS_AUTO,
    HEDDLE_CLI_PEERS_NO,
    HEDDLE_CLI_PEERS_ALL,
    HEDDLE_CLI_PEERS_BY_DEVICE, // nothing is said: as AUTO on a GPU, as NO on a CPU
} heddle_cli_peers;

// "all", "f32", "tf32", ...; NULL-terminated.
extern const char *const heddle_cli_bench_dtypes[];

// `what` is an operator, a ladder, OP/RUNG, a file that ends in .cu, or NULL for all operators. Returns the exit code.
int heddle_cli_bench_rungs(const heddle_cli_bench_settings *settings, const char *what);
// `job` is "train" or "infer".
int heddle_cli_bench_network(const heddle_cli_bench_settings *settings, const char *job);

// Measures the rungs of matmul_host at --shape, or at a shape that takes seconds.
int heddle_cli_bench_out_of_core(const heddle_cli_bench_settings *settings);

// Measures collective communication between ranks.
int heddle_cli_bench_collectives(const heddle_cli_bench_settings *settings);

// bench_file.c: the user's own kernel. _device opens the GPU that is to time it, or says what works without one. _op
// finds the operator that the file implements; `name` is what --op says, or NULL. _open, called after it, makes an
// operator that has the file's function as an additional rung.
typedef struct heddle_cli_bench_file heddle_cli_bench_file;
heddle_status heddle_cli_bench_file_device(const char *path, const heddle_cli_bench_settings *settings,
                                           heddle_cli_device *device);
heddle_status heddle_cli_bench_file_op(const char *path, const char *name, const char **found);
heddle_status heddle_cli_bench_file_open(const char *path, heddle_device *device, heddle_cli_bench_file **opened,
                                         const heddle_op **op);
void heddle_cli_bench_file_close(heddle_cli_bench_file *file);

// bench_source.c: writes the page, at its end the source with the counters of the simulated GPU. Where nothing could be
// counted, the page says why. source NULL: the page has none.
typedef struct heddle_cli_bench_source {
    const char *file;  // the user's own; NULL: rungs of heddle's
    const char *what;  // its operator, or OP or OP/RUNG
    const char *dtype; // of the rungs
    uint64_t seed;
} heddle_cli_bench_source;
heddle_status heddle_cli_bench_write_page(const heddle_bench *bench, const heddle_cli_bench_source *source,
                                          const char *path);

// bench_kernel.c: for a file whose function is a kernel. One at a time. *takes_all: the kernel takes every field of the
// shape.
struct heddle_check_job;
heddle_status heddle_cli_bench_kernel_open(const struct heddle_check_job *prepared, const char *path,
                                           heddle_device *device, bool *takes_all);
heddle_status heddle_cli_bench_kernel_launch(const heddle_call *call);
void heddle_cli_bench_kernel_close(void);
