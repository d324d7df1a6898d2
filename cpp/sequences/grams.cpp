#include "sequences/grams.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

namespace mercer {

namespace {
/// Fibonacci hashing (Knuth): the upper bits of the product depend on all bits of the key.
std::uint64_t hashed(std::uint64_t key, int bits) {
  return ((key ^ (key >> 32)) * 0x9e3779b97f4a7c15ULL) >> (64 - bits);
}
}  // namespace

GramTable::GramTable(std::vector<std::vector<Index>> patterns, Index min_depth, Index span)
    : patterns_(std::move(patterns)), min_depth_(min_depth), span_(span), slots_(1024) {
  n_nodes_ = static_cast<Index>(patterns_.size());  // one root for each
}

void GramTable::learn_letters(const std::int32_t* tokens, Index n) {
  const std::int32_t largest = n ? *std::max_element(tokens, tokens + n) : -1;
  letter_.assign(static_cast<std::size_t>(largest) + 1, -1);
  std::int32_t letters = 0;
  for (Index k = 0; k < n; ++k)
    if (tokens[k] >= 0 && letter_[tokens[k]] < 0) letter_[tokens[k]] = letters++;
  // A group is packed behind a leading one, so that groups of different lengths differ.
  bits_ = std::max(
      1, static_cast<int>(std::bit_width(static_cast<std::uint32_t>(std::max(letters, 1) - 1))));
  group_ = std::max(31 / bits_, 1);
  learned_ = true;
}

void GramTable::grow_table() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& s : old)
    if (s.node >= 0) slots_[place(s.key)] = s;
}

std::size_t GramTable::place(std::uint64_t key) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hashed(key, std::bit_width(mask));
  while (slots_[at].node >= 0 && slots_[at].key != key) at = (at + 1) & mask;
  return at;
}

const GramTable::Slot* GramTable::find(std::int32_t node, std::uint32_t group, bool counts,
                                       bool grow) {
  const std::uint64_t key =
      (static_cast<std::uint64_t>(static_cast<std::uint32_t>(node)) << 32) | group;
  std::size_t at = place(key);
  if (slots_[at].node >= 0) return &slots_[at];
  if (!grow) return nullptr;
  if (static_cast<std::size_t>(n_nodes_) * 2 > slots_.size()) {
    grow_table();
    at = place(key);
  }
  if (n_nodes_ >= std::numeric_limits<std::int32_t>::max())
    throw std::length_error("more than 2^31 different patterns");
  const auto made = static_cast<std::int32_t>(n_nodes_++);
  slots_[at] = {key, made, counts ? static_cast<std::int32_t>(n_columns_++) : -1};
  return &slots_[at];
}

void GramTable::contiguous(const std::int32_t* letters, Index n, bool grow, Asking& asking) {
  // The next window drops the first letter of the key and takes up one more.
  const auto p = static_cast<int>(span_);
  const std::uint32_t leading = std::uint32_t(1) << (p * bits_);
  std::uint32_t window = 0;
  for (Index at = 0, good = 0; at < n && !asking.leaves(8); ++at) {
    good = letters[at] < 0 ? 0 : good + 1;
    window = ((window << bits_) | static_cast<std::uint32_t>(letters[at])) & (leading - 1);
    if (good < p) continue;
    if (!direct_.empty() && direct_[window] >= 0) {
      met_.push_back(direct_[window]);
    } else if (const Slot* slot = find(0, leading | window, true, grow)) {
      met_.push_back(slot->column);
      if (!direct_.empty()) direct_[window] = slot->column;
    }
  }
}

void GramTable::general(const std::int32_t* tokens, const std::int32_t* letters, Index n, bool grow,
                        Asking& asking) {
  Index bad = -1;  // the last letter of the window that does not count
  for (Index at = 0, seen = 0; at + span_ <= n; ++at) {
    for (; seen < at + span_; ++seen)
      if (tokens[seen] < 0) bad = seen;
    if (bad >= at) continue;
    for (std::size_t p = 0; p < patterns_.size(); ++p) {
      if (asking.leaves(8 + static_cast<Index>(patterns_[p].size()))) return;
      auto node = static_cast<std::int32_t>(p);
      std::uint32_t group = 1;
      Index depth = 0, packed = 0;
      const auto last = static_cast<Index>(patterns_[p].size());
      for (Index offset : patterns_[p]) {
        if (at + offset >= n || letters[at + offset] < 0) break;
        group = (group << bits_) | static_cast<std::uint32_t>(letters[at + offset]);
        const bool counts = ++depth >= min_depth_;
        if (++packed < group_ && depth < last && !counts) continue;
        const Slot* slot = find(node, group, counts, grow);
        if (!slot) break;
        if (slot->column >= 0) met_.push_back(slot->column);
        if (packed == group_) {
          node = slot->node;
          group = 1;
          packed = 0;
        }
      }
    }
  }
}

void GramTable::append_row(GramCounts& out) {
  const auto columns = static_cast<std::size_t>(n_columns_);
  if (columns < 64 * met_.size()) {
    // Few columns: count in place, and find the columns in order by their bits.
    tally_.resize(columns, 0);
    marked_.resize(columns / 64 + 1, 0);
    for (std::int32_t c : met_) {
      ++tally_[c];
      marked_[c / 64] |= std::uint64_t(1) << (c % 64);
    }
    for (std::size_t w = 0; w < marked_.size(); ++w)
      for (; marked_[w]; marked_[w] &= marked_[w] - 1) {
        const auto c = static_cast<std::int32_t>(w * 64) + std::countr_zero(marked_[w]);
        out.column.push_back(c);
        out.value.push_back(static_cast<double>(tally_[c]));
        tally_[c] = 0;
      }
  } else {
    std::sort(met_.begin(), met_.end());
    for (std::size_t k = 0; k < met_.size();) {
      std::size_t end = k;
      while (end < met_.size() && met_[end] == met_[k]) ++end;
      out.column.push_back(met_[k]);
      out.value.push_back(static_cast<double>(end - k));
      k = end;
    }
  }
  out.start.push_back(static_cast<Index>(out.column.size()));
}

GramCounts GramTable::count(const std::int32_t* tokens, const Index* start, Index n,
                            const std::function<bool()>& leave) {
  const bool grow = !learned_;
  if (grow) learn_letters(tokens, start[n]);
  std::vector<std::int32_t> letters(static_cast<std::size_t>(start[n]));
  for (Index k = 0; k < start[n]; ++k)
    letters[k] =
        tokens[k] >= 0 && tokens[k] < static_cast<Index>(letter_.size()) ? letter_[tokens[k]] : -1;
  // One pattern of consecutive letters, all of them in one key.
  const bool simple = patterns_.size() == 1 && min_depth_ == span_ && span_ <= group_ &&
                      static_cast<Index>(patterns_[0].size()) == span_;
  Asking asking(leave);
  GramCounts out;
  out.start.assign(1, 0);
  out.start.reserve(static_cast<std::size_t>(n) + 1);
  if (simple && span_ * bits_ <= direct_bits) direct_.resize(std::size_t(1) << (span_ * bits_), -1);
  if (simple) {
    out.column.reserve(letters.size());
    out.value.reserve(letters.size());
  }
  for (Index i = 0; i < n; ++i) {
    met_.clear();
    if (simple)
      contiguous(letters.data() + start[i], start[i + 1] - start[i], grow, asking);
    else
      general(tokens + start[i], letters.data() + start[i], start[i + 1] - start[i], grow, asking);
    if (asking.leaves(static_cast<Index>(8 * met_.size()))) {
      if (grow) *this = GramTable(patterns_, min_depth_, span_);
      return {};
    }
    append_row(out);
  }
  return out;
}

}  // namespace mercer
