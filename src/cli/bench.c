// `heddle bench`: measures rungs and whole networks. This file reads the command line.

#include "cli/bench.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "bench/rate.h"
#include "cli/dataset.h"
#include "cli/json.h"
#include "dist/dist.h"
#include "heddle/op.h"
#include "heddle/train.h"

enum { QUOTED_SIZE = 512 };

static const char *const peers[] = {"auto", "no", "all", NULL};

#define PLACE(field) offsetof(heddle_cli_bench_settings, field)

static const heddle_cli_option options[] = {
    {"shape", HEDDLE_CLI_LIST, PLACE(shapes), "SHAPE", NULL,
     "shape to measure, such as \"m=1024 n=1024 k=64\"; repeat the option, or separate shapes with ';'; default: the "
     "operator's benchmark shapes",
     0, 0, NULL},
    {"sweep", HEDDLE_CLI_TEXT, PLACE(sweep), "RANGE", NULL,
     "measure a range of shapes, and show how time and roofline change: FIELD=FROM:TO[:xFACTOR|:+STEP], "
     "such as m=128:8192:x4, or m,n,k=256:4096 for equal fields; the other fields are those of --shape; default step: "
     "x2",
     0, 0, NULL},
    {"dtype", HEDDLE_CLI_CHOICE, PLACE(dtype), "TYPE", "all", "measure only implementations that compute in this type",
     0, 0, heddle_cli_bench_dtypes},
    {"device", HEDDLE_CLI_TEXT, PLACE(device), "NAME", NULL,
     "cpu, cuda, cuda:1 or sim (correctness only, no timings); default: cuda if a GPU is available, else cpu", 0, 0,
     NULL},
    {"against", HEDDLE_CLI_TEXT, PLACE(against), "RUNG", NULL,
     "implementation (rung) to compare with; default: the vendor library's", 0, 0, NULL},
    {"op", HEDDLE_CLI_TEXT, PLACE(op), "NAME", NULL, "operator that FILE.cu implements", 0, 0, NULL},
    HEDDLE_CLI_JSON_OPTION(PLACE(json)),
    {"html", HEDDLE_CLI_TEXT, PLACE(html), "FILE", NULL,
     "write a web page: tables, a roofline plot, and CUDA source with the counters of the simulated GPU beside its "
     "lines",
     0, 0, NULL},
    {"seed", HEDDLE_CLI_SEED, PLACE(seed), "N", "1", "seed of the inputs; with --gradients, of the training run", 0, 0,
     NULL},
    {"seconds", HEDDLE_CLI_NUMBER, PLACE(seconds), "S", NULL,
     "time to measure each implementation (default: 0.5); train, infer: length of a round (default: 1 on cpu, 0.2 on "
     "cuda); collectives: length of a round (default: 0.01)",
     0.001, 3600, NULL},
    {"quick", HEDDLE_CLI_FLAG, PLACE(quick), NULL, NULL, "measure one shape per operator, for a tenth of the time", 0,
     0, NULL},
    {"threads", HEDDLE_CLI_INT, PLACE(threads), "N", "0", "CPU threads; 0: one per core", 0, 1024, NULL},
    {"batch", HEDDLE_CLI_TEXT, PLACE(batch), "N,N", "64", "train, infer: images per step, or a list such as 64,1024", 0,
     0, NULL},
    {"kernels", HEDDLE_CLI_TEXT, PLACE(kernels), "NAME,NAME", NULL,
     "train, infer: kernels to measure, as in `heddle train`: naive, tuned, vendor, fused; default: all", 0, 0, NULL},
    {"precision", HEDDLE_CLI_TEXT, PLACE(precision), "TYPE,TYPE", NULL,
     "train, infer: precisions to measure, as in `heddle train`: fp32, tf32x3, tf32, fp16, bf16, and int8 for infer; "
     "default: fp32 and, for fused kernels on a GPU, all others except int8",
     0, 0, NULL},
    {"data-place", HEDDLE_CLI_CHOICE, PLACE(data_place), "PLACE", "auto",
     "train: keep the images in GPU memory or stream them, as in `heddle train`", 0, 0, heddle_data_place_names},
    {"unordered", HEDDLE_CLI_FLAG, PLACE(unordered), NULL, NULL,
     "train, infer: also use kernels whose results differ in the last bits from run to run", 0, 0, NULL},
    {"peers", HEDDLE_CLI_CHOICE, PLACE(peers), "WHICH", NULL,
     "train, infer: also measure the same network in PyTorch and JAX: in the modes that are usually fastest (auto), in "
     "all modes (all), or not at all (no); default: auto on cuda, no on cpu",
     0, 0, peers},
    {"gradients", HEDDLE_CLI_TEXT, PLACE(gradients), "FILE", NULL,
     "train: measure nothing; write the batch, parameters and gradients of the first step as safetensors; needs one "
     "--batch, one of --kernels and one --precision",
     0, 0, NULL},
    {"model", HEDDLE_CLI_TEXT, PLACE(model), "NAME|FILE", "cnn",
     "train, infer: cnn, mlp, lenet, vgg, resnet, mlp3, wide-cnn, or a model file in JSON; see docs/models.md", 0, 0,
     NULL},
    {"data", HEDDLE_CLI_TEXT, PLACE(data), "NAME|DIR", NULL,
     "train, infer: dataset to measure with; default: generated images (synth) of the size that the model file names",
     0, 0, NULL},
    {"folder", HEDDLE_CLI_TEXT, PLACE(folder), "DIR", NULL, "train, infer: " HEDDLE_CLI_FOLDER_HELP, 0, 0, NULL},
    {"dist", HEDDLE_CLI_CHOICE, PLACE(dist), "HOW", "auto",
     "collectives: library to measure, between the processes that mpirun or srun started; auto: nccl between GPUs, "
     "else mpi",
     0, 0, heddle_dist_choice_names},
    {"largest", HEDDLE_CLI_NUMBER, PLACE(largest), "MB", NULL,
     "collectives: largest message; default: 64 on cpu, 256 on cuda", 1e-3, 4096, NULL},
    {"rounds", HEDDLE_CLI_INT, PLACE(rounds), "N", "5", "train, infer: number of rounds; the median is reported",
     HEDDLE_RATE_MIN_ROUNDS, HEDDLE_RATE_MAX_ROUNDS, NULL},
    {"sustained", HEDDLE_CLI_NUMBER, PLACE(sustained), "S", NULL,
     "train, infer: continue for S seconds after the rounds and report the mean of the second half as well: a GPU at "
     "its power limit slows down within seconds",
     0.001, 3600, NULL},
};

static const char *const of_ladders[] = {"shape", "sweep", "dtype", "against", "html", "quick", "op", NULL};
static const char *const of_networks[] = {"batch",  "kernels",   "precision", "data-place", "unordered",
                                          "peers",  "gradients", "model",     "data",       "folder",
                                          "rounds", "sustained", NULL};
static const char *const not_infer[] = {"data-place", "gradients", "seed", NULL};
static const char *const not_out_of_core[] = {"sweep", "dtype", "against", "html", "quick", "op", "seconds", NULL};
static const char *const of_collectives[] = {"dist", "largest", NULL};
static const char *const not_collectives[] = {"seed", "threads", NULL}; // the cores are divided among the ranks

// The first option that is given and among `names`; NULL: none.
static const char *given(const heddle_cli_arguments *arguments, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (heddle_cli_given(&heddle_command_bench, arguments, names[i]))
            return names[i];
    return NULL;
}

// Refuses the first given option that does not apply to the job. `job` is NULL where the check does not apply.
static bool refuse(const heddle_cli_arguments *arguments, const char *const *names, const char *job, int *exit_code)
{
    const char *foreign = job ? given(arguments, names) : NULL;
    if (foreign)
        *exit_code = heddle_cli_usage(&heddle_command_bench, "--%s does not apply to `bench %s`", foreign, job);
    return foreign != NULL;
}

static int run_command(int argc, char **argv)
{
    heddle_cli_bench_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    char quoted[QUOTED_SIZE];
    if (!heddle_cli_parse(&heddle_command_bench, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    const char *what = arguments.count ? arguments.items[0] : NULL;
    if (what && heddle_text_ends(what, ".json"))
        return heddle_cli_usage(&heddle_command_bench,
                                "%s is no operator; for a model file, use heddle bench train "
                                "--model %s",
                                what, heddle_text_quote(what, quoted, sizeof quoted));
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
        return heddle_cli_usage(
            &heddle_command_bench, "--%s applies to operators, not to %s%s", foreign,
            network ? "train and infer" : what,
            network && strcmp(foreign, "quick") == 0 ? "; for a short run, use --seconds 0.1 --rounds 3" : "");
    foreign = network ? NULL : given(&arguments, of_networks);
    if (foreign)
        return heddle_cli_usage(&heddle_command_bench, "--%s applies only to `bench train` and `bench infer`", foreign);
    foreign = collectives ? NULL : given(&arguments, of_collectives);
    if (foreign)
        return heddle_cli_usage(&heddle_command_bench, "--%s applies only to `bench collectives`", foreign);
    if (!heddle_cli_given(&heddle_command_bench, &arguments, "peers"))
        settings.peers = HEDDLE_CLI_PEERS_BY_DEVICE;
    if (network && arguments.count > 1)
        return heddle_cli_usage(&heddle_command_bench, "unexpected argument '%s'; did you mean --model %s?",
                                arguments.items[1], heddle_text_quote(arguments.items[1], quoted, sizeof quoted));
    if (arguments.count > 1)
        return heddle_cli_usage(&heddle_command_bench, "unexpected argument '%s'", arguments.items[1]);
    if (collectives)
        return heddle_cli_bench_collectives(&settings);
    if (out_of_core)
        return heddle_cli_bench_out_of_core(&settings);
    return network ? heddle_cli_bench_network(&settings, what) : heddle_cli_bench_rungs(&settings, what);
}

// What help says of the topics: each on its own page, and all on the command's.
#define ROAD "One table shows every stage, from the CPU or the first kernel to the fused step"
#define PEERS                                                                                                          \
    "PyTorch and JAX, if python3 or $PEERS_PYTHON has them, are measured on the same network; --peers chooses their "  \
    "modes. Each row "                                                                                                 \
    "is compared with their fastest mode at the same batch size and precision."
#define TRAINING                                                                                                       \
    "`train` measures the trainer itself: loading a batch, forward, backward and update. " ROAD ". " PEERS             \
    " A run that does not learn is not reported. This is checked for cnn and mlp on mnist, fashion and synth: the "    \
    "final loss must be below 1.5, where guessing gives 2.3. The check needs batches of 8 or more, 4096 images, and "  \
    "100 steps of cnn or 300 of mlp."
#define INFERENCE                                                                                                      \
    "`infer` measures prediction with the initial parameters: from images in host memory to probabilities there. On "  \
    "a "                                                                                                               \
    "GPU up to 16 batches are given at a time, and a batch of one image alone."
#define OUT_OF_CORE                                                                                                    \
    "`out-of-core` multiplies matrices in host memory that do not fit on the device (--shape \"m= n= k= "              \
    "memory=KiB\"). It shows how close each implementation comes to the limit of the link and the arithmetic."
#define COLLECTIVES                                                                                                    \
    "`collectives` measures all-reduce, broadcast, all-gather and reduce-scatter between ranks, over MPI or NCCL, as " \
    "nccl-tests does."

#define ROUND       "length of a round; default: "
#define NETWORK     ROUND "1 on cpu, 0.2 on cuda"
#define PRECISIONS  "precisions to measure, as in `heddle train`: fp32, tf32x3, tf32, fp16, bf16"
#define MORE_ON_GPU "default: fp32 and, for fused kernels on a GPU, all others"
static const heddle_cli_topic_help on_train[] = {
    {"device", "cpu, cuda or cuda:1, or with --gradients also sim; default: cuda if a GPU is available, else cpu"},
    {"seed", "with --gradients: seed of the training run"},
    {"seconds", NETWORK},
    {"precision", PRECISIONS "; " MORE_ON_GPU},
    {NULL, NULL},
};
static const heddle_cli_topic_help on_infer[] = {
    {"device", "cpu, cuda or cuda:1; default: cuda if a GPU is available, else cpu"},
    {"seconds", NETWORK},
    {"precision", PRECISIONS ", int8; " MORE_ON_GPU " except int8"},
    {NULL, NULL},
};
static const heddle_cli_topic_help on_out_of_core[] = {
    {"shape", "shape to measure, such as \"m=49152 n=49152 k=16384\"; repeat the option, or separate shapes with ';'; "
              "default: \"m=24576 n=24576 k=24576\""},
    {"seed", "seed of the inputs"},
    {NULL, NULL},
};
static const heddle_cli_topic_help on_collectives[] = {{"seconds", ROUND "0.01"}, {NULL, NULL}};

static const heddle_cli_topic topics[] = {
    {"train",
     "measure how fast a whole network trains",
     TRAINING,
     "heddle bench train --batch 64,1024 --json=training.json",
     {of_ladders, of_collectives, NULL},
     on_train},
    {"infer",
     "measure how fast a whole network predicts",
     INFERENCE " " ROAD ". " PEERS,
     "heddle bench infer --batch 1,256",
     {of_ladders, of_collectives, not_infer, NULL},
     on_infer},
    {"out-of-core",
     "measure matrix products that do not fit on the device",
     OUT_OF_CORE,
     "heddle bench out-of-core --shape \"m=49152 n=49152 k=16384\"",
     {not_out_of_core, of_networks, of_collectives, NULL},
     on_out_of_core},
    {"collectives",
     "measure collective communication between ranks",
     COLLECTIVES,
     "mpirun -n 4 heddle bench collectives",
     {of_ladders, of_networks, not_collectives, NULL},
     on_collectives},
};

const heddle_cli_command heddle_command_bench = {
    .name = "bench",
    .summary = "measure ladders, whole networks or collectives against the vendor's library and the hardware limit",
    .arguments = "[OP[/RUNG]|FILE.cu|train|infer|out-of-core|collectives]",
    .most_arguments = 2, // one more, to say what it was probably meant as
    .description =
        "A ladder is the list of all implementations of one operator, slowest first; a rung is one implementation. "
        "The command checks every rung of OP against a float64 reference and times it with a cold cache. It reports "
        "time, rate, share of the device's roofline, and speed relative to the vendor's library. A rung that gives "
        "wrong results is not timed, and the exit code is 1, unless it is the vendor's. Without OP, every operator is "
        "measured at its first shape.\n\nFILE.cu is your own implementation, as for `heddle check FILE.cu --op NAME`. "
        "It is compiled by "
        "nvcc, or by NVRTC if it has no host code, and listed as `yours`.\n\n" TRAINING "\n\n" INFERENCE
        "\n\n" OUT_OF_CORE "\n\n" COLLECTIVES,
    .example = "heddle bench matmul\nheddle bench matmul_forward --shape \"m=4096 n=4096 k=4096\" --json=results.json\n"
               "heddle bench matmul_bf16 --sweep m=16:4096 --shape \"m=16 n=4096 k=4096\"\n"
               "heddle bench transpose/03_padded_tiles --against 01_naive\nheddle bench my_matmul.cu --op matmul\n"
               "heddle bench train --batch 64,1024 --json=training.json\n"
               "heddle bench out-of-core --shape \"m=49152 n=49152 k=16384\"\nmpirun -n 4 heddle bench collectives",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
    .topics = topics,
    .topic_count = sizeof topics / sizeof *topics,
};
