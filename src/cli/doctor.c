// `heddle doctor`: says for each job whether this machine can do it, and how to get what is missing.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/place.h"
#include "base/text.h"
#include "check/sandbox.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/peers.h"
#include "device/device.h"
#include "device/driver.h"
#include "device/module.h"
#include "dist/dist.h"
#include "heddle/data.h"
#include "heddle/device.h"
#include "sim/build/compiler.h"
#include "web/assets.h"

enum { LINE_SIZE = 512, PATH_SIZE = 1024 };

typedef enum job_state { JOB_OK, JOB_LIMITED, JOB_MISSING } job_state;
static const char *const state_names[] = {"ok", "limited", "missing"};

typedef struct job_report job_report;

struct job_report {
    const char *name;
    void (*examine)(job_report *job);
    job_state state;
    char detail[LINE_SIZE]; // what was found
    char advice[LINE_SIZE]; // what to do; empty if nothing is missing
};

typedef struct doctor_settings {
    heddle_cli_json json;
} doctor_settings;

static const heddle_cli_option options[] = {
    HEDDLE_CLI_JSON_OPTION(offsetof(doctor_settings, json)),
};

// --- what is here ----------------------------------------------------------------------------------------------------

// The first line that a command prints, without its newline; false if it fails or prints nothing.
static bool first_line(const char *command, char *line, size_t size)
{
    signal(SIGXFSZ, SIG_DFL); // main.c ignores it, and ignoring would survive exec
    FILE *pipe = popen(command, "r");
    signal(SIGXFSZ, SIG_IGN);
    if (pipe == NULL)
        return false;
    bool got = fgets(line, (int)size, pipe) != NULL;
    got = pclose(pipe) == 0 && got;
    if (got)
        line[strcspn(line, "\n")] = '\0';
    return got;
}

static bool open_device(const char *name, heddle_device_info *info)
{
    heddle_device *device;
    if (heddle_device_open(name, 0, &device) != HEDDLE_OK)
        return false;
    heddle_status status = heddle_device_describe(device, info);
    heddle_device_close(device);
    return status == HEDDLE_OK;
}

// Records what a job lacks and how to get it.
static void set_lack(job_report *job, job_state state, const char *detail, const char *advice)
{
    job->state = state;
    snprintf(job->detail, sizeof job->detail, "%s", detail);
    snprintf(job->advice, sizeof job->advice, "%s", advice);
}

// --- the jobs --------------------------------------------------------------------------------------------------------

static void examine_training(job_report *job)
{
    heddle_device_info info;
    if (!open_device("cpu", &info)) {
        set_lack(job, JOB_MISSING, "the cpu device cannot be opened", heddle_last_error());
        return;
    }
    const char *data = heddle_dataset_default(NULL);
    bool only_drawn = strcmp(data, "synth") == 0;
    int used = snprintf(job->detail, sizeof job->detail, "%s, %d cores, %s; dataset %s", info.name, info.processors,
                        info.instructions, data);
#ifdef HEDDLE_HAVE_OPENBLAS
    snprintf(job->detail + used, sizeof job->detail - (size_t)used, "; OpenBLAS");
#else
    snprintf(job->detail + used, sizeof job->detail - (size_t)used, "; no OpenBLAS");
    job->state = JOB_LIMITED;
    snprintf(job->advice, sizeof job->advice, "linear layers are slower: apt install libopenblas-dev, then rebuild");
#endif
    if (only_drawn && job->state == JOB_OK) {
        job->state = JOB_LIMITED;
        snprintf(job->advice, sizeof job->advice,
                 "only generated digits: apt install dataset-fashion-mnist, or `heddle data get mnist`");
    }
}

static void examine_fetching(job_report *job)
{
#if defined(HEDDLE_HAVE_CURL) && defined(HEDDLE_HAVE_CRYPTO)
    char folder[PATH_SIZE];
    if (heddle_data_folder(folder, sizeof folder) == HEDDLE_OK) {
        snprintf(job->detail, sizeof job->detail, "libcurl, libcrypto; into %.400s", folder);
        return;
    }
    set_lack(job, JOB_LIMITED, "libcurl, libcrypto; no data folder",
             "set HOME or XDG_DATA_HOME, or use `heddle data get --to DIR`");
#else
    set_lack(job, JOB_MISSING, "built without libcurl or libcrypto",
             "apt install libcurl4-openssl-dev libssl-dev, then rebuild");
#endif
}

static void examine_pictures(job_report *job)
{
#if defined HEDDLE_HAVE_PNG && defined HEDDLE_HAVE_JPEG
    snprintf(job->detail, sizeof job->detail, "libpng, libjpeg");
#elif defined HEDDLE_HAVE_PNG
    set_lack(job, JOB_LIMITED, "libpng; built without libjpeg", "apt install libjpeg-dev, then rebuild");
#elif defined HEDDLE_HAVE_JPEG
    set_lack(job, JOB_LIMITED, "libjpeg; built without libpng", "apt install libpng-dev, then rebuild");
#else
    set_lack(job, JOB_MISSING, "built without libpng and libjpeg",
             "apt install libpng-dev libjpeg-dev, then rebuild; predict --index works without them");
#endif
}

static void examine_pages(job_report *job)
{
#if HEDDLE_HAVE_MICROHTTPD && HEDDLE_HAVE_CMARK
    bool editor = heddle_web_asset_find("codemirror/lib/codemirror.js") != NULL;
    if (editor)
        snprintf(job->detail, sizeof job->detail, "`heddle learn --web`: libmicrohttpd, libcmark-gfm, CodeMirror");
    else
        set_lack(job, JOB_LIMITED, "`heddle learn --web`: libmicrohttpd, libcmark-gfm, a plain editor",
                 "apt install libjs-codemirror, then rebuild");
#else
    set_lack(job, JOB_MISSING, "`heddle learn --web`: built without libmicrohttpd or libcmark-gfm",
             "apt install libmicrohttpd-dev libcmark-gfm-dev libcmark-gfm-extensions-dev, then rebuild");
#endif
}

static void examine_toolkit(job_report *job)
{
    char path[HEDDLE_PLACE_SIZE];
    if (heddle_find_nvcc(path))
        snprintf(job->detail, sizeof job->detail, "%.400s", path);
    else
        set_lack(job, JOB_MISSING, "no CUDA toolkit: nvcc is neither on PATH nor in /usr/local/cuda/bin",
                 "apt install nvidia-cuda-toolkit, or NVIDIA's packages");
}

// Opens a device that is a module; on failure the advice is the error.
static bool examine_module(const char *name, const char *detail, job_report *job)
{
    heddle_device_info info;
    bool there = open_device(name, &info);
    if (there)
        snprintf(job->detail, sizeof job->detail, "%s, %s", info.name, info.instructions);
    else
        set_lack(job, JOB_MISSING, detail, heddle_last_error());
    return there;
}

static void examine_simulator(job_report *job)
{
    examine_module("sim", "--device sim, heddle's own kernels on the simulated GPU; `heddle check` works without it",
                   job);
}

static void examine_checking(job_report *job)
{
    sim_compiler compiler;
    if (sim_compiler_find(&compiler, NULL)) {
        const char *sandbox = heddle_sandbox_name();
        bool contained = strcmp(sandbox, "none") != 0;
        snprintf(job->detail, sizeof job->detail, "`heddle check`, by %.350s %d; programs are %s%s%s", compiler.path,
                 compiler.version, contained ? "contained by " : "not contained: the kernel has no Landlock",
                 contained ? sandbox : "",
                 heddle_sandbox_contains() ? "" : "; `apt install bubblewrap` limits where they can write");
#ifndef HEDDLE_HAVE_LIBDW
        job->state = JOB_LIMITED;
        snprintf(job->advice, sizeof job->advice,
                 "findings have lines, but columns only where one access fits: apt install libdw-dev, build again");
#endif
        return;
    }
    set_lack(job, JOB_MISSING, "`heddle check` needs a C++ compiler; none is on PATH",
             "apt install g++, version 10 or later, or clang, 14 or later");
}

// The vendor's libraries are for comparison: heddle's own rungs run without them.
static void examine_libraries(job_report *job)
{
    heddle_device *device;
    if (heddle_device_open("cuda", 0, &device) != HEDDLE_OK)
        return;
    heddle_device_missing(device, job->advice, sizeof job->advice);
    heddle_device_close(device);
    for (char *end = strchr(job->advice, '\n'); end != NULL; end = strchr(end, '\n'))
        *end = ';';
    if (job->advice[0] != '\0')
        job->state = JOB_LIMITED;
}

static void examine_gpu(job_report *job)
{
    if (examine_module("cuda", heddle_nvidia_driver_is_loaded() ? "NVIDIA driver loaded" : "no NVIDIA driver is loaded",
                       job))
        examine_libraries(job);
}

// MPI is for all devices, NCCL only for GPUs: without a GPU it is not mentioned.
static void examine_ranks(job_report *job)
{
    char mpi[LINE_SIZE / 4], nccl[LINE_SIZE / 4], path[HEDDLE_PLACE_SIZE];
    heddle_device_info info;
    if (heddle_dist_describe("mpi", mpi, sizeof mpi) != HEDDLE_OK) {
        set_lack(job, JOB_MISSING, "no MPI: training uses one process", heddle_last_error());
        return;
    }
    int used = snprintf(job->detail, sizeof job->detail, "%s", mpi);
    if (!heddle_find_program("mpirun", "/usr/bin", path) && !heddle_find_program("srun", "/usr/bin", path)) {
        job->state = JOB_LIMITED;
        snprintf(job->advice, sizeof job->advice, "neither mpirun nor srun is on PATH: apt install openmpi-bin");
    }
    if (!open_device("cuda", &info))
        return;
    if (heddle_dist_describe("nccl", nccl, sizeof nccl) == HEDDLE_OK) {
        snprintf(job->detail + used, sizeof job->detail - (size_t)used, "; %s", nccl);
    } else {
        job->state = JOB_LIMITED;
        snprintf(job->advice, sizeof job->advice, "GPUs communicate over MPI, through the host: %.400s",
                 heddle_last_error());
    }
}

static void examine_tracing(job_report *job)
{
    char path[PATH_SIZE];
    heddle_device_info info;
    bool gpu = open_device("cuda", &info), module = heddle_module_find("libheddle-cupti.so", path, sizeof path);
    job->state = gpu && module ? JOB_OK : JOB_MISSING;
    if (module) {
        snprintf(job->detail, sizeof job->detail, "`heddle trace`, by CUPTI%s", gpu ? "" : ", but there is no GPU");
        snprintf(job->advice, sizeof job->advice, "%s", gpu ? "" : "see \"run on a GPU\"");
        return;
    }
    snprintf(job->detail, sizeof job->detail, "`heddle trace` needs CUPTI; heddle was built without it");
    snprintf(job->advice, sizeof job->advice, "rebuild where cupti.h and libcupti of the CUDA toolkit are installed");
}

// Whether the driver lets only root read the hardware counters, which ncu reports as ERR_NVGPUCTRPERM.
static bool counters_need_root(void)
{
    char line[LINE_SIZE];
    return geteuid() != 0 &&
           first_line("grep -s 'RmProfilingAdminOnly: 1' /proc/driver/nvidia/params", line, sizeof line);
}

// NVIDIA's own tools, which come with the toolkit.
static void examine_tools(job_report *job)
{
    static const char *const tools[] = {"nsys", "ncu", "compute-sanitizer", "cuda-gdb"};
    enum { TOOLS = sizeof tools / sizeof *tools };
    char path[HEDDLE_PLACE_SIZE], here[LINE_SIZE / 4] = "", lacking[LINE_SIZE / 4] = "";
    for (int i = 0; i < TOOLS; i++) {
        char *list = heddle_find_program(tools[i], "/usr/local/cuda/bin", path) ? here : lacking;
        size_t used = strlen(list);
        snprintf(list + used, LINE_SIZE / 4 - used, "%s%s", used > 0 ? ", " : "", tools[i]);
    }
    job->state = lacking[0] == '\0' ? JOB_OK : here[0] == '\0' ? JOB_MISSING : JOB_LIMITED;
    snprintf(job->detail, sizeof job->detail, "%s", here[0] != '\0' ? here : "none of NVIDIA's tools");
    if (lacking[0] != '\0')
        snprintf(job->advice, sizeof job->advice,
                 "not found: %s; they come with the CUDA toolkit. `heddle check` needs none of them", lacking);
    if (counters_need_root())
        set_lack(job, JOB_LIMITED, here,
                 "ncu may read the counters only as root: load the nvidia module with "
                 "NVreg_RestrictProfilingToAdminUsers=0, or run ncu with sudo");
}

static void examine_fftw(job_report *job)
{
#ifdef HEDDLE_HAVE_FFTW
    snprintf(job->detail, sizeof job->detail, "FFTW, rung cpu_fftw of fft, rfft and fft2d");
#else
    set_lack(job, JOB_MISSING, "built without FFTW: the CPU ladder of fft ends with cpu_lanes",
             "apt install libfftw3-dev, then rebuild");
#endif
}

// "torch 2.15.0"; false: that Python does not have the module.
static bool find_python_module(const char *name, char *text, size_t size)
{
    // Reading the version from the package's metadata takes milliseconds; importing torch takes seconds.
    char command[2 * PATH_SIZE], python[PATH_SIZE], version[LINE_SIZE];
    snprintf(command, sizeof command,
             "%s -c 'from importlib.metadata import version; print(version(\"%s\"))' 2>/dev/null",
             heddle_text_quote(heddle_cli_peers_python(), python, sizeof python), name);
    const bool found = first_line(command, version, sizeof version);
    snprintf(text, size, "%s%s%.80s", name, found ? " " : "", found ? version : "");
    return found;
}

// What `heddle bench train --peers` needs: heddle's scripts, and a Python with both frameworks.
static void examine_peers(job_report *job)
{
    static const char *const modules[] = {"torch", "jax"};
    enum { MODULES = sizeof modules / sizeof *modules };
    char here[LINE_SIZE / 2] = "", lacking[LINE_SIZE / 8] = "", text[LINE_SIZE / 4], script[HEDDLE_PLACE_SIZE];
    const char *python = heddle_cli_peers_python();
    const bool scripts = heddle_cli_find_peers(script);
    for (int i = 0; i < MODULES; i++) {
        if (find_python_module(modules[i], text, sizeof text))
            snprintf(here + strlen(here), sizeof here - strlen(here), "%s%s", here[0] ? ", " : "", text);
        else
            snprintf(lacking + strlen(lacking), sizeof lacking - strlen(lacking), " %s", modules[i]);
    }
    snprintf(job->detail, sizeof job->detail, "%.64s: %s; %s", python, here[0] ? here : "neither torch nor jax",
             scripts ? "heddle's scripts are here" : "no scripts");
    job->state = !scripts || !here[0] ? JOB_MISSING : lacking[0] ? JOB_LIMITED : JOB_OK;
    if (!scripts)
        snprintf(job->advice, sizeof job->advice,
                 "%.300s is missing: set HEDDLE_PEERS to the folder peers of heddle's source", script);
    else if (lacking[0])
        snprintf(job->advice, sizeof job->advice,
                 "for `heddle bench train --peers auto`: %.64s -m pip install%s, or set PEERS_PYTHON to a Python that "
                 "has torch and jax",
                 python, lacking);
}

// --- telling ---------------------------------------------------------------------------------------------------------

static cJSON *to_json(const job_report *jobs, int count)
{
    cJSON *json = cJSON_CreateObject(), *all = cJSON_AddArrayToObject(json, "jobs");
    for (int i = 0; i < count; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "job", jobs[i].name);
        cJSON_AddStringToObject(one, "state", state_names[jobs[i].state]);
        cJSON_AddStringToObject(one, "detail", jobs[i].detail);
        cJSON_AddStringToObject(one, "advice", jobs[i].advice);
        cJSON_AddItemToArray(all, one);
    }
    return json;
}

static void print_lines(const job_report *jobs, int count)
{
    const int state_width = 7, name_width = 26, indent = state_width + 2 + name_width;
    for (int i = 0; i < count; i++) {
        printf("%-*s  %-*s", state_width, state_names[jobs[i].state], name_width, jobs[i].name);
        heddle_cli_print_wrapped(stdout, jobs[i].detail, indent, indent);
        if (jobs[i].advice[0] != '\0') {
            printf("%*s", indent, "");
            heddle_cli_print_wrapped(stdout, jobs[i].advice, indent, indent);
        }
    }
}

static int run_command(int argc, char **argv)
{
    doctor_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_doctor, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    job_report jobs[] = {
        {.name = "train on the CPU", .examine = examine_training},
        {.name = "download datasets", .examine = examine_fetching},
        {.name = "read PNG and JPEG files", .examine = examine_pictures},
        {.name = "compile CUDA kernels", .examine = examine_toolkit},
        {.name = "check CUDA programs", .examine = examine_checking},
        {.name = "learn in a browser", .examine = examine_pages},
        {.name = "simulate heddle's kernels", .examine = examine_simulator},
        {.name = "run on a GPU", .examine = examine_gpu},
        {.name = "trace a GPU program", .examine = examine_tracing},
        {.name = "profile and debug", .examine = examine_tools},
        {.name = "train with several ranks", .examine = examine_ranks},
        {.name = "compare with FFTW", .examine = examine_fftw},
        {.name = "compare with PyTorch, JAX", .examine = examine_peers},
    };
    const int count = sizeof jobs / sizeof *jobs;
    for (int i = 0; i < count; i++)
        jobs[i].examine(&jobs[i]);
    if (!settings.json.print)
        print_lines(jobs, count);
    exit_code = heddle_cli_json_exit(&settings.json, to_json(jobs, count));
    return jobs[0].state == JOB_MISSING ? HEDDLE_EXIT_MISSING : exit_code;
}

const heddle_cli_command heddle_command_doctor = {
    .name = "doctor",
    .summary = "say what this machine can do, what it lacks, and how to get it",
    .description = "The exit code is 0 if training on the CPU works, else 3.",
    .example = "heddle doctor",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
