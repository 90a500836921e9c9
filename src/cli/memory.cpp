// Where the program gets its memory (the library leaves this to whoever uses it). Terms and what is known of
// them are many small objects: an allocator made for such takes a tenth off the time of a check.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <mimalloc-new-delete.h>
#endif
