"""What an expert's kernels do for each program, to set the found structures beside."""

NORM_LINEAR = (
    "one kernel: the norm's division moved behind the product, X read once, sums of squares and of "
    "products in one loop"
)
FLASH = (
    "one kernel with a loop over the keys and rescaled sums (FlashAttention), or the context split "
    "over blocks and a second kernel that merges the parts (FlashDecoding)"
)
GATED = "one kernel with two accumulators over one loop; silu and the product behind it"

EXPERTS = {
    "rmsnorm_linear": NORM_LINEAR,
    "rmsnorm_linear_bf16": NORM_LINEAR,
    "rmsnorm_linear_ragged": NORM_LINEAR,
    "lora": "one kernel: XW and XA in one loop over two accumulators, then (XA)B added",
    "lora_deep": "one kernel as for lora, the depth split over the blocks of a cluster",
    "gated_mlp": GATED,
    "gated_mlp_wide": GATED,
    "attention": FLASH,
    "attention_b8": FLASH,
    "gqa": FLASH + "; the query heads of a group are rows of one tile",
    "gqa_repeated_heads": FLASH + "; repeated heads are not copied",
    "gqa_repeated_heads_4096": FLASH + "; repeated heads are not copied",
    "gqa_repeated_heads_8192": FLASH + "; repeated heads are not copied",
    "mha": FLASH,
    "mqa": FLASH + "; all query heads are rows of one tile",
    "qknorm_attention": FLASH + "; the norms are applied to tiles on the way",
    "qknorm_attention_keys": FLASH + "; the norms are applied to tiles on the way",
    "kv_cache_attention": FLASH + "; the new token is one more part of the context, not copied",
    "attention_projection": FLASH + ", then the projection in a kernel of its own",
    "ntrans": "one kernel, a row or a few in a block, all in registers",
    "ntrans_subtract": "one kernel, a row or a few in a block, all in registers",
    "add_rmsnorm_linear": "the sum in one small kernel or beside; " + NORM_LINEAR,
    "layernorm_linear": (
        "the statistics in one small kernel and the product in another, or one kernel with the "
        "mean taken out of the product and a shift against cancellation"
    ),
    "linear": "one kernel, the depth split over blocks where rows are few",
    "linear_bias_gelu": "one kernel: bias and gelu behind the loop",
    "linear_bias_gelu_exact": "one kernel: bias and gelu behind the loop",
    "rmsnorm_lora": NORM_LINEAR + "; three accumulators",
    "rmsnorm_gated_mlp": NORM_LINEAR + "; three accumulators, silu and the product behind the loop",
    "mlp": "one kernel for gate and up, one for the down projection, its depth split over blocks",
    "mlp_relu": "one kernel while the inner width fits a block",
    "gram": "one kernel; X in two roles",
    "softmax": "one kernel, a row or a few in a block",
    "rmsnorm": "one kernel, a row or a few in a block",
    "rmsnorm_backward": "one kernel for the rows, one that sums over them",
    "rotary": "the rotation behind the projection, in one kernel",
    "rotary_scores": "the rotation of queries in front of the product with keys, in one kernel",
    "qkv_projection": NORM_LINEAR + ", for all three products at once",
    "llama3_decoder_layer": (
        "norm with projections, rotation, split attention with its merge, projection with "
        "residual, norm with gate and up, down projection with residual: six to nine kernels"
    ),
}
