// A pipe and a thread that reads it.

#include "learn/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spawn.h"

enum { MOST_BYTES = 1 << 20, PIECE = 1 << 14 };

// Reads what is there. False: all writers have closed it.
static int read_some(heddle_learn_capture *capture)
{
    char piece[PIECE];
    ssize_t count = read(capture->from, piece, sizeof piece);
    if (count < 0)
        return errno == EINTR;
    size_t room = MOST_BYTES - capture->size, kept = (size_t)count < room ? (size_t)count : room;
    char *larger = kept > 0 ? realloc(capture->text, capture->size + kept + 1) : NULL;
    if (larger) {
        memcpy(larger + capture->size, piece, kept);
        capture->text = larger;
        capture->size += kept;
        larger[capture->size] = '\0';
    }
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

char *heddle_learn_capture_end(heddle_learn_capture *capture)
{
    close(capture->to);
    close(capture->ended[1]);
    pthread_join(capture->reader, NULL);
    close(capture->from);
    close(capture->ended[0]);
    return capture->text ? capture->text : calloc(1, 1);
}
