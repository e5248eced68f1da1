// Opening, describing and closing devices, and their memory.

#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/threads.h"
#include "device/cpu/processor.h"

// In a folder that HEDDLE_MODULES names, and that has no modules or none that are.
static void a_device_without_its_module_says_what_is_missing(void **state)
{
    (void)state;
    char folder[] = "/tmp/heddle-modules-XXXXXX", path[sizeof folder + 32];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("HEDDLE_MODULES", folder, 1), 0);
    heddle_device *none = opened;
    assert_fails(heddle_device_open("cuda", 0, &none), HEDDLE_MISSING, "where there is no libheddle-cuda.so");
    assert_null(none);
    assert_fails(heddle_device_open("cuda:1", 0, &none), HEDDLE_MISSING, folder);
    assert_fails(heddle_device_open("sim", 0, &none), HEDDLE_MISSING, "where there is no libheddle-sim.so");

    snprintf(path, sizeof path, "%s/libheddle-sim.so", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("not a module", file);
    fclose(file);
    assert_fails(heddle_device_open("sim", 0, &none), HEDDLE_MISSING, "libheddle-sim.so");
    assert_null(none);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(unsetenv("HEDDLE_MODULES"), 0);
}

static void unknown_names_suggest_the_nearest(void **state)
{
    (void)state;
    heddle_device *none = NULL;
    assert_fails(heddle_device_open("cudda", 0, &none), HEDDLE_NOT_FOUND, "did you mean 'cuda'?");
    assert_fails(heddle_device_open("CPU", 0, &none), HEDDLE_NOT_FOUND, "did you mean 'cpu'?");
    assert_fails(heddle_device_open("gpu", 0, &none), HEDDLE_NOT_FOUND, "did you mean 'cuda'?");
    assert_fails(heddle_device_open("abacus", 0, &none), HEDDLE_NOT_FOUND, "cpu, cuda and sim");
    assert_fails(heddle_device_open("", 0, &none), HEDDLE_NOT_FOUND, "no device ''");
}

static void device_numbers_are_checked(void **state)
{
    (void)state;
    heddle_device *none = NULL;
    assert_fails(heddle_device_open("cpu:1", 0, &none), HEDDLE_INVALID, "only one cpu device");
    assert_fails(heddle_device_open("cpu:", 0, &none), HEDDLE_INVALID, "after the colon");
    assert_fails(heddle_device_open("cuda:one", 0, &none), HEDDLE_INVALID, "after the colon");
    assert_fails(heddle_device_open("cuda:-1", 0, &none), HEDDLE_INVALID, "after the colon");
    assert_fails(heddle_device_open("cuda:99999999999999999999", 0, &none), HEDDLE_INVALID, "after the colon");
    assert_fails(heddle_device_open(NULL, 0, &none), HEDDLE_INVALID, "NULL");
    assert_fails(heddle_device_open("cpu", 0, NULL), HEDDLE_INVALID, "NULL");
    assert_fails(heddle_device_open("cpu", -3, &none), HEDDLE_INVALID, "-3 threads");
    assert_null(none);
}

static void describe_tells_what_the_machine_has(void **state)
{
    (void)state;
    heddle_device_info info;
    assert_ok(heddle_device_describe(opened, &info));
    assert_int_equal(info.kind, HEDDLE_CPU);
    assert_true(strlen(info.name) > 0);
    assert_true(strlen(info.instructions) > 0);
    assert_int_equal(info.processors, heddle_usable_cores());
    assert_int_equal(info.threads, 2);
    assert_true(info.memory_total > 1 << 20);
    assert_true(info.memory_free > 0 && info.memory_free <= info.memory_total);
    assert_int_equal(heddle_device_get_kind(opened), HEDDLE_CPU);
    assert_int_equal(heddle_pool_threads(heddle_device_pool(opened)), 2);
    assert_string_equal(heddle_device_kind_name(HEDDLE_CPU), "cpu");
    assert_string_equal(heddle_device_kind_name(HEDDLE_CUDA), "cuda");
    assert_string_equal(heddle_device_kind_name(HEDDLE_SIM), "sim");
    assert_fails(heddle_device_describe(opened, NULL), HEDDLE_INVALID, "NULL");
}

static void processors_are_named_from_cpuinfo(void **state)
{
    (void)state;
    static const struct {
        const char *cpuinfo, *name, *instructions;
    } known[] = {
        {"processor\t: 0\nFeatures\t: fp asimd evtstrm\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n", "Neoverse-V1",
         "neon"},
        {"Features : asimd sve sve2 svebf16\nCPU implementer : 0x41\nCPU part : 0xd4f\n", "Neoverse-V2",
         "neon sve sve2"},
        {"CPU implementer\t: 0x99\nCPU part\t: 0x123\n", "Arm processor (implementer 0x99, part 0x123)", "scalar"},
        {"model name\t: AMD EPYC 9654\nflags\t\t: sse2 fma avx avx2 avx512f avx512dq\nmodel name\t: second\n",
         "AMD EPYC 9654", "avx avx2 fma avx512f"},
        {"model name\t: Old\nflags\t\t: fpu sse sse2 \n", "Old", "sse2"},
        {"", "unknown processor", "scalar"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char name[128], instructions[64];
        heddle_cpu_processor_name(known[i].cpuinfo, name, sizeof name);
        heddle_cpu_instructions(known[i].cpuinfo, instructions, sizeof instructions);
        assert_string_equal(name, known[i].name);
        assert_string_equal(instructions, known[i].instructions);
    }
}

static void clocks_are_read_from_cpuinfo(void **state)
{
    (void)state;
    assert_true(heddle_cpu_clock("model name\t: X\ncpu MHz\t\t: 2450.125\ncpu MHz\t\t: 1.5\n") == 2450.125);
    assert_true(heddle_cpu_clock("processor\t: 0\nBogoMIPS\t: 2100.00\n") == 0);
    assert_true(heddle_cpu_clock("") == 0);
}

static void everything_known_of_the_processor_is_listed(void **state)
{
    (void)state;
    heddle_device_property rows[32], few[1];
    heddle_device_info info;
    assert_ok(heddle_device_describe(opened, &info));
    int count = heddle_device_properties(opened, rows, 32);
    assert_in_range(count, 6, 32);
    assert_string_equal(rows[0].name, "name");
    assert_string_equal(rows[0].value, info.name);
    assert_int_equal(heddle_device_properties(opened, few, 1), count);
    assert_int_equal(heddle_device_properties(NULL, few, 1), 0);
}

static void a_cpu_has_no_vendors_and_no_kernel_to_measure(void **state)
{
    (void)state;
    char text[64] = "left";
    double operations = 0;
    heddle_device_missing(opened, text, sizeof text);
    assert_string_equal(text, "");
    heddle_stream *stream = make_stream(0);
    assert_fails(heddle_device_exercise(stream, HEDDLE_UNIT_FLOAT32, NULL, 0, &operations), HEDDLE_UNSUPPORTED,
                 "cpu has no kernels");
    assert_ok(heddle_stream_destroy(stream));
    assert_ok(heddle_device_reset_cache(opened));
    size_t kept = 1;
    assert_ok(heddle_device_kept_cache(opened, &kept));
    assert_int_equal(kept, 0);
}

// --- memory ---------------------------------------------------------------------------------------------------------

static void device_memory_is_aligned_and_usable(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 3, 255, 256, 257, 100000, 9 << 20};
    void *memory[sizeof sizes / sizeof *sizes];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_ok(heddle_alloc(opened, sizes[i], &memory[i]));
        assert_int_equal((uintptr_t)memory[i] % 256, 0);
        memset(memory[i], 0x5A, sizes[i]);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_ok(heddle_free(opened, memory[i]));
}

static void pinned_memory_is_whole_pages(void **state)
{
    (void)state;
    void *memory = NULL;
    assert_ok(heddle_alloc_pinned(opened, 10000, &memory));
    assert_int_equal((uintptr_t)memory % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
    memset(memory, 1, 10000);
    assert_ok(heddle_free_pinned(opened, memory));
}

static void zero_bytes_are_null_and_null_is_freed(void **state)
{
    (void)state;
    void *memory = opened;
    assert_ok(heddle_alloc(opened, 0, &memory));
    assert_null(memory);
    assert_ok(heddle_free(opened, NULL));
    assert_ok(heddle_alloc_pinned(opened, 0, &memory));
    assert_ok(heddle_free_pinned(opened, NULL));
    assert_fails(heddle_alloc(opened, 1, NULL), HEDDLE_INVALID, "NULL");
    assert_fails(heddle_alloc(NULL, 1, &memory), HEDDLE_INVALID, "NULL");
    assert_fails(heddle_free(NULL, &memory), HEDDLE_INVALID, "NULL");
}

static void more_than_the_machine_has_is_refused(void **state)
{
    (void)state;
    void *memory = NULL;
    heddle_device_info info;
    assert_ok(heddle_device_describe(opened, &info));
    assert_fails(heddle_alloc(opened, SIZE_MAX, &memory), HEDDLE_OUT_OF_MEMORY, "asked for on the cpu device");
    assert_fails(heddle_alloc(opened, info.memory_total + 1, &memory), HEDDLE_OUT_OF_MEMORY, "smaller batch");
    assert_fails(heddle_alloc_pinned(opened, SIZE_MAX, &memory), HEDDLE_OUT_OF_MEMORY, "asked for on the cpu device");
    assert_null(memory);
}

static void freeing_what_is_not_an_allocation_is_refused(void **state)
{
    (void)state;
    void *memory = NULL, *pinned = NULL;
    int local = 0;
    assert_ok(heddle_alloc(opened, 1000, &memory));
    assert_ok(heddle_alloc_pinned(opened, 1000, &pinned));
    assert_fails(heddle_free(opened, &local), HEDDLE_INVALID, "not from heddle_alloc");
    assert_fails(heddle_free(opened, (char *)memory + 64), HEDDLE_INVALID, "64 bytes into an allocation");
    assert_fails(heddle_free(opened, pinned), HEDDLE_INVALID, "free it with heddle_free_pinned");
    assert_fails(heddle_free_pinned(opened, memory), HEDDLE_INVALID, "free it with heddle_free");
    assert_ok(heddle_free(opened, memory));
    assert_fails(heddle_free(opened, memory), HEDDLE_INVALID, "freed before");
    assert_ok(heddle_free_pinned(opened, pinned));
}

static void allocations_are_found_again_in_any_order(void **state)
{
    (void)state;
    enum { COUNT = 500 };
    void *memory[COUNT];
    for (int i = 0; i < COUNT; i++)
        assert_ok(heddle_alloc(opened, (size_t)(i * 37 % 1000 + 1), &memory[i]));
    for (int i = 0; i < COUNT; i++)
        assert_ok(heddle_free(opened, memory[i * 7 % COUNT]));
    assert_fails(heddle_free(opened, memory[0]), HEDDLE_INVALID, "freed before");
}

// What `act` writes to stderr; the caller frees it.
static char *capture_stderr(void (*act)(void))
{
    fflush(stderr);
    FILE *file = tmpfile();
    assert_non_null(file);
    int before = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    act();
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    long size = lseek(fileno(file), 0, SEEK_END);
    char *text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(pread(fileno(file), text, (size_t)size, 0), size);
    fclose(file);
    return text;
}

static void close_with_leftovers(void)
{
    heddle_device *other = NULL;
    void *memory = NULL;
    heddle_stream *stream = NULL;
    assert_ok(heddle_device_open("cpu", 1, &other));
    assert_ok(heddle_alloc(other, 1024, &memory));
    assert_ok(heddle_alloc(other, 512, &memory));
    assert_ok(heddle_stream_create(other, 0, &stream));
    assert_ok(heddle_fill(stream, memory, 0, 512));
    heddle_device_close(other);
}

static void closing_with_live_objects_warns_and_frees_them(void **state)
{
    (void)state;
    heddle_log_set_level(HEDDLE_LOG_WARN);
    char *text = capture_stderr(close_with_leftovers);
    assert_non_null(strstr(text, "cpu device closed with 2 live allocations (1.5 KiB)"));
    assert_non_null(strstr(text, "1 streams, 0 events and 0 graphs"));
    free(text);
}

static void fill_slowly(void *memory)
{
    usleep(20000);
    memset(memory, 1, 512);
}

static void close_while_capturing(void)
{
    heddle_device *other = NULL;
    void *memory = NULL;
    heddle_stream *capturing = NULL, *busy = NULL;
    assert_ok(heddle_device_open("cpu", 1, &other));
    assert_ok(heddle_alloc(other, 512, &memory));
    assert_ok(heddle_stream_create(other, 0, &capturing));
    assert_ok(heddle_stream_create(other, 0, &busy));
    assert_ok(heddle_stream_callback(busy, fill_slowly, memory));
    assert_ok(heddle_capture_begin(capturing));
    assert_ok(heddle_fill(capturing, memory, 0, 512));
    heddle_device_close(other);
}

// A sanitizer sees memory freed under running work, and a capture that is left behind.
static void closing_during_a_capture_gives_it_up_and_still_waits_for_work(void **state)
{
    (void)state;
    heddle_log_set_level(HEDDLE_LOG_WARN);
    char *text = capture_stderr(close_while_capturing);
    assert_null(strstr(text, "failure"));
    assert_non_null(strstr(text, "2 streams, 0 events and 0 graphs"));
    free(text);
}

static void close_cleanly(void)
{
    heddle_device *other = NULL;
    assert_ok(heddle_device_open("cpu", 0, &other));
    heddle_device_close(other);
    heddle_device_close(NULL);
}

static void closing_a_clean_device_is_silent(void **state)
{
    (void)state;
    char *text = capture_stderr(close_cleanly);
    assert_string_equal(text, "");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_without_its_module_says_what_is_missing),
        cmocka_unit_test(unknown_names_suggest_the_nearest),
        cmocka_unit_test(device_numbers_are_checked),
        cmocka_unit_test(describe_tells_what_the_machine_has),
        cmocka_unit_test(processors_are_named_from_cpuinfo),
        cmocka_unit_test(clocks_are_read_from_cpuinfo),
        cmocka_unit_test(everything_known_of_the_processor_is_listed),
        cmocka_unit_test(a_cpu_has_no_vendors_and_no_kernel_to_measure),
        cmocka_unit_test(device_memory_is_aligned_and_usable),
        cmocka_unit_test(pinned_memory_is_whole_pages),
        cmocka_unit_test(zero_bytes_are_null_and_null_is_freed),
        cmocka_unit_test(more_than_the_machine_has_is_refused),
        cmocka_unit_test(freeing_what_is_not_an_allocation_is_refused),
        cmocka_unit_test(allocations_are_found_again_in_any_order),
        cmocka_unit_test(closing_with_live_objects_warns_and_frees_them),
        cmocka_unit_test(closing_during_a_capture_gives_it_up_and_still_waits_for_work),
        cmocka_unit_test(closing_a_clean_device_is_silent),
    };
    return cmocka_run_group_tests(tests, device_open, device_close);
}
