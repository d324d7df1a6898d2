// Forward and backward passes of a hidden Markov model with discrete emissions.
//
// With initial probabilities p, transitions A, emissions B and a sequence x_1..x_T,
//
//   P(x) = sum over paths h of p(h_1) B(h_1, x_1) prod_t A(h_{t-1}, h_t) B(h_t, x_t).
//
// The passes are the scaled ones of L. R. Rabiner (Proc. IEEE 77, 1989, section V.A): with
// c_t = P(x_t | x_1..x_{t-1}) every forward vector sums to 1 and log P(x) = sum_t log c_t. What is
// returned is the gradient of log P(x) with respect to every entry of p, A and B, taken as
// independent numbers; entry times gradient is the expected number of times it is used.
//
// Entries that are zero are structural, they are no parameters: a state that cannot be reached at
// time t takes no part in the backward pass there, and the gradient of a zero entry means nothing.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "sequences/pair_kernel.hpp"

namespace mercer {

struct HiddenMarkovModel {
  Index states = 0;
  Index symbols = 0;
  const double* initial = nullptr;     ///< states
  const double* transition = nullptr;  ///< states x states, row = from
  const double* emission = nullptr;    ///< symbols x states: the emissions, transposed
};

/// The two passes over one sequence, with storage that is used again for the next.
class ForwardBackward {
 public:
  std::vector<double> predicted;  ///< t x states: P(h_t | x_1..x_{t-1})
  std::vector<double> forward;    ///< t x states: P(h_t | x_1..x_t)
  std::vector<double> backward;  ///< t x states: P(x_{t+1}..x_T | h_t) / P(x_{t+1}..x_T | x_1..x_t)
  std::vector<double> scale;     ///< t: c_t

  /// Returns log P(x); minus infinity, without a backward pass, where P(x) is zero. Any number when
  /// the work is left.
  double run(const HiddenMarkovModel& m, const std::int32_t* x, Index length,
             const std::function<bool()>& leave = nullptr) {
    Asking asking(leave);
    const Index k = m.states;
    const Index cells = std::max<Index>(length, 1) * k;
    predicted = vector_of<double>(cells);
    forward = vector_of<double>(cells);
    backward = vector_of<double>(cells);
    scale = vector_of<double>(std::max<Index>(length, 1));
    double log_probability = 0.0;
    for (Index t = 0; t < length && !asking.leaves(k * k); ++t) {
      double* now = &predicted[at(t, k)];
      if (t == 0)
        std::copy_n(m.initial, k, now);
      else
        for (Index i = 0; i < k; ++i) {
          const double a = forward[at(t - 1, k) + static_cast<size_t>(i)];
          const double* row = m.transition + i * k;
          for (Index j = 0; j < k; ++j) now[j] += a * row[j];
        }
      const double* emit = m.emission + x[t] * k;
      double* f = &forward[at(t, k)];
      double c = 0.0;
      for (Index j = 0; j < k; ++j) c += f[j] = now[j] * emit[j];
      if (!(c > 0.0)) return -std::numeric_limits<double>::infinity();
      scale[static_cast<size_t>(t)] = c;
      log_probability += std::log(c);
      // Below the normal range the backward value, at most 1 / f, could overflow.
      for (Index j = 0; j < k; ++j) {
        f[j] /= c;
        if (f[j] < std::numeric_limits<double>::min()) f[j] = 0.0;
      }
    }
    std::vector<double>& future = emitted_;
    future.resize(static_cast<size_t>(k));
    for (Index t = length - 1; t >= 0 && !asking.leaves(k * k); --t) {
      double* b = &backward[at(t, k)];
      if (t == length - 1) {
        std::fill_n(b, k, 1.0);
      } else {
        emitted(m, x, t + 1, future.data());
        for (Index i = 0; i < k; ++i) {
          const double* row = m.transition + i * k;
          double sum = 0.0;
          for (Index j = 0; j < k; ++j) sum += row[j] * future[static_cast<size_t>(j)];
          b[i] = sum;
        }
      }
      for (Index j = 0; j < k; ++j)
        if (forward[at(t, k) + static_cast<size_t>(j)] == 0.0) b[j] = 0.0;
    }
    return log_probability;
  }

  /// Writes d log P / d (initial, transition, emission), the emissions as states x symbols.
  void gradient(const HiddenMarkovModel& m, const std::int32_t* x, Index length, double* out,
                const std::function<bool()>& leave = nullptr) {
    Asking asking(leave);
    const Index k = m.states;
    double* initial = out;
    double* transition = out + k;
    double* emission = transition + k * k;
    std::fill_n(out, k + k * k + k * m.symbols, 0.0);
    std::vector<double>& future = emitted_;
    future.resize(static_cast<size_t>(k));
    for (Index t = 0; t < length && !asking.leaves(k * k); ++t) {
      emitted(m, x, t, future.data());
      const double c = scale[static_cast<size_t>(t)];
      const double* b = &backward[at(t, k)];
      const double* now = &predicted[at(t, k)];
      for (Index j = 0; j < k; ++j) emission[j * m.symbols + x[t]] += now[j] * b[j] / c;
      if (t == 0) {
        std::copy_n(future.data(), k, initial);
        continue;
      }
      const double* f = &forward[at(t - 1, k)];
      for (Index i = 0; i < k; ++i)
        for (Index j = 0; j < k; ++j)
          transition[i * k + j] += f[i] * future[static_cast<size_t>(j)];
    }
  }

 private:
  std::vector<double> emitted_;

  static size_t at(Index t, Index k) { return static_cast<size_t>(t * k); }

  /// B(j, x_t) backward_t(j) / c_t.
  void emitted(const HiddenMarkovModel& m, const std::int32_t* x, Index t, double* out) const {
    const double* emit = m.emission + x[t] * m.states;
    const double* b = &backward[at(t, m.states)];
    const double c = scale[static_cast<size_t>(t)];
    for (Index j = 0; j < m.states; ++j) out[j] = emit[j] * b[j] / c;
  }
};

/// log P and its gradient for n sequences: sequence s is x[start[s]] .. x[start[s + 1] - 1].
/// The gradient of an impossible sequence is zero. Each sequence is treated on its own, so the
/// numbers do not depend on the others or on the threads. False when the work was left.
inline bool hidden_markov_gradients(const HiddenMarkovModel& m, const std::int32_t* x,
                                    const Index* start, Index n, int threads, Leaving& leaving,
                                    double* log_probability, double* gradient) {
  const Index width = m.states + m.states * m.states + m.states * m.symbols;
  std::vector<ForwardBackward> scratch(static_cast<size_t>(std::max(threads, 1)));
  return parallel_for(threads, n, leaving, [&](Index s, int worker) {
    const auto leave = [&leaving, worker] { return leaving(worker); };
    ForwardBackward& pass = scratch[static_cast<size_t>(worker)];
    const Index length = start[s + 1] - start[s];
    log_probability[s] = pass.run(m, x + start[s], length, leave);
    if (std::isfinite(log_probability[s]))
      pass.gradient(m, x + start[s], length, gradient + s * width, leave);
    else
      std::fill_n(gradient + s * width, width, 0.0);
  });
}

}  // namespace mercer
