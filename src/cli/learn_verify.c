// `heddle learn verify`: whether every start and near miss fails as stated and every solution passes.

#include <cjson/cJSON.h>

#include <stdlib.h>
#include <string.h>

#include "bench/facts.h"
#include "cli/learn.h"
#include "learn/verify.h"

enum { MOST_EXERCISES = 512, MOST_JOBS = 64 };

typedef struct verify_settings {
    int device, jobs;
    heddle_cli_json json;
} verify_settings;

enum { ON_SIM, ON_CUDA };
static const char *const devices[] = {"sim", "cuda", NULL};

static const heddle_cli_option options[] = {
    {"device", HEDDLE_CLI_CHOICE, offsetof(verify_settings, device), "DEVICE", "sim",
     "with cuda, solutions must pass on the real GPU, too", 0, 0, devices},
    {"jobs", HEDDLE_CLI_INT, offsetof(verify_settings, jobs), "N", "1",
     "exercises at a time; with more than one, the seconds that are shown are longer", 1, MOST_JOBS, NULL},
    HEDDLE_CLI_JSON_OPTION(offsetof(verify_settings, json)),
};

typedef struct verify_view {
    const verify_settings *settings;
    int failed;
} verify_view;

static void report(void *context, const heddle_learn_verified *verified)
{
    verify_view *view = context;
    view->failed += !verified->fine;
    if (view->settings->json.print)
        return;
    printf("%s  %-28s  start %.2f s: %s; solution %.2f s", verified->fine ? "ok " : "BAD", verified->exercise->name,
           verified->start_seconds, verified->start_fails, verified->solution_seconds);
    if (verified->near_misses > 0)
        printf("; %d near miss%s", verified->near_misses, verified->near_misses == 1 ? "" : "es");
    putchar('\n');
    for (const char *line = verified->problems; *line;) {
        size_t length = strcspn(line, "\n");
        printf("       %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    for (int i = 0; i < verified->time_count; i++)
        printf("       %s: %.1f µs on the %s\n", verified->times[i].name, verified->times[i].microseconds,
               verified->gpu);
    fflush(stdout);
}

static heddle_status choose(const heddle_learn_course *course, const heddle_cli_arguments *arguments,
                            const heddle_learn_exercise *list[MOST_EXERCISES], int *count)
{
    *count = 0;
    for (int i = 0; i < course->count && arguments->count == 0 && *count < MOST_EXERCISES; i++)
        list[(*count)++] = &course->exercises[i];
    for (int a = 0; a < arguments->count; a++) {
        const char *chapter = heddle_learn_course_chapter(course, arguments->items[a]);
        for (int i = 0; chapter && i < course->count && *count < MOST_EXERCISES; i++)
            if (strcmp(course->exercises[i].chapter, chapter) == 0)
                list[(*count)++] = &course->exercises[i];
        if (chapter || *count == MOST_EXERCISES)
            continue;
        HEDDLE_TRY(heddle_learn_course_find(course, arguments->items[a], &list[*count]));
        ++*count;
    }
    return HEDDLE_OK;
}

// This machine, as every result document describes it.
static void describe_machine(heddle_device_info *info)
{
    heddle_device *device = NULL;
    *info = (heddle_device_info){0};
    if (heddle_device_open("cpu", 1, &device) != HEDDLE_OK)
        return;
    if (heddle_device_describe(device, info) != HEDDLE_OK)
        *info = (heddle_device_info){0};
    heddle_device_close(device);
}

static cJSON *result_json(const heddle_learn_verified *results, int count, int failed, time_t began)
{
    cJSON *json = cJSON_CreateObject();
    heddle_device_info device;
    describe_machine(&device);
    heddle_bench_add_facts(json,
                           &(heddle_bench_facts){.format = "heddle learn verify 1", .began = began, .device = &device});
    cJSON_AddNumberToObject(json, "failed", failed);
    cJSON *all = cJSON_AddArrayToObject(json, "exercises");
    for (int i = 0; i < count; i++) {
        const heddle_learn_verified *one = &results[i];
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "exercise", one->exercise->name);
        cJSON_AddBoolToObject(object, "fine", one->fine);
        cJSON_AddStringToObject(object, "start_fails_because", one->start_fails);
        heddle_bench_add_figure(object, "start_seconds", one->start_seconds);
        heddle_bench_add_figure(object, "solution_seconds", one->solution_seconds);
        cJSON_AddNumberToObject(object, "near_misses", one->near_misses);
        if (one->problems[0])
            cJSON_AddStringToObject(object, "problems", one->problems);
        if (one->gpu)
            cJSON_AddStringToObject(object, "gpu", one->gpu);
        for (int t = 0; t < one->time_count; t++)
            heddle_bench_add_figure(object, one->times[t].name, one->times[t].microseconds);
        cJSON_AddItemToArray(all, object);
    }
    return json;
}

static heddle_status verify(const verify_settings *settings, const heddle_cli_arguments *arguments, int *failed)
{
    const heddle_learn_exercise *list[MOST_EXERCISES];
    heddle_learn_course *course = NULL;
    heddle_learn_verified *results = NULL;
    verify_view view = {.settings = settings};
    time_t began = time(NULL);
    int count = 0;
    heddle_arena *arena = heddle_arena_create();
    if (!arena)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to verify the course");
    heddle_status status = heddle_cli_can_write(settings->json.file);
    if (status == HEDDLE_OK)
        status = heddle_learn_course_open(NULL, &course);
    if (status == HEDDLE_OK)
        status = choose(course, arguments, list, &count);
    const heddle_learn_verification what = {.course = course,
                                            .exercises = list,
                                            .count = count,
                                            .jobs = settings->jobs,
                                            .on_hardware = settings->device == ON_CUDA,
                                            .report = report,
                                            .context = &view};
    if (status == HEDDLE_OK)
        status = heddle_learn_verify(&what, arena, &results);
    *failed = view.failed;
    if (status == HEDDLE_OK && !settings->json.print)
        printf("%d exercise%s, %d not as stated\n", count, count == 1 ? "" : "s", view.failed);
    if (status == HEDDLE_OK && heddle_cli_json_wanted(&settings->json))
        status = heddle_cli_json_result(&settings->json, result_json(results, count, view.failed, began));
    heddle_learn_course_close(course);
    heddle_arena_destroy(arena);
    return status;
}

static int run_command(int argc, char **argv)
{
    verify_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code, failed = 0;
    if (!heddle_cli_parse(&heddle_command_learn_verify, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    heddle_cli_learn_stop_gently(false);
    heddle_status status = verify(&settings, &arguments, &failed);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    return failed == 0 ? HEDDLE_EXIT_OK : HEDDLE_EXIT_FAILED;
}

const heddle_cli_command heddle_command_learn_verify = {
    .name = "learn verify",
    .summary = "for authors: check that every unsolved exercise fails as stated and every solution passes",
    .arguments = "[EXERCISE|CHAPTER]...",
    .most_arguments = MOST_EXERCISES,
    .description = "For writers of exercises. HEDDLE_COURSE names the folder of the course, if it is not the one that "
                   "came with heddle.",
    .example = "heddle learn verify\nheddle learn verify 05 06.10 --json=verify.json",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
