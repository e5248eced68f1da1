// A thread for what takes longer than the server's own may: reading images, reading runs, measuring. One request after
// another.
#pragma once

#include "web/server.h"

typedef struct heddle_serve_worker heddle_serve_worker;

// Finishes the request, or hands it over to somebody who does.
typedef void heddle_serve_work(void *context, const heddle_web_request *request, heddle_web_later *later);

// `name`: of the thread. `context`: for its work. `most`: requests that it works on or that wait.
heddle_status heddle_serve_worker_create(const char *name, void *context, int most, heddle_serve_worker **worker);
// Every request must be finished: after heddle_web_stop. NULL is fine.
void heddle_serve_worker_destroy(heddle_serve_worker *worker);

// Whether it works on a request, or one waits.
bool heddle_serve_worker_is_busy(heddle_serve_worker *worker);

// For work that ends here: finishes its request. Whoever has the answer may ask again at once, where `most` is 1, too.
void heddle_serve_worker_finish(heddle_serve_worker *worker, heddle_web_later *later, heddle_web_answer *answer);

// For a handler, which returns then: the request waits for its work, or is answered that it cannot.
void heddle_serve_worker_give(heddle_serve_worker *worker, const heddle_web_request *request, heddle_serve_work *work,
                              heddle_web_answer *answer);
