// The inside recursion (Lari and Young 1990) for one sequence, and what of it can be part of a
// derivation of the whole. Costs the cube of the length for every right side.
#include <stdexcept>

#include "sequences/grammar.hpp"
#include "sequences/pair_kernel.hpp"

namespace mercer {
namespace {

/// Numbers by nonterminal, first letter and end of a substring.
template <class V>
class Spans {
 public:
  Spans(Index symbols, Index length) : width_(length + 1) {
    cells_.require(symbols * width_ * width_);
  }
  V& operator()(Index symbol, Index begin, Index end) {
    return cells_[(symbol * width_ + begin) * width_ + end];
  }

 private:
  Index width_;
  ZeroPages<V> cells_;  // gigabytes for long sequences, which no call could clear at once
};

Spans<double> inside_of(const GrammarRules& rules, const std::int32_t* letters, Index n,
                        Asking& asking) {
  Spans<double> inside(rules.symbols, n);
  for (Index i = 0; i < n; ++i) {
    if (letters[i] < 0 || letters[i] >= rules.letters)
      throw std::invalid_argument("a letter that the grammar does not have");
    for (Index a = 0; a < rules.symbols; ++a)
      inside(a, i, i + 1) = rules.emission[a * rules.letters + letters[i]];
  }
  for (Index size = 2; size <= n; ++size)
    for (Index i = 0; i + size <= n; ++i)
      for (const auto& side : rules.sides) {
        if (asking.leaves(16 * size)) return inside;  // every other read is of a page of its own
        double sum = 0;
        for (Index m = i + 1; m < i + size; ++m)
          sum += inside(side.left, i, m) * inside(side.right, m, i + size);
        if (sum == 0) continue;
        for (Index h = side.first; h < side.last; ++h)
          inside(rules.heads[h].symbol, i, i + size) += rules.heads[h].weight * sum;
      }
  return inside;
}

/// Whether a right side is one of a nonterminal that is needed for a substring.
bool is_needed(const GrammarRules& rules, const GrammarRules::Side& side, Spans<char>& needed,
               Index begin, Index end) {
  for (Index h = side.first; h < side.last; ++h)
    if (needed(rules.heads[h].symbol, begin, end)) return true;
  return false;
}

}  // namespace

GrammarChart::GrammarChart(const GrammarRules& rules, const std::int32_t* letters, Index n,
                           const std::function<bool()>& leave)
    : length(n), start(static_cast<std::size_t>(rules.symbols * n + 1), 0) {
  if (n == 0) return;
  Asking asking(leave);
  Spans<double> found = inside_of(rules, letters, n, asking);
  probability = found(rules.start, 0, n);
  if (probability == 0 || asking.leaves(0)) return;
  Spans<char> needed(rules.symbols, n);
  needed(rules.start, 0, n) = 1;
  for (Index size = n; size > 1; --size)
    for (Index i = 0; i + size <= n; ++i)
      for (const auto& side : rules.sides) {
        if (!is_needed(rules, side, needed, i, i + size)) continue;
        if (asking.leaves(4 * size)) return;
        for (Index m = i + 1; m < i + size; ++m)
          if (found(side.left, i, m) > 0 && found(side.right, m, i + size) > 0)
            needed(side.left, i, m) = needed(side.right, m, i + size) = 1;
      }
  Spans<std::int32_t> node(rules.symbols, n);
  for (Index size = 1; size <= n; ++size)
    for (Index i = 0; i + size <= n; ++i) {
      Span span{static_cast<std::int32_t>(i),     static_cast<std::int32_t>(i + size),
                static_cast<Index>(nodes.size()), 0,
                static_cast<Index>(ways.size()),  0};
      for (Index a = 0; a < rules.symbols; ++a)
        if (needed(a, i, i + size)) {
          node(a, i, i + size) = static_cast<std::int32_t>(nodes.size());
          nodes.push_back({static_cast<std::int32_t>(a), found(a, i, i + size)});
        }
      span.last_node = static_cast<Index>(nodes.size());
      if (span.last_node == span.first_node) continue;
      for (std::size_t r = 0; r < rules.sides.size(); ++r) {
        const auto& side = rules.sides[r];
        if (!is_needed(rules, side, needed, i, i + size)) continue;
        if (asking.leaves(4 * size)) return;
        const auto first = static_cast<Index>(splits.size());
        for (Index m = i + 1; m < i + size; ++m)
          if (found(side.left, i, m) > 0 && found(side.right, m, i + size) > 0)
            splits.push_back({node(side.left, i, m), node(side.right, m, i + size)});
        if (first < static_cast<Index>(splits.size()))
          ways.push_back({static_cast<std::int32_t>(r), first, static_cast<Index>(splits.size())});
      }
      span.last_way = static_cast<Index>(ways.size());
      spans.push_back(span);
    }
  root = node(rules.start, 0, n);
  for (Index a = 0; a < rules.symbols; ++a)
    for (Index i = 0; i < n; ++i) {
      for (Index e = i + 1; e <= n; ++e)
        if (needed(a, i, e)) {
          end.push_back(static_cast<std::int32_t>(e));
          inside.push_back(found(a, i, e));
        }
      start[static_cast<std::size_t>(a * n + i + 1)] = static_cast<Index>(end.size());
    }
}

}  // namespace mercer
