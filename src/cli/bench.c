// `heddle bench`: how fast rungs, or whole networks, are on this machine. This file is the command line.

#include "cli/bench.h"

#include <stdio.h>
#include <string.h>

#include "bench/rate.h"
#include "cli/json.h"
#include "dist/dist.h"
#include "heddle/op.h"
#include "heddle/train.h"

static const char *const peers[] = {"auto", "no", "all", NULL};

#define PLACE(field) offsetof(heddle_cli_bench_settings, field)

static const heddle_cli_option options[] = {
    {"shape", HEDDLE_CLI_LIST, PLACE(shapes), "SHAPE", NULL,
     "\"m=1024 n=1024 k=64\"; several times, or several with ; between; the operator's own unless told", 0, 0, NULL},
    {"dtype", HEDDLE_CLI_CHOICE, PLACE(dtype), "TYPE", "all", "only rungs that compute in this type", 0, 0,
     heddle_cli_bench_dtypes},
    {"device", HEDDLE_CLI_TEXT, PLACE(device), "NAME", NULL,
     "cuda, cpu, or for rungs and out-of-core sim, which checks and has no time; cuda where there is a GPU, else cpu; "
     "collectives: cpu unless told or --dist nccl",
     0, 0, NULL},
    {"against", HEDDLE_CLI_TEXT, PLACE(against), "RUNG", NULL, "compare with this rung instead of the vendor's", 0, 0,
     NULL},
    {"op", HEDDLE_CLI_TEXT, PLACE(op), "NAME", NULL, "the operator that FILE.cu computes", 0, 0, NULL},
    HEDDLE_CLI_JSON_OPTION(PLACE(json)),
    {"html", HEDDLE_CLI_TEXT, PLACE(html), "FILE", NULL, "write a page with the ladders and a roofline plot", 0, 0,
     NULL},
    {"seed", HEDDLE_CLI_SEED, PLACE(seed), "N", "1", "of the inputs; of the run that --gradients begins", 0, 0, NULL},
    {"seconds", HEDDLE_CLI_NUMBER, PLACE(seconds), "S", NULL,
     "time for a rung, 0.5 unless told; length of a round: of train and infer 1 on cpu and 0.2 on cuda, of collectives "
     "0.01",
     0.001, 3600, NULL},
    {"quick", HEDDLE_CLI_FLAG, PLACE(quick), NULL, NULL, "a tenth of the time, one shape an operator", 0, 0, NULL},
    {"threads", HEDDLE_CLI_INT, PLACE(threads), "N", "0", "CPU threads; 0: one a core", 0, 1024, NULL},
    {"batch", HEDDLE_CLI_TEXT, PLACE(batch), "N,N", "64", "train, infer: images a step, or a list of sizes", 0, 0,
     NULL},
    {"kernels", HEDDLE_CLI_TEXT, PLACE(kernels), "PART,PART", NULL,
     "train, infer: which parts of the ladders: naive, tuned, vendor, fused; all unless told", 0, 0, NULL},
    {"precision", HEDDLE_CLI_TEXT, PLACE(precision), "TYPE,TYPE", NULL,
     "train, infer: fp32, tf32x3, tf32, fp16, bf16 (for infer the last two are as tf32); unless told all of them with "
     "fused kernels on a GPU, else fp32",
     0, 0, NULL},
    {"data-place", HEDDLE_CLI_CHOICE, PLACE(data_place), "PLACE", "auto",
     "train: where a GPU takes the images from, as in `heddle train`", 0, 0, heddle_data_place_names},
    {"unordered", HEDDLE_CLI_FLAG, PLACE(unordered), NULL, NULL,
     "train, infer: also rungs that are not the same bits every run", 0, 0, NULL},
    {"peers", HEDDLE_CLI_CHOICE, PLACE(peers), "WHICH", "auto",
     "train on cuda: PyTorch and JAX beside it, in the ways that are fast as a rule, in none, or in all", 0, 0, peers},
    {"gradients", HEDDLE_CLI_TEXT, PLACE(gradients), "FILE", NULL,
     "train: time nothing, and write the first step's batch, parameters and gradients as safetensors", 0, 0, NULL},
    {"model", HEDDLE_CLI_TEXT, PLACE(model), "NAME|FILE", "cnn", "train, infer: cnn, mlp, or a model file in JSON", 0,
     0, NULL},
    {"data", HEDDLE_CLI_TEXT, PLACE(data), "NAME|DIR", NULL,
     "train, infer: images to measure on; synth, some thousands, unless told", 0, 0, NULL},
    {"folder", HEDDLE_CLI_TEXT, PLACE(folder), "DIR", NULL, "train, infer: look for named datasets here first", 0, 0,
     NULL},
    {"dist", HEDDLE_CLI_CHOICE, PLACE(dist), "HOW", "auto",
     "collectives: between the processes that mpirun or srun started over MPI, between GPUs over NCCL", 0, 0,
     heddle_dist_choice_names},
    {"largest", HEDDLE_CLI_NUMBER, PLACE(largest), "MB", NULL,
     "collectives: the largest size; 64 on cpu, 256 on cuda unless told", 1e-3, 4096, NULL},
    {"rounds", HEDDLE_CLI_INT, PLACE(rounds), "N", "5", "train, infer: rounds; the median is shown",
     HEDDLE_RATE_MIN_ROUNDS, HEDDLE_RATE_MAX_ROUNDS, NULL},
    {"sustained", HEDDLE_CLI_NUMBER, PLACE(sustained), "S", NULL,
     "train, infer: go on for S seconds after the rounds, and show the mean of their last half too: a GPU that reaches "
     "its power limit becomes slower in seconds",
     0.001, 3600, NULL},
};

static const char *const of_ladders[] = {"shape", "dtype", "against", "html", "quick", "op", NULL};
static const char *const of_networks[] = {"batch",  "kernels",   "precision", "data-place", "unordered",
                                          "peers",  "gradients", "model",     "data",       "folder",
                                          "rounds", "sustained", NULL};
static const char *const not_infer[] = {"data-place", "peers", "gradients", "seed", NULL};
static const char *const not_out_of_core[] = {"dtype", "against", "html", "quick", "op", "seconds", NULL};
static const char *const of_collectives[] = {"dist", "largest", NULL};
static const char *const not_collectives[] = {"seed", "threads", NULL}; // ranks share the cores out

// The first option that is given and among `names`; NULL: none.
static const char *given(const heddle_cli_arguments *arguments, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (heddle_cli_given(&heddle_command_bench, arguments, names[i]))
            return names[i];
    return NULL;
}

// Refuses the first option that is given and does not go with the job, which is NULL where there is none of that name.
static bool refuse(const heddle_cli_arguments *arguments, const char *const *names, const char *job, int *exit_code)
{
    const char *foreign = job ? given(arguments, names) : NULL;
    if (foreign)
        *exit_code = heddle_cli_usage(&heddle_command_bench, "--%s does not go with `bench %s`", foreign, job);
    return foreign != NULL;
}

static int run_command(int argc, char **argv)
{
    heddle_cli_bench_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_bench, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    const char *what = arguments.count ? arguments.items[0] : NULL;
    bool network = what && (strcmp(what, "train") == 0 || strcmp(what, "infer") == 0);
    bool collectives = what && strcmp(what, "collectives") == 0;
    bool out_of_core = what && strcmp(what, "out-of-core") == 0;
    bool infer = what && strcmp(what, "infer") == 0;
    if (refuse(&arguments, not_out_of_core, out_of_core ? what : NULL, &exit_code) ||
        refuse(&arguments, not_infer, infer ? what : NULL, &exit_code) ||
        refuse(&arguments, not_collectives, collectives ? what : NULL, &exit_code))
        return exit_code;
    const char *foreign = network || collectives ? given(&arguments, of_ladders) : NULL;
    if (foreign)
        return heddle_cli_usage(&heddle_command_bench, "--%s goes with operators, not with %s", foreign,
                                network ? "train and infer" : what);
    foreign = network ? NULL : given(&arguments, of_networks);
    if (foreign)
        return heddle_cli_usage(&heddle_command_bench, "--%s goes with `bench train` and `bench infer`", foreign);
    foreign = collectives ? NULL : given(&arguments, of_collectives);
    if (foreign)
        return heddle_cli_usage(&heddle_command_bench, "--%s goes with `bench collectives`", foreign);
    if (collectives)
        return heddle_cli_bench_collectives(&settings);
    if (out_of_core)
        return heddle_cli_bench_out_of_core(&settings);
    return network ? heddle_cli_bench_network(&settings, what) : heddle_cli_bench_rungs(&settings, what);
}

// What help says of the topics, each on its own page and all on the command's.
#define ROAD "It shows the whole road in one table, from the CPU or the first kernel to the fused step"
#define TRAINING                                                                                                       \
    "`train` runs the trainer itself: batch load, forward, backward and update count. " ROAD ", and on a GPU PyTorch " \
    "and JAX beside it where they are installed. A training run that has not learnt gets no number: the loss of cnn "  \
    "and mlp on mnist, fashion and synth has to be below 1.5 at the end, where guessing has 2.3 (after 100 steps of "  \
    "cnn or 300 of mlp, and 4096 images, in batches of 8 or more)."
#define INFERENCE                                                                                                      \
    "`infer` runs a network with the parameters it starts with: batch load, forward and the probabilities' way back "  \
    "to the host count."
#define OUT_OF_CORE                                                                                                    \
    "`out-of-core` multiplies matrices in host memory that are too large to hold twice (--shape \"m= n= k= "           \
    "memory=KiB\"), and shows how near matmul_host's rungs come to what the link and the arithmetic allow."
#define COLLECTIVES "`collectives` measures what exchanges between ranks cost, over MPI or NCCL, as nccl-tests does."

static const heddle_cli_topic topics[] = {
    {"train",
     "measure how fast a whole network trains",
     TRAINING,
     "heddle bench train --batch 64,1024 --json=training.json",
     {of_ladders, of_collectives, NULL}},
    {"infer",
     "measure how fast a whole network predicts",
     INFERENCE " " ROAD ".",
     "heddle bench infer --batch 1,256",
     {of_ladders, of_collectives, not_infer, NULL}},
    {"out-of-core",
     "measure products of matrices that do not fit on the device",
     OUT_OF_CORE,
     "heddle bench out-of-core --shape \"m=49152 n=49152 k=16384\"",
     {not_out_of_core, of_networks, of_collectives, NULL}},
    {"collectives",
     "measure exchanges between ranks",
     COLLECTIVES,
     "mpirun -n 4 heddle bench collectives",
     {of_ladders, of_networks, not_collectives, NULL}},
};

const heddle_cli_command heddle_command_bench = {
    .name = "bench",
    .summary =
        "measure ladders against the vendor's library and the hardware, whole networks, or exchanges between ranks",
    .arguments = "[OP[/RUNG]|FILE.cu|train|infer|out-of-core|collectives]",
    .most_arguments = 1,
    .description =
        "Checks every rung of an operator or a ladder against its float64 reference, times it with a cold cache, and "
        "shows time, rate, share of the device's roofline and ratio to the vendor's rung; without a name every "
        "operator at its first shape. A rung that is wrong gets no number, and the command exits with 1. FILE.cu is a "
        "kernel of your own, as `heddle check FILE.cu --op NAME` takes it: compiled by nvcc, or by NVRTC where it has "
        "no host code, it stands in the table as `yours`. " TRAINING " " INFERENCE " " OUT_OF_CORE " " COLLECTIVES,
    .example = "heddle bench matmul\nheddle bench matmul_forward --shape \"m=4096 n=4096 k=4096\" --json=results.json\n"
               "heddle bench transpose/03_padded_tiles --against 01_naive\nheddle bench my_matmul.cu --op matmul\n"
               "heddle bench train --batch 64,1024 --json=training.json\n"
               "heddle bench out-of-core --shape \"m=49152 n=49152 k=16384\"\nmpirun -n 4 heddle bench collectives",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
    .topics = topics,
    .topic_count = sizeof topics / sizeof *topics,
};
