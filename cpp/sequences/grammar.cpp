// Joint derivations of two sequences (Watkins 2000). With the inside probabilities b of the charts,
// iota the probability that the two go their own ways and pi_A that of a copied letter,
//   J(A; x, y) = iota b(A, x) b(A, y) + (1 - iota) (pi_A(x, y)
//                + sum over A -> B C p(A -> B C) sum over splits of x and y J(B; ..) J(C; ..)),
// for substrings x of one sequence and y of the other that A derives: of other pairs J is 0. For a
// node of the outer chart, the J of all y form an upper triangular matrix by first letter and end
// of y, and the sum over the splits of y is a product of two of these. Costs, for every right side,
// the product of the numbers of splits in the two charts.
#include "sequences/grammar.hpp"

#include <algorithm>
#include <stdexcept>

#include "isa/dispatch.hpp"
#include "sequences/kernels.hpp"
#include "thread_pool.hpp"

namespace mercer {
namespace {

const GrammarChart& chart_of(const SequenceStore& s, Index i) {
  return static_cast<const GrammarChart&>(*s.prepared[static_cast<std::size_t>(i)]);
}

class Grammar final : public PairKernel {
 public:
  Grammar(GrammarRules rules, double independence, double mutation)
      : rules_(std::move(rules)), iota_(independence), kept_((1 - mutation) * (1 - mutation)) {
    kept_slope_ = -2 * (1 - mutation);
    for (Index a = 0; a < rules_.symbols; ++a) {
      double total = 0;
      for (Index c = 0; c < rules_.letters; ++c) total += rules_.emission[a * rules_.letters + c];
      emitted_.push_back(total);
    }
  }

  bool prepares() const override { return true; }

  std::shared_ptr<const PreparedSequence> prepare(
      const std::int32_t* tokens, Index length, const std::function<bool()>& leave) const override {
    return std::make_shared<const GrammarChart>(rules_, tokens, length, leave);
  }

  void row(const SequenceStore& a, Index i, const SequenceStore& b, Index begin, Index count,
           double* out, PairScratch& scratch) const override {
    for (Index k = 0; k < count; ++k) {
      if (scratch.leaves()) return;
      joint<1>(a, i, b, begin + k, out + k, scratch);
    }
  }

  /// The derivatives by independence and mutation.
  void slopes(const SequenceStore& a, Index i, const SequenceStore& b, Index j, double* out,
              PairScratch& scratch) const {
    double found[3];
    joint<3>(a, i, b, j, found, scratch);
    out[0] = found[1];
    out[1] = found[2];
  }

  double cost(double length_a, double length_b) const override { return length_a * length_b; }

  double cost(const SequenceStore& a, const SequenceStore& b) const override {
    return a.mean_length() * b.mean_length() + mean_splits(a) * mean_splits(b);
  }

 private:
  static double mean_splits(const SequenceStore& s) {
    double total = 0;
    for (Index i = 0; i < s.n; ++i) total += static_cast<double>(chart_of(s, i).splits.size());
    return total / static_cast<double>(std::max<Index>(s.n, 1));
  }

  /// A value, with C = 3 also its derivatives. The outer sequence is the shorter one, or the first
  /// in the order of letters: both orders of a pair take the same way.
  template <int C>
  void joint(const SequenceStore& a, Index i, const SequenceStore& b, Index j, double* out,
             PairScratch& scratch) const {
    std::fill_n(out, C, 0.0);
    const GrammarChart *s = &chart_of(a, i), *t = &chart_of(b, j);
    if (s->root < 0 || t->root < 0) return;
    const std::int32_t *x = a.tokens(i), *y = b.tokens(j);
    if (s->length > t->length ||
        (s->length == t->length &&
         std::lexicographical_compare(y, y + t->length, x, x + s->length))) {
      std::swap(s, t);
      std::swap(x, y);
    }
    const Tables tables(*s, *t, C, scratch);
    Asking asking(scratch.leave);
    for (const GrammarChart::Span& span : s->spans) {
      if (asking.leaves(t->length)) return;
      fill_span<C>(*s, span, *t, x, y, tables, asking);
    }
    for (int c = 0; c < C; ++c) out[c] = tables.of(s->root, c)[t->length];
  }

  /// Room for the matrices of all nodes and for one product, by derivative.
  struct Tables {
    Index size, stride;
    int channels;
    double *product, *first;

    Tables(const GrammarChart& s, const GrammarChart& t, int c, PairScratch& scratch)
        : stride(round_up(t.length + 1, current_isa().pairs.step)), channels(c) {
      size = stride * t.length;
      scratch.extra.require(size * channels);
      scratch.table.require(size * channels * static_cast<Index>(s.nodes.size()));
      product = scratch.extra.data();
      first = scratch.table.data();
    }
    double* of(Index node, int c) const { return first + (node * channels + c) * size; }
    double* of_product(int c) const { return product + c * size; }
  };

  template <int C>
  void fill_span(const GrammarChart& s, const GrammarChart::Span& span, const GrammarChart& t,
                 const std::int32_t* x, const std::int32_t* y, const Tables& tables,
                 Asking& asking) const {
    for (Index k = span.first_node; k < span.last_node; ++k)
      for (int c = 0; c < C; ++c) clear(t, s.nodes[k].symbol, tables.of(k, c), tables.stride);
    for (Index w = span.first_way; w < span.last_way; ++w) {
      const GrammarChart::Way& way = s.ways[w];
      const GrammarRules::Side& side = rules_.sides[way.side];
      for (int c = 0; c < C; ++c) clear(t, side.left, tables.of_product(c), tables.stride);
      for (Index e = way.first; e < way.last; ++e) {
        if (asking.leaves(C * t.length * static_cast<Index>(t.end.size()) / 4)) return;
        const GrammarChart::Split& split = s.splits[e];
        const auto add = [&](int left, int right, int c) {
          current_isa().pairs.triangle({tables.of(split.left, left), tables.of(split.right, right),
                                        tables.of_product(c), t.length, tables.stride,
                                        starts(t, side.left), starts(t, side.right), t.end.data()});
        };
        add(0, 0, 0);
        for (int c = 1; c < C; ++c) {
          add(c, 0, c);
          add(0, c, c);
        }
      }
      for (Index k = span.first_node; k < span.last_node; ++k)
        for (Index h = side.first; h < side.last; ++h)
          if (rules_.heads[h].symbol == s.nodes[k].symbol)
            for (int c = 0; c < C; ++c)
              add_multiple(t, rules_.heads[h], side.left, tables.of_product(c), tables.of(k, c),
                           tables.stride);
    }
    for (Index k = span.first_node; k < span.last_node; ++k)
      finish<C>(s.nodes[k], span, t, x, y, k, tables);
  }

  static const Index* starts(const GrammarChart& t, Index symbol) {
    return t.start.data() + symbol * t.length;
  }

  /// Zeros the rows of a matrix that hold substrings which a nonterminal derives.
  static void clear(const GrammarChart& t, Index symbol, double* matrix, Index stride) {
    const Index* start = starts(t, symbol);
    for (Index j = 0; j < t.length; ++j)
      if (start[j] < start[j + 1]) std::fill_n(matrix + j * stride, stride, 0.0);
  }

  /// Adds a multiple of a product, whose rows are those of the left nonterminal, to the entries of
  /// a head.
  static void add_multiple(const GrammarChart& t, const GrammarRules::Head& head, Index left,
                           const double* product, double* matrix, Index stride) {
    const Index *start = starts(t, head.symbol), *rows = starts(t, left);
    for (Index j = 0; j < t.length; ++j) {
      if (rows[j] == rows[j + 1]) continue;
      for (Index e = start[j]; e < start[j + 1]; ++e)
        matrix[j * stride + t.end[e]] += head.weight * product[j * stride + t.end[e]];
    }
  }

  /// Adds copied letters and independent derivations to what the splits gave.
  template <int C>
  void finish(const GrammarChart::Node& node, const GrammarChart::Span& span, const GrammarChart& t,
              const std::int32_t* x, const std::int32_t* y, Index k, const Tables& tables) const {
    const double* emission = rules_.emission.data() + node.symbol * rules_.letters;
    const Index* start = starts(t, node.symbol);
    for (Index j = 0; j < t.length; ++j)
      for (Index e = start[j]; e < start[j + 1]; ++e) {
        const Index at = j * tables.stride + t.end[e];
        const double apart = node.inside * t.inside[e];
        double shared = tables.of(k, 0)[at], replaced = 0;
        if (span.end == span.begin + 1 && t.end[e] == j + 1) {
          const double drawn = apart / emitted_[node.symbol];
          const double same = x[span.begin] == y[j] ? emission[y[j]] : 0.0;
          shared += kept_ * (same - drawn) + drawn;
          replaced = kept_slope_ * (same - drawn);
        }
        tables.of(k, 0)[at] = (1 - iota_) * shared + iota_ * apart;
        if constexpr (C == 3) {
          double& by_independence = tables.of(k, 1)[at];
          double& by_mutation = tables.of(k, 2)[at];
          by_independence = (1 - iota_) * by_independence - shared + apart;
          by_mutation = (1 - iota_) * (by_mutation + replaced);
        }
      }
  }

  GrammarRules rules_;
  double iota_, kept_, kept_slope_;
  std::vector<double> emitted_;  ///< probability that a nonterminal becomes a letter
};

}  // namespace

std::shared_ptr<const PairKernel> make_grammar(GrammarRules rules, double independence,
                                               double mutation) {
  const auto in_range = [&](Index symbol) { return symbol >= 0 && symbol < rules.symbols; };
  bool fits = rules.letters > 0 && in_range(rules.start) &&
              static_cast<Index>(rules.emission.size()) == rules.symbols * rules.letters;
  for (const auto& side : rules.sides)
    fits = fits && in_range(side.left) && in_range(side.right) && side.first >= 0 &&
           side.first <= side.last && side.last <= static_cast<Index>(rules.heads.size());
  for (const auto& head : rules.heads) fits = fits && in_range(head.symbol);
  if (!fits) throw std::invalid_argument("malformed grammar");
  return std::make_shared<Grammar>(std::move(rules), independence, mutation);
}

bool grammar_slopes(const PairKernel& kernel, const SequenceStore& a, const SequenceStore& b,
                    int threads, Leaving& leaving, double* out) {
  const auto& grammar = dynamic_cast<const Grammar&>(kernel);
  std::vector<PairScratch> scratch = scratch_of_threads(threads, leaving);
  return parallel_for(threads, a.n * b.n, leaving, [&](Index task, int worker) {
    double found[2];
    grammar.slopes(a, task / b.n, b, task % b.n, found, scratch[worker]);
    out[task] = found[0];
    out[a.n * b.n + task] = found[1];
  });
}

}  // namespace mercer
