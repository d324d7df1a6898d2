// Stochastic grammars in Chomsky normal form, and what one of them makes of a sequence.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "sequences/store.hpp"

namespace mercer {

/// Rules A -> B C, gathered by their right sides, and A -> a, with nonterminals and letters as
/// numbers.
struct GrammarRules {
  struct Head {
    std::int32_t symbol;  ///< A
    double weight;        ///< probability of A -> B C
  };
  struct Side {
    std::int32_t left, right;  ///< B and C
    Index first, last;         ///< its heads
  };
  Index symbols = 0, letters = 0, start = 0;
  std::vector<double> emission;  ///< symbols x letters
  std::vector<Side> sides;
  std::vector<Head> heads;
};

/// The inside chart of one sequence: which nonterminals derive which of its substrings, with which
/// probability, and by which splits in two. Only what takes part in a derivation of the whole
/// sequence from the start symbol is kept; of a sequence that has none, nothing.
///
/// Work that is left (`leave` is asked now and then) makes a chart of no use.
///
/// It is held twice: as nodes in the order of rising length, for the sequence whose substrings an
/// outer loop goes through, and by nonterminal and first letter, for the one of the inner loop.
class GrammarChart final : public PreparedSequence {
 public:
  GrammarChart(const GrammarRules& rules, const std::int32_t* letters, Index length,
               const std::function<bool()>& leave = nullptr);

  struct Node {
    std::int32_t symbol;
    double inside;  ///< probability that the nonterminal derives the substring
  };
  struct Split {
    std::int32_t left, right;  ///< nodes
  };
  /// The splits of a substring by one right side.
  struct Way {
    std::int32_t side;
    Index first, last;  ///< among `splits`
  };
  /// A substring, with its nodes and the ways to split it.
  struct Span {
    std::int32_t begin, end;
    Index first_node, last_node, first_way, last_way;
  };

  Index length = 0;
  std::vector<Span> spans;
  std::vector<Node> nodes;
  std::vector<Way> ways;
  std::vector<Split> splits;
  std::int32_t root = -1;  ///< the node of the whole sequence; -1: not derived
  double probability = 0;  ///< of the whole sequence

  /// Substrings that a nonterminal derives from a letter on: their ends, ascending, and inside
  /// probabilities at [start[symbol * length + begin], start[symbol * length + begin + 1]).
  std::vector<Index> start;
  std::vector<std::int32_t> end;
  std::vector<double> inside;
};

}  // namespace mercer
