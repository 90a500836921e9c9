#!/usr/bin/env python3
"""Writes a decoder transformer (or a training step) as one program and as the program of each rank, with a manifest.

    generate.py --strategy tp --ranks 3 --heads 7 --head-dim 8 --out DIR
    generate.py --strategy vocab --ranks 4 --break missing-max --site 0 --out DIR

DIR gets sequential.json, r0.json, r1.json, … and manifest.yaml. Plain Python, the same bytes every time. Sizes need not be divisible
by the number of ranks where real programs do not need it: heads, feed-forward rows, vocabulary, experts, layers, and the batch of
training steps are shared out so that shares differ by at most one. Source locations in the graphs are lines of the generator.

--check runs both programs on random numbers (keep the sizes small) and compares; --list-breaks does so for every break.
"""
import argparse
import dataclasses
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from generator.breaks import KINDS  # noqa: E402
from generator.strategies import STRATEGIES, Case, Config, completed, places  # noqa: E402

CHOICES = {
    "strategy": tuple(STRATEGIES),
    "layout": ("bsh", "sbh"),
    "attention": ("sdpa", "flash", "explicit"),
    "activation": ("silu", "gelu"),
    "loss": ("none", "log_softmax", "expanded"),
    "average": ("div", "avg"),
    "dtype": ("f32", "bf16", "f16", "f64"),
}
HELP = {
    "ranks": "all of them; with --tp the rest is data parallel",
    "tp": "tensor-parallel ranks (default: all; 1 for dp)",
    "kv_heads": "default: as many as heads",
    "head_dim": "default: hidden / heads",
    "mlp": "rows of the feed-forward layer (default: 2 * hidden)",
    "micro": "micro-batches (pp: default 2; ga: default as --ranks)",
    "experts": "default: twice the ranks; ep-sum: one more than ranks",
    "top_k": "experts per token (ep-sum)",
    "capacity": "slots of a sequence at an expert (ep)",
    "latent": "width of the vector that keys and values come from (default: hidden / 2)",
    "query_latent": "the same of queries (default: hidden)",
    "rope": "width of the rotated part of a head (latent; default: 2)",
    "value_dim": "width of a head's values (latent; default: head_dim)",
    "dense": "layers without experts in front (latent)",
    "expert_mlp": "rows of an expert (latent; default: mlp)",
    "groups": "groups of experts (latent; default: 1)",
    "best_groups": "groups of which experts are chosen (latent; default: 1)",
    "layout": "order of batch, sequence and hidden",
    "attention": "fused, or written out",
    "activation": "silu is gated; training steps have relu instead",
    "loss": "default: log_softmax for vocab, none (logits) for the others",
    "average": "all-reduced gradients: summed and divided, or averaged",
    "bias": "linear layers have biases",
    "zigzag": "cp: chunks in zig-zag order",
    "zero": "dp: each rank updates its part of the weights",
    "symbolic": "leave sizes open: the batch (s0), the sequence length (s1), or both, which is meant by --symbolic alone",
}


def parser():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for field in dataclasses.fields(Config):
        option = "--" + field.name.replace("_", "-")
        if field.type in (bool, "bool"):
            p.add_argument(option, action=argparse.BooleanOptionalAction, default=field.default, help=HELP[field.name])
        elif field.name == "symbolic":
            p.add_argument(option, nargs="?", const="both", default="", choices=("batch", "sequence", "both"), help=HELP[field.name])
        else:
            p.add_argument(option, type=type(field.default), default=field.default, choices=CHOICES.get(field.name),
                           help=HELP.get(field.name))
    p.add_argument("--break", dest="kind", choices=tuple(KINDS), help="make the distributed program wrong in one place")
    p.add_argument("--site", type=int, help="which place to break, as numbered by --list-breaks (0)")
    p.add_argument("--out", type=pathlib.Path, help="folder to write to")
    p.add_argument("--check", action="store_true", help="run on random numbers; exit status 1 if the expectation does not hold")
    p.add_argument("--list-breaks", action="store_true", help="every break, and whether it does harm")
    return p


def chosen_break(config, kind, site):
    """The label of the place; ValueError if there is none."""
    if kind is None:
        return None
    labels = [label for k, _, label in places(config) if k == kind]
    site = site or 0
    if not 0 <= site < len(labels):
        raise ValueError(f"{kind} has {len(labels)} sites here, numbered from 0" if labels else f"{kind} has no site here")
    return labels[site]


def describe(config, kind, label):
    text = f"{STRATEGIES[config.strategy].about[0].upper()}{STRATEGIES[config.strategy].about[1:]}, ranks: {config.ranks}."
    return text if kind is None else f"{text} Broken: {kind}, {label}."


def list_breaks(config):
    from generator import numeric
    reference = numeric.Reference(config)
    for kind, site, label in places(config):
        result = reference.compare(Case(config, kind, label))
        print(f"{kind:21} --site {site:<3} {'harmful ' if result.differs else 'harmless'}  {label}  ({result})")
    return 0


def main(arguments):
    p = parser()
    options = vars(p.parse_args(arguments))
    kind, site, out = options.pop("kind"), options.pop("site"), options.pop("out")
    check, listing = options.pop("check"), options.pop("list_breaks")
    if site is not None and kind is None:
        p.error("--site says which place to break: --break says how")
    if not (out or check or listing):
        p.error("say what to do: --out DIR, --check or --list-breaks")
    try:
        config = completed(Config(**options))
        label = chosen_break(config, kind, site)
        if listing:
            return list_breaks(config)
        if out:
            Case(config, kind, label).write(out, describe(config, kind, label))
        if check:
            from generator import numeric
            result = numeric.Reference(config).compare(Case(config, kind, label))
            print(f"{describe(config, kind, label)} {result}")
            return 1 if result.differs else 0
    except (ValueError, OSError) as error:
        p.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
