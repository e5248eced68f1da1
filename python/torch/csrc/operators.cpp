// What torch.ops.heddle takes and gives: shapes checked, tensors made contiguous, results allocated by PyTorch, then
// one launch of heddle's operator. Gradients, fake kernels and autocast are in heddle_torch/operators.py.

#include <algorithm>
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

Tensor empty_for(const Tensor &like, std::initializer_list<int64_t> sizes, ScalarType type = FLOAT)
{
    return empty(like, {sizes.begin(), sizes.size()}, type);
}

Tensor empty_as(const Tensor &like)
{
    return empty(like, like.sizes(), FLOAT);
}

bool has_sizes(const Tensor &tensor, IntHeaderOnlyArrayRef expected)
{
    const IntHeaderOnlyArrayRef sizes = tensor.sizes();
    return sizes.size() == expected.size() && std::equal(sizes.begin(), sizes.end(), expected.begin());
}

void check_same_sizes(const Tensor &a, const Tensor &b, const char *op, const char *what)
{
    require(has_sizes(a, b.sizes()), "heddle.", op, ": ", what);
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

Tensor polynomial(const Tensor &x, const std::vector<double> &coefficients)
{
    check(x, x, FLOAT, "polynomial", "x");
    heddle_polynomial_activation_shape shape = polynomial_shape(coefficients);
    Tensor input = dense(x), output = empty_as(x);
    const float *from = (const float *)input.data_ptr();
    float *to = (float *)output.data_ptr();
    for (int64_t first = 0; first < x.numel(); first += PIECE) {
        shape.n = (int)std::min(PIECE, x.numel() - first);
        launch({"polynomial_activation_forward", &shape, x}, {{"input", from + first}, {"output", to + first}});
    }
    return output;
}

Tensor polynomial_backward(const Tensor &grad, const Tensor &x, const std::vector<double> &coefficients)
{
    check(x, x, FLOAT, "polynomial_backward", "x");
    check(grad, x, FLOAT, "polynomial_backward", "grad");
    check_same_sizes(grad, x, "polynomial_backward", "grad and x must have the same shape");
    heddle_polynomial_activation_shape shape = polynomial_shape(coefficients);
    Tensor input = dense(x), above = dense(grad), output = empty_as(x);
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

std::tuple<Tensor, Tensor> token_loss(const Tensor &logits, const Tensor &target, int64_t ignored)
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

Tensor token_loss_backward(const Tensor &grad, const Tensor &logits, const Tensor &target, const Tensor &log_sums,
                           int64_t ignored)
{
    heddle_token_loss_shape shape = loss_shape(logits, target, ignored);
    check(grad, logits, FLOAT, "softmax_cross_entropy", "the gradient of the losses");
    check(log_sums, logits, FLOAT, "softmax_cross_entropy", "log_sums");
    check_same_sizes(grad, target, "softmax_cross_entropy", "a gradient is needed for each row");
    check_same_sizes(log_sums, target, "softmax_cross_entropy", "log_sums needs one number for each row");
    Tensor x = dense(logits), labels = dense(target), above = dense(grad), sums = dense(log_sums);
    Tensor gradient = empty_as(logits);
    if (shape.rows > 0)
        launch({"token_loss_backward", &shape, logits}, {{"logits", x.data_ptr()},
                                                         {"labels", labels.data_ptr()},
                                                         {"log_sums", sums.data_ptr()},
                                                         {"grad_losses", above.data_ptr()},
                                                         {"grad_logits", gradient.data_ptr()}});
    return gradient;
}

std::tuple<Tensor, Tensor> token_loss_both(const Tensor &logits, const Tensor &target, const Tensor &factor,
                                           int64_t ignored)
{
    heddle_token_loss_shape shape = loss_shape(logits, target, ignored);
    check(factor, logits, FLOAT, "softmax_cross_entropy", "factor");
    require(factor.numel() == 1, "heddle.softmax_cross_entropy: factor must be one number");
    Tensor x = dense(logits), labels = dense(target);
    Tensor losses = empty_for(logits, {shape.rows}), gradient = empty_as(logits);
    if (shape.rows > 0)
        launch({"token_loss_both", &shape, logits}, {{"logits", x.data_ptr()},
                                                     {"labels", labels.data_ptr()},
                                                     {"factor", factor.data_ptr()},
                                                     {"losses", losses.data_ptr()},
                                                     {"gradient", gradient.data_ptr()}});
    return {losses, gradient};
}

// gradient *= factor, which moves nothing where the factor is 1, as it is at the end of a network.
void scale_(const Tensor &gradient, const Tensor &factor)
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
            "heddle.layernorm: weight must have the shape of the input's last dimension, and one number at least");
    return {as_int(x.numel() / x.size(-1), "layernorm", "rows"), as_int(x.size(-1), "layernorm", "columns"),
            (float)epsilon};
}

std::tuple<Tensor, Tensor, Tensor> layernorm_forward(const Tensor &input, const Tensor &weight, const Tensor &bias,
                                                     double epsilon)
{
    heddle_layernorm_shape shape = layernorm_shape(input, weight, epsilon);
    check(bias, input, FLOAT, "layernorm", "bias");
    check_same_sizes(weight, bias, "layernorm", "weight and bias must have the same shape");
    Tensor x = dense(input), gamma = dense(weight), beta = dense(bias);
    Tensor output = empty_as(input);
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

std::tuple<Tensor, Tensor, Tensor> layernorm_backward(const Tensor &grad, const Tensor &input, const Tensor &weight,
                                                      const Tensor &mean, const Tensor &inverse_std, double epsilon)
{
    heddle_layernorm_shape shape = layernorm_shape(input, weight, epsilon);
    check(grad, input, FLOAT, "layernorm", "the gradient");
    check_same_sizes(grad, input, "layernorm", "the gradient and the input must have the same shape");
    check(mean, input, FLOAT, "layernorm", "mean");
    check(inverse_std, input, FLOAT, "layernorm", "inverse_std");
    require(mean.numel() == shape.rows && inverse_std.numel() == shape.rows,
            "heddle.layernorm: mean and inverse_std need one number for each row");
    Tensor x = dense(input), gamma = dense(weight), above = dense(grad), means = dense(mean), stds = dense(inverse_std);
    Tensor grad_input = empty_as(input);
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

Tensor matmul(const Tensor &a, const Tensor &b, const std::string &rung, bool transpose_a, bool transpose_b)
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
    call.rung = rung.c_str();
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

// A first layer of so few channels is a stem: where its input needs no gradient, its convolution is computed again in
// backward. operators.py has the same number.
const int STEM_CHANNELS = 4;

// Whether the memory is (n, h, w, c); where a dimension is 1 its stride means nothing.
bool is_channels_last(const Tensor &x)
{
    if (x.is_contiguous())
        return false;
    const IntHeaderOnlyArrayRef sizes = x.sizes(), strides = x.strides();
    int64_t expected = 1;
    for (size_t dim : {1, 3, 2, 0}) {
        if (sizes[dim] != 1 && strides[dim] != expected)
            return false;
        expected *= sizes[dim];
    }
    return true;
}

std::string sizes_text(const Tensor &tensor)
{
    std::string text;
    for (int64_t size : tensor.sizes())
        text += (text.empty() ? "(" : ", ") + std::to_string(size);
    return text.empty() ? "()" : text + ")";
}

heddle_conv_block_shape block_shape(const Tensor &x, const Tensor &weight, double epsilon, double momentum)
{
    check(x, x, FLOAT, BLOCK, "x");
    check(weight, x, FLOAT, BLOCK, "weight");
    const IntHeaderOnlyArrayRef image = x.sizes(), filter = weight.sizes();
    if (image.size() != 4 || filter.size() != 4 || filter[1] != image[1] || filter[2] != 3 || filter[3] != 3)
        require(false, "heddle.", BLOCK, ": x is (n, c, h, w) and weight (k, c, 3, 3), not ", sizes_text(x), " and ",
                sizes_text(weight));
    require(image[2] >= 2 && image[3] >= 2, "heddle.", BLOCK, ": images of ", image[2], "×", image[3],
            " pixels cannot be pooled");
    const int last = is_channels_last(x);
    return {as_int(image[0], BLOCK, "n"),
            as_int(image[1], BLOCK, "c"),
            as_int(image[2], BLOCK, "h"),
            as_int(image[3], BLOCK, "w"),
            as_int(filter[0], BLOCK, "k"),
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
    const int64_t sizes[] = {n, k, h, w};
    return channels_last ? empty_channels_last(like, sizes, FLOAT) : empty(like, sizes, FLOAT);
}

Tensor channel(const Tensor &vector, const Tensor &x, int k, const char *what)
{
    const int64_t wanted = k;
    check(vector, x, FLOAT, BLOCK, what);
    require(has_sizes(vector, {&wanted, 1}), "heddle.", BLOCK, ": ", what, " must have ", k,
            " numbers, one per output channel");
    return dense(vector);
}

bool is_stem(const heddle_conv_block_shape &shape, bool input_grad)
{
    return !input_grad && shape.c <= STEM_CHANNELS;
}

heddle_arithmetic arithmetic_of(bool tf32)
{
    return tf32 ? HEDDLE_TF32 : HEDDLE_FULL;
}

// What forward keeps for the gradient, in one allocation: the convolution, or a stem's moments of the input's patches;
// the batch's mean and inverse standard deviation; which element of each window of the pooling was the largest. Nothing
// lies between them, so that equal calls give equal bytes. operators.py has the same sum.
struct Saved {
    int64_t statistics, code, bytes; // where they begin, and all of it
};

Saved saved_layout(const heddle_conv_block_shape &shape, bool stem)
{
    const int64_t n = shape.n, k = shape.k, taps = 9 * (int64_t)shape.c;
    const int64_t statistics =
        stem ? (int64_t)sizeof(double) * (taps + 1) * taps : (int64_t)sizeof(float) * n * shape.h * shape.w * k;
    const int64_t code = statistics + (int64_t)sizeof(float) * 2 * k;
    return {statistics, code, code + n * (shape.h / 2) * (shape.w / 2) * k};
}

// The output, and what the gradient needs. The running statistics are changed in place. input_grad: whether x will need
// a gradient.
std::tuple<Tensor, Tensor> conv_block_train(const Tensor &x, const Tensor &weight, const std::optional<Tensor> &bias,
                                            const Tensor &gamma, const Tensor &beta, const Tensor &running_mean,
                                            const Tensor &running_var, double momentum, double epsilon, bool input_grad,
                                            bool tf32)
{
    heddle_conv_block_shape shape = block_shape(x, weight, epsilon, momentum);
    require((int64_t)shape.n * shape.h * shape.w > 1, "heddle.", BLOCK, ": one value per channel has no variance");
    const bool last = shape.input_channels_last, stem = is_stem(shape, input_grad);
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
    const Saved layout = saved_layout(shape, stem);
    Tensor saved = empty_for(x, {layout.bytes}, ScalarType::Byte);
    Call call = {stem ? "stem_block_forward" : "conv_block_forward", &shape, x};
    call.arithmetic = arithmetic_of(tf32);
    char *memory = (char *)saved.data_ptr();
    float *mean = (float *)(memory + layout.statistics);
    launch(call, {{"input", input.data_ptr()},
                  {"weight", filter.data_ptr()},
                  {"bias", added ? added->data_ptr() : nullptr},
                  {"gamma", scale.data_ptr()},
                  {"beta", shift.data_ptr()},
                  {"output", output.data_ptr()},
                  {stem ? "moments" : "convolution", memory},
                  {"mean", mean},
                  {"inverse_std", mean + shape.k},
                  {"code", memory + layout.code},
                  {"running_mean", running[0].data_ptr()},
                  {"running_var", running[1].data_ptr()}});
    return {output, saved};
}

// The same without side effects, which is what compilers need: the changed running statistics are results.
std::tuple<Tensor, Tensor, Tensor, Tensor> conv_block_forward(const Tensor &x, const Tensor &weight,
                                                              const std::optional<Tensor> &bias, const Tensor &gamma,
                                                              const Tensor &beta, const Tensor &running_mean,
                                                              const Tensor &running_var, double momentum,
                                                              double epsilon, bool input_grad, bool tf32)
{
    Tensor mean = torch::stable::clone(dense(running_mean)), var = torch::stable::clone(dense(running_var));
    auto made = conv_block_train(x, weight, bias, gamma, beta, mean, var, momentum, epsilon, input_grad, tf32);
    return std::tuple_cat(made, std::make_tuple(mean, var));
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> conv_block_backward(const Tensor &grad, const Tensor &x,
                                                                       const Tensor &weight, const Tensor &gamma,
                                                                       const Tensor &beta, const Tensor &saved,
                                                                       double epsilon, bool input_grad, bool tf32)
{
    heddle_conv_block_shape shape = block_shape(x, weight, epsilon, 0.1);
    const bool last = shape.input_channels_last, stem = is_stem(shape, input_grad);
    const int64_t pooled[] = {shape.n, shape.k, shape.h / 2, shape.w / 2};
    const Saved layout = saved_layout(shape, stem);
    check(saved, x, ScalarType::Byte, BLOCK, "saved");
    require(saved.numel() == layout.bytes && saved.is_contiguous(), "heddle.", BLOCK,
            ": saved is not what forward gave for this shape");
    check(grad, x, FLOAT, BLOCK, "the gradient");
    require(has_sizes(grad, pooled), "heddle.", BLOCK, ": the gradient must have the shape of the output");
    shape.output_channels_last = is_channels_last(grad);
    Tensor input = image_memory(x, last), above = image_memory(grad, shape.output_channels_last),
           filter = dense(weight);
    Tensor scale = channel(gamma, x, shape.k, "gamma"), shift = channel(beta, x, shape.k, "beta");
    // An input that needs no gradient; something has to be returned.
    Tensor grad_x = input_grad ? empty_image(x, shape.n, shape.c, shape.h, shape.w, last) : empty_for(x, {0});
    Tensor grad_weight = empty_for(x, {shape.k, shape.c, 3, 3}), grad_bias = empty_for(x, {shape.k});
    Tensor grad_gamma = empty_for(x, {shape.k}), grad_beta = empty_for(x, {shape.k});
    Call call = {stem ? "stem_block_backward" : "conv_block_backward", &shape, x};
    call.arithmetic = arithmetic_of(tf32);
    const Operand input_gradient = stem ? Operand{"grad_weight", grad_weight.data_ptr()}
                                        : Operand{"grad_input", input_grad ? grad_x.data_ptr() : nullptr};
    const char *memory = (const char *)saved.data_ptr();
    const float *mean = (const float *)(memory + layout.statistics);
    launch(call, {{"input", input.data_ptr()},
                  {"weight", filter.data_ptr()},
                  {"gamma", scale.data_ptr()},
                  {"beta", shift.data_ptr()},
                  {stem ? "moments" : "convolution", memory},
                  {"mean", mean},
                  {"inverse_std", mean + shape.k},
                  {"code", memory + layout.code},
                  {"grad_output", above.data_ptr()},
                  input_gradient,
                  {"grad_weight", grad_weight.data_ptr()},
                  {"grad_bias", grad_bias.data_ptr()},
                  {"grad_gamma", grad_gamma.data_ptr()},
                  {"grad_beta", grad_beta.data_ptr()}});
    return {grad_x, grad_weight, grad_bias, grad_gamma, grad_beta};
}

Tensor conv_block_inference(const Tensor &x, const Tensor &weight, const std::optional<Tensor> &bias,
                            const Tensor &gamma, const Tensor &beta, const Tensor &running_mean,
                            const Tensor &running_var, double epsilon, bool tf32)
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
    Call call = {is_stem(shape, false) ? "stem_block_inference" : "conv_block_inference", &shape, x};
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
    library.def(
        "conv_block_train(Tensor x, Tensor weight, Tensor? bias, Tensor gamma, Tensor beta, "
        "Tensor(a!) running_mean, Tensor(b!) running_var, float momentum, float eps, bool input_grad, bool tf32) -> "
        "(Tensor, Tensor)");
    library.def("conv_block_forward(Tensor x, Tensor weight, Tensor? bias, Tensor gamma, Tensor beta, "
                "Tensor running_mean, Tensor running_var, float momentum, float eps, bool input_grad, bool tf32) -> "
                "(Tensor, Tensor, Tensor, Tensor)");
    library.def("conv_block_backward(Tensor grad, Tensor x, Tensor weight, Tensor gamma, Tensor beta, Tensor saved, "
                "float eps, bool input_grad, bool tf32) -> "
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
