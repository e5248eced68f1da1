// Downloads, against a server that cuts connections, sends wrong bytes, ignores ranges and never stops.

#include "files.h"

#include "data/download.h"

#if defined HEDDLE_HAVE_CURL && defined HEDDLE_HAVE_CRYPTO

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "data/sha256.h"

enum { CONTENT_SIZE = 100003, WAY_SIZE = 128 };

static char *folder; // of all tests: the served file and the server's log
static char *target; // of one test: where it downloads to
static pid_t server;
static int server_input, server_port;
static uint8_t content[CONTENT_SIZE];
static char content_sum[HEDDLE_SHA256_TEXT];

// --- the server -----------------------------------------------------------------------------------------------------

static void start_server(void)
{
    int input[2], output[2];
    assert_int_equal(pipe(input), 0);
    assert_int_equal(pipe(output), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input[0], 0);
    posix_spawn_file_actions_adddup2(&actions, output[1], 1);
    posix_spawn_file_actions_addclose(&actions, input[1]);
    posix_spawn_file_actions_addclose(&actions, output[0]);
    char *arguments[] = {"python3", HEDDLE_SOURCE_DIR "/tests/data/flaky_server.py",
                         strdup(scratch_path(folder, "content")), strdup(scratch_path(folder, "log")), NULL};
    if (posix_spawnp(&server, "python3", &actions, NULL, arguments, environ) != 0)
        fail_msg("python3 is needed for the test server");
    posix_spawn_file_actions_destroy(&actions);
    free(arguments[2]);
    free(arguments[3]);
    close(input[0]);
    close(output[1]);
    server_input = input[1];
    FILE *port = fdopen(output[0], "r");
    assert_non_null(port);
    assert_int_equal(fscanf(port, "%d", &server_port), 1);
    fclose(port);
}

static int set_up_all(void **state)
{
    (void)state;
    setenv("no_proxy", "127.0.0.1", 1);
    folder = scratch_create();
    for (uint32_t i = 0, value = 1; i < CONTENT_SIZE; i++) {
        value = value * 1664525 + 1013904223;
        content[i] = (uint8_t)(value >> 24);
    }
    scratch_write(folder, "content", content, sizeof content);
    assert_ok(heddle_sha256_file(scratch_path(folder, "content"), content_sum));
    start_server();
    return 0;
}

static int tear_down_all(void **state)
{
    (void)state;
    close(server_input); // the server ends with its input
    waitpid(server, NULL, 0);
    scratch_remove(folder);
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    target = scratch_create();
    scratch_write(folder, "log", "", 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_remove(target);
    return 0;
}

// The requests the server has had in this test, as "/manner/name start\n".
static const char *server_log(void)
{
    static char text[16384];
    FILE *file = fopen(scratch_path(folder, "log"), "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static int requests(void)
{
    int count = 0;
    for (const char *at = server_log(); (at = strchr(at, '\n')); at++)
        count++;
    return count;
}

// --- downloading ----------------------------------------------------------------------------------------------------

static heddle_status download_from(const char *const *manners, int count, heddle_download_progress *progress,
                                   void *context)
{
    char addresses[4][WAY_SIZE];
    const char *mirrors[5] = {NULL};
    for (int i = 0; i < count; i++) {
        snprintf(addresses[i], sizeof addresses[i], "http://127.0.0.1:%d/%s/", server_port, manners[i]);
        mirrors[i] = addresses[i];
    }
    const heddle_download_file file = {"data.gz", content_sum, CONTENT_SIZE};
    return heddle_download(target, mirrors, &file, 1, progress, context);
}

static heddle_status download(const char *manner)
{
    return download_from(&manner, 1, NULL, NULL);
}

static void assert_whole(void)
{
    char sum[HEDDLE_SHA256_TEXT];
    assert_ok(heddle_sha256_file(scratch_path(target, "data.gz"), sum));
    assert_string_equal(sum, content_sum);
    assert_int_not_equal(access(scratch_path(target, "data.gz.part"), F_OK), 0);
}

static void assert_nothing_in_place(void)
{
    assert_int_not_equal(access(scratch_path(target, "data.gz"), F_OK), 0);
}

static void a_file_is_brought_into_place(void **state)
{
    (void)state;
    assert_ok(download("good"));
    assert_whole();
    assert_int_equal(requests(), 1);
}

static void a_file_that_is_there_is_not_fetched_again(void **state)
{
    (void)state;
    assert_ok(download("good"));
    assert_ok(download("good"));
    assert_int_equal(requests(), 1);
}

static void a_file_that_is_there_but_wrong_is_replaced(void **state)
{
    (void)state;
    scratch_write(target, "data.gz", "not it", 6);
    assert_ok(download("good"));
    assert_whole();
}

static void a_cut_connection_is_resumed(void **state)
{
    (void)state;
    assert_ok(download("cut"));
    assert_whole();
    char second[64];
    snprintf(second, sizeof second, "/cut/data.gz %d\n", CONTENT_SIZE * 2 / 5);
    assert_non_null(strstr(server_log(), second));
    assert_int_equal(requests(), 3);
}

static void an_unannounced_end_is_resumed_too(void **state)
{
    (void)state;
    assert_ok(download("cut_unannounced"));
    assert_whole();
    assert_int_equal(requests(), 3);
}

static void what_an_earlier_run_left_is_resumed(void **state)
{
    (void)state;
    scratch_write(target, "data.gz.part", content, 60000);
    assert_ok(download("good"));
    assert_whole();
    assert_string_equal(server_log(), "/good/data.gz 60000\n");
}

static void a_whole_part_needs_no_server(void **state)
{
    (void)state;
    scratch_write(target, "data.gz.part", content, sizeof content);
    assert_ok(download("missing"));
    assert_whole();
    assert_int_equal(requests(), 0);
}

static void a_wrong_part_is_thrown_away_and_the_mirror_asked_again(void **state)
{
    (void)state;
    uint8_t wrong[60000];
    memset(wrong, 'x', sizeof wrong);
    scratch_write(target, "data.gz.part", wrong, sizeof wrong);
    assert_ok(download("good"));
    assert_whole();
    assert_string_equal(server_log(), "/good/data.gz 60000\n/good/data.gz 0\n");
}

static void a_part_that_is_too_long_is_thrown_away(void **state)
{
    (void)state;
    uint8_t *longer = calloc(CONTENT_SIZE + 1000, 1);
    assert_non_null(longer);
    scratch_write(target, "data.gz.part", longer, CONTENT_SIZE + 1000);
    free(longer);
    assert_ok(download("good"));
    assert_whole();
}

static void a_server_that_ignores_ranges_is_read_from_the_start(void **state)
{
    (void)state;
    assert_ok(download("ignores_range"));
    assert_whole();
    assert_int_equal(requests(), 2);
}

static void a_server_that_resumes_elsewhere_is_not_believed(void **state)
{
    (void)state;
    scratch_write(target, "data.gz.part", content, 60000);
    assert_fails(download("lies_about_range"), HEDDLE_IO, "answers with HTTP status 206");
    assert_nothing_in_place();
}

static void wrong_bytes_send_us_to_the_next_mirror(void **state)
{
    (void)state;
    const char *manners[] = {"wrong", "missing", "good"};
    assert_ok(download_from(manners, 3, NULL, NULL));
    assert_whole();
    assert_string_equal(server_log(), "/wrong/data.gz 0\n/missing/data.gz 0\n/good/data.gz 0\n");
}

static void when_no_mirror_helps_each_says_why(void **state)
{
    (void)state;
    const char *manners[] = {"wrong", "missing", "endless"};
    assert_fails(download_from(manners, 3, NULL, NULL), HEDDLE_IO, "cannot download data.gz");
    assert_non_null(strstr(heddle_last_error(), "/wrong/: SHA-256 mismatch"));
    assert_non_null(strstr(heddle_last_error(), "/missing/: answers with HTTP status 404"));
    assert_non_null(strstr(heddle_last_error(), "/endless/: sends more than the 100003 bytes the file has"));
    assert_non_null(strstr(heddle_last_error(), target));
    assert_nothing_in_place();
    assert_int_not_equal(access(scratch_path(target, "data.gz.part"), F_OK), 0);
}

static void a_mirror_with_a_shorter_file_is_given_up(void **state)
{
    (void)state;
    const char *manners[] = {"short", "good"};
    assert_fails(download("short"), HEDDLE_IO, "/short/: serves a shorter file");
    assert_in_range(requests(), 2, 10);
    assert_ok(download_from(manners, 2, NULL, NULL));
    assert_whole();
}

static void a_mirror_that_never_gets_further_is_given_up(void **state)
{
    (void)state;
    assert_fails(download("cut_always"), HEDDLE_IO, "/cut_always/: ");
    assert_in_range(requests(), 2, 10);
    assert_nothing_in_place();
    assert_fails(download("cut_empty"), HEDDLE_IO, "/cut_empty/: ");
}

static void redirects_are_followed_but_not_forever_nor_to_files(void **state)
{
    (void)state;
    assert_fails(download("redirect_forever"), HEDDLE_IO, "redirect");
    assert_in_range(requests(), 2, 10);
    assert_fails(download("redirect_to_file"), HEDDLE_IO, "/redirect_to_file/: ");
    assert_nothing_in_place();
    assert_ok(download("redirect"));
    assert_whole();
}

static void only_http_addresses_are_taken(void **state)
{
    (void)state;
    const heddle_download_file file = {"content", content_sum, CONTENT_SIZE};
    char local[600];
    snprintf(local, sizeof local, "file://%s/", folder);
    const char *mirrors[] = {local, "ftp://127.0.0.1/", NULL};
    assert_fails(heddle_download(target, mirrors, &file, 1, NULL, NULL), HEDDLE_IO, "is neither http:// nor https://");
    const char *none[] = {NULL};
    assert_fails(heddle_download(target, none, &file, 1, NULL, NULL), HEDDLE_IO, "no mirrors given");
}

static void a_server_that_is_not_there_is_given_up(void **state)
{
    (void)state;
    const heddle_download_file file = {"data.gz", content_sum, CONTENT_SIZE};
    const char *mirrors[] = {"http://127.0.0.1:1/", NULL};
    assert_fails(heddle_download(target, mirrors, &file, 1, NULL, NULL), HEDDLE_IO, "http://127.0.0.1:1/: ");
}

static int stop_half_way(void *context, const char *file, uint64_t received, uint64_t total)
{
    assert_string_equal(file, "data.gz");
    assert_int_equal(total, CONTENT_SIZE);
    uint64_t *last = context;
    assert_true(received >= *last);
    *last = received;
    return received > CONTENT_SIZE / 2;
}

static void the_caller_can_stop_and_go_on_later(void **state)
{
    (void)state;
    uint64_t received = 0;
    const char *slow = "slow";
    assert_fails(download_from(&slow, 1, stop_half_way, &received), HEDDLE_INTERRUPTED,
                 "run the command again to continue");
    assert_true(received > CONTENT_SIZE / 2 && received < CONTENT_SIZE);
    assert_nothing_in_place();
    assert_int_equal(access(scratch_path(target, "data.gz.part"), F_OK), 0);
    assert_ok(download("good"));
    assert_whole();
    assert_null(strstr(server_log(), "/good/data.gz 0\n"));
}

static void *download_slowly(void *context)
{
    heddle_status *status = context;
    *status = download("slow");
    return NULL;
}

static void two_downloads_into_one_folder_take_turns(void **state)
{
    (void)state;
    pthread_t threads[2];
    heddle_status status[2] = {HEDDLE_INTERNAL, HEDDLE_INTERNAL};
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, download_slowly, &status[i]), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(status[0], HEDDLE_OK);
    assert_int_equal(status[1], HEDDLE_OK);
    assert_whole();
    assert_int_equal(requests(), 1); // the second found it done
}

static void a_folder_that_cannot_be_made_is_an_error(void **state)
{
    (void)state;
    scratch_write(target, "file", "", 0);
    const heddle_download_file file = {"data.gz", content_sum, CONTENT_SIZE};
    const char *mirrors[] = {"http://127.0.0.1:1/", NULL};
    heddle_status status = heddle_download(scratch_path(target, "file/inside"), mirrors, &file, 1, NULL, NULL);
    assert_int_not_equal(status, HEDDLE_OK);
    assert_non_null(strstr(heddle_last_error(), "file"));
}

// --- named sets -----------------------------------------------------------------------------------------------------

static void a_named_set_is_asked_for_by_its_published_names(void **state)
{
    (void)state;
    char address[WAY_SIZE];
    snprintf(address, sizeof address, "http://127.0.0.1:%d/good", server_port); // the slash is added
    const char *mirrors[] = {address, NULL};
    assert_fails(heddle_dataset_download("mnist", target, mirrors, NULL, NULL), HEDDLE_IO,
                 "cannot download train-images-idx3-ubyte.gz");
    assert_non_null(strstr(server_log(), "/good/train-images-idx3-ubyte.gz 0\n"));
    assert_int_not_equal(access(scratch_path(target, "mnist/train-images-idx3-ubyte.gz"), F_OK), 0);
    assert_int_equal(access(scratch_path(target, "mnist"), F_OK), 0);
}

static void only_sets_that_have_files_can_be_fetched(void **state)
{
    (void)state;
    assert_fails(heddle_dataset_download("synth", target, NULL, NULL, NULL), HEDDLE_INVALID, "nothing to download");
    assert_fails(heddle_dataset_download("imagenet", target, NULL, NULL, NULL), HEDDLE_NOT_FOUND,
                 "unknown dataset imagenet");
    assert_fails(heddle_dataset_download("fashoin", target, NULL, NULL, NULL), HEDDLE_NOT_FOUND,
                 "did you mean fashion? (");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_brought_into_place),
        TEST(a_file_that_is_there_is_not_fetched_again),
        TEST(a_file_that_is_there_but_wrong_is_replaced),
        TEST(a_cut_connection_is_resumed),
        TEST(an_unannounced_end_is_resumed_too),
        TEST(what_an_earlier_run_left_is_resumed),
        TEST(a_whole_part_needs_no_server),
        TEST(a_wrong_part_is_thrown_away_and_the_mirror_asked_again),
        TEST(a_part_that_is_too_long_is_thrown_away),
        TEST(a_server_that_ignores_ranges_is_read_from_the_start),
        TEST(a_server_that_resumes_elsewhere_is_not_believed),
        TEST(wrong_bytes_send_us_to_the_next_mirror),
        TEST(when_no_mirror_helps_each_says_why),
        TEST(a_mirror_with_a_shorter_file_is_given_up),
        TEST(a_mirror_that_never_gets_further_is_given_up),
        TEST(redirects_are_followed_but_not_forever_nor_to_files),
        TEST(only_http_addresses_are_taken),
        TEST(a_server_that_is_not_there_is_given_up),
        TEST(the_caller_can_stop_and_go_on_later),
        TEST(two_downloads_into_one_folder_take_turns),
        TEST(a_folder_that_cannot_be_made_is_an_error),
        TEST(a_named_set_is_asked_for_by_its_published_names),
        TEST(only_sets_that_have_files_can_be_fetched),
    };
    return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}

#else

static void without_its_libraries_it_says_what_to_install(void **state)
{
    (void)state;
    char *target = scratch_create();
    assert_fails(heddle_dataset_download("mnist", target, NULL, NULL, NULL), HEDDLE_MISSING, "install");
    scratch_remove(target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_its_libraries_it_says_what_to_install)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
