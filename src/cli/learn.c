// `heddle learn`: the commands about the learner's folder. learn_run.c judges, learn_watch.c watches, learn_verify.c
// verifies the course.

#include <cjson/cJSON.h>

#include "cli/learn.h"
#include "cli/learn_web.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/terminal.h"
#include "base/text.h"

// --- the actions -----------------------------------------------------------------------------------------------------

// Opens the folder, finds the exercise that the command line names, and does one thing with it.
typedef heddle_status single_action(heddle_cli_learn *learn, const heddle_learn_exercise *exercise,
                                    const heddle_cli_learn_style *style, bool flag);

static int run_single(const heddle_cli_command *command, int argc, char **argv, bool *flag, single_action *act)
{
    heddle_cli_arguments arguments;
    heddle_cli_learn learn;
    int exit_code;
    if (!heddle_cli_parse(command, argc, argv, flag, &arguments, &exit_code))
        return exit_code;
    heddle_status status = heddle_cli_learn_open(&learn);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    const heddle_learn_exercise *exercise = NULL;
    heddle_cli_learn_style style = heddle_cli_learn_style_of(stdout);
    status = heddle_cli_learn_find(&learn, arguments.count > 0 ? arguments.items[0] : NULL, &exercise);
    if (status == HEDDLE_OK)
        status = act(&learn, exercise, &style, flag && *flag);
    exit_code = status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
    heddle_cli_learn_close(&learn);
    return exit_code;
}

static heddle_status show(heddle_cli_learn *learn, const heddle_learn_exercise *exercise,
                          const heddle_cli_learn_style *style, bool flag)
{
    char path[HEDDLE_PLACE_SIZE];
    (void)flag;
    HEDDLE_TRY(heddle_cli_learn_print_statement(style, exercise, false));
    heddle_learn_shown_file(&learn->workspace, exercise, path);
    fprintf(style->file, "\nYour file: %s\n", path);
    heddle_cli_learn_print_page(style, &learn->workspace, exercise->chapter, exercise);
    return HEDDLE_OK;
}

// Where the page of a chapter is, and its exercises.
static void show_chapter(const heddle_cli_learn *learn, const char *chapter, const heddle_cli_learn_style *style)
{
    heddle_cli_learn_print_chapter(style, &learn->workspace, chapter);
    fputc('\n', style->file);
    heddle_cli_learn_print_page(style, &learn->workspace, chapter, NULL);
}

static int run_show(int argc, char **argv)
{
    heddle_cli_arguments arguments;
    heddle_cli_learn learn;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_learn_show, argc, argv, NULL, &arguments, &exit_code))
        return exit_code;
    heddle_status status = heddle_cli_learn_open(&learn);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    const char *word = arguments.count > 0 ? arguments.items[0] : NULL;
    const heddle_learn_exercise *exercise = NULL;
    heddle_cli_learn_style style = heddle_cli_learn_style_of(stdout);
    status = heddle_cli_learn_find(&learn, word, &exercise);
    const char *chapter = status != HEDDLE_OK && word ? heddle_learn_course_chapter(learn.course, word) : NULL;
    if (chapter)
        show_chapter(&learn, chapter, &style);
    else if (status == HEDDLE_OK)
        status = show(&learn, exercise, &style, false);
    if (status == HEDDLE_OK && heddle_learn_set_current(&learn.workspace, exercise) != HEDDLE_OK) // it was shown
        fprintf(stderr, "heddle: progress is not recorded: %s\n", heddle_last_error());
    exit_code = status == HEDDLE_OK || chapter ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
    heddle_cli_learn_close(&learn);
    return exit_code;
}

static heddle_status hint(heddle_cli_learn *learn, const heddle_learn_exercise *exercise,
                          const heddle_cli_learn_style *style, bool all)
{
    heddle_cli_learn_print_title(style, exercise);
    fputc('\n', style->file);
    return heddle_cli_learn_print_hints(style, &learn->workspace, exercise,
                                        all ? HEDDLE_CLI_LEARN_ALL_HINTS : HEDDLE_CLI_LEARN_NEXT_HINT);
}

static int run_hint(int argc, char **argv)
{
    bool all = false;
    return run_single(&heddle_command_learn_hint, argc, argv, &all, hint);
}

static heddle_status reset(heddle_cli_learn *learn, const heddle_learn_exercise *exercise,
                           const heddle_cli_learn_style *style, bool flag)
{
    (void)flag;
    HEDDLE_TRY(heddle_cli_learn_reset(style, &learn->workspace, exercise));
    return heddle_learn_set_current(&learn->workspace, exercise);
}

static int run_reset(int argc, char **argv)
{
    return run_single(&heddle_command_learn_reset, argc, argv, NULL, reset);
}

static heddle_status solution(heddle_cli_learn *learn, const heddle_learn_exercise *exercise,
                              const heddle_cli_learn_style *style, bool anyway)
{
    if (!anyway && !heddle_learn_is_solved(&learn->workspace, exercise))
        return heddle_fail(HEDDLE_UNSUPPORTED,
                           "%s is not solved yet: `heddle learn hint %s` helps, and --anyway shows the solution",
                           exercise->number, exercise->number);
    return heddle_cli_learn_print_solution(style, exercise);
}

static int run_solution(int argc, char **argv)
{
    bool anyway = false;
    return run_single(&heddle_command_learn_solution, argc, argv, &anyway, solution);
}

static heddle_status next(heddle_cli_learn *learn, const heddle_learn_exercise *exercise,
                          const heddle_cli_learn_style *style, bool flag)
{
    const heddle_learn_exercise *following = heddle_learn_next(&learn->workspace, exercise);
    (void)flag;
    if (!following) {
        bool solved = heddle_learn_is_solved(&learn->workspace, exercise);
        fprintf(style->file, solved ? "Every exercise is solved.\n" : "%s is the only exercise left.\n",
                exercise->number);
        return HEDDLE_OK;
    }
    HEDDLE_TRY(heddle_learn_set_current(&learn->workspace, following));
    return show(learn, following, style, false);
}

static int run_next(int argc, char **argv)
{
    return run_single(&heddle_command_learn_next, argc, argv, NULL, next);
}

// --- the folder ------------------------------------------------------------------------------------------------------

// The command as it can be called from another folder.
static const char *name_from_anywhere(char *quoted, size_t size)
{
    char *whole = strchr(heddle_cli_name(), '/') ? realpath(heddle_cli_name(), NULL) : NULL;
    const char *name = whole ? heddle_text_quote(whole, quoted, size) : heddle_cli_name();
    free(whole);
    return name;
}

static int run_init(int argc, char **argv)
{
    heddle_cli_arguments arguments;
    heddle_learn_course *course = NULL;
    int exit_code, made = 0;
    if (!heddle_cli_parse(&heddle_command_learn_init, argc, argv, NULL, &arguments, &exit_code))
        return exit_code;
    const char *folder = arguments.count > 0 ? arguments.items[0] : "heddle-course";
    heddle_status status = heddle_learn_course_open(NULL, &course);
    if (status == HEDDLE_OK)
        status = heddle_learn_workspace_create(course, folder, &made);
    if (status != HEDDLE_OK) {
        heddle_learn_course_close(course);
        return heddle_cli_fail(status);
    }
    char quoted[2 * HEDDLE_PLACE_SIZE], page[HEDDLE_PLACE_SIZE], command[2 * HEDDLE_PLACE_SIZE];
    const char *name = name_from_anywhere(command, sizeof command);
    if (made == course->count)
        printf("%s holds %d exercises now. Begin with\n", folder, made);
    else
        printf("%s: %d exercise%s added, all others left as they are. Go on with\n", folder, made,
               made == 1 ? "" : "s");
    printf("  cd %s\n  %s learn\n", heddle_text_quote(folder, quoted, sizeof quoted), name);
    const char *kernels = heddle_learn_course_chapter(course, "first-kernels");
    if (kernels && heddle_learn_chapter_page(course, kernels, page))
        printf("Read first: %s/README.md, or `%s learn read %ld`\n", kernels, name, strtol(kernels, NULL, 10));
    heddle_cli_learn_print_earlier(stdout, course, name);
    heddle_learn_course_close(course);
    return HEDDLE_EXIT_OK;
}

typedef struct list_settings {
    heddle_cli_json json;
} list_settings;

static cJSON *list_json(const heddle_learn_workspace *workspace)
{
    cJSON *json = cJSON_CreateObject(), *all = cJSON_AddArrayToObject(json, "exercises");
    const heddle_learn_exercise *current = heddle_learn_current(workspace);
    cJSON_AddStringToObject(json, "folder", workspace->folder);
    cJSON_AddStringToObject(json, "current", current ? current->number : "");
    cJSON_AddNumberToObject(json, "solved", heddle_learn_solved_count(workspace));
    for (int i = 0; i < workspace->course->count; i++) {
        const heddle_learn_exercise *exercise = &workspace->course->exercises[i];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "number", exercise->number);
        cJSON_AddStringToObject(one, "name", exercise->name);
        cJSON_AddStringToObject(one, "chapter", exercise->chapter);
        cJSON_AddStringToObject(one, "title", exercise->title);
        cJSON_AddStringToObject(one, "solved", heddle_learn_solved_at(workspace, exercise));
        cJSON_AddNumberToObject(one, "hints_seen", heddle_learn_hints_seen(workspace, exercise));
        cJSON_AddItemToArray(all, one);
    }
    return json;
}

static int run_folder(const heddle_cli_command *command, int argc, char **argv,
                      void (*print)(const heddle_cli_learn_style *style, const heddle_learn_workspace *workspace))
{
    list_settings settings = {0};
    heddle_cli_arguments arguments;
    heddle_cli_learn learn;
    int exit_code;
    if (!heddle_cli_parse(command, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    heddle_status status = heddle_cli_learn_open(&learn);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    heddle_cli_learn_style style = heddle_cli_learn_style_of(stdout);
    if (!settings.json.print)
        print(&style, &learn.workspace);
    exit_code = heddle_cli_json_wanted(&settings.json)
                    ? heddle_cli_json_exit(&settings.json, list_json(&learn.workspace))
                    : HEDDLE_EXIT_OK;
    heddle_cli_learn_close(&learn);
    return exit_code;
}

static int run_list(int argc, char **argv)
{
    return run_folder(&heddle_command_learn_list, argc, argv, heddle_cli_learn_print_list);
}

static void print_progress(const heddle_cli_learn_style *style, const heddle_learn_workspace *workspace)
{
    const heddle_learn_exercise *current = heddle_learn_current(workspace);
    heddle_cli_learn_print_bar(style, workspace);
    if (current) {
        fputs("Now at ", style->file);
        heddle_cli_learn_print_title(style, current);
    }
}

static int run_progress(int argc, char **argv)
{
    return run_folder(&heddle_command_learn_progress, argc, argv, print_progress);
}

// --- tables ----------------------------------------------------------------------------------------------------------

static const heddle_cli_option list_options[] = {HEDDLE_CLI_JSON_OPTION(offsetof(list_settings, json))};
static const heddle_cli_option hint_options[] = {
    {"all", HEDDLE_CLI_FLAG, 0, NULL, NULL, "show all hints at once", 0, 0, NULL}};
static const heddle_cli_option solution_options[] = {
    {"anyway", HEDDLE_CLI_FLAG, 0, NULL, NULL, "show it although the exercise is not solved", 0, 0, NULL}};

const heddle_cli_command heddle_command_learn_init = {
    .name = "learn init",
    .summary = "create a folder with all chapters and exercises",
    .arguments = "[DIR]",
    .most_arguments = 1,
    .description =
        "Without DIR the folder is ./heddle-course. In a folder that exists already, missing files are added, "
        "pages of an older course are replaced by newer ones, and no file that you changed is touched.",
    .example = "heddle learn init\nheddle learn init ~/cuda",
    .run = run_init,
};

const heddle_cli_command heddle_command_learn_show = {
    .name = "learn show",
    .summary = "show the task of an exercise, or the exercises of a chapter and where its page is",
    .arguments = "[EXERCISE|CHAPTER]",
    .most_arguments = 1,
    .description = "The exercise becomes the current one.",
    .example = "heddle learn show\nheddle learn show 05.1\nheddle learn show 05",
    .run = run_show,
};

const heddle_cli_command heddle_command_learn_next = {
    .name = "learn next",
    .summary = "go to the next unsolved exercise after this one; after the last, to the first",
    .arguments = "[EXERCISE]",
    .most_arguments = 1,
    .description = "With EXERCISE: to the next one after it.",
    .example = "heddle learn next",
    .run = run_next,
};

const heddle_cli_command heddle_command_learn_hint = {
    .name = "learn hint",
    .summary = "show the next hint",
    .arguments = "[EXERCISE]",
    .most_arguments = 1,
    .example = "heddle learn hint\nheddle learn hint 05.1 --all",
    .options = hint_options,
    .option_count = sizeof hint_options / sizeof *hint_options,
    .run = run_hint,
};

const heddle_cli_command heddle_command_learn_reset = {
    .name = "learn reset",
    .summary = "restore the original file of an exercise; your version is kept beside it as a .bak file",
    .arguments = "[EXERCISE]",
    .most_arguments = 1,
    .description =
        "Your file is renamed to FILE.bak-1, the next time to FILE.bak-2, and so on. The exercise becomes the "
        "current one.",
    .example = "heddle learn reset 05.1",
    .run = run_reset,
};

const heddle_cli_command heddle_command_learn_solution = {
    .name = "learn solution",
    .summary = "show a solution with an explanation, after you have passed",
    .arguments = "[EXERCISE]",
    .most_arguments = 1,
    .example = "heddle learn solution 05.1",
    .options = solution_options,
    .option_count = sizeof solution_options / sizeof *solution_options,
    .run = run_solution,
};

const heddle_cli_command heddle_command_learn_list = {
    .name = "learn list",
    .summary = "list the exercises and which are solved",
    .example = "heddle learn list",
    .options = list_options,
    .option_count = sizeof list_options / sizeof *list_options,
    .run = run_list,
};

const heddle_cli_command heddle_command_learn_progress = {
    .name = "learn progress",
    .summary = "show how many exercises are solved",
    .example = "heddle learn progress",
    .options = list_options,
    .option_count = sizeof list_options / sizeof *list_options,
    .run = run_progress,
};

static const heddle_cli_command *const actions[] = {
    &heddle_command_learn_init,     &heddle_command_learn_read,   &heddle_command_learn_show,
    &heddle_command_learn_run,      &heddle_command_learn_next,   &heddle_command_learn_hint,
    &heddle_command_learn_list,     &heddle_command_learn_reset,  &heddle_command_learn_solution,
    &heddle_command_learn_progress, &heddle_command_learn_verify, NULL,
};

static const heddle_cli_option web_options[] = {
    {"web", HEDDLE_CLI_FLAG, offsetof(heddle_cli_learn_web_settings, web), NULL, NULL,
     "show the course in a browser: chapters, an editor, verdicts as you type", 0, 0, NULL},
    {"listen", HEDDLE_CLI_TEXT, offsetof(heddle_cli_learn_web_settings, listen), "ADDRESS[:PORT]", "127.0.0.1",
     "with --web: address to listen on; one that others can reach lets those who have the token run code here", 0, 0,
     NULL},
    {"port", HEDDLE_CLI_INT, offsetof(heddle_cli_learn_web_settings, port), "N", NULL,
     "with --web: port to listen on (default: 8765, or a free one)", 1, 65535, NULL},
};

static int watch(const heddle_cli_learn_web_settings *settings)
{
    heddle_cli_learn learn;
    heddle_status status = heddle_cli_learn_open(&learn);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    int exit_code = settings->web ? heddle_cli_learn_web(&learn, settings) : heddle_cli_learn_watch(&learn);
    heddle_cli_learn_close(&learn);
    return exit_code;
}

// Without an action: watch. Where there is no terminal to watch on, judge once.
static int run_command(int argc, char **argv)
{
    heddle_cli_arguments arguments;
    heddle_cli_learn_web_settings settings = {0};
    int exit_code;
    if (argc > 1 && isdigit((unsigned char)argv[1][0]))
        return heddle_command_learn_run.run(argc, argv);
    if (argc > 1 && argv[1][0] != '-')
        return heddle_cli_run_action(&heddle_command_learn, argc, argv);
    if (!heddle_cli_parse(&heddle_command_learn, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    if (!settings.web && (heddle_cli_given(&heddle_command_learn, &arguments, "listen") ||
                          heddle_cli_given(&heddle_command_learn, &arguments, "port")))
        return heddle_cli_fail(heddle_fail(HEDDLE_INVALID, "--listen and --port go with --web"));
    if (!settings.web && (!heddle_terminal_is(stdout) || !isatty(STDIN_FILENO)))
        return heddle_command_learn_run.run(1, (char *[]){"run", NULL});
    return watch(&settings);
}

const heddle_cli_command heddle_command_learn = {
    .name = "learn",
    .summary = "learn CUDA with exercises that are checked each time you save, without a GPU",
    .arguments = "[ACTION|EXERCISE]",
    .most_arguments = 1,
    .description =
        "Without an action it shows the current exercise, watches your folder and checks your file each time you save "
        "it, on a simulated GPU. Keys: n next exercise, t task, v scroll down, h hint, l list, r reset, s solution, "
        "q quit, ? help. Without a terminal it checks once, as `heddle learn run` does. With --web the same happens in "
        "a browser: it prints the address to open, which holds a token, and runs until Ctrl-C.\n\n"
        "EXERCISE is a number (05.1), a name (which-element) or the path of its file; default: the current "
        "exercise. After `run`, `show` and `reset`, the exercise that they were given is the current one; after "
        "`next`, the one that it shows. `hint` and `solution` do not change the current exercise. An exercise without "
        "an action is checked: `heddle learn 05.1` means `heddle learn run 05.1`.\n\n"
        "Exit codes:\n"
        "  0    passed\n"
        "  1    not yet\n"
        "  2    wrong usage\n"
        "  3    no compiler; with `--web`: built without the pages; with `learn run --device cuda` also: no GPU, or no "
        "nvcc\n"
        "  130  interrupted",
    .example = "heddle learn init\nheddle learn\nheddle learn run 05.1\nheddle learn hint\nheddle learn --web",
    .options = web_options,
    .option_count = sizeof web_options / sizeof *web_options,
    .run = run_command,
    .actions = actions,
};
