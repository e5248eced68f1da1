// Any bytes as an ONNX file. What parses must hold together, and what becomes a network must have all of its numbers.

#include <string.h>

#include "fuzz.h"
#include "nn/onnx.h"

#ifdef HEDDLE_FUZZ_ALONE
#include "alone.h"
#endif

static volatile float sink; // so that reading is not optimised away

static void check_graph(const heddle_onnx *graph)
{
    FUZZ_CHECK(graph->input.value >= 0 && graph->output.value >= 0);
    for (int i = 0; i < graph->node_count; i++) {
        for (int j = 0; j < graph->nodes[i].input_count; j++)
            FUZZ_CHECK(graph->nodes[i].inputs[j] < graph->value_count);
        sink += (float)strlen(graph->nodes[i].op);
    }
    for (int i = 0; i < graph->value_count; i++) {
        const heddle_onnx_tensor *tensor = graph->values[i].constant;
        FUZZ_CHECK(!tensor || tensor->rank <= HEDDLE_ONNX_RANK);
        FUZZ_CHECK(!strchr(graph->values[i].name, '\n'));
    }
}

static void read_numbers(const heddle_onnx_network *network)
{
    for (int i = 0; i < network->model->parameter_count; i++) {
        const heddle_parameter_spec *spec = &network->model->parameters[i];
        size_t elements = 1;
        for (int d = 0; d < spec->rank; d++)
            elements *= (size_t)spec->dims[d];
        for (size_t j = 0; j < elements; j++)
            sink += network->values[i][j];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    heddle_onnx *graph = NULL;
    heddle_onnx_network network;
    if (heddle_onnx_parse("fuzz", data, size, &graph) != HEDDLE_OK) {
        FUZZ_CHECK(!graph && heddle_last_error()[0] && !strchr(heddle_last_error(), '\n'));
        return 0;
    }
    check_graph(graph);
    if (heddle_onnx_to_network("fuzz", graph, NULL, &network) == HEDDLE_OK)
        read_numbers(&network);
    else
        FUZZ_CHECK(!network.model && heddle_last_error()[0] && !strchr(heddle_last_error(), '\n'));
    heddle_onnx_network_free(&network);
    heddle_onnx_close(graph);
    return 0;
}
