// Uses the installed library: prints the folders it would search for rules.
#include <entangle/support/paths.h>

#include <iostream>

int main() {
  for (const std::string& folder : entangle::support::rule_folders()) std::cout << folder << '\n';
}
