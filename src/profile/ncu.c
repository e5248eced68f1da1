// Reads ncu's CSV: a line of titles, a line of units, a line per launch. Metrics are told by name, so that columns may
// come in any order and some be missing.

#include "profile/ncu.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/json.h"
#include "base/text.h"

const char *const heddle_ncu_options[] = {
    "--csv",
    "--page",
    "raw",
    "--print-units",
    "base",
    "--kernel-name-base",
    "function",
    "--launch-count",
    "4",
    "--clock-control",
    "none",
    "--section",
    "SpeedOfLight",
    "--section",
    "LaunchStats",
    "--section",
    "Occupancy",
    "--section",
    "WarpStateStats",
    "--metrics",
    "smsp__inst_executed_op_local_ld.sum,smsp__inst_executed_op_local_st.sum",
    NULL,
};

enum { MOST_COLUMNS = 1024, BY_REGISTERS = 0, BY_SHARED, BY_WARPS, BY_BLOCKS, LIMITS };
static const double NANOSECOND = 1e-9;

// --- CSV -------------------------------------------------------------------------------------------------------------

// Cuts a line into cells in place: quotes go, doubled ones become one. Returns how many; *line goes behind the line.
static int cut_line(char **line, char **cells, int most)
{
    char *at = *line;
    int count = 0;
    while (*at && *at != '\n') {
        const bool quoted = *at == '"';
        char *to = at += quoted, *cell = to;
        while (*at && (quoted ? *at != '"' || at[1] == '"' : *at != ',' && *at != '\n')) {
            at += quoted && *at == '"';
            *to++ = *at++;
        }
        if (quoted && *at)
            at++;
        while (*at && *at != ',' && *at != '\n') // what follows a closing quote is none of ncu's
            at++;
        const char next = *at;
        *to = '\0';
        if (count < most)
            cells[count++] = cell;
        if (next == ',')
            at++;
        else if (next == '\n') {
            *line = at + 1;
            return count;
        }
    }
    *line = at + (*at == '\n');
    return count;
}

static int column_of(char *const *titles, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(titles[i], name) == 0)
            return i;
    return -1;
}

// "1,234.5" is 1234.5; text that is not a number is NAN.
static double number_of(const char *text)
{
    char plain[64];
    size_t length = 0;
    for (; *text && length + 1 < sizeof plain; text++)
        if (*text != ',')
            plain[length++] = *text;
    plain[length] = '\0';
    char *end;
    const double value = strtod(plain, &end);
    return length > 0 && *end == '\0' ? value : NAN;
}

// --- one launch ------------------------------------------------------------------------------------------------------

typedef struct table {
    char *titles[MOST_COLUMNS], *cells[MOST_COLUMNS];
    int title_count, count;
} table;

static double metric(const table *of, const char *name)
{
    const int column = column_of(of->titles, of->title_count, name);
    return column < 0 || column >= of->count ? NAN : number_of(of->cells[column]);
}

// The first of two names that is there: they differ between versions.
static double either(const table *of, const char *name, const char *other)
{
    const double value = metric(of, name);
    return isnan(value) ? metric(of, other) : value;
}

static void copy_text(const table *of, const char *name, char *text, size_t size)
{
    const int column = column_of(of->titles, of->title_count, name);
    snprintf(text, size, "%s", column < 0 || column >= of->count ? "" : of->cells[column]);
}

// smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio: "long scoreboard".
static void find_stall(const table *of, heddle_ncu_kernel *kernel)
{
    static const char *const starts[] = {"smsp__average_warps_issue_stalled_",
                                         "smsp__average_warp_latency_issue_stalled_"};
    static const char end[] = ".ratio", more[] = "_per_issue_active";
    kernel->stalled = NAN;
    for (int i = 0; i < of->title_count && i < of->count; i++) {
        const char *name = NULL;
        for (size_t j = 0; j < sizeof starts / sizeof *starts && !name; j++)
            if (strncmp(of->titles[i], starts[j], strlen(starts[j])) == 0)
                name = of->titles[i] + strlen(starts[j]);
        const double value = name && strstr(name, end) ? number_of(of->cells[i]) : NAN;
        if (!name || isnan(value) || strncmp(name, "selected", strlen("selected")) == 0 ||
            (!isnan(kernel->stalled) && value <= kernel->stalled))
            continue;
        kernel->stalled = value;
        const char *stop = strstr(name, more) ? strstr(name, more) : strstr(name, end);
        snprintf(kernel->stall, sizeof kernel->stall, "%.*s", (int)(stop - name), name);
        for (char *at = kernel->stall; *at; at++)
            *at = *at == '_' ? ' ' : *at;
    }
}

static heddle_ncu_kernel kernel_of(const table *of)
{
    heddle_ncu_kernel kernel = {
        .seconds = NANOSECOND * metric(of, "gpu__time_duration.sum"),
        .compute = metric(of, "sm__throughput.avg.pct_of_peak_sustained_elapsed"),
        .memory = metric(of, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"),
        .dram = either(of, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
                       "dram__throughput.avg.pct_of_peak_sustained_elapsed"),
        .l2 = metric(of, "lts__throughput.avg.pct_of_peak_sustained_elapsed"),
        .l1 = metric(of, "l1tex__throughput.avg.pct_of_peak_sustained_active"),
        .registers = metric(of, "launch__registers_per_thread"),
        .shared = metric(of, "launch__shared_mem_per_block"),
        .occupancy = metric(of, "sm__warps_active.avg.pct_of_peak_sustained_active"),
        .theoretical = metric(of, "sm__maximum_warps_per_active_cycle_pct"),
        .limits = {metric(of, "launch__occupancy_limit_registers"), metric(of, "launch__occupancy_limit_shared_mem"),
                   metric(of, "launch__occupancy_limit_warps"), metric(of, "launch__occupancy_limit_blocks")},
        .spills = metric(of, "smsp__inst_executed_op_local_ld.sum") + metric(of, "smsp__inst_executed_op_local_st.sum"),
    };
    copy_text(of, "Kernel Name", kernel.name, sizeof kernel.name);
    copy_text(of, "Grid Size", kernel.grid, sizeof kernel.grid);
    copy_text(of, "Block Size", kernel.block, sizeof kernel.block);
    find_stall(of, &kernel);
    return kernel;
}

// --- reading ---------------------------------------------------------------------------------------------------------

// ncu's own words, and what to do.
static heddle_status nothing_read(const char *text)
{
    const char *error = strstr(text, "==ERROR==");
    if (strstr(text, "ERR_NVGPUCTRPERM"))
        return heddle_fail(HEDDLE_MISSING,
                           "this user may not read the GPU's counters: run it as root, or load the driver with "
                           "NVreg_RestrictProfilingToAdminUsers=0 (https://developer.nvidia.com/ERR_NVGPUCTRPERM)");
    if (strstr(text, "No kernels were profiled"))
        return heddle_fail(HEDDLE_NOT_FOUND, "ncu saw no kernel of that name; `heddle trace -- PROGRAM` lists the "
                                             "kernels of a program");
    if (error) {
        error += strlen("==ERROR==");
        error += strspn(error, " ");
        return heddle_fail(HEDDLE_DEVICE, "ncu: %.*s", (int)strcspn(error, "\n"), error);
    }
    return heddle_fail(HEDDLE_CORRUPT, "ncu printed no table; run it by itself to see what it says");
}

static bool is_launch(const table *of)
{
    const int id = column_of(of->titles, of->title_count, "ID");
    return id >= 0 && id < of->count && isdigit((unsigned char)of->cells[id][0]);
}

heddle_status heddle_ncu_read(const char *text, heddle_ncu_kernel *kernel)
{
    const char *start = strstr(text, "\"ID\"");
    if (!start)
        return nothing_read(text);
    char *copy = strdup(start), *at = copy;
    table *of = copy ? calloc(1, sizeof *of) : NULL;
    if (!of) {
        free(copy);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for what ncu printed");
    }
    bool found = false;
    of->title_count = cut_line(&at, of->titles, MOST_COLUMNS);
    while (*at) {
        of->count = cut_line(&at, of->cells, MOST_COLUMNS);
        if (!is_launch(of)) // the line of units, or what the program printed behind the table
            continue;
        const heddle_ncu_kernel one = kernel_of(of);
        if (!found || one.seconds > kernel->seconds)
            *kernel = one;
        found = true;
    }
    free(of);
    free(copy);
    return found ? HEDDLE_OK : nothing_read(text);
}

// --- what it means ---------------------------------------------------------------------------------------------------

static const char *const limit_names[LIMITS] = {"registers", "shared memory", "warps", "blocks"};

static int tightest(const heddle_ncu_kernel *kernel)
{
    int least = -1;
    for (int i = 0; i < LIMITS; i++)
        if (!isnan(kernel->limits[i]) && (least < 0 || kernel->limits[i] < kernel->limits[least]))
            least = i;
    return least;
}

void heddle_ncu_limit(const heddle_ncu_kernel *kernel, char text[HEDDLE_NCU_PHRASE])
{
    static const double busy = 70, fits = 60; // per cent
    const struct {
        const char *name;
        double value;
    } units[] = {{"arithmetic and issue", kernel->compute},
                 {"device memory", kernel->dram},
                 {"the L2 cache", kernel->l2},
                 {"L1 cache and shared memory", kernel->l1}};
    int most = -1;
    for (int i = 0; i < (int)(sizeof units / sizeof *units); i++)
        if (!isnan(units[i].value) && (most < 0 || units[i].value > units[most].value))
            most = i;
    if (most < 0)
        snprintf(text, HEDDLE_NCU_PHRASE, "not known: ncu gave no throughputs");
    else if (units[most].value >= busy)
        snprintf(text, HEDDLE_NCU_PHRASE, "%s: at %.0f %% of its peak", units[most].name, units[most].value);
    else if (kernel->occupancy < fits && tightest(kernel) >= 0 && kernel->theoretical < fits)
        snprintf(text, HEDDLE_NCU_PHRASE, "latency, with few warps to hide it: %s allow%s %.0f block%s",
                 limit_names[tightest(kernel)], tightest(kernel) == BY_SHARED ? "s" : "",
                 kernel->limits[tightest(kernel)], kernel->limits[tightest(kernel)] == 1 ? "" : "s");
    else
        snprintf(text, HEDDLE_NCU_PHRASE, "latency: no unit is above %.0f %%%s%s", units[most].value,
                 *kernel->stall ? "; warps wait mostly for: " : "", kernel->stall);
}

static void line(FILE *file, const char *title, const char *format, double value)
{
    if (isnan(value))
        return;
    fprintf(file, "  %-22s ", title);
    fprintf(file, format, value); // NOLINT(clang-diagnostic-format-nonliteral)
    fprintf(file, "\n");
}

void heddle_ncu_print(const heddle_ncu_kernel *kernel, FILE *file)
{
    char limit[HEDDLE_NCU_PHRASE];
    heddle_ncu_limit(kernel, limit);
    fprintf(file, "%s, grid %s, block %s\n", kernel->name, kernel->grid, kernel->block);
    fprintf(file, "  %-22s %s\n", "limited by", limit);
    line(file, "time", "%.2f µs", 1e6 * kernel->seconds);
    line(file, "speed of light, SM", "%.1f %%", kernel->compute);
    line(file, "                memory", "%.1f %%", kernel->memory);
    line(file, "         device memory", "%.1f %%", kernel->dram);
    line(file, "              L2 cache", "%.1f %%", kernel->l2);
    line(file, "      L1 cache, shared", "%.1f %%", kernel->l1);
    line(file, "occupancy", "%.1f %% of the warps that fit were there", kernel->occupancy);
    line(file, "", "%.1f %% at most", kernel->theoretical);
    if (tightest(kernel) >= 0)
        fprintf(file, "  %-22s %.0f blocks per multiprocessor\n", limit_names[tightest(kernel)],
                kernel->limits[tightest(kernel)]);
    line(file, "registers", "%.0f per thread", kernel->registers);
    line(file, "shared memory", "%.0f bytes per block", kernel->shared);
    if (!isnan(kernel->spills))
        fprintf(file, "  %-22s %s%.0f instructions on local memory\n", "spills",
                kernel->spills > 0 ? "" : "none: ", kernel->spills);
    if (*kernel->stall)
        fprintf(file, "  %-22s %s (%.1f warps per instruction)\n", "warps wait for", kernel->stall, kernel->stalled);
}

cJSON *heddle_ncu_json(const heddle_ncu_kernel *kernel)
{
    char limit[HEDDLE_NCU_PHRASE];
    cJSON *json = cJSON_CreateObject();
    heddle_ncu_limit(kernel, limit);
    cJSON_AddStringToObject(json, "kernel", kernel->name);
    cJSON_AddStringToObject(json, "grid", kernel->grid);
    cJSON_AddStringToObject(json, "block", kernel->block);
    cJSON_AddStringToObject(json, "limited_by", limit);
    const struct {
        const char *name;
        double value;
    } figures[] = {
        {"seconds", kernel->seconds},
        {"compute_percent", kernel->compute},
        {"memory_percent", kernel->memory},
        {"dram_percent", kernel->dram},
        {"l2_percent", kernel->l2},
        {"l1_percent", kernel->l1},
        {"occupancy_percent", kernel->occupancy},
        {"theoretical_occupancy_percent", kernel->theoretical},
        {"registers_per_thread", kernel->registers},
        {"shared_bytes_per_block", kernel->shared},
        {"spill_instructions", kernel->spills},
        {"stalled_warps_per_instruction", kernel->stalled},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        heddle_json_add_number(json, figures[i].name, figures[i].value);
    if (*kernel->stall)
        cJSON_AddStringToObject(json, "stalled_for", kernel->stall);
    return json;
}
