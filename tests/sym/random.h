// Random symbolic integers together with their meaning, computed apart from the canonical form.
#pragma once

#include <functional>
#include <optional>
#include <random>
#include <string>

#include "entangle/sym/int.h"

namespace entangle::sym::testing {

// A small expression tree: what was written, evaluated directly with mathematical integers.
struct Written {
  Int value;
  std::function<std::optional<__int128_t>(const Valuation&)> meaning;
};

class Generator {
 public:
  explicit Generator(unsigned seed, std::vector<std::string> names = {"s0", "s1", "s2"}) : random_(seed) {
    for (const std::string& name : names) {
      symbols_.push_back(Int::symbol(name));
    }
  }

  std::int64_t number(std::int64_t lower, std::int64_t upper) {
    return std::uniform_int_distribution<std::int64_t>(lower, upper)(random_);
  }

  const std::vector<Int>& symbols() const { return symbols_; }

  Valuation valuation(std::int64_t lower, std::int64_t upper) {
    Valuation result;
    for (const Int symbol : symbols_) {
      result[symbol] = number(lower, upper);
    }
    return result;
  }

  Written expression(int depth) {
    if (depth == 0 || number(0, 5) == 0) {
      if (number(0, 2) == 0) {
        const std::int64_t constant = number(-9, 9);
        return {constant, [constant](const Valuation&) { return constant; }};
      }
      const Int symbol = symbols_[static_cast<std::size_t>(number(0, std::ssize(symbols_) - 1))];
      return {symbol, [symbol](const Valuation& at) { return at.at(symbol); }};
    }
    const Written a = expression(depth - 1);
    const std::int64_t choice = number(0, 9);
    if (choice == 9) {
      return {-a.value, [a](const Valuation& at) -> std::optional<__int128_t> {
                const auto x = a.meaning(at);
                return x ? std::optional(-*x) : std::nullopt;
              }};
    }
    const Written b = choice >= 5 && number(0, 2) > 0 ? constant(number(1, 8)) : expression(depth - 1);
    const auto both = [a, b](const auto& operation) {
      return [a, b, operation](const Valuation& at) -> std::optional<__int128_t> {
        const auto x = a.meaning(at);
        const auto y = b.meaning(at);
        return x && y ? operation(*x, *y) : std::nullopt;
      };
    };
    using Value = std::optional<__int128_t>;
    switch (choice) {
      case 0:
      case 1:
        return {a.value + b.value, both([](__int128_t x, __int128_t y) -> Value { return x + y; })};
      case 2:
        return {a.value - b.value, both([](__int128_t x, __int128_t y) -> Value { return x - y; })};
      case 3:
      case 4:
        return {a.value * b.value, both([](__int128_t x, __int128_t y) -> Value { return x * y; })};
      case 5:
        return {floordiv(a.value, b.value), both(floor)};
      case 6:
        return {mod(a.value, b.value), both([](__int128_t x, __int128_t y) -> Value {
                  const Value quotient = floor(x, y);
                  return quotient ? Value(x - y * *quotient) : std::nullopt;
                })};
      case 7:
        return {max(a.value, b.value),
                both([](__int128_t x, __int128_t y) -> Value { return x < y ? y : x; })};
      default:
        return {min(a.value, b.value),
                both([](__int128_t x, __int128_t y) -> Value { return x < y ? x : y; })};
    }
  }

 private:
  static Written constant(std::int64_t value) {
    return {value, [value](const Valuation&) { return value; }};
  }

  static std::optional<__int128_t> floor(__int128_t x, __int128_t y) {
    if (y == 0) {
      return std::nullopt;
    }
    const __int128_t quotient = x / y;
    return x % y != 0 && (x < 0) != (y < 0) ? quotient - 1 : quotient;
  }

  std::mt19937 random_;
  std::vector<Int> symbols_;
};

}  // namespace entangle::sym::testing
