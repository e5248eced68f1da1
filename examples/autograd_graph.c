// Computes a small expression and its gradient, as in micrograd, and prints the graph in the language of Graphviz.
// cc autograd_graph.c $(pkg-config --cflags --libs heddle) && ./a.out | dot -Tsvg >graph.svg
#include <heddle/heddle.h>
#include <stdio.h>

enum { MOST_NODES = 64, MOST_PARENTS = 3 };

static heddle_tensor *seen[MOST_NODES];
static int seen_count;

// Prints a tensor with all it was computed from, each once. Returns its number in the graph.
static int print_graph(heddle_tensor *tensor)
{
    heddle_tensor *parents[MOST_PARENTS];
    int numbers[MOST_PARENTS], count = heddle_tensor_parents(tensor, parents, MOST_PARENTS);
    for (int i = 0; i < seen_count; i++)
        if (seen[i] == tensor)
            return i;
    for (int i = 0; i < count; i++)
        numbers[i] = print_graph(parents[i]);
    int number = seen_count++;
    seen[number] = tensor;
    float gradient = 0;
    int has_gradient = heddle_tensor_read_gradient(tensor, &gradient) == HEDDLE_OK;
    printf("  n%d [label=\"%s | value %.4g", number, heddle_tensor_op(tensor), (double)heddle_tensor_item(tensor));
    if (has_gradient)
        printf(" | gradient %.4g", (double)gradient);
    printf("\"];\n");
    for (int i = 0; i < count; i++)
        printf("  n%d -> n%d;\n", numbers[i], number);
    return number;
}

int main(void)
{
    heddle_device *device;
    heddle_context *context;
    if (heddle_device_open("cpu", 1, &device) || heddle_context_create(device, 1, &context))
        return fprintf(stderr, "%s\n", heddle_last_error()), 1;

    // A neuron: tanh(w1 * x1 + w2 * x2 + b). All are parameters, so that all have gradients.
    heddle_tensor *w1 = heddle_parameter_from(context, 0, NULL, &(float){-3.0F});
    heddle_tensor *x1 = heddle_parameter_from(context, 0, NULL, &(float){2.0F});
    heddle_tensor *w2 = heddle_parameter_from(context, 0, NULL, &(float){1.0F});
    heddle_tensor *x2 = heddle_parameter_from(context, 0, NULL, &(float){0.0F});
    heddle_tensor *b = heddle_parameter_from(context, 0, NULL, &(float){6.8813736F});
    heddle_tensor *sum = heddle_add(heddle_add(heddle_multiply(w1, x1), heddle_multiply(w2, x2)), b);
    heddle_tensor *output = heddle_tanh(sum);
    if (heddle_backward(output))
        return fprintf(stderr, "%s\n", heddle_last_error()), 1;

    printf("digraph {\n  rankdir=LR;\n  node [shape=record];\n");
    print_graph(output);
    printf("}\n");
    heddle_context_destroy(context);
    heddle_device_close(device);
}
