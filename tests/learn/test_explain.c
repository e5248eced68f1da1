// What compilers, sanitizers and the judge say, turned into reasons: each with the learner's line and no path of ours.

#include "check/check.h"
#include "files.h"
#include "judging_files.h"
#include "learn/interrupt.h"

static void a_compiler_error_is_at_the_learners_line_and_says_what_it_means(void **state)
{
    judging_fixture made = {0};
    char messages[1024];
    set_up_judging(&made, *state);
    snprintf(messages, sizeof messages, "In file included from %s:1:\n%s:4:5: error: expected ‘;’ before ‘return’\n",
             made.judging.judge, made.judging.source);
    heddle_learn_explain_messages(&made.judging, messages);
    const heddle_learn_reason *reason = only_reason(&made, "compile");
    assert_int_equal(reason->line, 4);
    assert_int_equal(reason->item_count, 3); // the line before, the line, what it means
    assert_string_equal(reason->items[0].text, "    int i = 0");
    assert_string_equal(reason->items[0].file, "04-plain/04.1-one.c");
    assert_non_null(strstr(reason->items[2].text, "semicolon"));
    tear_down_judging(&made);
}

static void usual_mistakes_of_cuda_are_told_in_its_words(void **state)
{
    static const struct {
        const char *line, *message, *headline, *advice;
    } cases[] = {
        {"int i = blockIdx.x * blockDim.x + threadIdx;",
         "no match for ‘operator+’ in ‘((unsigned int)blockDim.sim_extent::x) + threadIdx’ (operand types are "
         "‘unsigned "
         "int’ and ‘const uint3’)",
         "it does not compile: no match for ‘operator+’ (operand types are ‘unsigned int’ and ‘const uint3’)",
         "threadIdx has three parts: write threadIdx.x."},
        {"cost[row][column] = sum;", "invalid types ‘float[int]’ for array subscript",
         "it does not compile: invalid types ‘float[int]’ for array subscript",
         "A float * has one index: row * length + column."},
        {"out4[i] = 3 * in4[i];",
         "no match for ‘operator*’ in ‘3 * *(in4 + i)’ (operand types are ‘int’ and ‘const float4’)",
         "it does not compile: no match for ‘operator*’ (operand types are ‘int’ and ‘const float4’)",
         "float4 has no arithmetic: use .x, .y, .z and .w."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        judging_fixture made = {0};
        set_up_judging(&made, *state);
        write_file(*state, "04.1-one.c", cases[i].line);
        heddle_learn_explain_error(&made.judging, made.judging.source, 1, 9, cases[i].message);
        const heddle_learn_reason *reason = only_reason(&made, "compile");
        assert_string_equal(reason->headline, cases[i].headline);
        assert_string_equal(reason->items[reason->item_count - 1].text, cases[i].advice);
        tear_down_judging(&made);
    }
}

static void a_long_message_is_cut(void **state)
{
    judging_fixture made = {0};
    char message[200 * sizeof "‘é’"] = "";
    set_up_judging(&made, *state);
    for (int i = 0; i < 200; i++)
        strcat(message, "‘é’");
    heddle_learn_explain_error(&made.judging, made.judging.source, 1, 1, message);
    const char *headline = only_reason(&made, "compile")->headline;
    assert_true(strlen(headline) < 200);
    assert_non_null(strstr(headline, " …"));
    tear_down_judging(&made);
}

static void an_error_in_the_judge_says_to_keep_names_and_parameters(void **state)
{
    judging_fixture made = {0};
    char messages[1024];
    set_up_judging(&made, *state);
    snprintf(messages, sizeof messages, "%s:1:25: error: ‘two’ undeclared\n", made.judging.judge);
    heddle_learn_explain_messages(&made.judging, messages);
    const heddle_learn_reason *reason = only_reason(&made, "compile");
    assert_int_equal(reason->line, 0);
    assert_string_equal(reason->items[0].file, "the judge");
    assert_non_null(strstr(reason->items[1].text, "keep the names and parameters"));
    tear_down_judging(&made);
}

static void a_report_of_address_sanitizer_becomes_the_element_and_the_lines(void **state)
{
    judging_fixture made = {0};
    char report[4096];
    set_up_judging(&made, *state);
    snprintf(report, sizeof report,
             "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1\n"
             "WRITE of size 4 at 0x1 thread T0\n"
             "    #0 0x1 in one %s:3\n    #1 0x2 in main %s:1\n\n"
             "0x1 is located 0 bytes to the right of 40-byte region [0x0,0x28)\nallocated by thread T0 here:\n"
             "    #0 0x3 in malloc (/lib/libasan.so)\n    #1 0x4 in one %s:4\n",
             made.judging.source, made.judging.judge, made.judging.source);
    assert_true(heddle_learn_explain_sanitizer(&made.judging, report));
    const heddle_learn_reason *reason = only_reason(&made, "out-of-bounds");
    assert_int_equal(reason->line, 3);
    assert_string_equal(reason->items[1].about, "allocated here");
    assert_int_equal(reason->items[1].line, 4);
    assert_string_equal(reason->items[2].text, "It writes 4 bytes at byte 40 of memory that has 40 bytes: element 10, "
                                               "where there are 10, counted from 0.");
    tear_down_judging(&made);
}

static void an_access_before_the_start_of_memory_has_a_negative_byte_and_element(void **state)
{
    static const struct {
        const char *report, *says;
    } cases[] = {
        {"READ of size 4 at 0x1\n0x1 is located 4 bytes to the left of 40-byte region\n",
         "It reads 4 bytes at byte -4 of memory that has 40 bytes: element -1, where there are 10, counted from 0."},
        {"WRITE of size 8 at 0x1\n0x1 is located 16 bytes before 40-byte region\n",
         "It writes 8 bytes at byte -16 of memory that has 40 bytes: element -2, where there are 5, counted from 0."},
        {"READ of size 4 at 0x1\n0x1 is located 6 bytes before 40-byte region\n",
         "It reads 4 bytes at byte -6 of memory that has 40 bytes: element -2, where there are 10, counted from 0."},
    };
    judging_fixture made = {0};
    char report[512];
    set_up_judging(&made, *state);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made.judging.verdict->reason_count = 0;
        snprintf(report, sizeof report, "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1\n%s",
                 cases[i].report);
        assert_true(heddle_learn_explain_sanitizer(&made.judging, report));
        assert_string_equal(only_reason(&made, "out-of-bounds")->items[0].text, cases[i].says);
    }
    tear_down_judging(&made);
}

static void undefined_behaviour_and_silence_are_told_apart(void **state)
{
    judging_fixture made = {0};
    char report[1024];
    set_up_judging(&made, *state);
    assert_false(heddle_learn_explain_sanitizer(&made.judging, "something on stderr\n"));
    snprintf(report, sizeof report, "%s:3:9: runtime error: signed integer overflow: 1 + 2\n", made.judging.source);
    assert_true(heddle_learn_explain_sanitizer(&made.judging, report));
    const heddle_learn_reason *reason = only_reason(&made, "undefined");
    assert_string_equal(reason->headline, "signed integer overflow: 1 + 2");
    assert_int_equal(reason->column, 9);
    tear_down_judging(&made);
}

static void the_judges_words_are_told_from_the_programs_own(void **state)
{
    judging_fixture made = {0};
    set_up_judging(&made, *state);
    assert_true(heddle_learn_hear(&made.judging,
                                  "hello\n\n@learn_1 {\"case\":\"n = 3\",\"array\":\"out\",\"index\":5,"
                                  "\"block\":[1,0],\"thread\":[1,0],\"dimensions\":1,\"expected\":\"2\","
                                  "\"found\":\"7\",\"unwritten\":false,\"wrong\":1,\"count\":8,\"first\":4,"
                                  "\"window\":[[\"1\",\"1\"],[\"2\",\"7\"]]}\nworld\n"));
    assert_string_equal(made.judging.verdict->output, "hello\nworld\n");
    const heddle_learn_reason *reason = only_reason(&made, "wrong");
    assert_string_equal(reason->headline, "out[5] is 7; it should be 2");
    assert_string_equal(reason->in_case, "n = 3");
    assert_string_equal(reason->items[0].text, "out[5] should be written by thread 1 of block 1.");
    tear_down_judging(&made);
}

static void a_program_that_ends_without_the_judges_last_word_has_not_ended(void **state)
{
    static const char timed[] = "@learn_1 {\"case\":\"\",\"timed\":\"a\",\"microseconds\":2}\n";
    judging_fixture made = {0};
    set_up_judging(&made, *state);
    assert_false(heddle_learn_hear(&made.judging, timed));
    assert_false(heddle_learn_hear(&made.judging, "@learn_1 not JSON\n"));
    assert_true(heddle_learn_hear(&made.judging, "@learn_1 {\"case\":\"\",\"passed\":true}\n"));
    assert_int_equal(made.judging.verdict->reason_count, 0);
    assert_int_equal(made.judging.verdict->time_count, 1);
    tear_down_judging(&made);
}

static void a_program_cannot_print_the_judges_words(void **state)
{
    static const char passed[] = "@learn {\"case\":\"\",\"passed\":true}\n";
    judging_fixture made = {0};
    set_up_judging(&made, *state);
    assert_false(heddle_learn_hear(&made.judging, passed));
    assert_string_equal(made.judging.verdict->output, passed);
    tear_down_judging(&made);
}

static void what_is_not_utf8_becomes_question_marks(void **state)
{
    judging_fixture made = {0};
    set_up_judging(&made, *state);
    heddle_learn_hear(&made.judging, "\xff \xc3 \xe2\x82 \xed\xa0\x80 \xc0\xaf µ € \xf0\x9f\x98\x80\n"
                                     "@learn_1 {\"case\":\"\xfe\",\"says\":\"\x80\"}\n");
    assert_string_equal(made.judging.verdict->output, "? ? ?? ??? ?? µ € \xf0\x9f\x98\x80\n");
    assert_string_equal(only_reason(&made, "wrong")->headline, "?");
    assert_string_equal(only_reason(&made, "wrong")->in_case, "?");
    tear_down_judging(&made);
}

static void a_folder_with_a_colon_in_its_name_is_read_in_messages(void **state)
{
    static const struct {
        const char *text, *file;
        int line, column;
    } cases[] = {
        {"/tmp/a:b/x.c:4:5: error: no", "/tmp/a:b/x.c", 4, 5},
        {"/tmp/1:2/x.c:4: error: no", "/tmp/1:2/x.c", 4, 0},
        {"x.c:7", "x.c", 7, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char file[HEDDLE_PLACE_SIZE];
        heddle_check_frame frame;
        assert_true(heddle_learn_read_place(cases[i].text, file, &frame));
        assert_string_equal(file, cases[i].file);
        assert_int_equal(frame.line, cases[i].line);
        assert_int_equal(frame.column, cases[i].column);
        assert_false(heddle_learn_read_place("/usr/bin/ld: x.o:4: error", file, &frame));
    }
}

static void a_wrong_result_counts_wherever_the_judge_says_it(void **state)
{
    static const char passed[] = "@learn_1 {\"case\":\"\",\"passed\":true}\n";
    static const char wrong[] = "@learn_1 {\"case\":\"n = 1\",\"says\":\"it is wrong\"}\n";
    judging_fixture made = {0};
    char lines[256];
    set_up_judging(&made, *state);
    snprintf(lines, sizeof lines, "%s%s", passed, wrong);
    assert_true(heddle_learn_hear(&made.judging, lines));
    assert_string_equal(only_reason(&made, "wrong")->headline, "it is wrong");
    tear_down_judging(&made);
}

static void apply_words(judging_fixture *made, const char *text)
{
    heddle_learn_code code;
    made->judging.verdict->reason_count = 0;
    assert_int_equal(heddle_learn_code_read(text, &code), HEDDLE_OK);
    assert_int_equal(heddle_learn_apply_words(&made->judging, &code), HEDDLE_OK);
    heddle_learn_code_free(&code);
}

static void words_count_as_tokens_of_code(void **state)
{
    static heddle_learn_word use[] = {{"atomicAdd", "Atomic."}, {"#define ONE(", "A macro."}, {NULL, NULL}};
    static const char *const without[] = {
        "x = 1; // atomicAdd\n#define ONE(x) x\n",
        "/* atomicAdd */\n#define ONE(x) x\n",
        "puts(\"atomicAdd\");\n#define ONE(x) x\n",
        "#if 0\natomicAdd(x, 1);\n#endif\n#define ONE(x) x\n",
        "#if 1\n#else\natomicAdd(x, 1);\n#endif\n#define ONE(x) x\n",
        "my_atomicAdd_twice(x);\n#define ONE(x) x\n",
        "int n = 1'000; char c = '\\''; // atomicAdd\n#define ONE(x) x\n",
        "atomicAdd(x, 1);\n#define ONES(x) x\n",
    };
    static const char *const with[] = {
        "atomicAdd(x, 1);\n#  define ONE( x) x\n",
        "#if 0\n#else\natomicAdd(x, 1);\n#endif\n#define ONE(x) x\n",
        "#ifdef FAST\natomicAdd(x, 1);\n#endif\n#define ONE(x) x\n",
        "int n = 1'000;\natomicAdd(x, 1'0);\n#define ONE(x) x\n",
    };
    judging_fixture made = {0};
    set_up_judging(&made, *state);
    made.rules.must_use = use;
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        apply_words(&made, without[i]);
        only_reason(&made, "source");
    }
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        apply_words(&made, with[i]);
        assert_int_equal(made.judging.verdict->reason_count, 0);
    }
    tear_down_judging(&made);
}

static void words_to_avoid_are_found_however_they_are_spaced(void **state)
{
    static heddle_learn_word avoid[] = {{"for (", "One thread per element."}, {"1024", "Any size."}, {NULL, NULL}};
    static const char *const with[] = {"for  (;;)\n", "for(;;)\n", "for\n(;;)\n", "int a[1'024];\n", "int a[1024u];\n"};
    static const char *const without[] = {"before (x);\n", "puts(\"for (\");\n", "int a[10240];\n", "// for (\n"};
    judging_fixture made = {0};
    set_up_judging(&made, *state);
    made.rules.must_not_use = avoid;
    for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
        apply_words(&made, with[i]);
        const heddle_learn_reason *reason = only_reason(&made, "source");
        assert_int_equal(reason->line, 1);
        assert_string_equal(reason->items[reason->item_count - 1].text,
                            i < 3 ? "One thread per element." : "Any size.");
    }
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        apply_words(&made, without[i]);
        assert_int_equal(made.judging.verdict->reason_count, 0);
    }
    tear_down_judging(&made);
}

static void refuse_calls(judging_fixture *made, const char *text)
{
    heddle_learn_code code;
    assert_int_equal(heddle_learn_code_read(text, &code), HEDDLE_OK);
    heddle_learn_refuse_calls(&made->judging, &code);
    heddle_learn_code_free(&code);
}

static void a_kernel_that_is_called_like_a_function_is_refused(void **state)
{
    static const char *const fine[] = {
        "__global__ void one(int *x) { x[0] = 1; }\nvoid f(int *x) { one<<<1, 1>>>(x); one_more(x); }\n",
        "__global__ void __launch_bounds__(32) one(int *x);\n__global__ void one(int *x) {}\n",
        "template <int n> __global__ void one(int *x) {}\nvoid f(int *x) { one<3><<<1, 1>>>(x); }\n",
        "__global__ void one(int *x) {}\n// one(x);\n",
        "__global__ void one(int *x) { printf(\"in one(%d)\", 1); }\n",
        "struct helper { static void one(int) {} };\n__global__ void one(int *x) {}\nvoid f() { helper::one(1); }\n",
        "__global__ void one(int *x) {}\nvoid f(helper h, helper *p) { h.one(1); p->one(2); }\n",
        "__global__ void one(int *x) {}\nvoid one(int n) {}\nvoid f() { one(3); }\n",
        "__global__ void one(int *x) {}\nvoid f() { auto one = [](int n) { return n; }; one(3); }\n",
    };
    judging_fixture made = {0};
    set_up_judging(&made, *state);
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        refuse_calls(&made, fine[i]);
    assert_int_equal(made.judging.verdict->reason_count, 0);
    refuse_calls(&made, "__global__ void one(int *x) {}\nint i;\nvoid f(int *x) { one (x); }\n");
    assert_int_equal(only_reason(&made, "compile")->line, 3);
    tear_down_judging(&made);
}

static void a_sentence_of_the_judge_is_the_headline_and_the_next_ones_are_advice(void **state)
{
    judging_fixture made = {0};
    set_up_judging(&made, *state);
    assert_true(heddle_learn_hear(
        &made.judging, "@learn_1 {\"case\":\"n = 1\",\"says\":\"it ended. Return. Then go on.\",\"first\":true}\n"));
    const heddle_learn_reason *reason = only_reason(&made, "wrong");
    assert_string_equal(reason->headline, "it ended");
    assert_string_equal(reason->items[0].text, "Return. Then go on.");
    assert_int_equal(reason->rank, HEDDLE_LEARN_RANK_COMPILE); // nothing else is shown
    tear_down_judging(&made);
}

static void the_first_argument_of_a_call_is_found_behind_a_cast(void **state)
{
    judging_fixture made = {0};
    set_up_judging(&made, *state);
    heddle_arena *arena = made.judging.verdict->arena;
    assert_string_equal(heddle_learn_first_argument(arena, "  cudaMalloc((void **)here, 4);", "cudaMalloc(", false),
                        "here");
    assert_string_equal(heddle_learn_first_argument(arena, "  cudaMalloc(&there, 4);", "cudaMalloc(", true), "there");
    assert_null(heddle_learn_first_argument(arena, "  cudaMalloc(&there, 4);", "cudaMalloc(", false));
    assert_null(heddle_learn_first_argument(arena, "  cudaMalloc(here, 4);", "cudaMalloc(", true));
    assert_null(heddle_learn_first_argument(arena, "  cudaFree(here);", "cudaMalloc(", false));
    tear_down_judging(&made);
}

static void a_sum_without_a_first_value_is_quoted(void **state)
{
    judging_fixture made = {0};
    heddle_learn_code code;
    set_up_judging(&made, *state);
    write_file(made.judging.folder, "04.1-one.c", "int other = out[0] + 1;\nout[in[i]] += 1;\n");
    assert_int_equal(heddle_learn_code_read("int other = out[0] + 1;\nout[in[i]] += 1;\n", &code), HEDDLE_OK);
    made.judging.code = &code;
    heddle_learn_hear(&made.judging,
                      "@learn_1 {\"case\":\"\",\"array\":\"out\",\"index\":0,\"expected\":\"1\",\"found\":"
                      "\"computed from memory that was never written\"}\n");
    assert_int_equal(only_reason(&made, "wrong")->line, 2);
    heddle_learn_code_free(&code);
    tear_down_judging(&made);
}

static void a_shared_variable_with_an_initialiser_is_refused(void **state)
{
    static const char *const texts[] = {"__shared__ float tile[4] = {0};\n", "__shared__ int count = 0;\n",
                                        "__shared__ int parts[2]{1, 2};\n"};
    static const char fine[] = "__shared__ float tile[4]; int i = 0;\nextern __shared__ float row[];\n"
                               "__shared__ struct { int x[2]; } pair;\n";
    judging_fixture made = {0};
    heddle_learn_code code;
    set_up_judging(&made, *state);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        made.judging.verdict->reason_count = 0;
        assert_int_equal(heddle_learn_code_read(texts[i], &code), HEDDLE_OK);
        heddle_learn_refuse_initialisers(&made.judging, &code);
        assert_int_equal(only_reason(&made, "compile")->line, 1);
        heddle_learn_code_free(&code);
    }
    made.judging.verdict->reason_count = 0;
    assert_int_equal(heddle_learn_code_read(fine, &code), HEDDLE_OK);
    heddle_learn_refuse_initialisers(&made.judging, &code);
    assert_int_equal(made.judging.verdict->reason_count, 0);
    heddle_learn_code_free(&code);
    tear_down_judging(&made);
}

static void the_judges_names_are_refused(void **state)
{
    static const char *const judges[] = {"#define learn_expect(...)\n", "int f(void) { return learn_passed(); }\n",
                                         "#undef LEARN_MARK\n"};
    judging_fixture made = {0};
    heddle_learn_code code;
    set_up_judging(&made, *state);
    for (size_t i = 0; i < sizeof judges / sizeof *judges; i++) {
        made.judging.verdict->reason_count = 0;
        assert_int_equal(heddle_learn_code_read(judges[i], &code), HEDDLE_OK);
        assert_true(heddle_learn_refuse_names(&made.judging, &code));
        assert_int_equal(only_reason(&made, "source")->line, 1);
        heddle_learn_code_free(&code);
    }
    assert_int_equal(heddle_learn_code_read("float learn_rate = 1, learning(int); // learn_passed()\n", &code),
                     HEDDLE_OK);
    assert_false(heddle_learn_refuse_names(&made.judging, &code));
    heddle_learn_code_free(&code);
    tear_down_judging(&made);
}

static void an_error_in_the_judge_points_to_a_macro_of_the_learner(void **state)
{
    judging_fixture made = {0};
    char messages[1024];
    set_up_judging(&made, *state);
    write_file(*state, "04.1-one.c", "#define two one +\nint one(void) { return 1; }\n");
    snprintf(messages, sizeof messages, "%s:1:25: error: invalid operands\n", made.judging.judge);
    heddle_learn_explain_messages(&made.judging, messages);
    assert_non_null(strstr(only_reason(&made, "compile")->items[2].text, "Your file has a #define"));
    tear_down_judging(&made);
}

static void of_many_errors_the_first_are_kept(void **state)
{
    enum { ERRORS = 100, LINE = 700 };
    judging_fixture made = {0};
    set_up_judging(&made, *state);
    char *messages = calloc(ERRORS, LINE);
    assert_non_null(messages);
    for (size_t i = 0, used = 0; i < ERRORS; i++)
        used += (size_t)snprintf(messages + used, LINE, "%s:3:5: error: number %zu\n", made.judging.source, i);
    heddle_learn_explain_messages(&made.judging, messages);
    assert_int_equal(made.judging.verdict->reason_count, HEDDLE_LEARN_MOST_REASONS);
    assert_string_equal(made.judging.verdict->reasons[HEDDLE_LEARN_MOST_REASONS - 1].headline,
                        "it does not compile: number 39");
    free(messages);
    tear_down_judging(&made);
}

static void output_may_come_in_any_order_each_line_as_often_as_listed(void **state)
{
    static const char *lines[] = {"a", "b", "b", NULL};
    judging_fixture made = {0};
    set_up_judging(&made, *state);
    made.rules.output = lines;
    made.judging.verdict->output = "b\na\nb\n";
    heddle_learn_apply_output(&made.judging);
    assert_int_equal(made.judging.verdict->reason_count, 0);
    made.judging.verdict->output = "b\na\n";
    heddle_learn_apply_output(&made.judging);
    assert_non_null(strstr(only_reason(&made, "output")->headline, "missing"));
    made.judging.verdict->reason_count = 0;
    made.judging.verdict->output = "b\na\nb\na\n";
    heddle_learn_apply_output(&made.judging);
    assert_non_null(strstr(only_reason(&made, "output")->headline, "a line too many"));
    tear_down_judging(&made);
}

static void a_missing_line_is_compared_with_the_line_that_was_meant(void **state)
{
    static const char *lines[] = {"block 0", "block 1", NULL};
    static const struct {
        const char *output, *said;
    } cases[] = {
        {"Block 0\nBlock 1\n", "Your line differs first at 'B', character 1: it should be 'b'."},
        {"block 0block 1\n", "Your line goes on where it should end, at 'block 1': is the line end, \\n, missing?"},
        {"block 01\nblock 1\n", "Your line has another number at its end: 'block 01'."},
        {"block\nblock 1\n", "Your line ends before ' 0'."},
        {"something else\n", NULL},
    };
    judging_fixture made = {0};
    set_up_judging(&made, *state);
    made.rules.output = lines;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made.judging.verdict->reason_count = 0;
        made.judging.verdict->output = cases[i].output;
        heddle_learn_apply_output(&made.judging);
        const heddle_learn_reason *reason = only_reason(&made, "output");
        assert_int_equal(reason->item_count, cases[i].said != NULL);
        if (cases[i].said)
            assert_string_equal(reason->items[0].text, cases[i].said);
    }
    tear_down_judging(&made);
}

static void a_program_that_ends_early_has_the_case_that_had_begun(void **state)
{
    judging_fixture made = {0};
    set_up_judging(&made, *state);
    assert_false(heddle_learn_hear(&made.judging, "@learn_1 {\"case\":\"n = 7\",\"begins\":true}\n"));
    heddle_learn_ended_early(&made.judging, "");
    assert_string_equal(only_reason(&made, "crash")->in_case, "n = 7");
    tear_down_judging(&made);
}

static void a_variable_that_may_be_read_before_it_is_set_is_a_reason(void **state)
{
    judging_fixture made = {0};
    char messages[1024];
    set_up_judging(&made, *state);
    snprintf(messages, sizeof messages,
             "%s:4:12: warning: ‘i’ may be used uninitialized [-Wmaybe-uninitialized]\n"
             "%s:4:12: warning: unused variable ‘k’ [-Wunused-variable]\n"
             "%s:1:12: warning: ‘j’ is used uninitialized [-Wuninitialized]\n",
             made.judging.source, made.judging.source, made.judging.judge);
    heddle_learn_explain_doubts(&made.judging, messages);
    const heddle_learn_reason *reason = only_reason(&made, "uninitialised");
    assert_string_equal(reason->headline, "‘i’ may be read before it is set");
    assert_int_equal(reason->line, 4);
    tear_down_judging(&made);
}

static void an_interrupt_before_a_check_begins_is_not_lost(void **state)
{
    char path[600];
    heddle_check_result *result = NULL;
    snprintf(path, sizeof path, "%s/empty.cu", (const char *)*state);
    write_file(*state, "empty.cu", "int main(void) { return 0; }\n");
    const heddle_check_options how = {
        .sources = (const char *const[]){path, NULL}, .schedules = 1, .output = -1, .errors = -1};
    heddle_learn_interrupt();
    assert_int_equal(heddle_check_run(&how, &result), HEDDLE_INTERRUPTED);
    assert_null(result);
    heddle_learn_resume();
    assert_int_equal(heddle_check_run(&how, &result), HEDDLE_OK);
    heddle_check_result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(a_compiler_error_is_at_the_learners_line_and_says_what_it_means),
        WITH_FOLDER(usual_mistakes_of_cuda_are_told_in_its_words),
        WITH_FOLDER(a_long_message_is_cut),
        WITH_FOLDER(an_error_in_the_judge_says_to_keep_names_and_parameters),
        WITH_FOLDER(a_report_of_address_sanitizer_becomes_the_element_and_the_lines),
        WITH_FOLDER(an_access_before_the_start_of_memory_has_a_negative_byte_and_element),
        WITH_FOLDER(undefined_behaviour_and_silence_are_told_apart),
        WITH_FOLDER(the_judges_words_are_told_from_the_programs_own),
        WITH_FOLDER(a_program_that_ends_without_the_judges_last_word_has_not_ended),
        WITH_FOLDER(a_program_cannot_print_the_judges_words),
        WITH_FOLDER(what_is_not_utf8_becomes_question_marks),
        cmocka_unit_test(a_folder_with_a_colon_in_its_name_is_read_in_messages),
        WITH_FOLDER(a_wrong_result_counts_wherever_the_judge_says_it),
        WITH_FOLDER(words_count_as_tokens_of_code),
        WITH_FOLDER(words_to_avoid_are_found_however_they_are_spaced),
        WITH_FOLDER(a_kernel_that_is_called_like_a_function_is_refused),
        WITH_FOLDER(a_sentence_of_the_judge_is_the_headline_and_the_next_ones_are_advice),
        WITH_FOLDER(the_first_argument_of_a_call_is_found_behind_a_cast),
        WITH_FOLDER(a_sum_without_a_first_value_is_quoted),
        WITH_FOLDER(a_shared_variable_with_an_initialiser_is_refused),
        WITH_FOLDER(the_judges_names_are_refused),
        WITH_FOLDER(an_error_in_the_judge_points_to_a_macro_of_the_learner),
        WITH_FOLDER(of_many_errors_the_first_are_kept),
        WITH_FOLDER(an_interrupt_before_a_check_begins_is_not_lost),
        WITH_FOLDER(output_may_come_in_any_order_each_line_as_often_as_listed),
        WITH_FOLDER(a_missing_line_is_compared_with_the_line_that_was_meant),
        WITH_FOLDER(a_program_that_ends_early_has_the_case_that_had_begun),
        WITH_FOLDER(a_variable_that_may_be_read_before_it_is_set_is_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
