// One rank among several that an engine of ours plays: what it exchanges, and that it stops when another failed.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/threads.h"
#include "dist/inside.h"

enum { RANKS = 4, OWN = 2, TESTS_UNTIL_DONE = 3 };

// --- the others ------------------------------------------------------------------------------------------------------

static double others[2];                // what the other ranks add to a sum
static bool elsewhere;                  // the other ranks are on other machines
static heddle_dist *failing;            // meets a failure of its own while it waits; NULL: nobody
static heddle_status starting, testing; // what the engine answers
static int started, asked;              // exchanges that began, and how often the last was asked for
static int closed;                      // how often the engine was

// The others gather what this rank sends, which begins with the name of its host.
static void play_gather(const heddle_exchange *exchange)
{
    assert_int_equal(exchange->dtype, HEDDLE_U8);
    for (int rank = 0; rank < RANKS; rank++) {
        char *place = (char *)exchange->receive + (size_t)rank * exchange->count;
        memcpy(place, exchange->send, exchange->count);
        if (elsewhere && rank != OWN)
            place[0]++;
    }
}

static heddle_status play_start(heddle_channel channel, const heddle_exchange *exchange)
{
    assert_int_equal(channel, HEDDLE_CHANNEL_HOST);
    started++;
    asked = 0;
    if (exchange->kind == HEDDLE_ALL_GATHER)
        play_gather(exchange);
    for (size_t i = 0; exchange->kind == HEDDLE_ALL_REDUCE && i < exchange->count; i++)
        ((double *)exchange->receive)[i] = ((const double *)exchange->send)[i] + others[i];
    return starting == HEDDLE_OK ? HEDDLE_OK : heddle_fail(starting, "cannot start");
}

static heddle_status play_test(heddle_channel channel, bool *done)
{
    (void)channel;
    *done = ++asked == (failing ? 10 * TESTS_UNTIL_DONE : TESTS_UNTIL_DONE);
    if (failing && asked == TESTS_UNTIL_DONE)
        atomic_store(&failing->failure, HEDDLE_IO);
    return testing == HEDDLE_OK ? HEDDLE_OK : heddle_fail(testing, "cannot go on");
}

static void play_close(void)
{
    closed++;
}

static const heddle_engine played = {
    .version = HEDDLE_ENGINE_VERSION, .start = play_start, .test = play_test, .close = play_close};

// The rank under test, of which `failed` others with this sum of ranks have failed.
static heddle_dist among(int failed, int sum_of_ranks)
{
    others[0] = failed;
    others[1] = sum_of_ranks;
    starting = testing = HEDDLE_OK;
    started = asked = closed = 0;
    return (heddle_dist){
        .ranks = {.rank = OWN, .ranks = RANKS}, .mpi = &played, .lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER};
}

// --- the tests -------------------------------------------------------------------------------------------------------

static void a_rank_goes_on_when_none_failed(void **state)
{
    (void)state;
    heddle_dist dist = among(0, 0);
    assert_int_equal(heddle_dist_agree(&dist, HEDDLE_OK), HEDDLE_OK);
    assert_false(dist.agreed);
    assert_int_equal(started, 1);
    assert_int_equal(asked, TESTS_UNTIL_DONE); // it waited until the exchange was done, and no longer
}

static void a_rank_stops_when_another_failed_and_names_it(void **state)
{
    (void)state;
    heddle_dist dist = among(1, 3);
    assert_int_equal(heddle_dist_agree(&dist, HEDDLE_OK), HEDDLE_DEVICE);
    assert_string_equal(heddle_last_error(), "rank 3 failed, its message says why; rank 2 stops with it");
    assert_true(dist.agreed);
    assert_true(heddle_dist_reports(&dist));
    dist = among(2, 3);
    assert_int_equal(heddle_dist_agree(&dist, HEDDLE_OK), HEDDLE_DEVICE);
    assert_string_equal(heddle_last_error(), "2 ranks failed, their messages say why; rank 2 stops with them");
}

static void a_rank_that_failed_keeps_its_own_message(void **state)
{
    (void)state;
    heddle_dist dist = among(0, 0);
    assert_int_equal(heddle_dist_agree(&dist, heddle_fail(HEDDLE_IO, "the disk is full")), HEDDLE_IO);
    assert_string_equal(heddle_last_error(), "the disk is full");
    assert_true(dist.agreed);
    assert_true(heddle_dist_reports(&dist)); // the others say only that it failed
}

static void only_the_first_rank_reports_what_all_have_met(void **state)
{
    (void)state;
    heddle_dist dist = among(RANKS - 1, 4);
    assert_int_equal(heddle_dist_agree(&dist, heddle_fail(HEDDLE_IO, "no such file")), HEDDLE_IO);
    assert_false(heddle_dist_reports(&dist));
    dist.ranks.rank = 0;
    assert_true(heddle_dist_reports(&dist));
    assert_true(heddle_dist_reports(NULL));
}

static void an_exchange_that_fails_ends_at_once(void **state)
{
    (void)state;
    double value = 1;
    heddle_dist dist = among(0, 0);
    starting = HEDDLE_DEVICE;
    assert_int_equal(heddle_dist_sum(&dist, HEDDLE_CHANNEL_HOST, &value, 1), HEDDLE_DEVICE);
    assert_string_equal(heddle_last_error(), "cannot start");
    assert_int_equal(asked, 0);
    dist = among(0, 0);
    testing = HEDDLE_IO;
    assert_int_equal(heddle_dist_sum(&dist, HEDDLE_CHANNEL_HOST, &value, 1), HEDDLE_IO);
    assert_string_equal(heddle_last_error(), "cannot go on");
    assert_int_equal(asked, 1);
}

// The ranks end together, unless one failed and the others do not know of it, or one is lost.
static void close_meets_the_others(bool failed, bool agreed, heddle_status failure, bool meets)
{
    heddle_dist *dist = malloc(sizeof *dist);
    assert_non_null(dist);
    *dist = among(0, 0);
    dist->agreed = agreed;
    atomic_store(&dist->failure, failure);
    heddle_dist_close(dist, failed);
    assert_int_equal(started, meets);
    assert_int_equal(closed, meets);
}

static void a_rank_that_failed_alone_waits_for_nobody(void **state)
{
    (void)state;
    close_meets_the_others(false, false, HEDDLE_OK, true);
    close_meets_the_others(true, true, HEDDLE_OK, true);
    close_meets_the_others(true, false, HEDDLE_OK, false);
    close_meets_the_others(false, false, HEDDLE_IO, false);
}

static void a_failure_inside_a_stream_is_told_before_the_next_exchange(void **state)
{
    (void)state;
    double value = 1;
    heddle_dist dist = among(0, 0);
    atomic_store(&dist.failure, HEDDLE_DEVICE);
    strcpy(dist.message, "the copy back failed");
    assert_int_equal(heddle_dist_sum(&dist, HEDDLE_CHANNEL_HOST, &value, 1), HEDDLE_DEVICE);
    assert_string_equal(heddle_last_error(), "the copy back failed");
    assert_int_equal(started, 0);
}

static void a_failure_while_a_rank_waits_ends_the_exchange(void **state)
{
    (void)state;
    double value = 1;
    heddle_dist dist = among(0, 0);
    strcpy(dist.message, "the copy back failed");
    failing = &dist;
    assert_int_equal(heddle_dist_sum(&dist, HEDDLE_CHANNEL_HOST, &value, 1), HEDDLE_IO);
    failing = NULL;
    assert_string_equal(heddle_last_error(), "the copy back failed");
    assert_int_equal(asked, TESTS_UNTIL_DONE);
}

static void sums_are_of_all_ranks(void **state)
{
    (void)state;
    double values[] = {1, 2};
    heddle_dist dist = among(10, 20);
    assert_int_equal(heddle_dist_sum(&dist, HEDDLE_CHANNEL_HOST, values, 2), HEDDLE_OK);
    assert_true(values[0] == 11 && values[1] == 22);
    assert_int_equal(heddle_dist_barrier(&dist), HEDDLE_OK);
    assert_int_equal(started, 2);
}

static void ranks_that_share_cores_divide_them(void **state)
{
    (void)state;
    int threads = 0, cores = heddle_usable_cores();
    heddle_dist dist = among(0, 0);
    elsewhere = true;
    assert_int_equal(heddle_dist_threads(&dist, &threads), HEDDLE_OK);
    assert_int_equal(threads, cores);
    assert_false(dist.crowded);
    elsewhere = false;
    assert_int_equal(heddle_dist_threads(&dist, &threads), HEDDLE_OK);
    assert_int_equal(threads, cores < RANKS ? 1 : cores / RANKS);
    assert_true(dist.crowded == (cores < RANKS));
    starting = HEDDLE_DEVICE;
    threads = 0;
    assert_int_equal(heddle_dist_threads(&dist, &threads), HEDDLE_DEVICE);
    assert_int_equal(threads, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_goes_on_when_none_failed),
        cmocka_unit_test(a_rank_stops_when_another_failed_and_names_it),
        cmocka_unit_test(a_rank_that_failed_keeps_its_own_message),
        cmocka_unit_test(only_the_first_rank_reports_what_all_have_met),
        cmocka_unit_test(an_exchange_that_fails_ends_at_once),
        cmocka_unit_test(a_rank_that_failed_alone_waits_for_nobody),
        cmocka_unit_test(a_failure_inside_a_stream_is_told_before_the_next_exchange),
        cmocka_unit_test(a_failure_while_a_rank_waits_ends_the_exchange),
        cmocka_unit_test(sums_are_of_all_ranks),
        cmocka_unit_test(ranks_that_share_cores_divide_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
