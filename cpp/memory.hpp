// Aligned storage without initialisation; large blocks ask the system for huge pages, because
// first-touch faults of small pages cost as much as computing the kernel values they hold.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "isa/ops.hpp"

namespace mercer {

struct FreeDeleter {
  void operator()(void* p) const { std::free(p); }
};

/// A fixed block of n uninitialised values, aligned for every vector width.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(Index n) { reset(n); }

  void reset(Index n) {
    data_.reset();
    size_ = 0;
    if (n <= 0) return;
    constexpr std::size_t huge = std::size_t(1) << 21;
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
    const std::size_t align = bytes >= 2 * huge ? huge : 64;
    // Not aligned_alloc, which wants the size rounded up: the sanitizers see the exact end.
    void* p = nullptr;
    if (posix_memalign(&p, align, bytes)) throw std::bad_alloc();
#ifdef __linux__
    if (align == huge) madvise(p, bytes, MADV_HUGEPAGE);
#endif
    data_.reset(static_cast<T*>(p));
    size_ = n;
  }
  /// Grows without keeping the contents.
  void require(Index n) {
    if (n > size_) reset(n);
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](Index i) { return data_.get()[i]; }
  const T& operator[](Index i) const { return data_.get()[i]; }
  Index size() const { return size_; }

 private:
  std::unique_ptr<T, FreeDeleter> data_;
  Index size_ = 0;
};

inline Index round_up(Index n, Index step) {
  return (n + step - 1) / step * step;
}

}  // namespace mercer
