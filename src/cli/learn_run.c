// `heddle learn run`: judges one exercise and says what is wrong with it.

#include <cjson/cJSON.h>

#include "cli/learn.h"

typedef struct run_settings {
    int device;
    bool all;
    heddle_cli_json json;
} run_settings;

enum { ON_SIM, ON_CUDA };
static const char *const devices[] = {"sim", "cuda", NULL};

static const heddle_cli_option options[] = {
    {"all", HEDDLE_CLI_FLAG, offsetof(run_settings, all), NULL, NULL,
     "show all findings, also those that follow from others", 0, 0, NULL},
    {"device", HEDDLE_CLI_CHOICE, offsetof(run_settings, device), "DEVICE", "sim",
     "with cuda, a solution that passes on the simulated GPU is built with nvcc and run on the real one, too", 0, 0,
     devices},
    HEDDLE_CLI_JSON_OPTION(offsetof(run_settings, json)),
};

static void print_advice(const heddle_cli_learn *learn, const heddle_learn_exercise *exercise,
                         const heddle_learn_verdict *verdict)
{
    const heddle_learn_exercise *next = heddle_learn_next(&learn->workspace, exercise);
    if (!verdict->passed)
        printf("Not yet. `%s learn hint` helps, `%s learn run` judges again.\n", heddle_cli_name(), heddle_cli_name());
    else if (next)
        printf("Next: `%s learn next`, %s %s\n", heddle_cli_name(), next->number, next->title);
    else
        printf("That was the last one: every exercise is solved.\n");
}

static cJSON *run_json(const heddle_cli_learn *learn, const heddle_learn_exercise *exercise,
                       const heddle_learn_verdict *verdict)
{
    char shown[HEDDLE_PLACE_SIZE];
    cJSON *json = heddle_learn_verdict_json(verdict);
    heddle_learn_shown_file(&learn->workspace, exercise, shown);
    cJSON_AddStringToObject(json, "exercise", exercise->number);
    cJSON_AddStringToObject(json, "name", exercise->name);
    cJSON_AddStringToObject(json, "title", exercise->title);
    cJSON_AddStringToObject(json, "file", shown);
    return json;
}

static heddle_status run_one(heddle_cli_learn *learn, const run_settings *settings, const char *word, bool *passed)
{
    const heddle_learn_exercise *exercise = NULL;
    heddle_learn_verdict *verdict = NULL;
    char path[HEDDLE_PLACE_SIZE], shown[HEDDLE_PLACE_SIZE];
    HEDDLE_TRY(heddle_cli_learn_find(learn, word, &exercise));
    heddle_learn_task task = heddle_cli_learn_task(learn, exercise, path, shown);
    task.on_hardware = settings->device == ON_CUDA;
    HEDDLE_TRY(heddle_learn_judge(&task, &verdict));
    if (heddle_cli_learn_record(learn, exercise, verdict) != HEDDLE_OK) // the verdict counts all the same
        fprintf(stderr, "heddle: progress is not recorded: %s\n", heddle_last_error());
    *passed = verdict->passed;
    heddle_cli_learn_style style = heddle_cli_learn_style_of(stdout);
    if (!settings->json.print) {
        heddle_cli_learn_print_title(&style, exercise);
        putchar('\n');
        heddle_cli_learn_print_verdict(&style, verdict, settings->all);
        print_advice(learn, exercise, verdict);
    }
    heddle_status status = heddle_cli_json_wanted(&settings->json)
                               ? heddle_cli_json_result(&settings->json, run_json(learn, exercise, verdict))
                               : HEDDLE_OK;
    heddle_learn_verdict_free(verdict);
    return status;
}

static int run_command(int argc, char **argv)
{
    run_settings settings = {0};
    heddle_cli_arguments arguments;
    heddle_cli_learn learn;
    bool passed = false;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_learn_run, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    heddle_status status = heddle_cli_learn_open(&learn);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    heddle_cli_learn_stop_gently(false);
    status = run_one(&learn, &settings, arguments.count > 0 ? arguments.items[0] : NULL, &passed);
    heddle_cli_learn_close(&learn);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    return passed ? HEDDLE_EXIT_OK : HEDDLE_EXIT_FAILED;
}

const heddle_cli_command heddle_command_learn_run = {
    .name = "learn run",
    .summary = "check an exercise once",
    .arguments = "[EXERCISE]",
    .most_arguments = 1,
    .description = "Builds your file with the exercise's judge, runs both on the simulated GPU and explains what is "
                   "wrong. The file is only read.",
    .example = "heddle learn run\nheddle learn run 05.1 --all\nheddle learn run 05.1 --device cuda",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
