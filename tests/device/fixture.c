// The device and the small tools that the device tests share.

#include "fixture.h"

#include <string.h>

#include "device/cpu/cpu.h"

heddle_device *opened;

void assert_status(heddle_status got, heddle_status expected, const char *call, const char *file, int line)
{
    if (got == expected)
        return;
    print_error("%s gave %s (%s), expected %s\n", call, heddle_status_name(got), heddle_last_error(),
                heddle_status_name(expected));
    _fail(file, line);
}

void assert_message(const char *part, const char *file, int line)
{
    if (strstr(heddle_last_error(), part))
        return;
    print_error("message \"%s\" does not say \"%s\"\n", heddle_last_error(), part);
    _fail(file, line);
}

int device_open(void **state)
{
    (void)state;
    return heddle_device_open("cpu", 2, &opened) == HEDDLE_OK ? 0 : -1;
}

int device_close(void **state)
{
    (void)state;
    heddle_device_close(opened);
    opened = NULL;
    return 0;
}

heddle_stream *make_stream(int priority)
{
    heddle_stream *stream = NULL;
    assert_ok(heddle_stream_create(opened, priority, &stream));
    assert_non_null(stream);
    return stream;
}

heddle_event *make_event(void)
{
    heddle_event *event = NULL;
    assert_ok(heddle_event_create(opened, &event));
    assert_non_null(event);
    return event;
}

void gate_init(struct gate *gate)
{
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->changed, NULL);
    gate->open = false;
    gate->waiting = 0;
}

void gate_open(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

void gate_hold(void *context)
{
    struct gate *gate = context;
    pthread_mutex_lock(&gate->lock);
    gate->waiting++;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

void gate_await(struct gate *gate, int waiting)
{
    pthread_mutex_lock(&gate->lock);
    while (gate->waiting < waiting)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

struct entry {
    struct journal *journal;
    int value;
};

static heddle_status write_entry(const void *arguments)
{
    const struct entry *entry = arguments;
    int place = atomic_fetch_add(&entry->journal->count, 1);
    if (place < JOURNAL_SIZE)
        entry->journal->entries[place] = entry->value;
    return HEDDLE_OK;
}

heddle_status journal_add(heddle_stream *stream, struct journal *journal, int value)
{
    struct entry entry = {.journal = journal, .value = value};
    return heddle_stream_submit(stream, write_entry, &entry, sizeof entry);
}

void assert_journal(const struct journal *journal, int count, const int *entries)
{
    assert_int_equal(atomic_load(&journal->count), count);
    for (int i = 0; i < count; i++)
        assert_int_equal(journal->entries[i], entries[i]);
}

static heddle_status fail_on_purpose(const void *arguments)
{
    return heddle_fail(HEDDLE_DEVICE, "broken on purpose %d", *(const int *)arguments);
}

heddle_status submit_failure(heddle_stream *stream, int number)
{
    return heddle_stream_submit(stream, fail_on_purpose, &number, sizeof number);
}

int executor_count(void)
{
    return ((struct cpu_device *)opened)->executor_count;
}
