// The evaluation of a network on its test set, a batch at a time: confusion matrix and misclassified images.
#pragma once

#include <pthread.h>

#include "serve/network.h"

typedef struct heddle_serve_evaluation heddle_serve_evaluation;

heddle_status heddle_serve_evaluation_create(const heddle_serve_network *network, heddle_serve_evaluation **evaluation);
void heddle_serve_evaluation_free(heddle_serve_evaluation *evaluation); // NULL is fine

bool heddle_serve_evaluation_has_failed(const heddle_serve_evaluation *evaluation);
bool heddle_serve_evaluation_is_under_way(const heddle_serve_evaluation *evaluation);
// One batch more. It computes without the lock, and counts under it. After a failure it is no longer under
// way, and this function no longer touches it.
heddle_status heddle_serve_evaluation_step(heddle_serve_evaluation *evaluation, heddle_serve_network *network,
                                           pthread_mutex_t *lock);
// How far it is; and everything, with the misclassified images that the network was surest of. The caller deletes it.
struct cJSON *heddle_serve_evaluation_progress(const heddle_serve_evaluation *evaluation);
struct cJSON *heddle_serve_evaluation_json(const heddle_serve_evaluation *evaluation);
