// What the simulator finds, turned into reasons: one per cause, with advice that fits the learner's chapter.

#include "files.h"
#include "judging_files.h"

enum { MOST_FINDINGS = 4 };

// A run of the kernel `one`, in blocks of 64 threads, and what was found in it.
typedef struct found {
    heddle_check_kernel kernel;
    heddle_check_report run;
    heddle_check_memory memory;
    heddle_check_place places[MOST_FINDINGS][2];
    heddle_check_finding findings[MOST_FINDINGS];
    heddle_check_finding *list[MOST_FINDINGS];
    heddle_check_result result;
} found;

static void set_up_findings(judging_fixture *made, found *all)
{
    *all = (found){.kernel = {.name = "one", .grid = {2, 1, 1}, .block = {64, 1, 1}},
                   .memory = {.space = "global", .name = "out", .bytes = 400, .offset = 20, .size = 4}};
    all->run = (heddle_check_report){.kernels = &all->kernel, .kernel_count = 1};
    all->result = (heddle_check_result){.runs = {&all->run}, .run_count = 1, .findings = all->list};
    made->judging.result = &all->result;
}

static heddle_check_place place_at(const judging_fixture *made, const char *role, int line, int thread)
{
    return (heddle_check_place){.role = role,
                                .frame = {{.file = made->judging.source, .line = line, .function = "one"}},
                                .frames = 1,
                                .has_thread = true,
                                .thread = {thread, 0, 0}};
}

static void add_finding(found *all, heddle_check_kind kind, heddle_check_place first, heddle_check_place second)
{
    int i = all->result.finding_count++;
    all->places[i][0] = first;
    all->places[i][1] = second;
    all->findings[i] = (heddle_check_finding){.kind = kind,
                                              .kernel = "one",
                                              .message = "thread (3,0,0) of block (0,0,0) did it",
                                              .note = "",
                                              .cause = "the cause",
                                              .cure = "Use an atomic.",
                                              .places = all->places[i],
                                              .place_count = 2,
                                              .memory = &all->memory};
    all->list[i] = &all->findings[i];
}

static const char *last_text(const heddle_learn_reason *reason)
{
    assert_true(reason->item_count > 0);
    return reason->items[reason->item_count - 1].text;
}

static void two_writes_of_one_line_ask_for_the_index_and_speak_of_no_atomics(void **state)
{
    judging_fixture made = {0};
    found all;
    set_up_judging(&made, *state);
    set_up_findings(&made, &all);
    add_finding(&all, HEDDLE_CHECK_RACE, place_at(&made, "write", 3, 1), place_at(&made, "write", 3, 40));
    heddle_learn_explain_findings(&made.judging);
    assert_string_equal(last_text(only_reason(&made, "race")),
                        "Two threads computed the same index, 5. Should each have its own? Check how the index is "
                        "computed.");
    tear_down_judging(&made);
}

static void an_update_by_all_threads_is_atomic_once_the_course_has_come_to_atomics(void **state)
{
    judging_fixture made = {0};
    found all;
    set_up_judging(&made, *state);
    set_up_findings(&made, &all);
    add_finding(&all, HEDDLE_CHECK_RACE, place_at(&made, "write", 3, 1), place_at(&made, "write", 3, 40));
    all.findings[0].note = "same warp, no __syncwarp between them; also seen as read and write";
    all.memory.bytes = all.memory.size;
    all.memory.offset = 0;
    for (int chapter = 10; chapter <= 11; chapter++) {
        made.judging.verdict->reason_count = 0;
        made.course->exercises[0].chapter_number = chapter;
        heddle_learn_explain_findings(&made.judging);
        const heddle_learn_reason *reason = only_reason(&made, "race");
        assert_int_equal(strstr(last_text(reason), "atomicAdd") != NULL, chapter == 11);
        for (int i = 0; chapter == 10 && i < reason->item_count; i++)
            assert_null(strstr(reason->items[i].text, "__syncwarp"));
    }
    tear_down_judging(&made);
}

static void a_warp_barrier_is_offered_within_a_warp_only(void **state)
{
    judging_fixture made = {0};
    found all;
    set_up_judging(&made, *state);
    set_up_findings(&made, &all);
    made.course->exercises[0].chapter_number = 11;
    for (int thread = 31; thread <= 33; thread += 2) {
        all.result.finding_count = 0;
        made.judging.verdict->reason_count = 0;
        add_finding(&all, HEDDLE_CHECK_RACE, place_at(&made, "write", 1, 1), place_at(&made, "read", 4, thread));
        heddle_learn_explain_findings(&made.judging);
        const char *advice = last_text(only_reason(&made, "race"));
        assert_non_null(strstr(advice, "__syncthreads()"));
        assert_int_equal(strstr(advice, "__syncwarp()") != NULL, thread == 31);
        assert_null(strstr(advice, "atomic"));
    }
    tear_down_judging(&made);
}

static void races_that_one_barrier_mends_are_one_reason(void **state)
{
    judging_fixture made = {0};
    found all;
    set_up_judging(&made, *state);
    set_up_findings(&made, &all);
    add_finding(&all, HEDDLE_CHECK_RACE, place_at(&made, "write", 1, 1), place_at(&made, "read", 4, 40));
    add_finding(&all, HEDDLE_CHECK_RACE, place_at(&made, "write", 2, 1), place_at(&made, "read", 4, 40));
    add_finding(&all, HEDDLE_CHECK_RACE, place_at(&made, "read", 5, 1), place_at(&made, "write", 3, 40));
    add_finding(&all, HEDDLE_CHECK_UNINITIALISED, place_at(&made, "read", 4, 1), place_at(&made, "read", 4, 1));
    heddle_learn_explain_findings(&made.judging);
    const heddle_learn_verdict *verdict = made.judging.verdict;
    assert_int_equal(verdict->reason_count, 2);
    assert_string_equal(last_text(&verdict->reasons[0]), "And 2 more pairs of accesses, mended by the same barrier.");
    assert_string_equal(verdict->reasons[1].tag, "uninitialised");
    assert_int_equal(verdict->reasons[1].rank, HEDDLE_LEARN_RANK_FOLLOWS); // of the race on the same array
    tear_down_judging(&made);
}

static void a_finding_has_its_own_case_not_the_one_where_the_judge_stopped(void **state)
{
    judging_fixture made = {0};
    found all;
    set_up_judging(&made, *state);
    set_up_findings(&made, &all);
    assert_true(heddle_learn_hear(&made.judging, "@learn_1 {\"case\":\"n = 3\",\"says\":\"wrong\"}\n"));
    made.judging.verdict->reason_count = 0;
    add_finding(&all, HEDDLE_CHECK_RACE, place_at(&made, "write", 1, 1), place_at(&made, "read", 4, 2));
    all.findings[0].part = "n = 2";
    heddle_learn_explain_findings(&made.judging);
    assert_string_equal(only_reason(&made, "race")->in_case, "n = 2");
    tear_down_judging(&made);
}

static void a_guard_with_n_is_advised_only_where_the_kernel_has_n(void **state)
{
    static const struct {
        const char *code;
        bool guard;
    } cases[] = {{"__global__ void one(float *out, int n)", true},
                 {"__global__ void one(float *out, int rows)", false}};
    judging_fixture made = {0};
    found all;
    set_up_judging(&made, *state);
    set_up_findings(&made, &all);
    all.memory.offset = 400;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        all.result.finding_count = 0;
        made.judging.verdict->reason_count = 0;
        heddle_learn_code code;
        assert_int_equal(heddle_learn_code_read(cases[i].code, &code), HEDDLE_OK);
        made.judging.code = &code;
        add_finding(&all, HEDDLE_CHECK_OUT_OF_BOUNDS, place_at(&made, "write", 4, 1), place_at(&made, "write", 4, 1));
        heddle_learn_explain_findings(&made.judging);
        const char *advice = last_text(only_reason(&made, "out-of-bounds"));
        assert_int_equal(strstr(advice, "if (i < n)") != NULL, cases[i].guard);
        assert_null(strstr(advice, "allocation")); // which is not the learner's
        heddle_learn_code_free(&code);
    }
    tear_down_judging(&made);
}

static void an_index_that_is_negative_as_an_unsigned_number_is_told_as_below_0(void **state)
{
    judging_fixture made = {0};
    found all;
    set_up_judging(&made, *state);
    set_up_findings(&made, &all);
    add_finding(&all, HEDDLE_CHECK_OUT_OF_BOUNDS, place_at(&made, "index", 4, 1), place_at(&made, "index", 4, 1));
    all.findings[0].memory = NULL;
    all.findings[0].message = "index 4294967294 is outside the bounds of an array of type float [16]";
    heddle_learn_explain_findings(&made.judging);
    const heddle_learn_reason *reason = only_reason(&made, "out-of-bounds");
    assert_string_equal(reason->items[reason->item_count - 2].text,
                        "This is what -2 looks like as an unsigned number: the index is below 0.");
    tear_down_judging(&made);
}

static void a_failed_allocation_comes_before_what_its_null_pointer_does(void **state)
{
    judging_fixture made = {0};
    found all;
    set_up_judging(&made, *state);
    set_up_findings(&made, &all);
    add_finding(&all, HEDDLE_CHECK_FAULT, place_at(&made, "write", 4, 1), place_at(&made, "write", 4, 1));
    all.findings[0].message = "write of 4 bytes through a null pointer";
    add_finding(&all, HEDDLE_CHECK_BAD_CALL, place_at(&made, "call", 3, 1), place_at(&made, "call", 3, 1));
    all.findings[1].message =
        "cudaMalloc fails with cudaErrorInvalidValue: the output argument for the pointer is NULL";
    heddle_learn_explain_findings(&made.judging);
    const heddle_learn_verdict *verdict = made.judging.verdict;
    assert_int_equal(verdict->reasons[0].rank, HEDDLE_LEARN_RANK_FOLLOWS);
    assert_int_equal(verdict->reasons[1].rank, HEDDLE_LEARN_RANK_ERROR);
    tear_down_judging(&made);
}

// The advice about an access past the end in line 4 of a kernel, or in line 3 where a guard follows it.
static const char *advice_on_guard(void **state, judging_fixture *made, const char *guard, const char *access,
                                   bool guard_follows, long long offset)
{
    found all;
    heddle_learn_code code;
    char text[256];
    *made = (judging_fixture){0};
    set_up_judging(made, *state);
    set_up_findings(made, &all);
    all.memory.offset = offset;
    snprintf(text, sizeof text, "__global__ void one(float *out, int n)\n{\n%s\n%s\n}\n",
             guard_follows ? access : guard, guard_follows ? guard : access);
    write_file(made->judging.folder, "04.1-one.c", text);
    assert_int_equal(heddle_learn_code_read(text, &code), HEDDLE_OK);
    made->judging.code = &code;
    heddle_check_place place = place_at(made, "write", guard_follows ? 3 : 4, 1);
    place.column = 1;
    place.width = (int)strcspn(access, "]") + 1;
    add_finding(&all, HEDDLE_CHECK_OUT_OF_BOUNDS, place, place);
    heddle_learn_explain_findings(&made->judging);
    const char *advice = last_text(only_reason(made, "out-of-bounds"));
    heddle_learn_code_free(&code);
    made->judging.code = NULL;
    made->judging.result = NULL;
    return advice;
}

static void a_guard_that_is_there_is_not_advised_again(void **state)
{
    static const struct {
        const char *access, *guard, *advice;
        bool follows;
    } cases[] = {
        {"out[i + 1] = 1;", "if (i < n)", "The condition `i < n` tests `i`, but this access uses `i + 1`", false},
        {"out[i] = 1;", "int i = blockIdx.x * 8 + threadIdx.x; if (threadIdx.x < n)",
         "The condition `threadIdx.x < n` tests `threadIdx.x`, but", false},
        {"out[i] = 1;", "for (int k = 0; i + k < n / 4; k++)", "The condition `i + k < n / 4` tests `i + k`, but",
         false},
        {"out[i] = 1;", "if (i >= n) return;", "Does the condition `i >= n` enclose this line, and has the array `n`",
         false},
        {"out[y * n + x] = 1;", "if (y < n)", "The condition `y < n` does not stop this index, `y * n + x`", false},
        {"out[i] = 1;", "if (i < n) n = 0;", "The condition `i < n` comes after this access", true},
        {"out[i] = 1;", "if (threadIdx.x < 16)", "Is this the element that this thread should have?", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        judging_fixture made;
        const char *advice = advice_on_guard(state, &made, cases[i].guard, cases[i].access, cases[i].follows, 400);
        assert_memory_equal(advice, cases[i].advice, strlen(cases[i].advice));
        tear_down_judging(&made);
    }
}

static void a_guard_that_is_one_too_generous_is_quoted(void **state)
{
    static const struct {
        const char *guard, *access;
        long long offset;
        const char *advice; // NULL: another one
    } cases[] = {
        {"if (i <= n)", "out[i] = 1;", 400, "compare with `<`"},
        {"if (n < i) return;", "out[i] = 1;", 400, "The guard `n < i` also lets `i == n` through."},
        {"if (i <= n)", "out[i + 7] = 1;", 408, NULL},
        {"if (i < n)", "out[i] = 1;", 400, NULL},
        {"for (int k = 0; k <= 3; k++)", "out[i] = 1;", 400, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        judging_fixture made;
        const char *advice = advice_on_guard(state, &made, cases[i].guard, cases[i].access, false, cases[i].offset);
        assert_int_equal(strstr(advice, "` through.") != NULL, cases[i].advice != NULL);
        if (cases[i].advice)
            assert_non_null(strstr(advice, cases[i].advice));
        tear_down_judging(&made);
    }
}

static void a_hole_in_a_tile_is_guarded_or_filled(void **state)
{
    judging_fixture made = {0};
    found all;
    set_up_judging(&made, *state);
    set_up_findings(&made, &all);
    all.memory.space = "shared";
    add_finding(&all, HEDDLE_CHECK_UNINITIALISED, place_at(&made, "read", 4, 1), place_at(&made, "read", 4, 1));
    heddle_learn_explain_findings(&made.judging);
    const char *advice = last_text(only_reason(&made, "uninitialised"));
    assert_non_null(strstr(advice, "guard the read like the write"));
    assert_non_null(strstr(advice, "such as 0"));
    tear_down_judging(&made);
}

static void a_copy_against_its_direction_is_asked_what_it_should_do(void **state)
{
    judging_fixture made = {0};
    found all;
    set_up_judging(&made, *state);
    set_up_findings(&made, &all);
    add_finding(&all, HEDDLE_CHECK_BAD_CALL, place_at(&made, "call", 4, 1), place_at(&made, "call", 4, 1));
    all.findings[0].message = "cudaMemcpyDeviceToHost wants host memory as its destination";
    heddle_learn_explain_findings(&made.judging);
    assert_non_null(strstr(last_text(only_reason(&made, "bad-call")), "check the first two arguments"));
    tear_down_judging(&made);
}

static void names_that_are_words_are_quoted(void **state)
{
    judging_fixture made = {0};
    found all;
    set_up_judging(&made, *state);
    set_up_findings(&made, &all);
    all.memory.name = "in";
    add_finding(&all, HEDDLE_CHECK_TRAP, place_at(&made, "call", 4, 1), place_at(&made, "call", 4, 1));
    add_finding(&all, HEDDLE_CHECK_RACE, place_at(&made, "write", 3, 1), place_at(&made, "read", 4, 40));
    all.findings[0].message = "kernel one came after kernel ones and kernel one";
    heddle_learn_explain_findings(&made.judging);
    assert_int_equal(made.judging.verdict->reason_count, 2);
    const heddle_learn_reason *trap = &made.judging.verdict->reasons[0], *race = &made.judging.verdict->reasons[1];
    bool said = false;
    for (int i = 0; i < trap->item_count; i++)
        said |= strcmp(trap->items[i].text, "Kernel `one` came after kernel ones and kernel `one`.") == 0;
    assert_true(said);
    assert_string_equal(race->headline, "data race on global memory `in` in kernel `one`");
    tear_down_judging(&made);
}

static void threads_are_named_in_as_many_dimensions_as_the_launch_has(void **state)
{
    static const char *const expected[] = {"Thread 3 of block 0 did it.", "Thread (3,0) of block (0,0) did it.",
                                           "Thread (3,0,0) of block (0,0,0) did it."};
    judging_fixture made = {0};
    found all;
    set_up_judging(&made, *state);
    set_up_findings(&made, &all);
    add_finding(&all, HEDDLE_CHECK_TRAP, place_at(&made, "call", 4, 3), place_at(&made, "call", 4, 3));
    for (int dimensions = 1; dimensions <= 3; dimensions++) {
        made.judging.verdict->reason_count = 0;
        all.kernel.block[dimensions - 1] = 2;
        heddle_learn_explain_findings(&made.judging);
        const heddle_learn_reason *reason = only_reason(&made, "trap");
        bool said = false;
        for (int i = 0; i < reason->item_count; i++)
            said |= strcmp(reason->items[i].text, expected[dimensions - 1]) == 0;
        assert_true(said);
    }
    tear_down_judging(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(two_writes_of_one_line_ask_for_the_index_and_speak_of_no_atomics),
        WITH_FOLDER(an_update_by_all_threads_is_atomic_once_the_course_has_come_to_atomics),
        WITH_FOLDER(a_warp_barrier_is_offered_within_a_warp_only),
        WITH_FOLDER(races_that_one_barrier_mends_are_one_reason),
        WITH_FOLDER(a_finding_has_its_own_case_not_the_one_where_the_judge_stopped),
        WITH_FOLDER(a_guard_with_n_is_advised_only_where_the_kernel_has_n),
        WITH_FOLDER(an_index_that_is_negative_as_an_unsigned_number_is_told_as_below_0),
        WITH_FOLDER(a_failed_allocation_comes_before_what_its_null_pointer_does),
        WITH_FOLDER(a_guard_that_is_there_is_not_advised_again),
        WITH_FOLDER(a_guard_that_is_one_too_generous_is_quoted),
        WITH_FOLDER(a_hole_in_a_tile_is_guarded_or_filled),
        WITH_FOLDER(a_copy_against_its_direction_is_asked_what_it_should_do),
        WITH_FOLDER(names_that_are_words_are_quoted),
        WITH_FOLDER(threads_are_named_in_as_many_dimensions_as_the_launch_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
