// The fixture of judging_files.h.

#include "judging_files.h"

#include "files.h"

void set_up_judging(judging_fixture *made, const char *root)
{
    *made = (judging_fixture){0};
    write_course(root);
    made->course = open_course(root);
    made->judging = (heddle_learn_judging){.exercise = &made->course->exercises[0],
                                           .rules = &made->rules,
                                           .include = "/course/include",
                                           .shown = "04-plain/04.1-one.c",
                                           .mark = "learn_1",
                                           .in_case = ""};
    made->rules.seconds = 10;
    snprintf(made->judging.folder, sizeof made->judging.folder, "%s", root);
    snprintf(made->judging.source, sizeof made->judging.source, "%s/04.1-one.c", root);
    snprintf(made->judging.judge, sizeof made->judging.judge, "%s/judge.c", root);
    write_file(root, "04.1-one.c", "int one(void)\n{\n    int i = 0\n    return i;\n}\n");
    write_file(root, "judge.c", "int main(void) { return two(); }\n");
    made->judging.sources = heddle_check_sources_create();
    assert_int_equal(heddle_learn_verdict_create(&made->judging.verdict), HEDDLE_OK);
}

void tear_down_judging(judging_fixture *made)
{
    heddle_check_sources_free(made->judging.sources);
    heddle_learn_verdict_free(made->judging.verdict);
    heddle_learn_course_close(made->course);
}

const heddle_learn_reason *only_reason(const judging_fixture *made, const char *tag)
{
    const heddle_learn_verdict *verdict = made->judging.verdict;
    assert_int_equal(verdict->reason_count, 1);
    assert_string_equal(verdict->reasons[0].tag, tag);
    return &verdict->reasons[0];
}
