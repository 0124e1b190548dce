"""Tiny models of the families in transformers, as torch's two exporters and transformers' own write them."""
import onnx_ir
import torch
import transformers as hf
from recording import FOLDER, clean, export, record, seeded, tokens
from torch.nn.functional import linear
from transformers.exporters.exporter_onnx import OnnxConfig, OnnxExporter
from transformers.integrations.moe import ALL_EXPERTS_FUNCTIONS

BATCH_SEQUENCE = {0: "batch", 1: "sequence"}
TEXT = {"input_ids": BATCH_SEQUENCE}
LAYERS, KV_HEADS, HEAD = 2, 2, 16


class Logits(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids):
        return self.model(input_ids=input_ids, use_cache=False).logits


class Encoder(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask):
        out = self.model(input_ids=input_ids, attention_mask=attention_mask)
        return out.last_hidden_state, out.pooler_output


class Step(torch.nn.Module):
    """One step of generation: keys and values go in and come out grown."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, position_ids, past_key_0, past_value_0, past_key_1, past_value_1):
        cache = hf.DynamicCache([(past_key_0, past_value_0), (past_key_1, past_value_1)])
        out = self.model(input_ids=input_ids, position_ids=position_ids, past_key_values=cache, use_cache=True)
        return out.logits, *[t for layer in out.past_key_values.layers for t in (layer.keys, layer.values)]


def bert(attention):
    return Encoder(seeded(hf.BertModel(hf.BertConfig(
        vocab_size=256, hidden_size=64, num_hidden_layers=LAYERS, num_attention_heads=4, intermediate_size=96,
        max_position_embeddings=64, attn_implementation=attention)), 11))


def bert_case(seed, batch, sequence):
    lengths = torch.tensor([sequence, sequence - 2, 1])[:batch, None]
    return {"input_ids": tokens(seed, batch, sequence, 256), "attention_mask": (torch.arange(sequence) < lengths).long()}


def llama():
    return seeded(hf.LlamaForCausalLM(hf.LlamaConfig(
        vocab_size=256, hidden_size=64, num_hidden_layers=LAYERS, num_attention_heads=4, num_key_value_heads=KV_HEADS,
        intermediate_size=64, max_position_embeddings=128, tie_word_embeddings=False, attn_implementation="sdpa")), 12)


def step_case(seed, batch, sequence, past):
    draw = torch.Generator().manual_seed(seed)
    case = {"input_ids": tokens(seed, batch, sequence, 256),
            "position_ids": torch.arange(past, past + sequence)[None].repeat(batch, 1)}
    for layer in range(LAYERS):
        for half in ("key", "value"):
            case[f"past_{half}_{layer}"] = torch.randn(batch, KV_HEADS, past, HEAD, generator=draw)
    return case


def every_expert_by_its_tokens(experts, x, chosen, weights):
    """Expert after expert on the rows routed to it: NonZero, so sizes that depend on data."""
    out = torch.zeros_like(x)
    for e in range(experts.num_experts):
        row, place = torch.where(chosen == e)
        gate, up = linear(x[row], experts.gate_up_proj[e]).chunk(2, -1)
        y = linear(experts.act_fn(gate) * up, experts.down_proj[e])
        out = out.index_add(0, row, y * weights[row, place, None])
    return out


ALL_EXPERTS_FUNCTIONS.register("by_tokens", every_expert_by_its_tokens)


def mixtral(experts):
    return seeded(hf.MixtralForCausalLM(hf.MixtralConfig(
        vocab_size=128, hidden_size=64, num_hidden_layers=LAYERS, num_attention_heads=4, num_key_value_heads=KV_HEADS,
        head_dim=HEAD, intermediate_size=24, num_local_experts=8, num_experts_per_tok=2, max_position_embeddings=128,
        sliding_window=None, tie_word_embeddings=False, attn_implementation="sdpa", experts_implementation=experts)), 13)


def deepseek(experts):
    return seeded(hf.DeepseekV3ForCausalLM(hf.DeepseekV3Config(
        vocab_size=128, hidden_size=64, intermediate_size=64, moe_intermediate_size=16, num_hidden_layers=3,
        first_k_dense_replace=1, num_attention_heads=4, num_key_value_heads=4, q_lora_rank=32, kv_lora_rank=16,
        qk_nope_head_dim=16, qk_rope_head_dim=8, v_head_dim=16, n_routed_experts=8, n_group=4, topk_group=2,
        num_experts_per_tok=2, n_shared_experts=1, routed_scaling_factor=2.5, norm_topk_prob=True, max_position_embeddings=128,
        tie_word_embeddings=False, attn_implementation="sdpa", experts_implementation=experts)), 14)


def export_grouped(name, model, eager, cases):
    """By transformers' exporter: torch has no ONNX function for grouped products."""
    model.config.use_cache = False
    shapes = {"input_ids": {axis: torch.export.Dim(symbol) for axis, symbol in BATCH_SEQUENCE.items()}}
    program = OnnxExporter().export(model, cases[0], config=OnnxConfig(dynamic=True, dynamic_shapes=shapes)).program
    path = FOLDER / f"{name}.onnx"
    onnx_ir.save(program, str(path))
    clean(path)
    record(path, eager, cases)


def make():
    masked = [bert_case(21, 3, 11), bert_case(22, 2, 5)]
    outputs, dims = ["last_hidden_state", "pooler_output"], {"input_ids": BATCH_SEQUENCE, "attention_mask": BATCH_SEQUENCE}
    export("bert-tiny", bert("sdpa"), masked, outputs, dims)
    dims |= {"last_hidden_state": BATCH_SEQUENCE, "pooler_output": {0: "batch"}}
    export("bert-tiny-traced-opset13", bert("eager"), masked, outputs, dims, opset=13, traced=True)

    text = [{"input_ids": tokens(23, 2, 12, 256)}, {"input_ids": tokens(24, 3, 5, 256)}]
    export("llama-tiny", Logits(llama()), text, ["logits"], TEXT)
    # cos and sin of batch 1 go into RotaryEmbedding, which onnxruntime refuses for a larger batch.
    export("llama-tiny-opset23", Logits(llama()), text, ["logits"], TEXT, opset=23, by_eager=True)
    steps = [step_case(25, 2, 2, 7), step_case(26, 3, 4, 10)]
    pasts = [k for k in steps[0] if k.startswith("past")]
    dims = {"input_ids": BATCH_SEQUENCE, "position_ids": BATCH_SEQUENCE} | {p: {0: "batch", 2: "past"} for p in pasts}
    export("llama-tiny-decode", Step(llama()), steps, ["logits"] + [p.replace("past", "present") for p in pasts], dims)

    gpt2 = hf.GPT2Config(vocab_size=256, n_embd=64, n_layer=2, n_head=4, n_positions=64, n_inner=128, bos_token_id=None,
                         eos_token_id=None)
    export("gpt2-tiny", Logits(seeded(hf.GPT2LMHeadModel(gpt2), 15)),
           [{"input_ids": tokens(27, 2, 9, 256)}, {"input_ids": tokens(28, 3, 6, 256)}], ["logits"], TEXT)

    text = [{"input_ids": tokens(29, 2, 10, 128)}, {"input_ids": tokens(30, 3, 5, 128)}]
    eager = Logits(mixtral("eager"))
    export("mixtral-tiny-loop", Logits(mixtral("by_tokens")), text, ["logits"], TEXT, eager=eager)
    export_grouped("mixtral-tiny-grouped", mixtral("grouped_mm"), eager, text)
    export("deepseek-v3-tiny-batched", Logits(deepseek("batched_mm")), text, ["logits"], TEXT, eager=Logits(deepseek("eager")))
