// Where the program gets its memory (the library leaves this to whoever uses it). Terms and what is known of
// them are many small objects: an allocator made for such takes a tenth off the time of a check. A check
// touches all of its memory for the first time: where the system offers large pages that is another tenth.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <mimalloc-new-delete.h>

namespace {

// Before anything is allocated; the environment (MIMALLOC_LARGE_OS_PAGES) overrides it.
[[gnu::constructor(101)]] void prefer_large_pages() {
  mi_option_set_enabled_default(mi_option_large_os_pages, true);
}

}  // namespace
#endif
