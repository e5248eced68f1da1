// What the parts of the learning page share: web.c watches and judges, web_routes.c answers, web_pages.c renders.
#pragma once

#include <pthread.h>

#include "learn/judge.h"
#include "learn/watch.h"
#include "learn/web.h"
#include "web/server.h"

struct cJSON;

enum { HEDDLE_LEARN_VERSION_SIZE = 17 };

// What is known of a learner's file.
typedef struct heddle_learn_web_file {
    char version[HEDDLE_LEARN_VERSION_SIZE]; // of the text that was judged last, or is being judged; "": none
    char *verdict;                           // on it, as JSON; NULL: none yet
    char *trace;                             // of its run, as JSON; NULL: none
    unsigned long due; // a verdict was asked for, which is not there yet; the largest was asked for last; 0: none
} heddle_learn_web_file;

struct heddle_learn_web {
    const heddle_learn_course *course;
    heddle_learn_workspace *workspace;
    heddle_web_server *server;
    heddle_learn_watch *watch;
    int alone;                    // the lock that keeps others from watching, too
    int wake[2];                  // a byte wakes the loop
    pthread_mutex_t lock;         // of the workspace's state and of what follows
    heddle_learn_web_file *files; // one per exercise
    unsigned long turn;           // counts what was asked for
    // The judge at work; only the loop looks at these.
    const heddle_learn_exercise *judging;
    pthread_t judge;
    heddle_learn_task task;
    char path[HEDDLE_PLACE_SIZE], shown[HEDDLE_PLACE_SIZE], version[HEDDLE_LEARN_VERSION_SIZE];
    unsigned long taken; // what was due when it began
    heddle_learn_verdict *made;
    heddle_status status;
    char why[1024];
    bool ended; // under the lock
};

// web.c: the exercise to go on with: the current one, or, if it is solved, the next; NULL: all are. The lock is held.
const heddle_learn_exercise *heddle_learn_web_current(const heddle_learn_web *web);
// Asks for a verdict on an exercise's file; the lock is held.
void heddle_learn_web_want(heddle_learn_web *web, const heddle_learn_exercise *exercise);
heddle_learn_web_file *heddle_learn_web_file_of(const heddle_learn_web *web, const heddle_learn_exercise *exercise);
// A version tells a text from another.
void heddle_learn_web_version(const char *text, size_t size, char version[HEDDLE_LEARN_VERSION_SIZE]);
// The learner's file; the caller frees *text.
heddle_status heddle_learn_web_source(const heddle_learn_web *web, const heddle_learn_exercise *exercise, char **text,
                                      size_t *size, char version[HEDDLE_LEARN_VERSION_SIZE]);

// web_routes.c
extern const heddle_web_route heddle_learn_web_routes[];

// web_pages.c: pages as HTML, whose links lead to our own addresses. The caller frees *html.
heddle_status heddle_learn_web_chapter(const heddle_learn_course *course, const char *chapter, char **html);
heddle_status heddle_learn_web_statement(const heddle_learn_exercise *exercise, char **html);
heddle_status heddle_learn_web_hint(const heddle_learn_exercise *exercise, const char *hint, char **html);
// The title of a chapter's page, such as "5. First kernels"; its name where it has none.
void heddle_learn_web_title(const heddle_learn_course *course, const char *chapter, char *title, size_t size);
// A file beside a chapter's page, such as a figure; the caller frees *content.
heddle_status heddle_learn_web_beside(const heddle_learn_course *course, const char *chapter, const char *name,
                                      char **content, size_t *size);
