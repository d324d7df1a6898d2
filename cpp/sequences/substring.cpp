// Contiguous substrings of all lengths, in time linear in both sequences.
//
// The suffix automaton of s (Blumer et al. 1985) has one state for every set of substrings that
// end at the same positions; t runs through it, and every position of t adds the substrings that
// end there. What is counted are integers, the number c(l) of pairs of equal substrings of length
// l, so that both orders of a pair give the same bits; the value is sum_l weight(l) c(l). The use
// of such automata for kernels is due to Vishwanathan and Smola (2003).
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sequences/kernels.hpp"
#include "sequences/wide.hpp"

namespace mercer {
namespace {

class SuffixAutomaton {
 public:
  /// Made of a part of the tokens when the work is left.
  SuffixAutomaton(const std::int32_t* tokens, Index n, Asking& asking) {
    add_state(0, -1);
    std::int32_t last = 0;
    for (Index i = 0; i < n && !asking.leaves(edges_passed(16)); ++i) {
      const std::int32_t state = add_state(length[last] + 1, 0);
      occurrences[state] = 1;
      std::int32_t p = last;
      for (; p >= 0 && next(p, tokens[i]) < 0; p = link[p]) add_edge(p, tokens[i], state);
      if (p >= 0) link[state] = split(p, tokens[i]);
      last = state;
    }
    by_length.resize(length.size());
    std::iota(by_length.begin(), by_length.end(), 0);
    std::stable_sort(by_length.begin(), by_length.end(),
                     [&](std::int32_t a, std::int32_t b) { return length[a] > length[b]; });
    for (std::int32_t v : by_length)
      if (link[v] >= 0) occurrences[link[v]] += occurrences[v];
  }

  std::int32_t next(std::int32_t state, std::int32_t token) const {
    for (std::int32_t e = first_[state]; e >= 0; e = edges_[e].next, ++passed_)
      if (edges_[e].token == token) return edges_[e].to;
    return -1;
  }

  /// Edges that were looked at since the last call, and so many operations more.
  Index edges_passed(Index more) const { return std::exchange(passed_, 0) + more; }

  std::vector<std::int32_t> length;  ///< of the longest substring of a state
  std::vector<std::int32_t> link;    ///< the state of the longest suffix with more ends
  std::vector<std::int64_t> occurrences;
  std::vector<std::int32_t> by_length;  ///< states, longest first

 private:
  struct Edge {
    std::int32_t token, to, next;
  };

  std::int32_t add_state(std::int32_t states_length, std::int32_t states_link) {
    length.push_back(states_length);
    link.push_back(states_link);
    occurrences.push_back(0);
    first_.push_back(-1);
    return static_cast<std::int32_t>(length.size()) - 1;
  }

  void add_edge(std::int32_t from, std::int32_t token, std::int32_t to) {
    edges_.push_back({token, to, first_[from]});
    first_[from] = static_cast<std::int32_t>(edges_.size()) - 1;
  }

  /// The state of the suffix through p, made anew if the one there stands for longer ones too.
  std::int32_t split(std::int32_t p, std::int32_t token) {
    const std::int32_t q = next(p, token);
    if (length[p] + 1 == length[q]) return q;
    const std::int32_t copy = add_state(length[p] + 1, link[q]);
    for (std::int32_t e = first_[q]; e >= 0; e = edges_[e].next)
      add_edge(copy, edges_[e].token, edges_[e].to);
    for (; p >= 0; p = link[p]) {
      std::int32_t e = first_[p];
      while (e >= 0 && edges_[e].token != token) e = edges_[e].next;
      if (e < 0 || edges_[e].to != q) break;
      edges_[e].to = copy;
    }
    link[q] = copy;
    return copy;
  }

  std::vector<Edge> edges_;
  std::vector<std::int32_t> first_;  ///< the edges of a state are a list
  mutable Index passed_ = 0;
};

/// c(l) for l = 1, 2, ... of the automaton's sequence and another one.
class CommonSubstrings {
 public:
  CommonSubstrings(const SuffixAutomaton& automaton, Index longest)
      : automaton_(automaton),
        visits_(automaton.length.size()),
        change_(static_cast<std::size_t>(longest) + 2) {}

  const std::vector<std::int64_t>& count(const std::int32_t* tokens, Index n, Asking& asking) {
    const SuffixAutomaton& a = automaton_;
    std::fill(visits_.begin(), visits_.end(), 0);
    std::fill(change_.begin(), change_.end(), 0);
    std::int32_t state = 0, matched = 0;
    for (Index i = 0; i < n && !asking.leaves(a.edges_passed(16)); ++i) {
      std::int32_t to = a.next(state, tokens[i]);
      while (to < 0 && state > 0) {
        state = a.link[state];
        matched = a.length[state];
        to = a.next(state, tokens[i]);
      }
      if (to < 0) {
        matched = 0;
        continue;
      }
      state = to;
      ++matched;
      add(state, matched, 1);
    }
    for (std::int32_t v : a.by_length)
      if (v > 0 && visits_[v] > 0) add(v, a.length[v], visits_[v]);
    for (std::size_t l = 1; l < change_.size(); ++l) change_[l] += change_[l - 1];
    return change_;
  }

 private:
  /// So many visits of the substrings of a state up to a length, and of all their suffixes.
  void add(std::int32_t state, std::int32_t up_to, std::int64_t times) {
    const std::int32_t shorter = automaton_.link[state];
    change_[automaton_.length[shorter] + 1] += times * automaton_.occurrences[state];
    change_[up_to + 1] -= times * automaton_.occurrences[state];
    visits_[shorter] += times;
  }

  const SuffixAutomaton& automaton_;
  std::vector<std::int64_t> visits_;
  std::vector<std::int64_t> change_;
};

class Substring final : public PairKernel {
 public:
  Substring(double decay, Index min_length, Index max_length, bool logarithms)
      : decay_(decay),
        square_(decay * decay),
        log_square_(2.0 * std::log(decay)),
        min_length_(min_length),
        max_length_(max_length),
        logarithms_(logarithms) {}

  void row(const SequenceStore& a, Index i, const SequenceStore& b, Index begin, Index count,
           double* out, PairScratch& scratch) const override {
    Asking asking(scratch.leave);
    const SuffixAutomaton automaton(a.tokens(i), a.length(i), asking);
    CommonSubstrings common(automaton, a.length(i));
    for (Index k = 0; k < count; ++k) {
      const auto& pairs = common.count(b.tokens(begin + k), b.length(begin + k), asking);
      if (asking.leaves(0)) return;
      const Index most = std::min(max_length_, static_cast<Index>(pairs.size()) - 1);
      Index last = 0;
      while (last < most && pairs[last + 1] > 0) ++last;
      if (!in_range(std::max(last, min_length_))) {
        const Wide sum = wide_sum(pairs, last);
        out[k] = logarithms_ ? sum.logarithm() : sum.value();
        continue;
      }
      double weight = 1.0, sum = 0.0;
      for (Index l = 1; l <= last; ++l) {
        weight *= square_;
        if (l >= min_length_) sum += weight * static_cast<double>(pairs[l]);
      }
      out[k] = logarithms_ ? std::log(sum) : sum;
    }
  }

  bool logarithmic() const override { return logarithms_; }

  double cost(double length_a, double length_b) const override {
    return 20.0 * (length_a + length_b);
  }

 private:
  /// Whether the weights of the shortest and the longest substrings are safe from overflow and
  /// underflow. Below 1 the weights of long ones may vanish: there are at most as many pairs of
  /// them as of the shorter ones.
  bool in_range(Index longest) const {
    constexpr double safe = 600.0;
    return log_square_ * static_cast<double>(longest) < safe &&
           log_square_ * static_cast<double>(min_length_) > -safe;
  }

  /// The same sum by Horner's rule from the longest substrings down, with an exponent.
  Wide wide_sum(const std::vector<std::int64_t>& pairs, Index last) const {
    const Wide square = wide_power(decay_, 2);
    Wide sum;
    for (Index l = last; l >= min_length_; --l)
      sum = sum * square + Wide{static_cast<double>(pairs[l]), 0.0};
    return sum * wide_power(decay_, 2 * min_length_);
  }

  double decay_, square_, log_square_;
  Index min_length_, max_length_;
  bool logarithms_;
};

}  // namespace

std::shared_ptr<const PairKernel> make_substring(double decay, Index min_length, Index max_length,
                                                 bool logarithms) {
  return std::make_shared<Substring>(decay, min_length, max_length, logarithms);
}

}  // namespace mercer
