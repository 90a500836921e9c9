"""A feed-forward block with its norm, in JAX: `y = x + MLP(norm(x))`, on one device and tensor parallel over a mesh axis `tp`.

The modules beside this file are what XLA prints of it (`jax.jit(f).lower(...).compile().as_text()`), with the line of each operator here."""
import jax
import jax.numpy as jnp


def norm(x, scale):
    variance = jnp.mean(x * x, axis=-1, keepdims=True)
    return x * jax.lax.rsqrt(variance + 1e-5) * scale


def block(x, scale, gate, up, down):
    h = norm(x, scale)
    a = jax.nn.silu(h @ gate) * (h @ up)
    return x + a @ down


def tensor_parallel(x, scale, gate, up, down):
    """The columns of gate and up and the rows of down are spread over the devices."""
    h = norm(x, scale)
    a = jax.nn.silu(h @ gate) * (h @ up)
    return x + jax.lax.psum(a @ down, "tp")


def sequence_parallel(x, scale, gate, up, down):
    """Besides, each device has some rows of the result, and norms only those."""
    rows = x.shape[0] // jax.lax.axis_size("tp")
    mine = jax.lax.dynamic_slice_in_dim(x, jax.lax.axis_index("tp") * rows, rows)
    h = jax.lax.all_gather(norm(mine, scale), "tp", tiled=True)
    a = jax.nn.silu(h @ gate) * (h @ up)
    return mine + jax.lax.psum_scatter(a @ down, "tp", tiled=True)
