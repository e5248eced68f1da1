// An open cpu device for a test, gates that hold work back until the test says so, and a journal of what ran in order.
#ifndef HEDDLE_TESTS_DEVICE_FIXTURE_H
#define HEDDLE_TESTS_DEVICE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "device/device.h"
#include "heddle/device.h"

#define assert_ok(call) assert_status(call, HEDDLE_OK, #call, __FILE__, __LINE__)
// The call fails with `status` and its message contains `part`.
#define assert_fails(call, status, part)                                                                               \
    do {                                                                                                               \
        assert_status(call, status, #call, __FILE__, __LINE__);                                                        \
        assert_message(part, __FILE__, __LINE__);                                                                      \
    } while (0)

void assert_status(heddle_status got, heddle_status expected, const char *call, const char *file, int line);
void assert_message(const char *part, const char *file, int line);

extern heddle_device *opened; // opened by device_open, closed by device_close
int device_open(void **state);
int device_close(void **state);

heddle_stream *make_stream(int priority);
heddle_event *make_event(void);

// A callback that holds its stream until the gate is opened.
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;
    int waiting; // callbacks that have arrived
};

void gate_init(struct gate *gate);
void gate_open(struct gate *gate);
void gate_hold(void *gate);                      // heddle_host_function
void gate_await(struct gate *gate, int waiting); // until this many callbacks have arrived

// What ran, in the order it ran.
enum { JOURNAL_SIZE = 4096 };
struct journal {
    atomic_int count;
    int entries[JOURNAL_SIZE];
};
heddle_status journal_add(heddle_stream *stream, struct journal *journal, int entry); // queues an entry as work
void assert_journal(const struct journal *journal, int count, const int *entries);

// Work that fails with HEDDLE_DEVICE and "broken on purpose NUMBER".
heddle_status submit_failure(heddle_stream *stream, int number);
// Executors of the device: as many callbacks can block at once.
int executor_count(void);

#endif
