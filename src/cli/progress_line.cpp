#include "cli/progress_line.h"

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace entangle::cli {

ProgressLine::ProgressLine() {
  const char* terminal = std::getenv("TERM");
  on_terminal_ = isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

ProgressLine::~ProgressLine() {
  clear();
}

void ProgressLine::show(const std::string& text) {
  if (on_terminal_) {
    constexpr std::size_t kWidth = 79;
    std::cerr << "\r\033[K" << text.substr(0, kWidth) << std::flush;
    shown_ = true;
  }
}

void ProgressLine::clear() {
  if (shown_) {
    std::cerr << "\r\033[K" << std::flush;
    shown_ = false;
  }
}

}  // namespace entangle::cli
