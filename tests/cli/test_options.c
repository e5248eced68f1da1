// The option parser: what it fills in, and what it says when the line makes no sense.

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "cli/cli.h"
#include "cli/options.h"

typedef struct settings {
    int epochs, offset, tier;
    uint64_t seed;
    double rate, part;
    const char *out;
    bool resume;
    heddle_cli_list mirrors;
} settings;

static const char *const tiers[] = {"naive", "tuned", "vendor", NULL};

static const heddle_cli_option options[] = {
    {"epochs", HEDDLE_CLI_INT, offsetof(settings, epochs), "N", "10", "passes over the data", 1, 1000, NULL},
    {"offset", HEDDLE_CLI_INT, offsetof(settings, offset), "N", NULL, "any whole number", 0, 0, NULL},
    {"seed", HEDDLE_CLI_SEED, offsetof(settings, seed), "N", "1", "of all random numbers", 0, 0, NULL},
    {"rate", HEDDLE_CLI_NUMBER, offsetof(settings, rate), "X", "0.05", "learning rate", 0, HUGE_VAL, NULL},
    {"kernels", HEDDLE_CLI_CHOICE, offsetof(settings, tier), "TIER", "tuned", "which part of the ladders", 0, 0, tiers},
    {"out", HEDDLE_CLI_TEXT, offsetof(settings, out), "DIR", NULL, "where to", 0, 0, NULL},
    {"resume", HEDDLE_CLI_FLAG, offsetof(settings, resume), NULL, NULL, "go on", 0, 0, NULL},
    {"mirror", HEDDLE_CLI_LIST, offsetof(settings, mirrors), "URL", NULL, "where from", 0, 0, NULL},
    {"part", HEDDLE_CLI_NUMBER, offsetof(settings, part), "X", NULL, "a fraction", 0, 1, NULL},
};

static const heddle_cli_command command = {
    .name = "train",
    .summary = "train a network",
    .arguments = "[NAME...]",
    .most_arguments = 2,
    .example = "heddle train --epochs 3",
    .options = options,
    .option_count = sizeof options / sizeof *options,
};

enum { MOST_WORDS = 80 };
static char line_text[4096];
static char *words[MOST_WORDS];
static settings values;
static heddle_cli_arguments arguments;

// Parses a line of words separated by single spaces.
static heddle_status parse_with(const heddle_cli_command *with, const char *line)
{
    int count = 0;
    words[count++] = "train";
    snprintf(line_text, sizeof line_text, "%s", line);
    char *rest = NULL;
    for (char *word = strtok_r(line_text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        assert_true(count < MOST_WORDS);
        words[count++] = word;
    }
    values = (settings){0};
    return heddle_cli_parse_options(with, count, words, &values, &arguments);
}

static heddle_status parse(const char *line)
{
    return parse_with(&command, line);
}

static void assert_refused(const char *line, const char *message)
{
    assert_int_equal(parse(line), HEDDLE_INVALID);
    assert_string_equal(heddle_last_error(), message);
}

static void an_empty_line_gives_the_defaults(void **state)
{
    (void)state;
    assert_int_equal(parse(""), HEDDLE_OK);
    assert_int_equal(values.epochs, 10);
    assert_int_equal(values.offset, 0);
    assert_int_equal(values.seed, 1);
    assert_true(values.rate == 0.05);
    assert_int_equal(values.tier, 1);
    assert_null(values.out);
    assert_false(values.resume);
    assert_int_equal(values.mirrors.count, 0);
    assert_null(values.mirrors.items[0]);
    assert_int_equal(arguments.count, 0);
    assert_int_equal(arguments.given, 0);
}

static void a_value_may_follow_a_space_or_an_equals_sign(void **state)
{
    (void)state;
    assert_int_equal(parse("--epochs 3 --rate=1e-3 --kernels vendor --out=a=b --seed 18446744073709551615"), HEDDLE_OK);
    assert_int_equal(values.epochs, 3);
    assert_true(values.rate == 1e-3);
    assert_int_equal(values.tier, 2);
    assert_string_equal(values.out, "a=b");
    assert_true(values.seed == UINT64_MAX);
}

static void the_last_of_two_values_counts(void **state)
{
    (void)state;
    assert_int_equal(parse("--epochs 3 --epochs 4"), HEDDLE_OK);
    assert_int_equal(values.epochs, 4);
}

static void a_list_keeps_every_value_in_order(void **state)
{
    (void)state;
    assert_int_equal(parse("--mirror one --mirror=two"), HEDDLE_OK);
    assert_int_equal(values.mirrors.count, 2);
    assert_string_equal(values.mirrors.items[0], "one");
    assert_string_equal(values.mirrors.items[1], "two");
    assert_null(values.mirrors.items[2]);
}

static void a_list_that_is_too_long_is_refused(void **state)
{
    (void)state;
    char line[1024] = "";
    for (int i = 0; i < HEDDLE_CLI_LIST_ROOM; i++)
        strcat(line, "--mirror=u ");
    assert_int_equal(parse(line), HEDDLE_OK);
    assert_int_equal(values.mirrors.count, HEDDLE_CLI_LIST_ROOM);
    strcat(line, "--mirror=u ");
    assert_refused(line, "--mirror may be given at most 32 times");
}

static void given_tells_an_option_from_its_default(void **state)
{
    (void)state;
    assert_int_equal(parse("--epochs 10 --resume"), HEDDLE_OK);
    assert_true(heddle_cli_given(&command, &arguments, "epochs"));
    assert_true(heddle_cli_given(&command, &arguments, "resume"));
    assert_false(heddle_cli_given(&command, &arguments, "seed"));
    assert_false(heddle_cli_given(&command, &arguments, "nosuch"));
}

static void arguments_may_stand_among_options(void **state)
{
    (void)state;
    assert_int_equal(parse("one --epochs 2 two --resume"), HEDDLE_OK);
    assert_int_equal(arguments.count, 2);
    assert_string_equal(arguments.items[0], "one");
    assert_string_equal(arguments.items[1], "two");
    assert_int_equal(values.epochs, 2);
    assert_true(values.resume);
}

static void two_dashes_end_the_options(void **state)
{
    (void)state;
    assert_int_equal(parse("--resume -- --epochs -"), HEDDLE_OK);
    assert_int_equal(arguments.count, 2);
    assert_string_equal(arguments.items[0], "--epochs");
    assert_string_equal(arguments.items[1], "-");
    assert_int_equal(values.epochs, 10);
}

static void one_dash_alone_is_an_argument(void **state)
{
    (void)state;
    assert_int_equal(parse("-"), HEDDLE_OK);
    assert_int_equal(arguments.count, 1);
}

static void an_unknown_option_suggests_the_nearest(void **state)
{
    (void)state;
    assert_refused("--epoch 3", "unknown option --epoch; did you mean --epochs?");
    assert_refused("--epoch=3", "unknown option --epoch; did you mean --epochs?");
    assert_refused("--sede 3", "unknown option --sede; did you mean --seed?");
    assert_refused("-epochs 3", "unknown option -epochs; did you mean --epochs?");
    assert_refused("--halp", "unknown option --halp; did you mean --help?");
    assert_refused("--mir one", "unknown option --mir; did you mean --mirror?");
    assert_refused("---epochs 3", "unknown option ---epochs; did you mean --epochs?");
}

static void an_option_like_no_other_points_to_help(void **state)
{
    (void)state;
    assert_refused("--zzzzzzzz", "unknown option --zzzzzzzz; `heddle train --help` lists the options");
    assert_refused("-=", "unknown option -; `heddle train --help` lists the options");
}

static void a_very_long_option_is_unknown(void **state)
{
    (void)state;
    char line[300] = "--";
    memset(line + 2, 'a', 250);
    assert_int_equal(parse(line), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "unknown option --aaaa"));
}

static void a_whole_number_is_asked_for(void **state)
{
    (void)state;
    assert_refused("--epochs ten", "--epochs needs an integer, not 'ten'");
    assert_refused("--epochs 1.5", "--epochs needs an integer, not '1.5'");
    assert_refused("--epochs 3x", "--epochs needs an integer, not '3x'");
    assert_refused("--epochs 0x10", "--epochs needs an integer, not '0x10'");
    assert_refused("--seed 0x10", "--seed needs a non-negative integer, not '0x10'");
    assert_refused("--seed -1", "--seed needs a non-negative integer, not '-1'");
    assert_refused("--seed 1e3", "--seed needs a non-negative integer, not '1e3'");
    assert_refused("--seed 18446744073709551616", "--seed 18446744073709551616 does not fit in 64 bits");
}

static void limits_are_kept_and_told(void **state)
{
    (void)state;
    assert_refused("--epochs 0", "--epochs 0 is out of range: 1 to 1000");
    assert_refused("--epochs 1001", "--epochs 1001 is out of range: 1 to 1000");
    assert_refused("--epochs 99999999999999999999", "--epochs 99999999999999999999 is out of range: 1 to 1000");
    assert_refused("--rate -1", "--rate -1 is out of range: at least 0");
    assert_refused("--part 99", "--part 99 is out of range: 0 to 1 (a fraction: 99 % is 0.99)");
    assert_refused("--offset 2147483648", "--offset 2147483648 is out of range: -2147483648 to 2147483647");
    assert_int_equal(parse("--epochs 1000 --offset -2147483648 --rate 0"), HEDDLE_OK);
    assert_int_equal(values.offset, INT_MIN);
}

static void a_number_must_be_finite(void **state)
{
    (void)state;
    assert_refused("--rate nan", "--rate needs a number, not 'nan'");
    assert_refused("--rate inf", "--rate needs a number, not 'inf'");
    assert_refused("--rate 1e999", "--rate needs a number, not '1e999'");
    assert_refused("--rate 0x10", "--rate needs a number, not '0x10'");
    assert_refused("--rate 0.5x", "--rate needs a number, not '0.5x'");
    assert_refused("--rate infinity", "--rate needs a number, not 'infinity'");
    assert_refused("--rate fast", "--rate needs a number, not 'fast'");
}

static void a_choice_lists_what_it_takes(void **state)
{
    (void)state;
    assert_refused("--kernels tund", "--kernels must be one of naive, tuned, vendor, not 'tund'; did you mean tuned?");
    assert_refused("--kernels qqqqqq", "--kernels must be one of naive, tuned, vendor, not 'qqqqqq'");
}

static void a_missing_value_is_told(void **state)
{
    (void)state;
    assert_refused("--epochs", "--epochs needs a value (N)");
    assert_refused("--out --resume", "--out needs a value (DIR); if you mean that, write --out=--resume");
    assert_refused("--out=", "--out needs a value (DIR) that is not empty");
    assert_int_equal(parse("--out=--resume"), HEDDLE_OK);
    assert_string_equal(values.out, "--resume");
    assert_false(values.resume);
}

static void a_flag_takes_no_value(void **state)
{
    (void)state;
    assert_refused("--resume=yes", "--resume takes no value");
    assert_refused("--help=train", "--help takes no value");
}

static void arguments_are_counted(void **state)
{
    (void)state;
    assert_refused("a b c", "unexpected argument 'c'");
    heddle_cli_command other = command;
    other.most_arguments = 0;
    assert_int_equal(parse_with(&other, "a"), HEDDLE_INVALID);
    assert_string_equal(heddle_last_error(), "takes no arguments, but got 'a'");
    assert_int_equal(parse_with(&other, "--resume runs/a"), HEDDLE_INVALID);
    assert_string_equal(heddle_last_error(), "takes no arguments, but got 'runs/a': --resume takes no value");
    other.meant = "out";
    assert_int_equal(parse_with(&other, "--epochs 2 a"), HEDDLE_INVALID);
    assert_string_equal(heddle_last_error(), "takes no arguments, but got 'a'; did you mean --out a?");
    other = command;
    other.least_arguments = 1;
    assert_int_equal(parse_with(&other, ""), HEDDLE_INVALID);
    assert_string_equal(heddle_last_error(), "needs [NAME...]; see `heddle train --help`");
    assert_int_equal(parse_with(&other, "--help"), HEDDLE_OK);
}

static void help_is_seen_wherever_it_stands(void **state)
{
    (void)state;
    assert_int_equal(parse("a --epochs 3 --help"), HEDDLE_OK);
    assert_true(arguments.help);
    assert_int_equal(parse("-h"), HEDDLE_OK);
    assert_true(arguments.help);
    assert_int_equal(parse("-- --help"), HEDDLE_OK);
    assert_false(arguments.help);
}

static void the_log_level_is_an_option_of_every_command(void **state)
{
    (void)state;
    assert_int_equal(parse("--log error --epochs 2"), HEDDLE_OK);
    assert_int_equal(values.epochs, 2);
    assert_refused("--log loud", "--log must be one of error, warn, info, debug, not 'loud'");
    assert_refused("--log", "--log needs a value (LEVEL)");
    assert_int_equal(parse("--log warn"), HEDDLE_OK);
}

// Reads back what was printed to a temporary file.
static void read_back(FILE *file, char *text, size_t size)
{
    rewind(file);
    size_t length = fread(text, 1, size - 1, file);
    text[length] = '\0';
    fclose(file);
}

static void help_shows_every_option_its_default_and_the_example(void **state)
{
    (void)state;
    char text[8192];
    FILE *file = tmpfile();
    assert_non_null(file);
    heddle_cli_print_help(&command, file);
    read_back(file, text, sizeof text);
    assert_non_null(strstr(text, "Usage: heddle train [OPTIONS] [NAME...]\n"));
    assert_non_null(strstr(text, "--epochs N "));
    assert_non_null(strstr(text, "passes over the data; default: 10\n"));
    assert_non_null(strstr(text, "--kernels naive|tuned|vendor"));
    assert_non_null(strstr(text, "--log error|warn|info|debug"));
    assert_non_null(strstr(text, "--help "));
    assert_non_null(strstr(text, "Example:\n  heddle train --epochs 3\n"));
    for (int i = 0; i < command.option_count; i++)
        assert_non_null(strstr(text, options[i].name));
}

static void help_stays_within_its_width(void **state)
{
    (void)state;
    const size_t width = 100;
    char text[8192], word[] = "warp weft ";
    char long_help[600] = "";
    for (int i = 0; i < 50; i++)
        strcat(long_help, word);
    heddle_cli_option wordy = options[0];
    wordy.help = long_help;
    heddle_cli_command other = command;
    other.options = &wordy;
    other.option_count = 1;
    other.description = long_help;
    FILE *file = tmpfile();
    assert_non_null(file);
    heddle_cli_print_help(&other, file);
    read_back(file, text, sizeof text);
    char *rest = NULL;
    int lines = 0;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest), lines++)
        assert_true(strlen(line) <= width);
    assert_true(lines > 15);
}

static void a_command_is_found_and_a_wrong_name_suggests_one(void **state)
{
    (void)state;
    static const heddle_cli_command eval = {.name = "eval"}, show = {.name = "data show"};
    const heddle_cli_command *const commands[] = {&command, &eval, NULL};
    const heddle_cli_command *const actions[] = {&show, NULL};
    assert_ptr_equal(heddle_cli_find(commands, "eval"), &eval);
    assert_ptr_equal(heddle_cli_find(actions, "show"), &show);
    assert_null(heddle_cli_find(commands, "trian"));
    assert_string_equal(heddle_last_error(), "unknown command 'trian'; did you mean train?");
    assert_null(heddle_cli_find(commands, "weave"));
    assert_string_equal(heddle_last_error(), "unknown command 'weave'; --help lists them");
    assert_null(heddle_cli_find(actions, "shwo"));
    assert_string_equal(heddle_last_error(), "unknown action 'shwo'; did you mean show?");
}

static void a_status_has_its_exit_code(void **state)
{
    (void)state;
    assert_int_equal(heddle_cli_exit_code(HEDDLE_OK), 0);
    assert_int_equal(heddle_cli_exit_code(HEDDLE_INVALID), 2);
    assert_int_equal(heddle_cli_exit_code(HEDDLE_MISSING), 3);
    assert_int_equal(heddle_cli_exit_code(HEDDLE_CORRUPT), 1);
    assert_int_equal(heddle_cli_exit_code(HEDDLE_DIVERGED), 1);
    assert_int_equal(heddle_cli_exit_code(HEDDLE_NOT_FOUND), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_line_gives_the_defaults),
        cmocka_unit_test(a_value_may_follow_a_space_or_an_equals_sign),
        cmocka_unit_test(the_last_of_two_values_counts),
        cmocka_unit_test(a_list_keeps_every_value_in_order),
        cmocka_unit_test(a_list_that_is_too_long_is_refused),
        cmocka_unit_test(given_tells_an_option_from_its_default),
        cmocka_unit_test(arguments_may_stand_among_options),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(one_dash_alone_is_an_argument),
        cmocka_unit_test(an_unknown_option_suggests_the_nearest),
        cmocka_unit_test(an_option_like_no_other_points_to_help),
        cmocka_unit_test(a_very_long_option_is_unknown),
        cmocka_unit_test(a_whole_number_is_asked_for),
        cmocka_unit_test(limits_are_kept_and_told),
        cmocka_unit_test(a_number_must_be_finite),
        cmocka_unit_test(a_choice_lists_what_it_takes),
        cmocka_unit_test(a_missing_value_is_told),
        cmocka_unit_test(a_flag_takes_no_value),
        cmocka_unit_test(arguments_are_counted),
        cmocka_unit_test(help_is_seen_wherever_it_stands),
        cmocka_unit_test(the_log_level_is_an_option_of_every_command),
        cmocka_unit_test(help_shows_every_option_its_default_and_the_example),
        cmocka_unit_test(help_stays_within_its_width),
        cmocka_unit_test(a_command_is_found_and_a_wrong_name_suggests_one),
        cmocka_unit_test(a_status_has_its_exit_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
