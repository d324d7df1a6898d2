// Aligned storage without initialisation; large blocks ask the system for huge pages, because
// first-touch faults of small pages cost as much as computing the kernel values they hold. For the
// same reason a few large blocks that were freed are kept for the next fit.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "isa/ops.hpp"

namespace mercer {

/// Says what there was no memory for.
class OutOfMemory : public std::bad_alloc {
 public:
  /// `shape` in words, such as "20000 x 20000".
  OutOfMemory(const std::string& shape, double values, std::size_t bytes)
      : text_("cannot allocate " + shape + " values of " + std::to_string(bytes) + " bytes (" +
              std::to_string(static_cast<long long>(
                  std::min(std::ceil(values * static_cast<double>(bytes) / 1e6), 1e18))) +
              " MB)") {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// A vector of n equal values.
template <class V>
std::vector<V> vector_of(Index n, V value = V()) try {
  return std::vector<V>(static_cast<std::size_t>(n), value);
} catch (const std::bad_alloc&) {
  throw OutOfMemory(std::to_string(n), static_cast<double>(n), sizeof(V));
} catch (const std::length_error&) {
  throw OutOfMemory(std::to_string(n), static_cast<double>(n), sizeof(V));
}

struct FreeDeleter {
  void operator()(void* p) const { std::free(p); }
};

/// Blocks on huge pages that were freed, up to a limit, for whoever needs one next. The system
/// clears pages before it hands them out, up to a tenth of a fit on a few thousand rows.
class SpareBlocks {
  struct Block {
    void* data;
    std::size_t bytes;
  };

 public:
  /// A block of at least so many bytes, which become its size; null where there is none.
  static void* take(std::size_t& bytes) {
    const std::unique_lock guard(lock_, std::try_to_lock);  // never waits: also after a fork
    if (!guard) return nullptr;
    for (Block& block : blocks_)
      if (block.bytes >= bytes && block.bytes <= 2 * bytes) {
        kept_ -= block.bytes;
        bytes = block.bytes;
        return std::exchange(block, Block{}).data;
      }
    return nullptr;
  }
  /// Frees a block or keeps it. The first one is freed: from its size glibc's malloc learns that
  /// blocks of up to that size come and go, and keeps what NumPy frees as well.
  static void give(void* data, std::size_t bytes) {
    const std::unique_lock guard(lock_, std::try_to_lock);
    if (guard && std::exchange(begun_, true) && kept_ + bytes <= limit)
      for (Block& block : blocks_)
        if (!block.data) {
          kept_ += bytes;
          block = {data, bytes};
          return;
        }
    std::free(data);
  }
  /// Frees all blocks; returns whether there were any.
  static bool release() {
    const std::unique_lock guard(lock_, std::try_to_lock);
    if (!guard || !kept_) return false;
    for (Block& block : blocks_) std::free(std::exchange(block, Block{}).data);
    kept_ = 0;
    return true;
  }

 private:
#ifdef __SANITIZE_ADDRESS__
  static constexpr std::size_t limit = 0;  // the sanitizer watches every block
#else
  static constexpr std::size_t limit = std::size_t(64) << 20;
#endif
  static inline std::mutex lock_;
  static inline std::array<Block, 8> blocks_{};
  static inline std::size_t kept_ = 0;
  static inline bool begun_ = false;
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
    const auto refuse = [n] {
      throw OutOfMemory(std::to_string(n), static_cast<double>(n), sizeof(T));
    };
    if (n > std::numeric_limits<Index>::max() / static_cast<Index>(2 * sizeof(T))) refuse();
    std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
    const bool large = bytes >= 2 * huge;
    void* p = large ? SpareBlocks::take(bytes) : nullptr;
    if (!p) {
      // Not aligned_alloc, which wants the size rounded up: the sanitizers see the exact end.
      while (posix_memalign(&p, large ? huge : 64, bytes))
        if (!SpareBlocks::release()) refuse();
#ifdef __linux__
      if (large) madvise(p, bytes, MADV_HUGEPAGE);
#endif
    }
    data_ = {static_cast<T*>(p), Deleter{bytes}};
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
  static constexpr std::size_t huge = std::size_t(1) << 21;

  struct Deleter {
    std::size_t bytes = 0;
    void operator()(T* p) const {
      if (bytes >= 2 * huge)
        SpareBlocks::give(p, bytes);
      else
        std::free(p);
    }
  };

  std::unique_ptr<T, Deleter> data_;
  Index size_ = 0;
};

inline Index round_up(Index n, Index step) {
  return (n + step - 1) / step * step;
}

/// A table of zeros of which a few entries are written: memory and time go by the pages that are
/// touched, not by the size, so that a table over 10^8 columns costs no more than its entries.
template <class T>
class ZeroPages {
 public:
  /// Makes room for n zeros. Returns whether the table is a new one; an old one keeps its contents.
  bool require(Index n) {
    if (n <= size_ && data_) return false;
    data_.reset();
    size_ = 0;
    const std::size_t count = static_cast<std::size_t>(std::max<Index>(n, 1));
    void* p = std::calloc(count, sizeof(T));
    if (!p) throw OutOfMemory(std::to_string(n), static_cast<double>(n), sizeof(T));
#ifdef __linux__
    // A huge page for every entry that is written would be most of the table.
    constexpr std::size_t page = 4096, large = std::size_t(1) << 21;
    const auto begin = (reinterpret_cast<std::size_t>(p) + page - 1) / page * page;
    const auto end = (reinterpret_cast<std::size_t>(p) + count * sizeof(T)) / page * page;
    if (end > begin + large) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_NOHUGEPAGE);
#endif
    data_.reset(static_cast<T*>(p));
    size_ = static_cast<Index>(count);
    return true;
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](Index i) { return data_.get()[i]; }
  const T& operator[](Index i) const { return data_.get()[i]; }

 private:
  std::unique_ptr<T, FreeDeleter> data_;
  Index size_ = 0;
};

}  // namespace mercer
