// Kernels on sequences against their definitions, on every instruction set; counts of patterns;
// subsets of stores.
#include <sys/resource.h>

#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "evaluator.hpp"
#include "harness.hpp"
#include "isa/dispatch.hpp"
#include "sequences/grams.hpp"
#include "sequences/kernels.hpp"

using namespace mercer;

namespace {

using Sequence = std::vector<std::int32_t>;

template <class F>
void on_every_isa(F f) {
  const std::string usual = current_isa().name;
  for (const std::string& name : available_isas()) {
    set_isa(name);
    f();
  }
  set_isa(usual);
}

std::vector<Sequence> draw(int seed, Index n, int longest, int letters) {
  std::mt19937 random(seed);
  std::vector<Sequence> out;
  for (Index i = 0; i < n; ++i) {
    Sequence s(random() % (longest + 1));
    for (auto& c : s) c = static_cast<std::int32_t>(random() % letters);
    out.push_back(s);
  }
  return out;
}

SequenceStore stored(const std::vector<Sequence>& sequences) {
  SequenceStore s;
  s.n = static_cast<Index>(sequences.size());
  s.start.assign(1, 0);
  for (const Sequence& x : sequences)
    s.start.push_back(s.start.back() + static_cast<Index>(x.size()));
  s.token.reset(std::max<Index>(s.start.back(), 1));
  Index at = 0;
  for (const Sequence& x : sequences)
    for (std::int32_t c : x) s.token[at++] = c;
  return s;
}

/// Values of all pairs against a definition, in both orders.
template <class F>
void check_kernel(const PairKernel& kernel, const std::vector<Sequence>& x, F definition) {
  SequenceStore s = stored(x);
  Leaving leaving;
  prepare_sequences(kernel, s, 2, leaving);
  PairScratch scratch;
  std::vector<double> row(x.size()), matrix(x.size() * x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    pair_values(kernel, s, static_cast<Index>(i), s, 0, s.n, row.data(), scratch);
    for (std::size_t j = 0; j < x.size(); ++j) {
      const double exact = definition(x[i], x[j]);
      CHECK_NEAR(row[j], exact, 1e-12 * (1 + std::fabs(exact)));
      matrix[i * x.size() + j] = row[j];
      double one = 0;
      pair_values(kernel, s, static_cast<Index>(i), s, static_cast<Index>(j), 1, &one, scratch);
      CHECK(one == row[j]);
    }
  }
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) CHECK(matrix[i * x.size() + j] == matrix[j * x.size() + i]);
}

/// Sum over all pairs of equal subsequences of length n, by the positions of their letters.
double subsequences(const Sequence& s, const Sequence& t, int n, double decay, std::size_t i = 0,
                    std::size_t j = 0, bool inside = false) {
  if (n == 0) return 1.0;
  double sum = 0;
  for (std::size_t a = i; a < s.size(); ++a)
    for (std::size_t b = j; b < t.size(); ++b)
      if (s[a] == t[b]) {
        const double span = inside ? static_cast<double>(a - i + b - j) + 2 : 2;
        sum += std::pow(decay, span) * subsequences(s, t, n - 1, decay, a + 1, b + 1, true);
      }
  return sum;
}

double substrings(const Sequence& s, const Sequence& t, double decay, std::size_t shortest) {
  double sum = 0;
  for (std::size_t i = 0; i < s.size(); ++i)
    for (std::size_t j = 0; j < t.size(); ++j)
      for (std::size_t l = 1; i + l <= s.size() && j + l <= t.size(); ++l) {
        if (s[i + l - 1] != t[j + l - 1]) break;
        if (l >= shortest) sum += std::pow(decay, 2.0 * static_cast<double>(l));
      }
  return sum;
}

/// Two nonterminals: 0 -> 0 0 | 1 0 | 1 1 | a | c, 1 -> 1 1 | 0 1 | a | b.
GrammarRules ambiguous_rules() {
  GrammarRules rules;
  rules.symbols = 2;
  rules.letters = 3;
  rules.emission = {0.3, 0.0, 0.2, 0.25, 0.35, 0.0};
  rules.heads = {{0, 0.1}, {0, 0.2}, {0, 0.2}, {1, 0.15}, {1, 0.25}};
  rules.sides = {{0, 0, 0, 1}, {1, 0, 1, 2}, {1, 1, 2, 4}, {0, 1, 4, 5}};
  return rules;
}

/// Probability that a nonterminal derives a sequence, over all splits.
double derived(const GrammarRules& rules, Index symbol, const Sequence& s) {
  double sum = s.size() == 1 ? rules.emission[symbol * rules.letters + s[0]] : 0.0;
  for (const auto& side : rules.sides)
    for (Index h = side.first; h < side.last; ++h)
      for (std::size_t m = 1; rules.heads[h].symbol == symbol && m < s.size(); ++m)
        sum += rules.heads[h].weight *
               derived(rules, side.left, Sequence(s.begin(), s.begin() + m)) *
               derived(rules, side.right, Sequence(s.begin() + m, s.end()));
  return sum;
}

/// The same for two sequences together, by the recursion over all pairs of substrings.
double derived_together(const GrammarRules& rules, Index symbol, const Sequence& s,
                        const Sequence& t, double independence, double mutation) {
  double sum = 0;
  if (s.size() == 1 && t.size() == 1) {
    const double* emission = rules.emission.data() + symbol * rules.letters;
    const double kept = (1 - mutation) * (1 - mutation);
    const double total = emission[0] + emission[1] + emission[2];
    sum = kept * (s == t ? emission[s[0]] : 0.0) +
          (1 - kept) * emission[s[0]] * emission[t[0]] / total;
  }
  for (const auto& side : rules.sides)
    for (Index h = side.first; h < side.last; ++h)
      for (std::size_t m = 1; rules.heads[h].symbol == symbol && m < s.size(); ++m)
        for (std::size_t n = 1; n < t.size(); ++n)
          sum += rules.heads[h].weight *
                 derived_together(rules, side.left, Sequence(s.begin(), s.begin() + m),
                                  Sequence(t.begin(), t.begin() + n), independence, mutation) *
                 derived_together(rules, side.right, Sequence(s.begin() + m, s.end()),
                                  Sequence(t.begin() + n, t.end()), independence, mutation);
  return independence * derived(rules, symbol, s) * derived(rules, symbol, t) +
         (1 - independence) * sum;
}

}  // namespace

TEST(sequences_grammar) {
  const auto x = draw(6, 12, 4, 3);
  GrammarRules rules = ambiguous_rules();
  on_every_isa([&] {
    for (Index start : {0, 1})
      for (double independence : {0.0, 0.3, 1.0}) {
        rules.start = start;
        const auto kernel = make_grammar(rules, independence, 0.2);
        check_kernel(*kernel, x, [&](const Sequence& s, const Sequence& t) {
          return derived_together(rules, start, s, t, independence, 0.2);
        });
      }
  });
}

TEST(sequences_grammar_charts_hold_what_derives_the_whole) {
  const GrammarRules rules = ambiguous_rules();
  const Sequence x{1, 0, 1, 1, 2};  // b a b b c, of which only the whole ends in c
  const GrammarChart chart(rules, x.data(), 5);
  CHECK_NEAR(chart.probability, derived(rules, 0, x), 1e-15);
  CHECK(chart.nodes[static_cast<std::size_t>(chart.root)].inside == chart.probability);
  CHECK(chart.end.size() == chart.nodes.size());
  for (Index i = 0; i < 4; ++i)  // nothing but a suffix ends in c, and 1 derives none
    for (Index k = chart.start[5 + i]; k < chart.start[5 + i + 1]; ++k) CHECK(chart.end[k] < 5);
  const GrammarChart none(rules, x.data(), 1);  // 0 derives no b
  CHECK(none.root == -1 && none.nodes.empty() && none.probability == 0);
  bool refused = false;
  const std::int32_t unknown = 3;
  try {
    GrammarChart(rules, &unknown, 1);
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  CHECK(refused);
}

TEST(sequences_that_are_prepared_are_left_when_the_caller_says_so) {
  SequenceStore s = stored(draw(7, 6, 9, 3));
  const auto kernel = make_grammar(ambiguous_rules(), 0.3, 0.2);
  Leaving never;
  prepare_sequences(*kernel, s, 1, never);
  int asked = 0;
  Leaving soon([&] { return ++asked > 2; });
  CHECK(pair_diagonal(*kernel, s, 1, soon).empty());
  CHECK(asked == 3);
  CHECK(pair_diagonal(*kernel, s, 1, never).size() == 6);
}

#ifndef __SANITIZE_ADDRESS__  // whose allocator writes to the pages it hands out
TEST(sequences_that_are_left_at_once_touch_no_chart) {
  const Sequence x(8000, 0);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const GrammarChart chart(ambiguous_rules(), x.data(), 8000, [] { return true; });
  getrusage(RUSAGE_SELF, &after);
  CHECK(chart.root < 0);
  CHECK(after.ru_minflt - before.ru_minflt < 60000);  // of 125,000 pages for each symbol
}
#endif

/// How often the values of a series of one point against a longer one ask whether to go on.
int questions(const PairKernel& kernel, Index length, Index width) {
  SequenceStore s;
  s.n = 2;
  s.width = width;
  s.start = {0, 1, length + 1};
  s.value.reset((length + 1) * width);
  for (Index k = 0; k < (length + 1) * width; ++k)
    s.value[k] = 0.01 * static_cast<double>(k % 7 + (k < width ? 100 : 0));
  PairScratch scratch;
  int asked = 0;
  scratch.leave = [&] { return ++asked < 0; };
  double value = 0;
  kernel.row(s, 0, s, 1, 1, &value, scratch);
  return asked;
}

TEST(alignments_ask_whether_to_go_on_within_a_row) {
  on_every_isa([] {
    // Points of many variables, which are laid side by side before anything is aligned.
    CHECK(questions(*make_global_alignment(1e-6, 0), 4096, 64) >= 6);
    // Values beyond the range of double: one row of the slow table.
    CHECK(questions(*make_global_alignment(1e6, 0), 65536, 1) >= 10);
  });
}

TEST(sequences_subsequence) {
  on_every_isa([] {
    const auto x = draw(1, 37, 7, 2);
    for (int n : {1, 2, 3, 7})
      for (double decay : {0.5, 1.0}) {
        std::vector<double> weights(static_cast<std::size_t>(n), 0.0);
        weights.back() = 1.0;
        check_kernel(
            *make_subsequence(decay, weights), x,
            [&](const Sequence& s, const Sequence& t) { return subsequences(s, t, n, decay); });
      }
    check_kernel(*make_subsequence(0.7, {0.5, 0.0, 2.0}), x,
                 [&](const Sequence& s, const Sequence& t) {
                   return 0.5 * subsequences(s, t, 1, 0.7) + 2.0 * subsequences(s, t, 3, 0.7);
                 });
  });
}

TEST(sequences_beyond_the_range_of_double) {
  // A weight so small or large that the loop with exponents runs changes the logarithm only.
  on_every_isa([] {
    const auto x = draw(5, 37, 9, 2);
    const SequenceStore s = stored(x);
    PairScratch scratch;
    std::vector<double> plain(x.size()), wide(x.size());
    for (double decay : {0.3, 1.7})
      for (double weight : {0x1p-1000, 0x1p1000})
        for (std::size_t i = 0; i < x.size(); ++i) {
          const auto row = static_cast<Index>(i);
          make_subsequence(decay, {0.0, 1.0, 0.5}, true)
              ->row(s, row, s, 0, s.n, plain.data(), scratch);
          make_subsequence(decay, {0.0, weight, 0.5 * weight}, true)
              ->row(s, row, s, 0, s.n, wide.data(), scratch);
          for (std::size_t j = 0; j < x.size(); ++j) {
            if (std::isinf(plain[j]))
              CHECK(wide[j] == plain[j]);
            else
              CHECK_NEAR(wide[j], plain[j] + std::log(weight), 1e-12);
            double one = 0;
            make_subsequence(decay, {0.0, weight, 0.5 * weight}, true)
                ->row(s, row, s, static_cast<Index>(j), 1, &one, scratch);
            CHECK(one == wide[j]);
          }
        }
  });
}

TEST(sequences_substring) {
  const auto x = draw(2, 30, 12, 2);
  check_kernel(*make_substring(1.0, 1, 1000), x,
               [](const Sequence& s, const Sequence& t) { return substrings(s, t, 1.0, 1); });
  check_kernel(*make_substring(0.6, 2, 1000), x,
               [](const Sequence& s, const Sequence& t) { return substrings(s, t, 0.6, 2); });
}

TEST(sequences_multiset) {
  // Elements and counts in turns; -1 is an element that no column has.
  const std::vector<Sequence> x = {
      {0, 2, 3, 5}, {0, 3, 2, 9, 3, 1}, {}, {-1, 4, 3, 7}, {-1, 4, -1, 6, 0, 1}};
  const SequenceStore s = stored(x);
  PairScratch scratch;
  std::vector<double> row(x.size());
  make_multiset(true, false)->row(s, 0, s, 0, s.n, row.data(), scratch);
  CHECK(row == (std::vector<double>{5 * 26, 7 * 6, 1, 36, 3}));
  make_multiset(false, false)->row(s, 0, s, 0, s.n, row.data(), scratch);
  CHECK(row == (std::vector<double>{3 * 6, 3 * 2, 1, 6, 2}));
  make_multiset(false, false)->row(s, 3, s, 0, s.n, row.data(), scratch);
  CHECK(row == (std::vector<double>{6, 2, 1, 8, 1}));
  // 2^2000 is no double, but has a logarithm.
  Sequence large;
  for (int v = 0; v < 2000; ++v) large.insert(large.end(), {v, 1});
  const SequenceStore l = stored({large});
  double value = 0;
  make_multiset(true, false)->row(l, 0, l, 0, 1, &value, scratch);
  CHECK(std::isinf(value));
  make_multiset(true, true)->row(l, 0, l, 0, 1, &value, scratch);
  CHECK_NEAR(value, 2000 * std::log(2.0), 1e-10);
}

TEST(sequences_weighted_degree) {
  on_every_isa([] {
    const auto x = draw(3, 12, 150, 2);
    check_kernel(*make_weighted_degree({1.0, 0.5, 0.25}, 0), x,
                 [](const Sequence& s, const Sequence& t) {
                   const double weight[] = {1.0, 0.5, 0.25};
                   const std::size_t n = std::min(s.size(), t.size());
                   double sum = 0;
                   for (std::size_t i = 0; i < n; ++i)
                     for (std::size_t l = 0; l < 3 && i + l < n && s[i + l] == t[i + l]; ++l)
                       sum += weight[l];
                   return sum;
                 });
  });
}

TEST(sequences_unknown_tokens_equal_none) {
  const SequenceStore a = stored({{-1, 0, -1}}), b = stored({{0, 1}, {1, 1}});
  PairScratch scratch;
  double out[2];
  for (const auto& kernel :
       {make_subsequence(1.0, {1.0}), make_substring(1.0, 1, 9), make_weighted_degree({1.0}, 5)}) {
    pair_values(*kernel, a, 0, b, 0, 2, out, scratch);
    CHECK(out[0] > 0);
    CHECK(out[1] == 0);
  }
}

TEST(sequences_take) {
  auto objects = std::make_shared<Objects<double>>();
  const auto x = draw(4, 9, 6, 3);
  objects->n = 9;
  SequenceStore all = stored(x);
  Leaving leaving;
  prepare_sequences(*make_grammar(ambiguous_rules(), 0.3, 0.2), all, 2, leaving);
  const auto prepared = all.prepared;
  objects->stores.push_back(std::make_shared<const Store<double>>(std::move(all)));
  const std::vector<Index> index{8, 0, 0, 5};
  const auto some = objects->take(index.data(), 4);
  const auto& s = std::get<SequenceStore>(*some->stores[0]);
  CHECK(s.n == 4);
  for (Index i = 0; i < 4; ++i) {
    const Sequence& expected = x[static_cast<std::size_t>(index[i])];
    CHECK(Sequence(s.tokens(i), s.tokens(i) + s.length(i)) == expected);
    CHECK(s.prepared[i] == prepared[static_cast<std::size_t>(index[i])]);
  }
}

TEST(sequences_counts_of_patterns) {
  for (int letters : {2, 40, 5000})
    for (const std::vector<std::vector<Index>>& patterns :
         {std::vector<std::vector<Index>>{{0, 1, 2}}, {{0, 1}, {0, 2}, {1, 2}}}) {
      auto x = draw(letters, 20, 15, letters);
      x[3] = {0, 1, -1, 1, 0, 1};
      x[4] = x[5];
      const SequenceStore s = stored(x);
      GramTable table(patterns, static_cast<Index>(patterns[0].size()), 3);
      const GramCounts counts = table.count(s.token.data(), s.start.data(), s.n);
      // What is known already is found again at its place.
      const GramCounts again = table.count(s.token.data(), s.start.data(), s.n);
      CHECK(again.column == counts.column);
      CHECK(again.value == counts.value);
      std::vector<std::map<std::vector<Index>, double>> contents(x.size());
      for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t at = 0; at + 3 <= x[i].size(); ++at) {
          if (x[i][at] < 0 || x[i][at + 1] < 0 || x[i][at + 2] < 0) continue;
          for (std::size_t p = 0; p < patterns.size(); ++p) {
            std::vector<Index> content{static_cast<Index>(p)};
            for (Index o : patterns[p]) content.push_back(x[i][at + static_cast<std::size_t>(o)]);
            ++contents[i][content];
          }
        }
      for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t j = 0; j < x.size(); ++j) {
          double expected = 0, found = 0;
          for (const auto& [content, number] : contents[i])
            if (auto it = contents[j].find(content); it != contents[j].end())
              expected += number * it->second;
          Index e = counts.start[i], f = counts.start[j];
          while (e < counts.start[i + 1] && f < counts.start[j + 1]) {
            if (counts.column[e] == counts.column[f])
              found += counts.value[e++] * counts.value[f++];
            else if (counts.column[e] < counts.column[f])
              ++e;
            else
              ++f;
          }
          CHECK(found == expected);
        }
    }
}

TEST(sequences_inverted_index_agrees_with_the_tiles) {
  on_every_isa([] {
    // Counts as compressed rows, stored with and without an inverted index.
    std::mt19937 random(5);
    const Index n = 1500, d = 400;
    std::vector<double> value;
    std::vector<std::int64_t> column, start{0};
    for (Index i = 0; i < n; ++i) {
      for (Index c = 0; c < d; ++c)
        if (random() % 20 == 0) column.push_back(c), value.push_back(1.0 + random() % 3);
      start.push_back(static_cast<std::int64_t>(column.size()));
    }
    std::vector<std::vector<double>> tiles;
    for (bool exact : {false, true}) {
      auto store = pack_sparse<double, double, std::int64_t>(value.data(), column.data(),
                                                             start.data(), n, d, exact);
      CHECK(store.inverted() == exact);
      auto objects = std::make_shared<Objects<double>>();
      objects->n = n;
      objects->stores.push_back(std::make_shared<const Store<double>>(std::move(store)));
      Program program;
      program.n_leaves = 1;
      program.code.push_back({Op::leaf, 0, 0, 0});
      const Evaluator<double> e(program, {LeafSource<double>{}}, objects, objects);
      Query<double> q;
      const std::vector<Index> rows{3, 700, 1499};
      std::vector<double> out(static_cast<std::size_t>(3 * round_up(n, e.panel())));
      e.prepare(q, rows.data(), 3);
      e.tile(q, 0, n, out.data(), round_up(n, e.panel()));
      const Index from = 16 * e.panel();
      std::vector<double> part(static_cast<std::size_t>(3 * 1024));
      e.tile(q, from, 512, part.data(), 1024);
      for (int r = 0; r < 3; ++r)
        for (Index k = 0; k < 512; ++k)
          CHECK(part[r * 1024 + k] == out[r * round_up(n, e.panel()) + from + k]);
      tiles.push_back(out);
    }
    CHECK(tiles[0] == tiles[1]);
  });
}
