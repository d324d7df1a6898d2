// The passes of a hidden Markov model against the sum over all hidden paths.
#include <cmath>
#include <random>
#include <vector>

#include "harness.hpp"
#include "sequences/hidden_markov.hpp"

using namespace mercer;

namespace {
Leaving never;

struct Tables {
  Index states, symbols;
  std::vector<double> initial, transition, emission;  // the emissions transposed

  HiddenMarkovModel view() const {
    return {states, symbols, initial.data(), transition.data(), emission.data()};
  }
};

Tables random_tables(Index states, Index symbols, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> draw(0.1, 1.0);
  Tables t{states, symbols, {}, {}, {}};
  for (Index i = 0; i < states; ++i) t.initial.push_back(draw(random));
  for (Index i = 0; i < states * states; ++i) t.transition.push_back(draw(random));
  for (Index i = 0; i < states * symbols; ++i) t.emission.push_back(draw(random));
  return t;
}

/// Sum over paths; the entries need not be normalised, P is a polynomial in them.
double enumerated(const Tables& t, const std::vector<std::int32_t>& x) {
  Index paths = 1;
  for (size_t i = 0; i < x.size(); ++i) paths *= t.states;
  double sum = 0.0;
  for (Index code = 0; code < paths; ++code) {
    double p = 1.0;
    Index rest = code, before = 0;
    for (size_t i = 0; i < x.size(); ++i, rest /= t.states) {
      const Index h = rest % t.states;
      p *= i == 0 ? t.initial[static_cast<size_t>(h)]
                  : t.transition[static_cast<size_t>(before * t.states + h)];
      p *= t.emission[static_cast<size_t>(x[i] * t.states + h)];
      before = h;
    }
    sum += p;
  }
  return sum;
}

}  // namespace

TEST(hidden_markov_gradient_is_that_of_the_sum_over_paths) {
  const std::vector<std::int32_t> x = {0, 2, 1, 1, 0};
  const Tables t = random_tables(3, 3, 1);
  const Index width = 3 + 9 + 9;
  std::vector<double> gradient(static_cast<size_t>(width));
  const Index start[] = {0, 5};
  double log_probability = 0.0;
  hidden_markov_gradients(t.view(), x.data(), start, 1, 1, never, &log_probability,
                          gradient.data());
  CHECK_NEAR(log_probability, std::log(enumerated(t, x)), 1e-12);
  for (Index e = 0; e < width; ++e) {
    Tables up = t, down = t;
    auto entry = [&](Tables& m) -> double& {
      if (e < 3) return m.initial[static_cast<size_t>(e)];
      if (e < 12) return m.transition[static_cast<size_t>(e - 3)];
      const Index state = (e - 12) / 3, symbol = (e - 12) % 3;
      return m.emission[static_cast<size_t>(symbol * 3 + state)];
    };
    entry(up) += 1e-6;
    entry(down) -= 1e-6;
    const double slope = (std::log(enumerated(up, x)) - std::log(enumerated(down, x))) / 2e-6;
    CHECK_NEAR(gradient[static_cast<size_t>(e)], slope, 1e-7);
  }
}

TEST(hidden_markov_sequences_are_independent_of_company_and_threads) {
  const Tables t = random_tables(4, 2, 2);
  std::vector<std::int32_t> x;
  std::vector<Index> start = {0};
  for (Index s = 0; s < 40; ++s) {
    for (Index i = 0; i < s % 7; ++i) x.push_back(static_cast<std::int32_t>((i * s) % 3 == 0));
    start.push_back(static_cast<Index>(x.size()));
  }
  const Index width = 4 + 16 + 8;
  std::vector<double> p1(40), p2(40), g1(static_cast<size_t>(40 * width)), g2(g1.size());
  hidden_markov_gradients(t.view(), x.data(), start.data(), 40, 1, never, p1.data(), g1.data());
  hidden_markov_gradients(t.view(), x.data(), start.data(), 40, 3, never, p2.data(), g2.data());
  CHECK(p1 == p2);
  CHECK(g1 == g2);
  CHECK_NEAR(p1[0], 0.0, 0.0);  // the empty sequence
}

TEST(hidden_markov_impossible_sequences_have_no_gradient) {
  Tables t = random_tables(2, 2, 3);
  t.emission[0] = t.emission[1] = 0.0;  // symbol 0 is never emitted
  const std::int32_t x[] = {1, 0};
  const Index start[] = {0, 2};
  double log_probability = 0.0;
  std::vector<double> gradient(2 + 4 + 4, 1.0);
  hidden_markov_gradients(t.view(), x, start, 1, 1, never, &log_probability, gradient.data());
  CHECK(std::isinf(log_probability) && log_probability < 0);
  for (double g : gradient) CHECK_NEAR(g, 0.0, 0.0);
}
