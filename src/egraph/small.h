// A short list that lives on the stack unless it grows beyond N entries.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace entangle::egraph {

template <class T, std::size_t N>
class Small {
 public:
  Small() = default;
  explicit Small(std::span<const T> values) {
    for (const T& value : values) {
      push(value);
    }
  }
  Small(const Small&) = delete;
  Small& operator=(const Small&) = delete;

  void push(T value) {
    if (size_ < N) {
      inline_[size_] = value;
    } else {
      if (size_ == N) {
        heap_.assign(inline_.begin(), inline_.end());
      }
      heap_.push_back(value);
    }
    ++size_;
  }
  void clear() {
    size_ = 0;
    heap_.clear();
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return size_ <= N ? inline_.data() : heap_.data(); }
  const T* data() const { return size_ <= N ? inline_.data() : heap_.data(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  std::span<const T> span() const { return {data(), size_}; }

 private:
  std::array<T, N> inline_{};
  std::vector<T> heap_;
  std::size_t size_ = 0;
};

}  // namespace entangle::egraph
