// Words that all renderers share.
#pragma once

#include <string_view>

#include "entangle/infer/verdict.h"

namespace entangle::report {

constexpr std::string_view name(infer::VerdictKind kind) {
  switch (kind) {
    case infer::VerdictKind::refines:
      return "refines";
    case infer::VerdictKind::violates:
      return "violates";
    case infer::VerdictKind::unproved:
      break;
  }
  return "unproved";
}

}  // namespace entangle::report
