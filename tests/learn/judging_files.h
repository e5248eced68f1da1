// A judge in the middle of its work on an exercise of the small course, for tests of what it says.
#pragma once

#include "course_files.h"
#include "learn/judging.h"

typedef struct judging_fixture {
    heddle_learn_course *course;
    heddle_learn_rules rules;
    heddle_learn_judging judging;
} judging_fixture;

void set_up_judging(judging_fixture *made, const char *root);
void tear_down_judging(judging_fixture *made);
// The verdict's reason, which must be the only one and have this tag.
const heddle_learn_reason *only_reason(const judging_fixture *made, const char *tag);
