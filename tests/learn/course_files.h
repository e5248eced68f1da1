// A small course in a folder, for tests that need one.
#ifndef HEDDLE_TESTS_LEARN_COURSE_FILES_H
#define HEDDLE_TESTS_LEARN_COURSE_FILES_H

#include "learn/course.h"

// Writes `text` to folder/path and makes the folders on the way.
void write_file(const char *folder, const char *path, const char *text);
// Reads folder/path; the caller frees it.
char *read_file(const char *folder, const char *path);
// Exercises 05.2-two, 05.10-ten and 04.1-one (plain C), with all their files.
void write_course(const char *folder);
heddle_learn_course *open_course(const char *folder);

#endif
