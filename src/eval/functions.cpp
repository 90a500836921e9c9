#include "eval/functions.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numbers>
#include <numeric>

namespace entangle::eval {

namespace {

using Arguments = std::vector<double>;
using Function = std::function<double(const Arguments&)>;

double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}
double normal_density(double x) {
  return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}
double normal_distribution(double x) {
  return std::erfc(-x / std::numbers::sqrt2) / 2;
}

// The approximation of the normal distribution by a hyperbolic tangent, and its derivative.
constexpr double kCubic = 0.044715;
double gelu_tanh(double x) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + kCubic * x * x * x);
  return x / 2 * (1 + std::tanh(inner));
}
double gelu_tanh_slope(double x) {
  const double root = std::sqrt(2 / std::numbers::pi);
  const double t = std::tanh(root * (x + kCubic * x * x * x));
  return (1 + t) / 2 + x / 2 * (1 - t * t) * root * (1 + 3 * kCubic * x * x);
}

double floor_remainder(double x, double y) {
  return x - y * std::floor(x / y);
}
double rounded(double x, double decimals) {
  const double unit = std::pow(10.0, decimals);
  return std::nearbyint(x * unit) / unit;
}

std::int64_t integer(double x) {
  return static_cast<std::int64_t>(x);
}
Function of_integers(std::int64_t (*f)(std::int64_t, std::int64_t)) {
  return [f](const Arguments& a) { return static_cast<double>(f(integer(a[0]), integer(a[1]))); };
}
Function of_one(double (*f)(double)) {
  return [f](const Arguments& a) { return f(a[0]); };
}
Function of_two(double (*f)(double, double)) {
  return [f](const Arguments& a) { return f(a[0], a[1]); };
}

struct Entry {
  std::size_t count;  // of arguments
  Function function;
};

// Arguments that are names are part of the name: `gelu tanh`.
const std::map<std::string, Entry>& table() {
  static const std::map<std::string, Entry> kTable = {
      {"exp", {1, of_one(std::exp)}},
      {"log", {1, of_one(std::log)}},
      {"sin", {1, of_one(std::sin)}},
      {"cos", {1, of_one(std::cos)}},
      {"tan", {1, of_one(std::tan)}},
      {"asin", {1, of_one(std::asin)}},
      {"acos", {1, of_one(std::acos)}},
      {"atan", {1, of_one(std::atan)}},
      {"atan2", {2, of_two(std::atan2)}},
      {"sinh", {1, of_one(std::sinh)}},
      {"cosh", {1, of_one(std::cosh)}},
      {"tanh", {1, of_one(std::tanh)}},
      {"erf", {1, of_one(std::erf)}},
      {"sigmoid", {1, of_one(sigmoid)}},
      {"softplus",
       {3,
        [](const Arguments& a) {
          return a[2] * a[0] > a[1] ? a[2] : std::log1p(std::exp(a[2] * a[0])) / a[0];
        }}},
      {"gelu none", {1, [](const Arguments& a) { return a[0] * normal_distribution(a[0]); }}},
      {"gelu tanh", {1, of_one(gelu_tanh)}},
      {"gelu_slope none",
       {1, [](const Arguments& a) { return normal_distribution(a[0]) + a[0] * normal_density(a[0]); }}},
      {"gelu_slope tanh", {1, of_one(gelu_tanh_slope)}},
      {"pow", {2, [](const Arguments& a) { return std::pow(a[1], a[0]); }}},
      {"power", {2, of_two(std::pow)}},
      {"floor", {1, of_one(std::floor)}},
      {"round", {2, [](const Arguments& a) { return rounded(a[1], a[0]); }}},
      {"floor_div", {2, [](const Arguments& a) { return std::floor(a[0] / a[1]); }}},
      {"remainder", {2, of_two(floor_remainder)}},
      {"shift_left", {2, of_integers([](std::int64_t a, std::int64_t b) { return a << b; })}},
      {"shift_right", {2, of_integers([](std::int64_t a, std::int64_t b) { return a >> b; })}},
      {"bits_and", {2, of_integers([](std::int64_t a, std::int64_t b) { return a & b; })}},
      {"bits_or", {2, of_integers([](std::int64_t a, std::int64_t b) { return a | b; })}},
      {"bits_xor", {2, of_integers([](std::int64_t a, std::int64_t b) { return a ^ b; })}},
      {"is_nan", {1, [](const Arguments& a) { return std::isnan(a[0]) ? 1.0 : 0.0; }}},
      {"special deg2rad", {1, [](const Arguments& a) { return a[0] * std::numbers::pi / 180; }}},
      {"special rad2deg", {1, [](const Arguments& a) { return a[0] * 180 / std::numbers::pi; }}},
      {"special lgamma", {1, of_one(std::lgamma)}},
      {"special i0", {1, [](const Arguments& a) { return std::cyl_bessel_i(0.0, std::abs(a[0])); }}},
      {"special_two nextafter", {2, of_two(std::nextafter)}},
      {"special_two gcd", {2, of_integers(std::gcd<std::int64_t, std::int64_t>)}},
      {"bits_not", {1, [](const Arguments& a) { return static_cast<double>(~integer(a[0])); }}},
  };
  return kTable;
}

}  // namespace

std::optional<double> scalar_function(const std::string& name,
                                      const std::vector<std::variant<double, tensor::Attr>>& arguments) {
  std::string key = name;
  Arguments numbers;
  for (const auto& argument : arguments) {
    if (const auto* number = std::get_if<double>(&argument)) {
      numbers.push_back(*number);
      continue;
    }
    const tensor::Attr& attr = std::get<tensor::Attr>(argument);
    if (attr.kind() != tensor::Attr::Kind::name) return std::nullopt;
    key += " " + attr.as_name();
  }
  const auto found = table().find(key);
  if (found == table().end() || found->second.count != numbers.size()) return std::nullopt;
  return found->second.function(numbers);
}

}  // namespace entangle::eval
