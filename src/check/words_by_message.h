// Cause and cure of findings whose message or note says what is wrong: no other fact and no source is needed.
#pragma once

#include "check/report.h"

typedef struct heddle_check_words {
    const char *cause, *cure;
} heddle_check_words;

// NULL: the message says nothing that the table knows.
const heddle_check_words *heddle_check_words_by_message(const heddle_check_finding *finding);
// Whether its message or note has this part.
bool heddle_check_says(const heddle_check_finding *finding, const char *part);
