// What torch.ops.heddle takes and gives: shapes checked, tensors made contiguous, results allocated by PyTorch, then
// one launch of heddle's operator. Gradients, fake kernels and autocast are in heddle_torch/operators.py.

#include <climits>
#include <optional>
#include <tuple>
#include <vector>

#include "runtime.h"

using namespace heddle_torch;

namespace
{

const ScalarType FLOAT = ScalarType::Float;

int as_int(int64_t value, const char *op, const char *what)
{
    require(value >= 0 && value <= INT_MAX, "heddle.", op, ": ", what, " is ", value, ", must be at most ", INT_MAX);
    return (int)value;
}

Tensor dense(const Tensor &tensor)
{
    return tensor.is_contiguous() ? tensor : torch::stable::contiguous(tensor);
}

Tensor empty_for(const Tensor &like, std::vector<int64_t> sizes, ScalarType type = FLOAT)
{
    return torch::stable::empty(sizes, type, std::nullopt, like.device());
}

std::vector<int64_t> sizes_of(const Tensor &tensor)
{
    return {tensor.sizes().begin(), tensor.sizes().end()};
}

void check_same_sizes(const Tensor &a, const Tensor &b, const char *op, const char *what)
{
    require(sizes_of(a) == sizes_of(b), "heddle.", op, ": ", what);
}

// --- polynomial -----------------------------------------------------------------------------------------------------

heddle_polynomial_activation_shape polynomial_shape(const std::vector<double> &coefficients)
{
    require(!coefficients.empty() && coefficients.size() <= HEDDLE_POLYNOMIAL_DEGREE + 1,
            "heddle.polynomial: ", coefficients.size(), " coefficients; there are 1 to ", HEDDLE_POLYNOMIAL_DEGREE + 1);
    float c[HEDDLE_POLYNOMIAL_DEGREE + 1] = {};
    for (size_t i = 0; i < coefficients.size(); i++)
        c[i] = (float)coefficients[i];
    return {0, (int)coefficients.size() - 1, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]};
}

const int64_t PIECE = 1 << 30; // elements of a launch: an operator counts them in an int

Tensor polynomial(Tensor x, std::vector<double> coefficients)
{
    check(x, x, FLOAT, "polynomial", "x");
    heddle_polynomial_activation_shape shape = polynomial_shape(coefficients);
    Tensor input = dense(x), output = empty_for(x, sizes_of(x));
    const float *from = (const float *)input.data_ptr();
    float *to = (float *)output.data_ptr();
    for (int64_t first = 0; first < x.numel(); first += PIECE) {
        shape.n = (int)std::min(PIECE, x.numel() - first);
        launch({"polynomial_activation_forward", &shape, x}, {{"input", from + first}, {"output", to + first}});
    }
    return output;
}

Tensor polynomial_backward(Tensor grad, Tensor x, std::vector<double> coefficients)
{
    check(x, x, FLOAT, "polynomial_backward", "x");
    check(grad, x, FLOAT, "polynomial_backward", "grad");
    check_same_sizes(grad, x, "polynomial_backward", "grad and x must have the same shape");
    heddle_polynomial_activation_shape shape = polynomial_shape(coefficients);
    Tensor input = dense(x), above = dense(grad), output = empty_for(x, sizes_of(x));
    for (int64_t first = 0; first < x.numel(); first += PIECE) {
        shape.n = (int)std::min(PIECE, x.numel() - first);
        launch({"polynomial_activation_backward", &shape, x}, {{"input", (const float *)input.data_ptr() + first},
                                                               {"grad_output", (const float *)above.data_ptr() + first},
                                                               {"grad_input", (float *)output.data_ptr() + first}});
    }
    return output;
}

// --- softmax_cross_entropy ------------------------------------------------------------------------------------------

heddle_token_loss_shape loss_shape(const Tensor &logits, const Tensor &target, int64_t ignored)
{
    const char *op = "softmax_cross_entropy";
    check(logits, logits, FLOAT, op, "logits");
    check(target, logits, ScalarType::Long, op, "target");
    require(logits.dim() == 2, "heddle.", op, ": logits must be (rows, classes), and have ", logits.dim(),
            " dimensions");
    require(target.dim() == 1 && target.size(0) == logits.size(0), "heddle.", op,
            ": target must have one class for each row of logits");
    const int64_t most = 1 << 24; // what a float holds exactly
    require(ignored >= -most && ignored <= most, "heddle.", op, ": ignore_index is ", ignored, ", must be within ±",
            most);
    return {as_int(logits.size(0), op, "rows"), as_int(logits.size(1), op, "classes"), (float)ignored};
}

std::tuple<Tensor, Tensor> token_loss(Tensor logits, Tensor target, int64_t ignored)
{
    heddle_token_loss_shape shape = loss_shape(logits, target, ignored);
    Tensor x = dense(logits), labels = dense(target);
    Tensor losses = empty_for(logits, {shape.rows}), log_sums = empty_for(logits, {shape.rows});
    if (shape.rows > 0)
        launch({"token_loss_forward", &shape, logits}, {{"logits", x.data_ptr()},
                                                        {"labels", labels.data_ptr()},
                                                        {"losses", losses.data_ptr()},
                                                        {"log_sums", log_sums.data_ptr()}});
    return {losses, log_sums};
}

Tensor token_loss_backward(Tensor grad, Tensor logits, Tensor target, Tensor log_sums, int64_t ignored)
{
    heddle_token_loss_shape shape = loss_shape(logits, target, ignored);
    check(grad, logits, FLOAT, "softmax_cross_entropy", "the gradient of the losses");
    check(log_sums, logits, FLOAT, "softmax_cross_entropy", "log_sums");
    check_same_sizes(grad, target, "softmax_cross_entropy", "a gradient is needed for each row");
    check_same_sizes(log_sums, target, "softmax_cross_entropy", "log_sums needs one number for each row");
    Tensor x = dense(logits), labels = dense(target), above = dense(grad), sums = dense(log_sums);
    Tensor gradient = empty_for(logits, sizes_of(logits));
    if (shape.rows > 0)
        launch({"token_loss_backward", &shape, logits}, {{"logits", x.data_ptr()},
                                                         {"labels", labels.data_ptr()},
                                                         {"log_sums", sums.data_ptr()},
                                                         {"grad_losses", above.data_ptr()},
                                                         {"grad_logits", gradient.data_ptr()}});
    return gradient;
}

std::tuple<Tensor, Tensor> token_loss_both(Tensor logits, Tensor target, Tensor factor, int64_t ignored)
{
    heddle_token_loss_shape shape = loss_shape(logits, target, ignored);
    check(factor, logits, FLOAT, "softmax_cross_entropy", "factor");
    require(factor.numel() == 1, "heddle.softmax_cross_entropy: factor must be one number");
    Tensor x = dense(logits), labels = dense(target);
    Tensor losses = empty_for(logits, {shape.rows}), gradient = empty_for(logits, sizes_of(logits));
    if (shape.rows > 0)
        launch({"token_loss_both", &shape, logits}, {{"logits", x.data_ptr()},
                                                     {"labels", labels.data_ptr()},
                                                     {"factor", factor.data_ptr()},
                                                     {"losses", losses.data_ptr()},
                                                     {"gradient", gradient.data_ptr()}});
    return {losses, gradient};
}

// gradient *= factor, which moves nothing where the factor is 1, as it is at the end of a network.
void scale_(Tensor gradient, Tensor factor)
{
    check(gradient, gradient, FLOAT, "scale_", "gradient");
    check(factor, gradient, FLOAT, "scale_", "factor");
    require(factor.numel() == 1, "heddle.scale_: factor must be one number");
    require(gradient.is_contiguous(), "heddle.scale_: the gradient must be contiguous");
    for (int64_t first = 0; first < gradient.numel(); first += PIECE) {
        heddle_elements_shape shape = {(int)std::min(PIECE, gradient.numel() - first)};
        launch({"scale_unless_one", &shape, gradient},
               {{"factor", factor.data_ptr()}, {"values", (float *)gradient.data_ptr() + first}});
    }
}

// --- layernorm ------------------------------------------------------------------------------------------------------

heddle_layernorm_shape layernorm_shape(const Tensor &x, const Tensor &weight, double epsilon)
{
    check(x, x, FLOAT, "layernorm", "input");
    check(weight, x, FLOAT, "layernorm", "weight");
    require(x.dim() >= 1 && weight.dim() == 1 && weight.size(0) == x.size(-1) && x.size(-1) > 0,
            "heddle.layernorm: weight must have one number for each of the input's last dimension");
    return {as_int(x.numel() / x.size(-1), "layernorm", "rows"), as_int(x.size(-1), "layernorm", "columns"),
            (float)epsilon};
}

std::tuple<Tensor, Tensor, Tensor> layernorm_forward(Tensor input, Tensor weight, Tensor bias, double epsilon)
{
    heddle_layernorm_shape shape = layernorm_shape(input, weight, epsilon);
    check(bias, input, FLOAT, "layernorm", "bias");
    check_same_sizes(weight, bias, "layernorm", "weight and bias must have the same shape");
    Tensor x = dense(input), gamma = dense(weight), beta = dense(bias);
    Tensor output = empty_for(input, sizes_of(input));
    Tensor mean = empty_for(input, {shape.rows}), inverse_std = empty_for(input, {shape.rows});
    if (shape.rows > 0)
        launch({"layernorm_forward", &shape, input}, {{"input", x.data_ptr()},
                                                      {"gamma", gamma.data_ptr()},
                                                      {"beta", beta.data_ptr()},
                                                      {"output", output.data_ptr()},
                                                      {"mean", mean.data_ptr()},
                                                      {"inverse_std", inverse_std.data_ptr()}});
    return {output, mean, inverse_std};
}

std::tuple<Tensor, Tensor, Tensor> layernorm_backward(Tensor grad, Tensor input, Tensor weight, Tensor mean,
                                                      Tensor inverse_std, double epsilon)
{
    heddle_layernorm_shape shape = layernorm_shape(input, weight, epsilon);
    check(grad, input, FLOAT, "layernorm", "the gradient");
    check_same_sizes(grad, input, "layernorm", "the gradient and the input must have the same shape");
    check(mean, input, FLOAT, "layernorm", "mean");
    check(inverse_std, input, FLOAT, "layernorm", "inverse_std");
    require(mean.numel() == shape.rows && inverse_std.numel() == shape.rows,
            "heddle.layernorm: mean and inverse_std need one number for each row");
    Tensor x = dense(input), gamma = dense(weight), above = dense(grad), means = dense(mean), stds = dense(inverse_std);
    Tensor grad_input = empty_for(input, sizes_of(input));
    if (shape.rows == 0)
        return {grad_input, torch::stable::new_zeros(weight, {shape.cols}),
                torch::stable::new_zeros(weight, {shape.cols})};
    Tensor grad_gamma = empty_for(weight, {shape.cols}), grad_beta = empty_for(weight, {shape.cols});
    launch({"layernorm_backward", &shape, input}, {{"input", x.data_ptr()},
                                                   {"gamma", gamma.data_ptr()},
                                                   {"mean", means.data_ptr()},
                                                   {"inverse_std", stds.data_ptr()},
                                                   {"grad_output", above.data_ptr()},
                                                   {"grad_input", grad_input.data_ptr()},
                                                   {"grad_gamma", grad_gamma.data_ptr()},
                                                   {"grad_beta", grad_beta.data_ptr()}});
    return {grad_input, grad_gamma, grad_beta};
}

// --- matmul ---------------------------------------------------------------------------------------------------------

Tensor matmul(Tensor a, Tensor b, std::string rung, bool transpose_a, bool transpose_b)
{
    const ScalarType type = a.scalar_type();
    require(type == FLOAT || type == ScalarType::BFloat16, "heddle.matmul: a must be Float or BFloat16, not ",
            torch::headeronly::toString(type));
    check(a, a, type, "matmul", "a");
    check(b, a, type, "matmul", "b");
    require(a.dim() == 2 && b.dim() == 2, "heddle.matmul: a and b must be matrices, not of ", a.dim(), " and ", b.dim(),
            " dimensions");
    const int64_t m = a.size(transpose_a), k = a.size(!transpose_a), n = b.size(!transpose_b);
    require(b.size(transpose_b) == k, "heddle.matmul: a has ", k, " columns and b ", b.size(transpose_b), " rows");
    heddle_matmul_shape shape = {
        as_int(m, "matmul", "m"), as_int(n, "matmul", "n"), as_int(k, "matmul", "k"), transpose_a, transpose_b, 1, 0};
    if (m == 0 || n == 0 || k == 0)
        return torch::stable::new_zeros(a, {m, n});
    Tensor left = dense(a), right = dense(b), output = empty_for(a, {m, n}, type);
    Call call = {type == FLOAT ? "matmul_forward" : "matmul_bf16_forward", &shape, a};
    call.rung = rung;
    // The gradients of a product by a named rung need transposed operands, which that rung may not take.
    call.unsupported_is_best = transpose_a || transpose_b;
    call.arithmetic = type == FLOAT ? HEDDLE_FULL : HEDDLE_BFLOAT;
    // Vendors' rungs by name only: they try algorithms in their first call, and have memory of their own.
    call.tier = HEDDLE_TUNED;
    launch(call, {{"a", left.data_ptr()}, {"b", right.data_ptr()}, {"output", output.data_ptr()}});
    return output;
}

// --- conv_bn_relu_pool ----------------------------------------------------------------------------------------------

const char *const BLOCK = "conv_bn_relu_pool";

// Whether the memory is (n, h, w, c); where a dimension is 1 its stride means nothing.
bool is_channels_last(const Tensor &x)
{
    int64_t expected = 1;
    for (int64_t dim : {1, 3, 2, 0}) {
        if (x.size(dim) != 1 && x.stride(dim) != expected)
            return false;
        expected *= x.size(dim);
    }
    return !x.is_contiguous();
}

heddle_conv_block_shape block_shape(const Tensor &x, const Tensor &weight, double epsilon, double momentum)
{
    check(x, x, FLOAT, BLOCK, "x");
    check(weight, x, FLOAT, BLOCK, "weight");
    require(x.dim() == 4, "heddle.", BLOCK, ": x must be (n, c, h, w), and has ", x.dim(), " dimensions");
    require(weight.dim() == 4 && weight.size(1) == x.size(1) && weight.size(2) == 3 && weight.size(3) == 3, "heddle.",
            BLOCK, ": weight must be (k, ", x.size(1), ", 3, 3)");
    const int last = is_channels_last(x);
    return {as_int(x.size(0), BLOCK, "n"),
            as_int(x.size(1), BLOCK, "c"),
            as_int(x.size(2), BLOCK, "h"),
            as_int(x.size(3), BLOCK, "w"),
            as_int(weight.size(0), BLOCK, "k"),
            last,
            last,
            (float)epsilon,
            (float)momentum};
}

Tensor image_memory(const Tensor &x, bool channels_last)
{
    return channels_last ? x : dense(x);
}

// (n, k, h, w) to the caller, in memory as the operator wants it.
Tensor empty_image(const Tensor &like, int64_t n, int64_t k, int64_t h, int64_t w, bool channels_last)
{
    const std::vector<int64_t> sizes = {n, k, h, w};
    return torch::stable::empty(sizes, FLOAT, std::nullopt, like.device(), std::nullopt,
                                channels_last ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous);
}

Tensor channel(const Tensor &vector, const Tensor &x, int k, const char *what)
{
    check(vector, x, FLOAT, BLOCK, what);
    require(vector.dim() == 1 && vector.size(0) == k, "heddle.", BLOCK, ": ", what, " must have ", k,
            " numbers, one per output channel");
    return dense(vector);
}

heddle_arithmetic arithmetic_of(bool tf32)
{
    return tf32 ? HEDDLE_TF32 : HEDDLE_FULL;
}

// What the stem keeps for its gradient is the moments of the input's patches, not the convolution.
Tensor empty_saved(const Tensor &x, const heddle_conv_block_shape &shape, bool stem)
{
    const int64_t taps = 9 * (int64_t)shape.c;
    return stem ? empty_for(x, {taps + 1, taps}, ScalarType::Double)
                : empty_for(x, {shape.n, shape.h, shape.w, shape.k});
}

// The output; for the gradient: the convolution, the batch's mean and inverse standard deviation, and which element of
// each window of the pooling was the largest. The running statistics are changed in place.
std::tuple<Tensor, Tensor, Tensor, Tensor> conv_block_train(Tensor x, Tensor weight, std::optional<Tensor> bias,
                                                            Tensor gamma, Tensor beta, Tensor running_mean,
                                                            Tensor running_var, double momentum, double epsilon,
                                                            bool stem, bool tf32)
{
    heddle_conv_block_shape shape = block_shape(x, weight, epsilon, momentum);
    const bool last = shape.input_channels_last;
    Tensor input = image_memory(x, last), filter = dense(weight), scale = channel(gamma, x, shape.k, "gamma"),
           shift = channel(beta, x, shape.k, "beta");
    std::optional<Tensor> added;
    if (bias)
        added = channel(*bias, x, shape.k, "bias");
    require(running_mean.is_contiguous() && running_var.is_contiguous(), "heddle.", BLOCK,
            ": the running statistics must be contiguous");
    Tensor running[] = {channel(running_mean, x, shape.k, "running_mean"),
                        channel(running_var, x, shape.k, "running_var")};
    Tensor output = empty_image(x, shape.n, shape.k, shape.h / 2, shape.w / 2, last);
    Tensor saved = empty_saved(x, shape, stem), statistics = empty_for(x, {2, shape.k});
    Tensor code = empty_for(x, {shape.n, shape.h / 2, shape.w / 2, shape.k}, ScalarType::Byte);
    Call call = {stem ? "stem_block_forward" : "conv_block_forward", &shape, x};
    call.arithmetic = arithmetic_of(tf32);
    launch(call, {{"input", input.data_ptr()},
                  {"weight", filter.data_ptr()},
                  {"bias", added ? added->data_ptr() : nullptr},
                  {"gamma", scale.data_ptr()},
                  {"beta", shift.data_ptr()},
                  {"output", output.data_ptr()},
                  {stem ? "moments" : "convolution", saved.data_ptr()},
                  {"mean", statistics.data_ptr()},
                  {"inverse_std", (float *)statistics.data_ptr() + shape.k},
                  {"code", code.data_ptr()},
                  {"running_mean", running[0].data_ptr()},
                  {"running_var", running[1].data_ptr()}});
    return {output, saved, statistics, code};
}

// The same without side effects, which is what compilers need: the changed running statistics are results.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>
conv_block_forward(Tensor x, Tensor weight, std::optional<Tensor> bias, Tensor gamma, Tensor beta, Tensor running_mean,
                   Tensor running_var, double momentum, double epsilon, bool stem, bool tf32)
{
    Tensor mean = torch::stable::clone(dense(running_mean)), var = torch::stable::clone(dense(running_var));
    auto made = conv_block_train(x, weight, bias, gamma, beta, mean, var, momentum, epsilon, stem, tf32);
    return std::tuple_cat(made, std::make_tuple(mean, var));
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> conv_block_backward(Tensor grad, Tensor x, Tensor weight,
                                                                       Tensor gamma, Tensor beta, Tensor saved,
                                                                       Tensor statistics, Tensor code, double epsilon,
                                                                       bool stem, bool tf32)
{
    heddle_conv_block_shape shape = block_shape(x, weight, epsilon, 0.1);
    const bool last = shape.input_channels_last;
    check(grad, x, FLOAT, BLOCK, "the gradient");
    require(sizes_of(grad) == (std::vector<int64_t>{shape.n, shape.k, shape.h / 2, shape.w / 2}), "heddle.", BLOCK,
            ": the gradient must have the shape of the output");
    shape.output_channels_last = is_channels_last(grad);
    Tensor input = image_memory(x, last), above = image_memory(grad, shape.output_channels_last),
           filter = dense(weight);
    Tensor scale = channel(gamma, x, shape.k, "gamma"), shift = channel(beta, x, shape.k, "beta");
    // A stem's input needs no gradient; something has to be returned.
    Tensor grad_x = stem ? empty_for(x, {0}) : empty_image(x, shape.n, shape.c, shape.h, shape.w, last);
    Tensor grad_weight = empty_for(x, {shape.k, shape.c, 3, 3}), grad_bias = empty_for(x, {shape.k});
    Tensor grad_gamma = empty_for(x, {shape.k}), grad_beta = empty_for(x, {shape.k});
    Call call = {stem ? "stem_block_backward" : "conv_block_backward", &shape, x};
    call.arithmetic = arithmetic_of(tf32);
    const Operand input_gradient =
        stem ? Operand{"grad_weight", grad_weight.data_ptr()} : Operand{"grad_input", grad_x.data_ptr()};
    launch(call, {{"input", input.data_ptr()},
                  {"weight", filter.data_ptr()},
                  {"gamma", scale.data_ptr()},
                  {"beta", shift.data_ptr()},
                  {stem ? "moments" : "convolution", saved.data_ptr()},
                  {"mean", statistics.data_ptr()},
                  {"inverse_std", (const float *)statistics.data_ptr() + shape.k},
                  {"code", code.data_ptr()},
                  {"grad_output", above.data_ptr()},
                  input_gradient,
                  {"grad_weight", grad_weight.data_ptr()},
                  {"grad_bias", grad_bias.data_ptr()},
                  {"grad_gamma", grad_gamma.data_ptr()},
                  {"grad_beta", grad_beta.data_ptr()}});
    return {grad_x, grad_weight, grad_bias, grad_gamma, grad_beta};
}

Tensor conv_block_inference(Tensor x, Tensor weight, std::optional<Tensor> bias, Tensor gamma, Tensor beta,
                            Tensor running_mean, Tensor running_var, double epsilon, bool tf32)
{
    heddle_conv_block_shape shape = block_shape(x, weight, epsilon, 0.1);
    const bool last = shape.input_channels_last;
    Tensor input = image_memory(x, last), filter = dense(weight), scale = channel(gamma, x, shape.k, "gamma"),
           shift = channel(beta, x, shape.k, "beta"), mean = channel(running_mean, x, shape.k, "running_mean"),
           var = channel(running_var, x, shape.k, "running_var");
    std::optional<Tensor> added;
    if (bias)
        added = channel(*bias, x, shape.k, "bias");
    Tensor output = empty_image(x, shape.n, shape.k, shape.h / 2, shape.w / 2, last);
    if (shape.n == 0)
        return output;
    Call call = {"conv_block_inference", &shape, x};
    call.arithmetic = arithmetic_of(tf32);
    launch(call, {{"input", input.data_ptr()},
                  {"weight", filter.data_ptr()},
                  {"bias", added ? added->data_ptr() : nullptr},
                  {"gamma", scale.data_ptr()},
                  {"beta", shift.data_ptr()},
                  {"running_mean", mean.data_ptr()},
                  {"running_var", var.data_ptr()},
                  {"output", output.data_ptr()}});
    return output;
}

} // namespace

STABLE_TORCH_LIBRARY(heddle, library)
{
    library.def("polynomial(Tensor x, float[] coefficients=[1.0, 1.0, 1.0]) -> Tensor");
    library.def("polynomial_backward(Tensor grad, Tensor x, float[] coefficients) -> Tensor");
    library.def("token_loss(Tensor logits, Tensor target, int ignore_index) -> (Tensor, Tensor)");
    library.def("token_loss_backward(Tensor grad, Tensor logits, Tensor target, Tensor log_sums, int ignore_index) -> "
                "Tensor");
    library.def("token_loss_both(Tensor logits, Tensor target, Tensor factor, int ignore_index) -> (Tensor, Tensor)");
    library.def("scale_(Tensor(a!) gradient, Tensor factor) -> ()");
    library.def("layernorm_forward(Tensor input, Tensor weight, Tensor bias, float eps) -> (Tensor, Tensor, Tensor)");
    library.def("layernorm_backward(Tensor grad, Tensor input, Tensor weight, Tensor mean, Tensor inverse_std, "
                "float eps) -> (Tensor, Tensor, Tensor)");
    library.def("matmul(Tensor a, Tensor b, str rung=\"\", bool transpose_a=False, bool transpose_b=False) -> Tensor");
    library.def("conv_block_train(Tensor x, Tensor weight, Tensor? bias, Tensor gamma, Tensor beta, "
                "Tensor(a!) running_mean, Tensor(b!) running_var, float momentum, float eps, bool stem, bool tf32) -> "
                "(Tensor, Tensor, Tensor, Tensor)");
    library.def("conv_block_forward(Tensor x, Tensor weight, Tensor? bias, Tensor gamma, Tensor beta, "
                "Tensor running_mean, Tensor running_var, float momentum, float eps, bool stem, bool tf32) -> "
                "(Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)");
    library.def("conv_block_backward(Tensor grad, Tensor x, Tensor weight, Tensor gamma, Tensor beta, Tensor saved, "
                "Tensor statistics, Tensor code, float eps, bool stem, bool tf32) -> "
                "(Tensor, Tensor, Tensor, Tensor, Tensor)");
    library.def("conv_block_inference(Tensor x, Tensor weight, Tensor? bias, Tensor gamma, Tensor beta, "
                "Tensor running_mean, Tensor running_var, float eps, bool tf32) -> Tensor");
    library.def("rungs(str op, str device) -> str");
}

#define EVERY_KERNEL(library)                                                                                          \
    library.impl("polynomial", TORCH_BOX(&polynomial));                                                                \
    library.impl("polynomial_backward", TORCH_BOX(&polynomial_backward));                                              \
    library.impl("token_loss", TORCH_BOX(&token_loss));                                                                \
    library.impl("token_loss_backward", TORCH_BOX(&token_loss_backward));                                              \
    library.impl("token_loss_both", TORCH_BOX(&token_loss_both));                                                      \
    library.impl("scale_", TORCH_BOX(&scale_));                                                                        \
    library.impl("layernorm_forward", TORCH_BOX(&layernorm_forward));                                                  \
    library.impl("layernorm_backward", TORCH_BOX(&layernorm_backward));                                                \
    library.impl("matmul", TORCH_BOX(&matmul));                                                                        \
    library.impl("conv_block_train", TORCH_BOX(&conv_block_train));                                                    \
    library.impl("conv_block_forward", TORCH_BOX(&conv_block_forward));                                                \
    library.impl("conv_block_backward", TORCH_BOX(&conv_block_backward));                                              \
    library.impl("conv_block_inference", TORCH_BOX(&conv_block_inference));

STABLE_TORCH_LIBRARY_IMPL(heddle, CPU, library){EVERY_KERNEL(library)}

STABLE_TORCH_LIBRARY_IMPL(heddle, CUDA, library){EVERY_KERNEL(library)}

STABLE_TORCH_LIBRARY_IMPL(heddle, CompositeExplicitAutograd, library)
{
    library.impl("rungs", TORCH_BOX(&rungs));
}
