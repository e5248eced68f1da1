// Any bytes as the curve of a run. What is taken has numbers that can be drawn, and as many lines as it says.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "nn/curve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); // of its own, so that a byte beyond its end is noticed
    memcpy(text, data, size);
    heddle_curve curve;
    heddle_status status = heddle_curve_take("fuzz", text, size, &curve);
    FUZZ_CHECK((status == HEDDLE_OK) == (curve.starts + curve.point_count + curve.test_count > 0));
    FUZZ_CHECK(status != HEDDLE_OK || curve.settings);
    for (int i = 0; i < curve.point_count; i++) {
        FUZZ_CHECK(curve.points[i].images > 0 && curve.points[i].step >= 0 && curve.points[i].epoch >= 0);
        FUZZ_CHECK(isfinite(curve.points[i].loss) && isfinite(curve.points[i].seconds));
    }
    for (int i = 0; i < curve.test_count; i++)
        FUZZ_CHECK(curve.tests[i].accuracy >= 0 && curve.tests[i].accuracy <= 1 && isfinite(curve.tests[i].loss));
    heddle_curve_free(&curve);
    free(text);
    return 0;
}
