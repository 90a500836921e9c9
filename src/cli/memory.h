// How the program gets its memory (the library leaves this to whoever uses it): small objects come from
// blocks of their size, which each thread keeps for itself. That takes a quarter of the instructions of the
// system's allocator, which would be a quarter of those of a check. With sanitizers, which have an allocator
// of their own, all memory is the system's.
#pragma once

namespace entangle::cli {

// To be called first.
void keep_memory();

}  // namespace entangle::cli
