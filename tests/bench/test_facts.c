// What a result document says of the machine.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "bench/facts.h"

static cJSON *facts_of(const heddle_device_info *device)
{
    cJSON *document = cJSON_CreateObject();
    heddle_bench_add_facts(document, &(heddle_bench_facts){.format = "heddle bench 1", .device = device});
    return document;
}

static void kernels_that_were_not_optimised_are_recorded(void **state)
{
    (void)state;
    const heddle_device_info usual = {.kind = HEDDLE_CUDA, .name = "NVIDIA H200"};
    heddle_device_info slow = usual;
    slow.unoptimised = true;
    cJSON *document = facts_of(&usual), *slow_document = facts_of(&slow);
    assert_string_equal(cJSON_GetObjectItem(document, "device_name")->valuestring, "NVIDIA H200");
    assert_null(cJSON_GetObjectItem(document, "optimised"));
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(slow_document, "optimised")));
    cJSON_Delete(document);
    cJSON_Delete(slow_document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_that_were_not_optimised_are_recorded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
