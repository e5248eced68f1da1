// The thread pool: every index once, several callers, calls from inside a task; and how many cores there are.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/threads.h"
#include "scratch.h"

enum { MOST_INDICES = 5000, MOST_WORKERS = 16 };

struct tally {
    atomic_int runs[MOST_INDICES];
    atomic_int inside[MOST_WORKERS]; // threads that use this worker number at the moment
    atomic_bool shared;
    int threads;
};

static void count_index(void *context, int index, int worker)
{
    struct tally *tally = context;
    if (worker < 0 || worker >= tally->threads || atomic_fetch_add(&tally->inside[worker], 1) != 0)
        atomic_store(&tally->shared, true);
    atomic_fetch_add(&tally->runs[index], 1);
    if (worker >= 0 && worker < tally->threads)
        atomic_fetch_sub(&tally->inside[worker], 1);
}

static void check_tally(struct tally *tally, int count, int runs)
{
    for (int i = 0; i < MOST_INDICES; i++)
        assert_int_equal(atomic_load(&tally->runs[i]), i < count ? runs : 0);
    assert_false(atomic_load(&tally->shared));
}

static void every_index_runs_once_for_any_count_and_pool(void **state)
{
    (void)state;
    static const int counts[] = {0, 1, 2, 3, 7, 64, MOST_INDICES};
    for (int threads = 1; threads <= 5; threads++) {
        heddle_pool *pool = NULL;
        assert_int_equal(heddle_pool_create(threads, &pool), HEDDLE_OK);
        assert_int_equal(heddle_pool_threads(pool), threads);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            static struct tally tally;
            memset(&tally, 0, sizeof tally);
            tally.threads = threads;
            heddle_pool_run(pool, counts[i], count_index, &tally);
            check_tally(&tally, counts[i], 1);
        }
        heddle_pool_destroy(pool);
    }
}

static void many_short_runs_lose_nothing(void **state)
{
    (void)state;
    enum { RUNS = 20000, COUNT = 6 };
    heddle_pool *pool = NULL;
    assert_int_equal(heddle_pool_create(3, &pool), HEDDLE_OK);
    static struct tally tally;
    memset(&tally, 0, sizeof tally);
    tally.threads = 3;
    // Different counts, so that a late helper that mixed up two runs would be seen.
    for (int i = 0; i < RUNS; i++)
        heddle_pool_run(pool, i % 2 ? COUNT : COUNT / 2, count_index, &tally);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(atomic_load(&tally.runs[i]), i < COUNT / 2 ? RUNS : RUNS / 2);
    assert_false(atomic_load(&tally.shared));
    heddle_pool_destroy(pool);
}

static void runs_after_a_pause_wake_sleeping_workers(void **state)
{
    (void)state;
    heddle_pool *pool = NULL;
    assert_int_equal(heddle_pool_create(4, &pool), HEDDLE_OK);
    static struct tally tally;
    memset(&tally, 0, sizeof tally);
    tally.threads = 4;
    for (int i = 0; i < 20; i++) {
        usleep(2000);
        heddle_pool_run(pool, 100, count_index, &tally);
    }
    check_tally(&tally, 100, 20);
    heddle_pool_destroy(pool);
}

static void meet(void *context, int index, int worker)
{
    (void)index;
    (void)worker;
    atomic_int *arrived = context;
    atomic_fetch_add(arrived, 1);
    while (atomic_load(arrived) < 3)
        sched_yield();
}

static void indices_run_beside_each_other(void **state)
{
    (void)state;
    heddle_pool *pool = NULL;
    assert_int_equal(heddle_pool_create(3, &pool), HEDDLE_OK);
    atomic_int arrived = 0;
    // Each of the three waits for the others: returns only if all three are in it at once.
    heddle_pool_run(pool, 3, meet, &arrived);
    assert_int_equal(atomic_load(&arrived), 3);
    heddle_pool_destroy(pool);
}

struct caller {
    heddle_pool *pool;
    struct tally *tally;
    int runs;
};

static void *call_pool(void *context)
{
    const struct caller *caller = context;
    for (int i = 0; i < caller->runs; i++)
        heddle_pool_run(caller->pool, 10, count_index, caller->tally);
    return NULL;
}

static void several_threads_may_call_at_once(void **state)
{
    (void)state;
    enum { CALLERS = 4, RUNS = 500 };
    for (int threads = 1; threads <= 3; threads++) {
        heddle_pool *pool = NULL;
        assert_int_equal(heddle_pool_create(threads, &pool), HEDDLE_OK);
        static struct tally tally;
        memset(&tally, 0, sizeof tally);
        tally.threads = threads;
        struct caller caller = {.pool = pool, .tally = &tally, .runs = RUNS};
        pthread_t callers[CALLERS];
        for (int i = 0; i < CALLERS; i++)
            assert_int_equal(pthread_create(&callers[i], NULL, call_pool, &caller), 0);
        for (int i = 0; i < CALLERS; i++)
            pthread_join(callers[i], NULL);
        check_tally(&tally, 10, CALLERS * RUNS);
        heddle_pool_destroy(pool);
    }
}

struct nest {
    heddle_pool *outer, *inner;
    atomic_int runs;
    atomic_bool strayed; // an inner index ran under another worker's number
};

struct nest_level {
    struct nest *nest;
    int worker;
};

static void count_nested(void *context, int index, int worker)
{
    (void)index;
    const struct nest_level *level = context;
    if (worker != level->worker)
        atomic_store(&level->nest->strayed, true);
    atomic_fetch_add(&level->nest->runs, 1);
}

static void run_nested(void *context, int index, int worker)
{
    (void)index;
    struct nest *nest = context;
    struct nest_level level = {.nest = nest, .worker = worker};
    heddle_pool_run(nest->outer, 5, count_nested, &level);
}

static void a_task_may_call_its_own_pool_and_runs_inline(void **state)
{
    (void)state;
    struct nest nest = {0};
    assert_int_equal(heddle_pool_create(3, &nest.outer), HEDDLE_OK);
    heddle_pool_run(nest.outer, 50, run_nested, &nest);
    assert_int_equal(atomic_load(&nest.runs), 250);
    assert_false(atomic_load(&nest.strayed));
    heddle_pool_destroy(nest.outer);
}

static void count_inner(void *context, int index, int worker)
{
    (void)index;
    (void)worker;
    struct nest *nest = context;
    atomic_fetch_add(&nest->runs, 1);
}

static void run_other_pool(void *context, int index, int worker)
{
    (void)index;
    (void)worker;
    struct nest *nest = context;
    heddle_pool_run(nest->inner, 5, count_inner, nest);
}

static void a_task_may_call_another_pool(void **state)
{
    (void)state;
    struct nest nest = {0};
    assert_int_equal(heddle_pool_create(3, &nest.outer), HEDDLE_OK);
    assert_int_equal(heddle_pool_create(2, &nest.inner), HEDDLE_OK);
    heddle_pool_run(nest.outer, 50, run_other_pool, &nest);
    assert_int_equal(atomic_load(&nest.runs), 250);
    heddle_pool_destroy(nest.inner);
    heddle_pool_destroy(nest.outer);
}

static void without_a_pool_it_is_a_plain_loop(void **state)
{
    (void)state;
    static struct tally tally;
    memset(&tally, 0, sizeof tally);
    tally.threads = 1;
    heddle_pool_run(NULL, 10, count_index, &tally);
    check_tally(&tally, 10, 1);
    assert_int_equal(heddle_pool_threads(NULL), 1);
    heddle_pool_destroy(NULL);
}

static void senseless_thread_counts_are_refused(void **state)
{
    (void)state;
    heddle_pool *pool = NULL;
    assert_int_equal(heddle_pool_create(-1, &pool), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "-1 threads"));
    assert_int_equal(heddle_pool_create(100000, &pool), HEDDLE_INVALID);
    assert_null(pool);
}

static void zero_threads_means_one_a_core(void **state)
{
    (void)state;
    heddle_pool *pool = NULL;
    assert_int_equal(heddle_pool_create(0, &pool), HEDDLE_OK);
    assert_int_equal(heddle_pool_threads(pool), heddle_usable_cores());
    heddle_pool_destroy(pool);
}

static void *count_cores_when_pinned(void *context)
{
    cpu_set_t set, all;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&set);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&set) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &set);
    sched_setaffinity(0, sizeof set, &set);
    *(int *)context = heddle_usable_cores();
    return NULL;
}

static void usable_cores_respect_affinity(void **state)
{
    (void)state;
    int cores = 0;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, count_cores_when_pinned, &cores), 0);
    pthread_join(thread, NULL);
    assert_int_equal(cores, 1);
    assert_in_range(heddle_usable_cores(), 1, 100000);
}

static void cgroup_limits_of_version_2_are_the_tightest_on_the_way_up(void **state)
{
    (void)state;
    mkdir(scratch_path("v2"), 0777);
    mkdir(scratch_path("v2/job"), 0777);
    mkdir(scratch_path("v2/job/step"), 0777);
    scratch_write("membership2", "0::/job/step\n");
    scratch_write("v2/job/step/cpu.max", "max 100000\n");
    scratch_write("v2/job/cpu.max", "150000 100000\n");
    scratch_write("v2/job/step/memory.max", "max\n");
    scratch_write("v2/job/step/memory.current", "100\n");
    scratch_write("v2/job/memory.max", "5000\n");
    scratch_write("v2/job/memory.current", "2000\n");
    assert_float_equal(heddle_cgroup_cores_at(scratch_path("membership2"), scratch_path("v2")), 1.5, 1e-9);
    heddle_cgroup_memory memory = heddle_cgroup_memory_at(scratch_path("membership2"), scratch_path("v2"));
    assert_int_equal(memory.limit, 5000);
    assert_int_equal(memory.used, 2000);
}

static void files_cached_in_a_cgroup_do_not_count_as_used(void **state)
{
    (void)state;
    mkdir(scratch_path("cached"), 0777);
    mkdir(scratch_path("cached/memory"), 0777);
    scratch_write("cached2", "0::/\n");
    scratch_write("cached/memory.max", "5000\n");
    scratch_write("cached/memory.current", "4900\n");
    scratch_write("cached/memory.stat", "anon 900\ninactive_file_x 7\ninactive_file 4000\nactive_file 0\n");
    heddle_cgroup_memory memory = heddle_cgroup_memory_at(scratch_path("cached2"), scratch_path("cached"));
    assert_int_equal(memory.limit, 5000);
    assert_int_equal(memory.used, 900);
    scratch_write("cached1", "3:memory:/\n");
    scratch_write("cached/memory/memory.limit_in_bytes", "5000\n");
    scratch_write("cached/memory/memory.usage_in_bytes", "3000\n");
    scratch_write("cached/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 2500\n");
    assert_int_equal(heddle_cgroup_memory_at(scratch_path("cached1"), scratch_path("cached")).used, 500);
}

static void cgroup_limits_of_version_1_are_read(void **state)
{
    (void)state;
    mkdir(scratch_path("v1"), 0777);
    mkdir(scratch_path("v1/cpu,cpuacct"), 0777);
    mkdir(scratch_path("v1/memory"), 0777);
    mkdir(scratch_path("v1/memory/job"), 0777);
    // The container's own path does not exist below its view of the cpu tree: the mount point counts.
    scratch_write("membership1", "7:cpuset:/x\n4:cpu,cpuacct:/docker/abc\n3:memory:/job\nnonsense\n");
    scratch_write("v1/cpu,cpuacct/cpu.cfs_quota_us", "50000\n");
    scratch_write("v1/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    scratch_write("v1/memory/job/memory.limit_in_bytes", "4096\n");
    scratch_write("v1/memory/job/memory.usage_in_bytes", "1024\n");
    assert_float_equal(heddle_cgroup_cores_at(scratch_path("membership1"), scratch_path("v1")), 0.5, 1e-9);
    assert_int_equal(heddle_cgroup_memory_at(scratch_path("membership1"), scratch_path("v1")).limit, 4096);
    scratch_write("v1/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    assert_true(isinf(heddle_cgroup_cores_at(scratch_path("membership1"), scratch_path("v1"))));
}

static void without_cgroups_there_is_no_limit(void **state)
{
    (void)state;
    assert_true(isinf(heddle_cgroup_cores_at(scratch_path("absent"), scratch_path("absent"))));
    assert_true(heddle_cgroup_memory_at(scratch_path("absent"), scratch_path("absent")).limit == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_runs_once_for_any_count_and_pool),
        cmocka_unit_test(many_short_runs_lose_nothing),
        cmocka_unit_test(runs_after_a_pause_wake_sleeping_workers),
        cmocka_unit_test(indices_run_beside_each_other),
        cmocka_unit_test(several_threads_may_call_at_once),
        cmocka_unit_test(a_task_may_call_its_own_pool_and_runs_inline),
        cmocka_unit_test(a_task_may_call_another_pool),
        cmocka_unit_test(without_a_pool_it_is_a_plain_loop),
        cmocka_unit_test(senseless_thread_counts_are_refused),
        cmocka_unit_test(zero_threads_means_one_a_core),
        cmocka_unit_test(usable_cores_respect_affinity),
        cmocka_unit_test(cgroup_limits_of_version_2_are_the_tightest_on_the_way_up),
        cmocka_unit_test(cgroup_limits_of_version_1_are_read),
        cmocka_unit_test(files_cached_in_a_cgroup_do_not_count_as_used),
        cmocka_unit_test(without_cgroups_there_is_no_limit),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
