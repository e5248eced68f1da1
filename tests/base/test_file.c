// Files read with a limit and written atomically, folders, and JSON read from them.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "scratch.h"

static void assert_error_says(const char *part)
{
    if (!strstr(heddle_last_error(), part))
        fail_msg("\"%s\" does not say \"%s\"", heddle_last_error(), part);
}

static void assert_content(const char *name, const char *expected, size_t expected_size)
{
    char *content = NULL;
    size_t size = 0;
    assert_int_equal(heddle_file_read(scratch_path(name), 1 << 20, &content, &size), HEDDLE_OK);
    assert_int_equal(size, expected_size);
    assert_memory_equal(content, expected, expected_size);
    assert_int_equal(content[size], '\0');
    free(content);
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    const heddle_slice slices[] = {{"abc\0def", 7}, {NULL, 0}, {"ghi", 3}};
    assert_int_equal(heddle_file_write_atomic(scratch_path("whole"), slices, 3), HEDDLE_OK);
    assert_content("whole", "abc\0defghi", 10);
    assert_int_equal(heddle_file_write_atomic(scratch_path("whole"), slices, 0), HEDDLE_OK);
    assert_content("whole", "", 0);
}

static void reading_holds_to_its_limit(void **state)
{
    (void)state;
    char *content = NULL;
    size_t size = 0;
    scratch_write("ten", "0123456789");
    assert_int_equal(heddle_file_read(scratch_path("ten"), 10, &content, &size), HEDDLE_OK);
    free(content);
    assert_int_equal(heddle_file_read(scratch_path("ten"), 9, &content, &size), HEDDLE_CORRUPT);
    assert_null(content);
    assert_error_says("/ten: larger than the 9 bytes allowed");
    // Endless and without a size beforehand.
    assert_int_equal(heddle_file_read("/dev/zero", 100000, &content, &size), HEDDLE_CORRUPT);
    assert_null(content);
}

static void files_without_a_size_are_read_to_their_end(void **state)
{
    (void)state;
    char *content = NULL;
    size_t size = 0;
    assert_int_equal(heddle_file_read("/proc/self/maps", 1 << 20, &content, &size), HEDDLE_OK);
    assert_true(size > 1000);
    assert_int_equal(strlen(content), size);
    free(content);
}

static void missing_files_and_folders_are_named(void **state)
{
    (void)state;
    char *content = NULL;
    size_t size = 0;
    assert_int_equal(heddle_file_read(scratch_path("absent"), 10, &content, &size), HEDDLE_NOT_FOUND);
    assert_error_says("/absent: no such file");
    assert_int_equal(heddle_file_read(scratch_path(""), 10, &content, &size), HEDDLE_NOT_FOUND);
    assert_error_says("is a folder");
    assert_null(content);
}

static void a_failed_write_leaves_the_old_file_and_no_litter(void **state)
{
    (void)state;
    mkdir(scratch_path("taken"), 0777);
    scratch_write("taken/inside", "x");
    int before = scratch_count();
    const heddle_slice slice = {"new", 3};
    assert_int_equal(heddle_file_write_atomic(scratch_path("taken"), &slice, 1), HEDDLE_IO);
    assert_error_says("/taken: cannot replace it");
    assert_int_equal(scratch_count(), before);
    assert_int_equal(heddle_file_write_atomic(scratch_path("nowhere/file"), &slice, 1), HEDDLE_NOT_FOUND);
    assert_error_says("folder does not exist");
    assert_int_equal(scratch_count(), before);
}

static void standard_output_is_written_to_and_not_replaced(void **state)
{
    (void)state;
    scratch_write("redirected", "first ");
    int before = scratch_count(), file = open(scratch_path("redirected"), O_WRONLY);
    assert_true(file >= 0);
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file); // as /dev/stdout is a link to one
    const heddle_slice slice = {"second", 6};
    assert_int_equal(heddle_file_write_atomic(name, &slice, 1), HEDDLE_OK);
    close(file);
    assert_content("redirected", "first second", 12);
    assert_int_equal(scratch_count(), before);
}

static void a_write_cut_short_leaves_the_old_file_and_no_litter(void **state)
{
    (void)state;
    scratch_write("kept", "old");
    int before = scratch_count();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        // Files beyond this size cannot be written: like a full disk.
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 1000, .rlim_max = 1000});
        static char large[5000];
        const heddle_slice slice = {large, sizeof large};
        heddle_status status = heddle_file_write_atomic(scratch_path("kept"), &slice, 1);
        _exit(status == HEDDLE_IO && strstr(heddle_last_error(), "cannot write") ? 0 : 1);
    }
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    assert_content("kept", "old", 3);
    assert_int_equal(scratch_count(), before);
}

static void a_temporary_left_by_a_killed_process_is_in_nobodys_way(void **state)
{
    (void)state;
    char name[64];
    for (unsigned i = 0; i < 30; i++) {
        snprintf(name, sizeof name, "state.%ld.%u.tmp", (long)getpid(), i);
        scratch_write(name, "left behind");
    }
    const heddle_slice slice = {"new", 3};
    assert_int_equal(heddle_file_write_atomic(scratch_path("state"), &slice, 1), HEDDLE_OK);
    assert_content("state", "new", 3);
}

static void only_temporaries_that_nobody_writes_are_swept(void **state)
{
    (void)state;
    char mine[64];
    snprintf(mine, sizeof mine, "run/last.%ld.0.tmp", (long)getpid());
    mkdir(scratch_path("run"), 0777);
    // In a container the killed process often had the number of one that lives: 1, or our own.
    static const char *const left_behind[] = {"run/last.1.0.tmp", "run/last.999999999.7.tmp"};
    static const char *const others[] = {"run/last", "run/last.tmp", "run/last.1.0.tmp.old", "run/best.1.0.tmp",
                                         "run/last.x.0.tmp"};
    enum { LEFT_BEHIND = sizeof left_behind / sizeof *left_behind, OTHERS = sizeof others / sizeof *others };
    scratch_write(mine, "left behind");
    for (int i = 0; i < LEFT_BEHIND; i++)
        scratch_write(left_behind[i], "left behind");
    for (int i = 0; i < OTHERS; i++)
        scratch_write(others[i], "not a temporary of it");
    // Being written, by a process whose number means nothing here.
    int written = open(scratch_path("run/last.999999999.8.tmp"), O_WRONLY | O_CREAT, 0666);
    assert_int_equal(flock(written, LOCK_EX), 0);

    heddle_file_sweep(scratch_path("run/last"));
    assert_false(heddle_file_exists(scratch_path(mine)));
    for (int i = 0; i < LEFT_BEHIND; i++)
        assert_false(heddle_file_exists(scratch_path(left_behind[i])));
    for (int i = 0; i < OTHERS; i++)
        assert_true(heddle_file_exists(scratch_path(others[i])));
    assert_true(heddle_file_exists(scratch_path("run/last.999999999.8.tmp")));
    close(written);
    heddle_file_sweep(scratch_path("run/last"));
    assert_false(heddle_file_exists(scratch_path("run/last.999999999.8.tmp")));
    heddle_file_sweep(scratch_path("absent/last"));
}

struct writing {
    const char *path;
    heddle_status worst;
    atomic_bool done;
};

static void *write_many(void *context)
{
    enum { WRITES = 200 };
    struct writing *writing = context;
    const heddle_slice slice = {"content", 7};
    for (int i = 0; i < WRITES; i++) {
        heddle_status status = heddle_file_write_atomic(writing->path, &slice, 1);
        writing->worst = status != HEDDLE_OK ? status : writing->worst;
    }
    atomic_store(&writing->done, true);
    return NULL;
}

static void sweeping_disturbs_no_write(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s", scratch_path("swept"));
    struct writing writing = {.path = path, .worst = HEDDLE_OK};
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, write_many, &writing), 0);
    while (!atomic_load(&writing.done))
        heddle_file_sweep(path);
    pthread_join(writer, NULL);
    assert_int_equal(writing.worst, HEDDLE_OK);
    assert_content("swept", "content", 7);
}

static void what_is_no_plain_file_is_written_into_not_replaced(void **state)
{
    (void)state;
    char path[4096], got[8] = "";
    snprintf(path, sizeof path, "%s", scratch_path("pipe"));
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(heddle_file_write_atomic(path, &(heddle_slice){"abc", 3}, 1), HEDDLE_OK);
    assert_int_equal(read(reader, got, sizeof got), 3);
    assert_string_equal(got, "abc");
    close(reader);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_true(S_ISFIFO(about.st_mode));
}

static void folders_are_made_with_their_parents(void **state)
{
    (void)state;
    assert_int_equal(heddle_folder_create(scratch_path("a/b//c/")), HEDDLE_OK);
    assert_true(heddle_folder_exists(scratch_path("a/b/c")));
    assert_false(heddle_file_exists(scratch_path("a/b/c")));
    assert_int_equal(heddle_folder_create(scratch_path("a/b/c")), HEDDLE_OK);
    scratch_write("a/file", "x");
    assert_true(heddle_file_exists(scratch_path("a/file")));
    assert_false(heddle_folder_exists(scratch_path("a/file")));
    assert_false(heddle_file_exists(scratch_path("a/absent")));
    assert_int_equal(heddle_folder_create(scratch_path("a/file")), HEDDLE_IO);
    assert_error_says("a file of that name exists");
    assert_int_equal(heddle_folder_create(scratch_path("a/file/below")), HEDDLE_IO);
    assert_int_equal(heddle_folder_create(""), HEDDLE_INVALID);
}

static void a_folder_that_cannot_be_made_gives_the_true_reason(void **state)
{
    (void)state;
    // What is behind the link is not there, but that is not why mkdir fails.
    assert_int_equal(symlink(scratch_path("nowhere"), scratch_path("dangling")), 0);
    assert_int_equal(heddle_folder_create(scratch_path("dangling")), HEDDLE_IO);
    assert_error_says(strerror(EEXIST));
}

// --- JSON -----------------------------------------------------------------------------------------------------------

static heddle_status parse(const char *text, cJSON **json)
{
    return heddle_json_parse("model file cnn.json", text, strlen(text), json);
}

static void a_key_that_is_given_twice_is_refused_and_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{\"name\": 1, \"layers\": 2, \"name\": 1}", "cnn.json: \"name\" is given twice"},
        {"{\"layers\": [{\"type\": 1}, {\"type\": 1, \"features\": 1, \"features\": 2}]}",
         "cnn.json: \"features\" is given twice in entry 2 of \"layers\""},
        {"{\"a\": {\"b\": [[], [{\"c\": 1, \"c\": 1}]]}}",
         "cnn.json: \"c\" is given twice in entry 2 of \"b\" in \"a\""},
        {"[{\"k\": 1, \"k\": 2}]", "cnn.json: \"k\" is given twice"},
    };
    cJSON *json = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(parse(cases[i].text, &json), HEDDLE_CORRUPT);
        assert_null(json);
        assert_error_says(cases[i].says);
    }
    assert_int_equal(parse("{\"a\": {\"k\": 1}, \"b\": {\"k\": 1}, \"K\": 1, \"k\": []}", &json), HEDDLE_OK);
    cJSON_Delete(json);
}

static void json_errors_give_line_and_column(void **state)
{
    (void)state;
    cJSON *json = NULL;
    assert_int_equal(parse("{\n  \"a\": 1,\n  \"b\": nope\n}", &json), HEDDLE_CORRUPT);
    assert_null(json);
    assert_error_says("model file cnn.json: line 3, column 8: invalid JSON");
    assert_int_equal(parse("{\"a\": [1, 2", &json), HEDDLE_CORRUPT);
    assert_error_says("line 1");
    assert_error_says("ends unexpectedly");
    assert_int_equal(parse("{} x", &json), HEDDLE_CORRUPT);
    assert_error_says("line 1, column 4: unexpected text");
    assert_int_equal(parse("", &json), HEDDLE_CORRUPT);
    assert_error_says("empty");
    assert_null(json);
}

static void what_people_write_that_is_not_json_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{\"a\": 1,}\n", "line 1, column 9: invalid JSON: remove the comma before the closing bracket"},
        {"{\"a\": [1, 2,\n]}\n", "line 2, column 1: invalid JSON: remove the comma"},
        {"{\"a\": 1, // one\n \"b\": 2}\n", "column 10: invalid JSON: comments are not allowed"},
        {"# one\n{\"a\": 1}\n", "line 1, column 1: invalid JSON: comments are not allowed"},
        {"{'a': 1}\n", "column 2: invalid JSON: text needs double quotes"},
        {"{\"a\": 'b'}\n", "column 7: invalid JSON: text needs double quotes"},
        {"{\"a\": True}\n", "column 7: invalid JSON: write true, false or null"},
        {"{\"a\": [None]}\n", "column 8: invalid JSON: write true, false or null"},
        {"{\"a\": NaN}\n", "column 7: invalid JSON: NaN and Infinity are not allowed"},
        {"{\"a\": -Infinity}\n", "column 7: invalid JSON: NaN and Infinity are not allowed"},
        {"{a: 1}\n", "column 2: invalid JSON: keys and text need double quotes"},
        {"{\"a\": [{}\n {}]}\n", "line 2, column 2: invalid JSON: a comma is missing before this"},
    };
    cJSON *json = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(parse(cases[i].text, &json), HEDDLE_CORRUPT);
        assert_error_says(cases[i].says);
    }
    char deep[100001];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    assert_int_equal(parse(deep, &json), HEDDLE_CORRUPT);
    assert_error_says("invalid JSON: lists and objects are nested too deep");
}

static void json_is_parsed_without_a_zero_at_its_end(void **state)
{
    (void)state;
    cJSON *json = NULL;
    const char text[] = {'[', '1', ',', '2', ']', ' ', '\n'};
    assert_int_equal(heddle_json_parse("x", text, sizeof text, &json), HEDDLE_OK);
    assert_int_equal(cJSON_GetArraySize(json), 2);
    cJSON_Delete(json);
}

static void json_is_written_with_one_row_per_line(void **state)
{
    (void)state;
    static const char text[] = "{\n"
                               " \"name\": \"a \\\"b\\\"\",\n"
                               " \"clocks\": {\"before\": 1980, \"after\": 0.5},\n"
                               " \"part\": {\n"
                               "  \"none\": [],\n"
                               "  \"times\": [1, 2]\n"
                               " },\n"
                               " \"results\": [\n"
                               "  {\"rung\": \"01\", \"rounds\": [1, 2], \"edges\": {\"taken\": [{\"at\": [3]}]}},\n"
                               "  {\"rung\": null, \"right\": true}\n"
                               " ]\n"
                               "}";
    cJSON *json = NULL;
    assert_int_equal(parse(text, &json), HEDDLE_OK);
    char *written = heddle_json_print(json);
    assert_string_equal(written, text);
    free(written);
    cJSON_Delete(json);
    assert_null(heddle_json_print(NULL));
}

static void json_nested_too_deep_is_refused(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    char *text = malloc(DEPTH);
    assert_non_null(text);
    memset(text, '[', DEPTH);
    cJSON *json = NULL;
    assert_int_equal(heddle_json_parse("deep", text, DEPTH, &json), HEDDLE_CORRUPT);
    assert_error_says("deep: line 1");
    free(text);
}

static void json_fields_are_read_and_checked(void **state)
{
    (void)state;
    cJSON *json = NULL;
    assert_int_equal(parse("{\"name\": \"cnn\", \"k\": 32, \"half\": 0.5, \"big\": 1e300, \"list\": [1]}", &json),
                     HEDDLE_OK);
    const char *text = NULL;
    long long integer = 0;
    double number = 0;
    const cJSON *list = NULL;
    assert_int_equal(heddle_json_text("m", json, "name", &text), HEDDLE_OK);
    assert_string_equal(text, "cnn");
    assert_int_equal(heddle_json_int("m", json, "k", 1, 32, &integer), HEDDLE_OK);
    assert_int_equal(integer, 32);
    assert_int_equal(heddle_json_int_or("m", json, "absent", 1, 32, 7, &integer), HEDDLE_OK);
    assert_int_equal(integer, 7);
    assert_int_equal(heddle_json_number_or("m", json, "half", 0, 1, 0.1, &number), HEDDLE_OK);
    assert_true(number == 0.5);
    assert_int_equal(heddle_json_number_or("m", json, "absent", 0, 1, 0.25, &number), HEDDLE_OK);
    assert_true(number == 0.25);
    assert_int_equal(heddle_json_array("m", json, "list", &list), HEDDLE_OK);
    assert_int_equal(cJSON_GetArraySize(list), 1);

    assert_int_equal(heddle_json_text("m", json, "absent", &text), HEDDLE_CORRUPT);
    assert_error_says("m: the field \"absent\" is missing");
    assert_int_equal(heddle_json_text("m", json, "k", &text), HEDDLE_CORRUPT);
    assert_error_says("\"k\" must be a string");
    assert_int_equal(heddle_json_int("m", json, "k", 1, 31, &integer), HEDDLE_CORRUPT);
    assert_error_says("\"k\" is 32; it must be an integer from 1 to 31");
    assert_int_equal(heddle_json_int("m", json, "half", 0, 9, &integer), HEDDLE_CORRUPT);
    assert_error_says("\"half\" is 0.5");
    assert_int_equal(heddle_json_int("m", json, "big", INT64_MIN, INT64_MAX, &integer), HEDDLE_CORRUPT);
    assert_int_equal(heddle_json_int_or("m", json, "name", 0, 9, 1, &integer), HEDDLE_CORRUPT);
    assert_error_says("\"name\" must be a number");
    assert_int_equal(heddle_json_number_or("m", json, "half", 0.6, 1, 0, &number), HEDDLE_CORRUPT);
    assert_int_equal(heddle_json_array("m", json, "name", &list), HEDDLE_CORRUPT);
    assert_error_says("\"name\" must be an array");
    assert_int_equal(heddle_json_text("m", list, "x", &text), HEDDLE_CORRUPT);
    assert_error_says("must be a JSON object");
    cJSON_Delete(json);
}

static void json_files_are_read_and_named_in_errors(void **state)
{
    (void)state;
    cJSON *json = NULL;
    scratch_write("good.json", "{\"x\": 1}\n");
    scratch_write("bad.json", "{\"x\": }\n");
    assert_int_equal(heddle_json_read(scratch_path("good.json"), &json), HEDDLE_OK);
    cJSON_Delete(json);
    assert_int_equal(heddle_json_read(scratch_path("bad.json"), &json), HEDDLE_CORRUPT);
    assert_error_says("/bad.json: line 1, column 7");
    assert_int_equal(heddle_json_read(scratch_path("absent.json"), &json), HEDDLE_NOT_FOUND);
    assert_null(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(reading_holds_to_its_limit),
        cmocka_unit_test(files_without_a_size_are_read_to_their_end),
        cmocka_unit_test(missing_files_and_folders_are_named),
        cmocka_unit_test(a_failed_write_leaves_the_old_file_and_no_litter),
        cmocka_unit_test(standard_output_is_written_to_and_not_replaced),
        cmocka_unit_test(a_write_cut_short_leaves_the_old_file_and_no_litter),
        cmocka_unit_test(a_temporary_left_by_a_killed_process_is_in_nobodys_way),
        cmocka_unit_test(only_temporaries_that_nobody_writes_are_swept),
        cmocka_unit_test(sweeping_disturbs_no_write),
        cmocka_unit_test(what_is_no_plain_file_is_written_into_not_replaced),
        cmocka_unit_test(folders_are_made_with_their_parents),
        cmocka_unit_test(a_folder_that_cannot_be_made_gives_the_true_reason),
        cmocka_unit_test(a_key_that_is_given_twice_is_refused_and_named),
        cmocka_unit_test(json_errors_give_line_and_column),
        cmocka_unit_test(what_people_write_that_is_not_json_is_named),
        cmocka_unit_test(json_is_parsed_without_a_zero_at_its_end),
        cmocka_unit_test(json_is_written_with_one_row_per_line),
        cmocka_unit_test(json_nested_too_deep_is_refused),
        cmocka_unit_test(json_fields_are_read_and_checked),
        cmocka_unit_test(json_files_are_read_and_named_in_errors),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
