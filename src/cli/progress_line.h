// A line on a terminal that says how far the program is, overwritten in place and gone when it ends. Where
// standard error is no terminal nothing is printed.
#pragma once

#include <string>

namespace entangle::cli {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Replaces the line. Too long a text is cut.
  void show(const std::string& text);
  void clear();
  bool on_terminal() const { return on_terminal_; }

 private:
  bool on_terminal_;
  bool shown_ = false;
};

}  // namespace entangle::cli
