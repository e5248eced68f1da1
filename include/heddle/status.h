// What a call that can fail returns, and where its message is. The library never exits or aborts.
#ifndef HEDDLE_STATUS_H
#define HEDDLE_STATUS_H

#if defined(__GNUC__)
#define HEDDLE_API                                  __attribute__((visibility("default")))
#define HEDDLE_PRINTF(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))
#else
#define HEDDLE_API
#define HEDDLE_PRINTF(format_index, first_argument)
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum heddle_status {
    HEDDLE_OK = 0,
    HEDDLE_INVALID,       // an argument or a shape makes no sense
    HEDDLE_NOT_FOUND,     // no such file, operator, rung, dataset, ...
    HEDDLE_IO,            // the operating system refused a read or a write
    HEDDLE_CORRUPT,       // a file's content is not what its format says
    HEDDLE_OUT_OF_MEMORY, // host or device memory
    HEDDLE_UNSUPPORTED,   // makes sense, but this build or device cannot do it
    HEDDLE_MISSING,       // something is missing on this machine; the message says how to get it
    HEDDLE_DEVICE,        // the device reported an error
    HEDDLE_DIVERGED,      // training produced NaN, infinity or an exploding loss
    HEDDLE_INTERRUPTED,   // stopped on request, state saved
    HEDDLE_INTERNAL,      // a bug in heddle
} heddle_status;

// "HEDDLE_CORRUPT" and so on.
HEDDLE_API const char *heddle_status_name(heddle_status status);

// The message of this thread's most recent failure: one line, what happened and what to do. Never NULL.
HEDDLE_API const char *heddle_last_error(void);

// Sets this thread's message and returns `status`, so that a function can end with `return heddle_fail(...)`.
HEDDLE_API heddle_status heddle_fail(heddle_status status, const char *format, ...) HEDDLE_PRINTF(2, 3);

// Puts "context: " in front of this thread's message and returns `status`.
HEDDLE_API heddle_status heddle_fail_within(heddle_status status, const char *format, ...) HEDDLE_PRINTF(2, 3);

// Returns from the calling function when `call` fails.
#define HEDDLE_TRY(call)                                                                                               \
    do {                                                                                                               \
        heddle_status heddle_try_status_ = (call);                                                                     \
        if (heddle_try_status_ != HEDDLE_OK)                                                                           \
            return heddle_try_status_;                                                                                 \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
