// What the tests of nn share: a device for each test, small datasets, temporary folders.
#ifndef HEDDLE_TESTS_NN_HELPERS_H
#define HEDDLE_TESTS_NN_HELPERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heddle/heddle.h"

// Fails the test with the library's own message.
#define assert_ok(call) assert_string_equal((call) == HEDDLE_OK ? "ok" : heddle_last_error(), "ok")

heddle_device *open_cpu(int threads);
// The one that HEDDLE_TEST_DEVICE names, the simulated GPU unless told.
heddle_device *open_device(void);
// `count` images of 12×12 with 4 classes that a small network can learn: a bright quarter on noise. Valid until three
// more have been asked for (small_cnn asks for one).
const heddle_dataset *small_dataset(int count, uint64_t seed);
// `count` images of 28×28 with 10 classes, as the fused step takes them: a bright stripe on noise. Valid until more are
// asked for.
const heddle_dataset *digits(int count);
// A CNN for the smaller ones with one fusable block, dropout and two linear layers.
heddle_model *small_cnn(void);
heddle_model *model_for(const heddle_dataset *dataset, const char *name_or_json);
// An empty folder that exists until the process ends.
const char *temporary_folder(void);
void path_in(const char *folder, const char *name, char *path, size_t size);
// Whole file; the caller frees it.
char *read_file(const char *path, size_t *size);
void assert_same_file(const char *a, const char *b);

#endif
