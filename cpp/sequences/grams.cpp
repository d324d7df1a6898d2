#include "sequences/grams.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace mercer {

namespace {
/// Finalizer of MurmurHash3 (Appleby, public domain): every bit of the key reaches every bit.
std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}
}  // namespace

GramTable::GramTable(std::vector<std::vector<Index>> patterns, Index min_depth, Index span)
    : patterns_(std::move(patterns)), min_depth_(min_depth), span_(span), slots_(1024) {
  n_nodes_ = static_cast<Index>(patterns_.size());  // one root for each
  column_.assign(patterns_.size(), -1);
}

void GramTable::rehash() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const std::uint64_t mask = slots_.size() - 1;
  for (const Slot& s : old) {
    if (s.node < 0) continue;
    std::uint64_t at = mixed(s.key) & mask;
    while (slots_[at].node >= 0) at = (at + 1) & mask;
    slots_[at] = s;
  }
}

std::int32_t GramTable::child(std::int32_t node, std::int32_t token, std::int32_t depth,
                              bool grow) {
  const std::uint64_t key = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(node)) << 32) |
                            static_cast<std::uint32_t>(token);
  const std::uint64_t mask = slots_.size() - 1;
  std::uint64_t at = mixed(key) & mask;
  for (; slots_[at].node >= 0; at = (at + 1) & mask)
    if (slots_[at].key == key) return slots_[at].node;
  if (!grow) return -1;
  if (n_nodes_ >= std::numeric_limits<std::int32_t>::max() - 1)
    throw std::length_error("more than 2^31 different patterns");
  const auto made = static_cast<std::int32_t>(n_nodes_++);
  slots_[at] = {key, made};
  column_.push_back(-1);
  if (depth >= min_depth_) column_.back() = static_cast<std::int32_t>(n_columns_++);
  if (static_cast<std::size_t>(n_nodes_) * 2 > slots_.size()) rehash();
  return made;
}

GramCounts GramTable::count(const std::int32_t* tokens, const Index* start, Index n, bool grow) {
  GramCounts out;
  out.start.assign(1, 0);
  std::vector<std::int32_t> met;
  for (Index i = 0; i < n; ++i) {
    met.clear();
    Index bad = start[i] - 1;  // the last letter of the window that does not count
    for (Index at = start[i], seen = at; at + span_ <= start[i + 1]; ++at) {
      for (; seen < at + span_; ++seen)
        if (tokens[seen] < 0) bad = seen;
      if (bad >= at) continue;
      for (std::size_t p = 0; p < patterns_.size(); ++p) {
        auto node = static_cast<std::int32_t>(p);
        std::int32_t depth = 0;
        for (Index offset : patterns_[p]) {
          if (at + offset >= start[i + 1] || tokens[at + offset] < 0) break;
          node = child(node, tokens[at + offset], ++depth, grow);
          if (node < 0) break;
          if (column_[node] >= 0) met.push_back(column_[node]);
        }
      }
    }
    std::sort(met.begin(), met.end());
    for (std::size_t k = 0; k < met.size();) {
      std::size_t end = k;
      while (end < met.size() && met[end] == met[k]) ++end;
      out.column.push_back(met[k]);
      out.value.push_back(static_cast<double>(end - k));
      k = end;
    }
    out.start.push_back(static_cast<Index>(out.column.size()));
  }
  return out;
}

}  // namespace mercer
