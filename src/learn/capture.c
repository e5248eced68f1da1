// A pipe and a thread that reads it.

#include "learn/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spawn.h"

enum { MOST_BEGINNING = 1 << 19, MOST_END = 1 << 16, PIECE = 1 << 14, NOTE_SIZE = 64 };

static void keep_end(heddle_learn_capture *capture, const char *piece, size_t count)
{
    if (!capture->end && count > 0)
        capture->end = malloc(MOST_END);
    capture->dropped |= count > 0 && (!capture->end || capture->behind + count > MOST_END);
    for (size_t i = 0; capture->end && i < count; i++)
        capture->end[capture->behind++ % MOST_END] = piece[i];
}

// Reads what is there. False: all writers have closed it.
static int read_some(heddle_learn_capture *capture)
{
    char piece[PIECE];
    ssize_t count = read(capture->from, piece, sizeof piece);
    if (count < 0)
        return errno == EINTR;
    for (ssize_t i = 0; i < count; i++)
        piece[i] = piece[i] ? piece[i] : '?';
    size_t room = MOST_BEGINNING - capture->size, kept = (size_t)count < room ? (size_t)count : room;
    char *larger = kept > 0 ? realloc(capture->text, capture->size + kept + 1) : NULL;
    if (larger) {
        memcpy(larger + capture->size, piece, kept);
        capture->text = larger;
        capture->size += kept;
        larger[capture->size] = '\0';
    } else {
        kept = 0;
    }
    keep_end(capture, piece + kept, (size_t)count - kept);
    return count > 0;
}

static void *read_all(void *context)
{
    heddle_learn_capture *capture = context;
    struct pollfd streams[2] = {{.fd = capture->from, .events = POLLIN}, {.fd = capture->ended[0], .events = POLLIN}};
    int more = 1;
    while (more && (poll(streams, 2, -1) >= 0 || errno == EINTR)) {
        if (streams[0].revents)
            more = read_some(capture);
        else if (streams[1].revents)
            break; // nothing left to read
    }
    return NULL;
}

heddle_status heddle_learn_capture_begin(heddle_learn_capture *capture)
{
    int through[2];
    *capture = (heddle_learn_capture){.from = -1, .to = -1};
    if (pipe2(through, O_CLOEXEC) != 0)
        return heddle_fail(HEDDLE_IO, "no pipe: %s", strerror(errno));
    if (pipe2(capture->ended, O_CLOEXEC) != 0) {
        close(through[0]);
        close(through[1]);
        return heddle_fail(HEDDLE_IO, "no pipe: %s", strerror(errno));
    }
    capture->from = through[0];
    capture->to = through[1];
    heddle_status status = heddle_thread_start(&capture->reader, "capture", read_all, capture);
    if (status != HEDDLE_OK) {
        close(capture->from);
        close(capture->to);
        close(capture->ended[0]);
        close(capture->ended[1]);
    }
    return status;
}

// The beginning, a line about what was dropped, and the end, from the oldest byte of the ring.
static char *unite(const heddle_learn_capture *capture)
{
    size_t kept = !capture->end ? 0 : capture->behind < MOST_END ? (size_t)capture->behind : MOST_END;
    char *whole = malloc(capture->size + NOTE_SIZE + kept + 1);
    if (!whole)
        return NULL;
    if (capture->size > 0)
        memcpy(whole, capture->text, capture->size);
    size_t size = capture->size;
    if (capture->dropped)
        size += (size_t)snprintf(whole + size, NOTE_SIZE, "\n[%llu bytes are not shown]\n",
                                 (unsigned long long)(capture->behind - kept));
    for (uint64_t i = capture->behind - kept; i < capture->behind; i++)
        whole[size++] = capture->end[i % MOST_END];
    whole[size] = '\0';
    return whole;
}

char *heddle_learn_capture_end(heddle_learn_capture *capture)
{
    close(capture->to);
    close(capture->ended[1]);
    pthread_join(capture->reader, NULL);
    close(capture->from);
    close(capture->ended[0]);
    char *whole = unite(capture);
    free(capture->text);
    free(capture->end);
    capture->text = capture->end = NULL;
    return whole;
}
