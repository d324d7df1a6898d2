// Sequences by themselves: diagonals, counts of patterns, hidden Markov models.
#include "bindings/builder.hpp"
#include "bindings/parts.hpp"
#include "bindings/programs.hpp"
#include "bindings/signals.hpp"
#include "sequences/grams.hpp"
#include "sequences/hidden_markov.hpp"
#include "thread_pool.hpp"

namespace mercer {
namespace {

/// k(x, x) of sequences, or its logarithm for the kernels that give those.
template <class U>
nb::object diagonal_of(nb::tuple kernel, const U* data, size_t total, const Array1<Index>& start,
                       Index width, int n_jobs) {
  const auto pair = parse_pair(kernel);
  SequenceStore s = sequence_store(data, total, start, width, std::nullopt);
  if (pair->takes_points() != (width > 0))
    throw nb::value_error("sequences do not fit their kernel");
  std::vector<double> d;
  interruptible([&](Leaving& leaving) {
    const int threads = resolve_jobs(n_jobs);
    if (prepare_sequences(*pair, s, threads, leaving))
      d = pair_diagonal(*pair, s, threads, leaving);
  });
  return array_of(d);
}

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// The emissions come transposed: symbols x states.
HiddenMarkovModel hidden_markov(const Array1<double>& initial, const Matrix& transition,
                                const Matrix& emission, const Array1<std::int32_t>& x) {
  const size_t k = initial.shape(0), symbols = emission.shape(0);
  if (k == 0 || transition.shape(0) != k || transition.shape(1) != k || emission.shape(1) != k)
    throw nb::value_error("the tables of the model do not fit together");
  for (size_t i = 0; i < x.shape(0); ++i)
    if (x.data()[i] < 0 || static_cast<size_t>(x.data()[i]) >= symbols)
      throw nb::index_error("symbol out of range");
  return {static_cast<Index>(k), static_cast<Index>(symbols), initial.data(), transition.data(),
          emission.data()};
}

nb::tuple hidden_markov_gradients_of(Array1<std::int32_t> x, Array1<Index> start,
                                     Array1<double> initial, Matrix transition, Matrix emission,
                                     int n_jobs) {
  const HiddenMarkovModel m = hidden_markov(initial, transition, emission, x);
  if (start.shape(0) == 0) throw nb::value_error("malformed sequences");
  const size_t n = start.shape(0) - 1;
  for (size_t s = 0; s < n; ++s)
    if (start.data()[s] < 0 || start.data()[s + 1] < start.data()[s] ||
        static_cast<size_t>(start.data()[s + 1]) > x.shape(0))
      throw nb::value_error("malformed sequences");
  double *log_probability, *gradient;
  auto first = fresh<double>({n}, &log_probability);
  auto second = fresh<double>(
      {n, static_cast<size_t>(m.states + m.states * m.states + m.states * m.symbols)}, &gradient);
  interruptible([&](Leaving& leaving) {
    hidden_markov_gradients(m, x.data(), start.data(), static_cast<Index>(n), resolve_jobs(n_jobs),
                            leaving, log_probability, gradient);
  });
  return nb::make_tuple(first, second);
}

nb::tuple hidden_markov_passes_of(Array1<std::int32_t> x, Array1<double> initial, Matrix transition,
                                  Matrix emission) {
  const HiddenMarkovModel m = hidden_markov(initial, transition, emission, x);
  const size_t length = x.shape(0), k = initial.shape(0);
  ForwardBackward pass;
  double log_probability = 0;
  interruptible([&](Leaving& leaving) {
    log_probability =
        pass.run(m, x.data(), static_cast<Index>(length), [&leaving] { return leaving(); });
  });
  double *forward, *backward, *scale;
  auto f = fresh<double>({length, k}, &forward);
  auto b = fresh<double>({length, k}, &backward);
  auto c = fresh<double>({length}, &scale);
  std::copy_n(pass.forward.data(), length * k, forward);
  std::copy_n(pass.backward.data(), length * k, backward);
  std::copy_n(pass.scale.data(), length, scale);
  return nb::make_tuple(log_probability, f, b, c);
}

SequenceStore prepared_tokens(const PairKernel& kernel, const Array1<std::int32_t>& token,
                              const Array1<Index>& start, int threads) {
  SequenceStore s = sequence_store(token.data(), token.shape(0), start, 0, std::nullopt);
  interruptible([&](Leaving& leaving) { prepare_sequences(kernel, s, threads, leaving); });
  return s;
}

/// Derivatives of a kernel on pairs of sequences, 2 x a.n x b.n; see sequences/kernels.hpp.
nb::object slopes_of(nb::tuple kernel, Array1<std::int32_t> a, Array1<Index> start_a,
                     Array1<std::int32_t> b, Array1<Index> start_b, int n_jobs) {
  const auto pair = parse_pair(kernel);
  const auto slopes =
      nb::cast<std::string>(kernel[0]) == "grammar" ? grammar_slopes : subsequence_slopes;
  const int threads = resolve_jobs(n_jobs);
  const SequenceStore x = prepared_tokens(*pair, a, start_a, threads);
  const SequenceStore z = prepared_tokens(*pair, b, start_b, threads);
  double* out;
  auto result = fresh<double>({2, static_cast<size_t>(x.n), static_cast<size_t>(z.n)}, &out);
  interruptible([&](Leaving& leaving) { slopes(*pair, x, z, threads, leaving, out); });
  return nb::cast(result);
}

nb::object grammar_probabilities_of(nb::tuple kernel, Array1<std::int32_t> token,
                                    Array1<Index> start) {
  const GrammarRules rules = parse_rules(kernel);
  const auto pair = make_grammar(rules, 1.0, 0.0);
  const SequenceStore s = prepared_tokens(*pair, token, start, resolve_jobs(0));
  std::vector<double> out;
  for (const auto& chart : s.prepared)
    out.push_back(static_cast<const GrammarChart&>(*chart).probability);
  return array_of(out);
}

}  // namespace

void bind_sequences(nb::module_& m) {
  m.def(
      "token_diagonal",
      [](nb::tuple kernel, Array1<std::int32_t> token, Array1<Index> start, int n_jobs) {
        return diagonal_of(kernel, token.data(), token.shape(0), start, 0, n_jobs);
      },
      "kernel"_a, "token"_a.noconvert(), "start"_a.noconvert(), "n_jobs"_a = 0);
  m.def(
      "point_diagonal",
      [](nb::tuple kernel,
         nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> value,
         Array1<Index> start, int n_jobs) {
        return diagonal_of(kernel, value.data(), value.shape(0), start,
                           static_cast<Index>(value.shape(1)), n_jobs);
      },
      "kernel"_a, "value"_a.noconvert(), "start"_a.noconvert(), "n_jobs"_a = 0);
  nb::class_<GramTable>(m, "GramTable")
      .def(nb::init<std::vector<std::vector<Index>>, Index, Index>(), "patterns"_a, "min_depth"_a,
           "span"_a)
      .def(
          "count",
          [](GramTable& table, Array1<std::int32_t> token, Array1<Index> start) {
            const SequenceStore s =
                sequence_store(token.data(), token.shape(0), start, 0, std::nullopt);
            GramCounts counts;
            interruptible([&](Leaving& leaving) {
              counts = table.count(s.token.data(), s.start.data(), s.n,
                                   [&leaving] { return leaving(); });
            });
            return nb::make_tuple(array_of(counts.value), array_of(counts.column),
                                  array_of(counts.start));
          },
          "token"_a.noconvert(), "start"_a.noconvert())
      .def_prop_ro("columns", &GramTable::columns);
  m.def("sequence_slopes", &slopes_of, "kernel"_a, "token_a"_a.noconvert(), "start_a"_a.noconvert(),
        "token_b"_a.noconvert(), "start_b"_a.noconvert(), "n_jobs"_a = 0);
  m.def("grammar_probabilities", &grammar_probabilities_of, "kernel"_a, "token"_a.noconvert(),
        "start"_a.noconvert());
  m.def("hidden_markov_gradients", &hidden_markov_gradients_of, "symbols"_a.noconvert(),
        "start"_a.noconvert(), "initial"_a.noconvert(), "transition"_a.noconvert(),
        "emission"_a.noconvert(), "n_jobs"_a = 0);
  m.def("hidden_markov_passes", &hidden_markov_passes_of, "symbols"_a.noconvert(),
        "initial"_a.noconvert(), "transition"_a.noconvert(), "emission"_a.noconvert());
}

}  // namespace mercer
