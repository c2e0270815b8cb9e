//! Transformers: their sizes, and what they weigh and compute.

/// A transformer. Numbers of weights are those of matrices; norms and biases are left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// Layers.
    pub layers: u32,
    /// Numbers of a token between layers.
    pub hidden: u64,
    /// Tokens of a sequence.
    pub sequence: u64,
    /// Weights of the attention of a layer.
    pub attention: u64,
    /// Numbers of a token in all heads together; in scores and values, the mean of both.
    pub heads: u64,
    /// Numbers of the keys and values of a token, as ranks with other parts of a sequence need them.
    pub keys_values: u64,
    /// Weights of the MLP of a layer without experts.
    pub dense: u64,
    /// The first layers, which have no experts; all, where there are none.
    pub dense_layers: u32,
    /// Weights of an expert.
    pub expert: u64,
    /// Experts of a layer.
    pub experts: u32,
    /// Experts of a token.
    pub top: u32,
    /// Weights of experts that every token goes through.
    pub shared: u64,
    /// Words; each has a row of weights where the model begins and another one where it ends.
    pub vocabulary: u64,
    /// Tokens of a step, if they are known.
    pub tokens: Option<u64>,
}

impl Model {
    /// A model with 4 h² weights of attention and 8 h² of each MLP, for a hidden size of h, as of GPT.
    pub fn gpt(layers: u32, hidden: u64, sequence: u64) -> Self {
        Self {
            layers,
            hidden,
            sequence,
            attention: 4 * hidden * hidden,
            heads: hidden,
            keys_values: 2 * hidden,
            dense: 8 * hidden * hidden,
            dense_layers: layers,
            expert: 8 * hidden * hidden,
            experts: 1,
            top: 1,
            shared: 0,
            vocabulary: 0,
            tokens: None,
        }
    }

    /// True if a layer has experts.
    pub fn has_experts(&self, layer: u32) -> bool {
        layer >= self.dense_layers
    }

    /// Weights of its embeddings, at the beginning and at the end each.
    pub fn embeddings(&self) -> u64 {
        self.vocabulary * self.hidden
    }

    /// Weights of a layer that every rank with a part of the layer has: all but those of its experts.
    pub fn common(&self, layer: u32) -> u64 {
        self.attention + if self.has_experts(layer) { self.shared } else { self.dense }
    }

    /// Weights of all experts of a layer.
    pub fn of_experts(&self, layer: u32) -> u64 {
        if self.has_experts(layer) { self.expert * u64::from(self.experts) } else { 0 }
    }

    /// Operations of the attention of a layer for a token, forward: two for each weight, and four for each number in all heads
    /// and token of the sequence, with no regard to what is masked, as is the custom.
    pub fn attention_flops(&self) -> f64 {
        2.0 * self.attention as f64 + self.score_flops()
    }

    /// Of these, those of the scores and of what they weigh.
    pub fn score_flops(&self) -> f64 {
        4.0 * self.sequence as f64 * self.heads as f64
    }

    /// Operations of the MLP of a layer for a token, forward, if `load` times as many experts as in the mean take it.
    pub fn mlp_flops(&self, layer: u32, load: f64) -> f64 {
        if self.has_experts(layer) {
            2.0 * (f64::from(self.top) * self.expert as f64 * load + self.shared as f64)
        } else {
            2.0 * self.dense as f64
        }
    }

    /// Operations of the last embeddings for a token, forward.
    pub fn head_flops(&self) -> f64 {
        2.0 * self.embeddings() as f64
    }

    /// Operations of all for a token, forward and backward, which takes twice as many.
    pub fn flops(&self) -> f64 {
        let layer = |layer: u32| self.attention_flops() + self.mlp_flops(layer, 1.0);
        3.0 * ((0..self.layers).map(layer).sum::<f64>() + self.head_flops())
    }
}

/// A model that exists, and how it is trained unless users state otherwise.
#[derive(Debug)]
pub struct Preset {
    /// The name that users type.
    pub name: &'static str,
    /// Where its sizes are published, and what is assumed.
    pub source: &'static str,
    /// Its sizes.
    pub model: Model,
    /// Ranks that share a layer, stages, and ranks that share the experts of a layer, where there are GPUs enough.
    pub tensor: u32,
    pub pipeline: u32,
    pub expert: u32,
}

/// Sizes as published.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "gpt3-13b",
        source: "Brown et al., Language Models are Few-Shot Learners, 2020 (arXiv:2005.14165), table 2.1",
        model: gpt3(40, 5140, 40 * 128, 2_000_000),
        tensor: 2,
        pipeline: 1,
        expert: 1,
    },
    Preset {
        name: "gpt3-175b",
        source: "Brown et al., 2020, table 2.1; tensor and pipeline as in Korthikanti et al., 2022 (arXiv:2205.05198), table 3",
        model: gpt3(96, 12_288, 96 * 128, 3_200_000),
        tensor: 8,
        pipeline: 8,
        expert: 1,
    },
    Preset {
        name: "llama3-405b",
        source: "Grattafiori et al., The Llama 3 Herd of Models, 2024 (arXiv:2407.21783), tables 3 and 4",
        model: Model {
            layers: 126,
            hidden: 16_384,
            sequence: 8192,
            attention: 16_384 * (2 * 128 * 128 + 2 * 8 * 128),
            heads: 128 * 128,
            keys_values: 2 * 8 * 128,
            dense: 3 * 16_384 * 53_248,
            dense_layers: 126,
            expert: 0,
            experts: 1,
            top: 1,
            shared: 0,
            vocabulary: 128_256,
            tokens: Some(16_000_000),
        },
        tensor: 8,
        pipeline: 16,
        expert: 1,
    },
    Preset {
        name: "mixtral-8x22b",
        source: "config.json of Mixtral-8x22B-v0.1, Mistral AI, 2024; sequences of 4,096 tokens, 4 million tokens per step and \
                 the parallelism are assumptions",
        model: Model {
            layers: 56,
            hidden: 6144,
            sequence: 4096,
            attention: 6144 * (2 * 48 * 128 + 2 * 8 * 128),
            heads: 48 * 128,
            keys_values: 2 * 8 * 128,
            dense: 0,
            dense_layers: 0,
            expert: 3 * 6144 * 16_384,
            experts: 8,
            top: 2,
            shared: 0,
            vocabulary: 32_000,
            tokens: Some(4_000_000),
        },
        tensor: 2,
        pipeline: 8,
        expert: 8,
    },
    Preset {
        name: "deepseek-v3",
        source: "DeepSeek-AI, DeepSeek-V3 Technical Report, 2024 (arXiv:2412.19437), sections 3.2 and 4.2; without multi-token \
                 prediction, DualPipe and the limit on nodes of a token's experts",
        model: Model {
            layers: 61,
            hidden: 7168,
            sequence: 4096,
            // Queries through 1,536 numbers, keys and values through 512, and 64 more with positions; 128 heads.
            attention: 7168 * 1536
                + 1536 * 128 * (128 + 64)
                + 7168 * (512 + 64)
                + 512 * 128 * (128 + 128)
                + 128 * 128 * 7168,
            heads: 128 * (128 + 64 + 128) / 2,
            keys_values: 512 + 64,
            dense: 3 * 7168 * 18_432,
            dense_layers: 3,
            expert: 3 * 7168 * 2048,
            experts: 256,
            top: 8,
            shared: 3 * 7168 * 2048,
            vocabulary: 129_280,
            tokens: Some(15_360 * 4096),
        },
        tensor: 1,
        pipeline: 16,
        expert: 64,
    },
];

/// The names of [`PRESETS`], as a key takes them.
pub const NAMES: &[&str] = &["none", "gpt3-13b", "gpt3-175b", "llama3-405b", "mixtral-8x22b", "deepseek-v3"];

/// A model of GPT-3, whose heads need not fill its hidden size.
const fn gpt3(layers: u32, hidden: u64, heads: u64, tokens: u64) -> Model {
    Model {
        layers,
        hidden,
        sequence: 2048,
        attention: 4 * hidden * heads,
        heads,
        keys_values: 2 * heads,
        dense: 8 * hidden * hidden,
        dense_layers: layers,
        expert: 0,
        experts: 1,
        top: 1,
        shared: 0,
        vocabulary: 50_257,
        tokens: Some(tokens),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preset(name: &str) -> Model {
        PRESETS.iter().find(|preset| preset.name == name).expect(name).model
    }

    /// Weights as published, in billions: all, and those that a token goes through.
    #[test]
    fn presets_weigh_what_is_published() {
        assert_eq!(NAMES[1..], PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>()[..]);
        for (name, ends, all, active) in [
            ("gpt3-13b", 1, 13.0, 13.0),
            ("gpt3-175b", 1, 175.0, 175.0),
            ("llama3-405b", 2, 405.0, 405.0),
            ("mixtral-8x22b", 2, 141.0, 39.0),
            ("deepseek-v3", 2, 671.0, 37.0),
        ] {
            let model = preset(name);
            let layers = || 0..model.layers;
            let embeddings = (ends * model.embeddings()) as f64;
            let weights = layers().map(|layer| model.common(layer) + model.of_experts(layer)).sum::<u64>() as f64;
            assert!(((weights + embeddings) / 1e9 / all - 1.0).abs() < 0.01, "{name}: {weights}");
            let taken = |layer| model.attention as f64 + model.mlp_flops(layer, 1.0) / 2.0;
            let taken = layers().map(taken).sum::<f64>() + embeddings;
            assert!((taken / 1e9 / active - 1.0).abs() < 0.025, "{name}: {taken}");
        }
    }

    /// Six operations a weight and token, and those of attention.
    #[test]
    fn operations_are_those_of_the_closed_form() {
        let model = preset("gpt3-175b");
        let weights = 96.0 * 12.0 * 12_288f64.powi(2) + 50_257.0 * 12_288.0;
        let expected = 6.0 * weights + 12.0 * 96.0 * 12_288.0 * 2048.0;
        assert!((model.flops() / expected - 1.0).abs() < 1e-12);
    }
}
