// The source behind a page of `heddle bench`, as `heddle check --html` shows it: line by line, with the counters of the
// simulated GPU in the margin, and pictures. A user's file is checked; heddle's own rungs run in a process of their
// own, because the simulator reports what it counted when its process ends.

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/html.h"
#include "base/json.h"
#include "check/check.h"
#include "check/child.h"
#include "check/finish.h"
#include "check/folder.h"
#include "check/show.h"
#include "check/trace.h"
#include "cli/bench.h"
#include "cli/interrupt.h"

enum { SECONDS = 60, BUDGET = 1000, VARIABLE_SIZE = 640 };

// --- a user's file ---------------------------------------------------------------------------------------------------

static heddle_status check_file(const heddle_cli_bench_source *source, heddle_check_result **result)
{
    const char *const sources[] = {source->file, NULL};
    const heddle_check_options how = {
        .sources = sources,
        .op = source->what,
        .no_input = true,
        .schedules = 1,
        .seconds = SECONDS,
        .budget = BUDGET,
        .seed = source->seed,
        .nvcc = HEDDLE_CHECK_NVCC_NEVER, // it compiled it already
        .sandbox = true,
        .carry = true,
        .trace = true,
        .output = -1,
        .errors = -1,
    };
    HEDDLE_TRY(heddle_check_run(&how, result));
    return heddle_check_result_note(*result,
                                    "What stands beside the lines was counted on the simulated GPU, over all test "
                                    "shapes of %s that it runs in a moment.",
                                    source->what);
}

// --- heddle's own rungs ----------------------------------------------------------------------------------------------

typedef struct counted {
    char document[PATH_MAX], report[PATH_MAX], trace[PATH_MAX];
} counted;

static heddle_status run_rungs(const heddle_cli_bench_source *source, const heddle_check_folder *folder, counted *files)
{
    char program[PATH_MAX], json[PATH_MAX + 16], report[VARIABLE_SIZE], trace[VARIABLE_SIZE];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0)
        return heddle_fail(HEDDLE_MISSING, "/proc is not there");
    program[length] = '\0';
    heddle_check_folder_path(folder, "results.json", files->document, sizeof files->document);
    snprintf(json, sizeof json, "--json=%s", files->document);
    snprintf(report, sizeof report, "SIM_REPORT=%s",
             heddle_check_folder_path(folder, "report.json", files->report, sizeof files->report));
    snprintf(trace, sizeof trace, "SIM_TRACE=%s",
             heddle_check_folder_path(folder, "trace.json", files->trace, sizeof files->trace));
    const char *const argv[] = {program,   "bench", source->what, "--device",    "sim",
                                "--quick", json,    "--dtype",    source->dtype, NULL};
    const char *const environment[] = {report, trace, NULL};
    const heddle_child_options options = {.argv = (char *const *)argv,
                                          .environment = environment,
                                          .input = -1,
                                          .output = -1,
                                          .errors = -1,
                                          .seconds = SECONDS,
                                          .stop = &heddle_cli_interrupted};
    heddle_child child;
    HEDDLE_TRY(heddle_child_start(&child, &options));
    heddle_child_wait(&child, -1);
    if (child.end == HEDDLE_CHILD_STOPPED)
        return heddle_fail(HEDDLE_INTERRUPTED, "stopped");
    if (child.end != HEDDLE_CHILD_EXITED || (child.code != HEDDLE_EXIT_OK && child.code != HEDDLE_EXIT_FAILED))
        return heddle_fail(HEDDLE_MISSING, "`heddle bench %s --device sim --quick` says why", source->what);
    return HEDDLE_OK;
}

// "n=4096" of each operator that ran, once.
static void describe_shapes(const char *path, char *text, size_t size)
{
    cJSON *json = NULL;
    const cJSON *one;
    size_t used = 0;
    text[0] = '\0';
    if (heddle_json_read(path, &json) != HEDDLE_OK)
        return;
    cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(json, "results"))
    {
        const char *shape = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(one, "shape"));
        if (shape && used < size && !strstr(text, shape))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? "; " : " at ", shape);
    }
    cJSON_Delete(json);
}

static heddle_status read_counted(const counted *files, heddle_check_result *result)
{
    heddle_check_report *report = NULL;
    char shapes[256];
    HEDDLE_TRY(heddle_check_report_read(files->report, &report));
    HEDDLE_TRY(heddle_check_result_add_run(result, report));
    HEDDLE_TRY(heddle_check_trace_read(result, files->trace, &heddle_cli_interrupted));
    describe_shapes(files->document, shapes, sizeof shapes);
    heddle_check_finish(result, NULL, false);
    return heddle_check_result_note(result,
                                    "What stands beside the lines was counted on the simulated GPU%s, in two runs of "
                                    "each rung with different inputs.",
                                    shapes);
}

static heddle_status count_rungs(const heddle_cli_bench_source *source, heddle_check_result **result)
{
    heddle_check_folder folder;
    counted files;
    HEDDLE_TRY(heddle_check_result_create(result));
    HEDDLE_TRY(heddle_check_folder_create(&folder, false));
    heddle_status status = run_rungs(source, &folder, &files);
    if (status == HEDDLE_OK)
        status = read_counted(&files, *result);
    heddle_check_folder_release(&folder);
    return status;
}

// --- the page --------------------------------------------------------------------------------------------------------

// Leaves a result even where nothing could be counted, and says why there: a measurement is worth its page without.
static heddle_status find(const heddle_cli_bench_source *source, heddle_check_result **result)
{
    *result = NULL;
    heddle_status status = source->file ? check_file(source, result) : count_rungs(source, result);
    if (status == HEDDLE_OK || status == HEDDLE_OUT_OF_MEMORY)
        return status;
    if (!*result)
        HEDDLE_TRY(heddle_check_result_create(result));
    return heddle_check_result_note(*result, "Nothing was counted on the simulated GPU: %s", heddle_last_error());
}

typedef struct section {
    const heddle_cli_bench_source *source;
    const heddle_check_result *result;
} section;

static heddle_status print_section(void *context, FILE *file)
{
    const section *shown = context;
    char path[PATH_MAX];
    const bool own = shown->source->file && realpath(shown->source->file, path);
    fputs("<h2>Source</h2>\n", file);
    return heddle_check_html_body(shown->result, own ? path : "", file);
}

heddle_status heddle_cli_bench_write_page(const heddle_bench *bench, const heddle_cli_bench_source *source,
                                          const char *path)
{
    heddle_check_result *result = NULL;
    heddle_cli_page page;
    heddle_status status = source ? find(source, &result) : HEDDLE_OK;
    if (status == HEDDLE_OK)
        status = heddle_cli_page_begin(&page);
    if (status == HEDDLE_OK) {
        const heddle_bench_more more = {.style = result ? heddle_check_html_style(result) : "",
                                        .print = print_section,
                                        .context = &(section){source, result}};
        status = heddle_cli_page_end(&page, path, heddle_bench_show_page(bench, source ? &more : NULL, page.file));
    }
    heddle_check_result_free(result);
    return status;
}
