// The one list of operators, grouped by folder. Everything that shows, tests, measures or trains reads it.

#include "ops/registry.h"

#include "ops/activation/activation.h"
#include "ops/attention/attention.h"
#include "ops/avgpool2d/avgpool2d.h"
#include "ops/batchnorm2d/batchnorm2d.h"
#include "ops/batchnorm2d_relu/batchnorm2d_relu.h"
#include "ops/cnn_step/cnn_step.h"
#include "ops/cnn_train/cnn_train.h"
#include "ops/conv2d/conv2d.h"
#include "ops/conv2d_grouped/conv2d_grouped.h"
#include "ops/conv2d_relu/conv2d_relu.h"
#include "ops/conv_block/conv_block.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/dot/dot.h"
#include "ops/dropout/dropout.h"
#include "ops/elementwise/elementwise.h"
#include "ops/embedding/embedding.h"
#include "ops/fft/fft.h"
#include "ops/gather/gather.h"
#include "ops/gemv/gemv.h"
#include "ops/globalavgpool/globalavgpool.h"
#include "ops/hello_index/hello_index.h"
#include "ops/histogram/histogram.h"
#include "ops/layernorm/layernorm.h"
#include "ops/linear/linear.h"
#include "ops/matmul/matmul.h"
#include "ops/matmul_batched/matmul_batched.h"
#include "ops/matmul_bf16/matmul_bf16.h"
#include "ops/matmul_fp8/matmul_fp8.h"
#include "ops/matmul_host/matmul_host.h"
#include "ops/matmul_int4/matmul_int4.h"
#include "ops/matmul_int8/matmul_int8.h"
#include "ops/maxpool2d/maxpool2d.h"
#include "ops/optimizer/optimizer.h"
#include "ops/polynomial/polynomial.h"
#include "ops/polynomial_activation/polynomial_activation.h"
#include "ops/predict_one/predict_one.h"
#include "ops/quantise/quantise.h"
#include "ops/random/random.h"
#include "ops/reduction/reduction.h"
#include "ops/rmsnorm/rmsnorm.h"
#include "ops/rope/rope.h"
#include "ops/rows_classify/rows_classify.h"
#include "ops/rows_conv/rows_conv.h"
#include "ops/rows_gather/rows_gather.h"
#include "ops/rows_head/rows_head.h"
#include "ops/rows_linear_step/rows_linear_step.h"
#include "ops/rows_loss/rows_loss.h"
#include "ops/rows_norm/rows_norm.h"
#include "ops/rows_patches/rows_patches.h"
#include "ops/rows_stem/rows_stem.h"
#include "ops/rows_trunk/rows_trunk.h"
#include "ops/rows_update/rows_update.h"
#include "ops/saxpy/saxpy.h"
#include "ops/scale/scale.h"
#include "ops/scan/scan.h"
#include "ops/select/select.h"
#include "ops/softmax/softmax.h"
#include "ops/sort/sort.h"
#include "ops/stem_block/stem_block.h"
#include "ops/stencil/stencil.h"
#include "ops/step_end/step_end.h"
#include "ops/sync_batchnorm2d/sync_batchnorm2d.h"
#include "ops/token_loss/token_loss.h"
#include "ops/topk/topk.h"
#include "ops/transpose/transpose.h"

#define BOTH_WAYS(activation) &heddle_op_##activation##_forward, &heddle_op_##activation##_backward,

const heddle_op *const heddle_registry[] = {
    &heddle_op_matmul_forward,
    &heddle_op_matmul_backward,
    &heddle_op_matmul_batched_forward,
    &heddle_op_matmul_bf16_forward,
    &heddle_op_matmul_host,
    &heddle_op_gemv,

    &heddle_op_matmul_fp8,
    &heddle_op_matmul_int8,
    &heddle_op_matmul_int4,
    &heddle_op_quantise,
    &heddle_op_dequantise,

    &heddle_op_linear_forward,
    &heddle_op_linear_backward,

    &heddle_op_conv2d_forward,
    &heddle_op_conv2d_backward_data,
    &heddle_op_conv2d_backward_weight,
    &heddle_op_conv2d_bias_relu,
    &heddle_op_conv2d_grouped_forward,
    &heddle_op_conv2d_grouped_backward_data,
    &heddle_op_conv2d_grouped_backward_weight,

    &heddle_op_conv_block_forward,
    &heddle_op_conv_block_backward,
    &heddle_op_conv_block_inference,

    &heddle_op_stem_block_forward,
    &heddle_op_stem_block_backward,
    &heddle_op_stem_block_inference,

    &heddle_op_batchnorm2d_forward,
    &heddle_op_batchnorm2d_backward,
    &heddle_op_batchnorm2d_inference,
    &heddle_op_batchnorm2d_relu,
    &heddle_op_sync_batchnorm2d_moments,
    &heddle_op_sync_batchnorm2d_apply,
    &heddle_op_sync_batchnorm2d_sums,
    &heddle_op_sync_batchnorm2d_input_gradient,

    HEDDLE_ACTIVATIONS(BOTH_WAYS)

        & heddle_op_maxpool2d_forward,
    &heddle_op_maxpool2d_backward,

    &heddle_op_avgpool2d_forward,
    &heddle_op_avgpool2d_backward,
    &heddle_op_globalavgpool_forward,
    &heddle_op_globalavgpool_backward,

    &heddle_op_softmax_forward,
    &heddle_op_softmax_backward,
    &heddle_op_log_softmax_forward,
    &heddle_op_log_softmax_backward,

    &heddle_op_attention_forward,
    &heddle_op_attention_backward,
    &heddle_op_attention_bf16_forward,
    &heddle_op_attention_bf16_backward,
    &heddle_op_attention_fp16_forward,
    &heddle_op_attention_fp16_backward,

    &heddle_op_layernorm_forward,
    &heddle_op_layernorm_backward,
    &heddle_op_rmsnorm_forward,
    &heddle_op_rmsnorm_backward,

    &heddle_op_rope,
    &heddle_op_embedding_forward,
    &heddle_op_embedding_backward,
    &heddle_op_topk,

    &heddle_op_cross_entropy_forward,
    &heddle_op_cross_entropy_backward,
    &heddle_op_token_loss_forward,
    &heddle_op_token_loss_backward,
    &heddle_op_token_loss_both,
    &heddle_op_scale_unless_one,

    &heddle_op_dropout_forward,
    &heddle_op_dropout_backward,

    &heddle_op_random_bits,
    &heddle_op_random_uniform,
    &heddle_op_random_normal,

    &heddle_op_add_forward,
    &heddle_op_add_backward,
    &heddle_op_multiply_forward,
    &heddle_op_multiply_backward,

    &heddle_op_hello_index,
    &heddle_op_saxpy,
    &heddle_op_polynomial,
    &heddle_op_polynomial_activation_forward,
    &heddle_op_polynomial_activation_backward,
    &heddle_op_transpose,
    &heddle_op_shift,
    &heddle_op_stencil,
    &heddle_op_histogram,
    &heddle_op_scan,
    &heddle_op_select,
    &heddle_op_sort,

    &heddle_op_fft,
    &heddle_op_rfft,
    &heddle_op_fft2d,

    &heddle_op_dot,
    &heddle_op_sum_forward,
    &heddle_op_sum_backward,
    &heddle_op_mean_forward,
    &heddle_op_mean_backward,

    &heddle_op_sgd_update,
    &heddle_op_momentum_update,
    &heddle_op_adamw_update,

    &heddle_op_rows_gather,
    &heddle_op_rows_trunk_forward,
    &heddle_op_rows_trunk_backward,
    &heddle_op_rows_patches_forward,
    &heddle_op_rows_patches_backward,
    &heddle_op_rows_conv_forward,
    &heddle_op_rows_conv_logits,
    &heddle_op_rows_conv_pool,
    &heddle_op_rows_conv_backward_data,
    &heddle_op_rows_conv_backward_weight,
    &heddle_op_rows_norm_forward,
    &heddle_op_rows_norm_backward,
    &heddle_op_rows_loss,
    &heddle_op_rows_head,
    &heddle_op_rows_classify,
    &heddle_op_rows_stem,
    &heddle_op_predict_one,
    &heddle_op_rows_linear_step,
    &heddle_op_rows_weights,
    &heddle_op_rows_collect,
    &heddle_op_rows_update,

    &heddle_op_cnn_step,
    &heddle_op_cnn_train,
    &heddle_op_gather,
    &heddle_op_step_end,
};

const int heddle_registry_count = sizeof heddle_registry / sizeof *heddle_registry;
