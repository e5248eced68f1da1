// Trains a small network to tell two interleaving half circles apart, with heddle's tensors alone.
// cc two_moons.c $(pkg-config --cflags --libs heddle) -lm && ./a.out [sgd|momentum|adamw]
#include <heddle/heddle.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 200, HIDDEN = 16, STEPS = 500 };

static heddle_status take_step(heddle_context *context, const char *optimizer)
{
    heddle_adamw_options adamw = heddle_adamw_defaults();
    adamw.rate = 0.02F;
    if (strcmp(optimizer, "adamw") == 0)
        return heddle_adamw_step(context, &adamw);
    if (strcmp(optimizer, "momentum") == 0)
        return heddle_momentum_step(context, &(heddle_momentum_options){.rate = 0.1F, .momentum = 0.9F});
    return heddle_sgd_step(context, 0.5F);
}

int main(int argc, char **argv)
{
    const char *optimizer = argc > 1 ? argv[1] : "sgd";
    heddle_device *device;
    heddle_context *context;
    if (heddle_device_open("cpu", 1, &device) || heddle_context_create(device, 1, &context))
        return fprintf(stderr, "%s\n", heddle_last_error()), 1;

    float points[POINTS][2];
    int32_t moon[POINTS];
    for (int i = 0; i < POINTS; i++) {
        float angle = 3.14159F * (float)(i / 2) / (POINTS / 2), side = (moon[i] = i % 2) ? -1.0F : 1.0F;
        points[i][0] = side * cosf(angle) + (moon[i] ? 1.0F : 0.0F);
        points[i][1] = side * sinf(angle) + (moon[i] ? 0.5F : 0.0F);
    }

    heddle_tensor *weight1 = heddle_parameter(context, 2, (int[]){HIDDEN, 2}, 1.0F);
    heddle_tensor *bias1 = heddle_parameter(context, 1, (int[]){HIDDEN}, 1.0F);
    heddle_tensor *weight2 = heddle_parameter(context, 2, (int[]){2, HIDDEN}, 0.5F);
    heddle_tensor *bias2 = heddle_parameter(context, 1, (int[]){2}, 0.5F);

    for (int step = 0; step <= STEPS; step++) {
        heddle_tensor *input = heddle_tensor_create(context, 2, (int[]){POINTS, 2}, &points[0][0]);
        heddle_tensor *hidden = heddle_tanh(heddle_linear(input, weight1, bias1));
        heddle_tensor *loss =
            heddle_cross_entropy(heddle_linear(hidden, weight2, bias2), heddle_tensor_labels(context, POINTS, moon));
        if (heddle_backward(loss) || take_step(context, optimizer))
            return fprintf(stderr, "%s\n", heddle_last_error()), 1;
        if (step % 100 == 0)
            printf("step %3d  loss %.4f\n", step, (double)heddle_tensor_item(loss));
        heddle_context_clear(context);
    }
    heddle_context_destroy(context);
    heddle_device_close(device);
}
