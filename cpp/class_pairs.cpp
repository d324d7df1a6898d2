#include "class_pairs.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "isa/dispatch.hpp"
#include "leaving.hpp"
#include "polish.hpp"
#include "solver_parts.hpp"
#include "thread_pool.hpp"

namespace mercer {

namespace {

/// Slots of a float64 problem start at a multiple of this: two of the widest vectors.
constexpr Index double_align = 16;
/// Kernel values of a strip: a few hundred kilobytes, which stay in the second-level cache.
constexpr Index strip_values = 32768;
/// Pair steps after which a problem is left to the general solver.
constexpr Index patience = 20000;
/// A violation that needs no polishing.
constexpr double polished = 1e-12;
/// Linear systems that a problem is polished with at a time.
constexpr int systems = 12;
/// Multiply-adds of polishing for every one of the pair steps before it.
constexpr Index polish_share = 4;
/// Multiply-adds of polishing in any case: about a millisecond.
constexpr Index polish_least = Index(1) << 20;
/// Error of a kernel value in units of the rounding of float64; see mercer.solvers.rounding.
constexpr double kernel_error = 8;
/// Roundings of a short expression, such as a loss.
constexpr double few = 8;
/// Kernel entries of all pairs (about half a millisecond of work) from which threads are woken.
constexpr Index worth_waking = 40000;
/// A gap this many times the limit still counts as within it.
constexpr double reached = 1.01;

using Clock = std::chrono::steady_clock;

/// One thread's room for one problem after the other.
class PairSolver {
 public:
  PairSolver(const ClassPairs& p, const Settings& s, const std::atomic<bool>& stop)
      : p_(p), settings_(s), stop_(stop) {}

  Query<double> query;
  Buffer<double> strip;

  /// The rows of the pair (i, j), their dual terms and their kernel matrix.
  void load(Index i, Index j, const double* own, const double* other, const double* across,
            Index across_stride) {
    ni_ = p_.size(i);
    m_ = ni_ + p_.size(j);
    place();
    const Index from[2] = {p_.begin(i), p_.begin(j)}, n = p_.n();
    for (Index r = 0; r < m_; ++r) {
      const Index row = r < ni_ ? from[0] + r : n + from[1] + (r - ni_);
      problem_.lower[r] = p_.lower[row];
      problem_.upper[r] = p_.upper[row];
      problem_.slope_left[r] = p_.slope_left[row];
      problem_.slope_right[r] = p_.slope_right[row];
      problem_.curv_left[r] = p_.curv_left[row];
      problem_.curv_right[r] = p_.curv_right[row];
      problem_.kink[r] = p_.kink[row];
    }
    const Index nj = m_ - ni_;
    for (Index r = 0; r < ni_; ++r) {
      double* row = matrix_.data() + r * stride_;
      std::copy_n(own + r * ni_, ni_, row);
      std::copy_n(across + r * across_stride, nj, row + ni_);
    }
    for (Index r = 0; r < nj; ++r) {
      double* row = matrix_.data() + (ni_ + r) * stride_;
      for (Index c = 0; c < ni_; ++c) row[c] = across[c * across_stride + r];
      std::copy_n(other + r * nj, nj, row + ni_);
    }
    std::fill_n(sol_.beta.begin(), m_, 0.0);
    std::fill_n(sol_.values.begin(), m_, 0.0);
    sol_.multiplier[0] = 0;
    sol_.range[0][0] = sol_.range[0][1] = 0;
    sol_.n_iter = 0;
    for (Index r = 0; r < m_; ++r) slots_.set(r, problem_, r, 0.0, 0.0, matrix_[r * stride_ + r]);
  }

  /// Minimises; the deadline is one for all problems.
  void solve(Clock::time_point deadline, bool limited) {
    InnerTask<double>& t = slots_.task;
    t.tol = settings_.tol;
    t.stop = &stop_;
    sol_.status = Status::optimal;
    const double gap = gap_limit();
    const Index limit = settings_.max_iter < 0 ? patience : std::min(settings_.max_iter, patience);
    for (int round = 0; round < rounds; ++round) {
      if (stop_.load(std::memory_order_relaxed)) {
        sol_.status = Status::interrupted;
        break;
      }
      if (limited && Clock::now() > deadline) {
        sol_.status = Status::time_limit;
        break;
      }
      // Pair steps crawl on badly scaled problems; the free variables solve a linear system.
      const Index chunk = (100 + 20 * m_) << round;
      t.max_steps = std::min(limit - sol_.n_iter, chunk);
      ops<double>().inner(t);
      const Index steps = t.steps;
      const bool closer = t.violation <= t.tol;
      sol_.n_iter += steps;
      std::copy_n(t.beta, m_, sol_.beta.begin());
      const double size = largest();
      for (Index r = 0; r < m_; ++r) sol_.beta[r] = problem_.settled(r, sol_.beta[r], size);
      repair();
      rebuild();
      summarise(problem_, sol_);
      if (settings_.gap_tol <= 0) polish(limit, polish_least + polish_share * steps * m_);
      const bool met = sol_.violation <= settings_.tol * (1 + 1e-9);
      if (met && sol_.relative_gap <= gap) return;
      if (stop_.load(std::memory_order_relaxed)) continue;
      if (sol_.n_iter >= limit || steps == 0) {
        if (!met) sol_.status = by_user() ? Status::iteration_limit : Status::stalled;
        return;
      }
      if (met || closer) t.tol *= met ? 0.1 : 0.5;
      for (Index r = 0; r < m_; ++r) t.beta[r] = sol_.beta[r], t.values[r] = sol_.values[r];
    }
    if (sol_.status != Status::optimal) {
      summarise(problem_, sol_);
    } else if (!(sol_.violation <= settings_.tol * 1.01)) {
      sol_.status = Status::stalled;
    }
  }

  /// Writes the model and its proof.
  void store(Index i, Index j, PairResults& out) {
    worst_ = std::max(worst_, sol_.violation);
    const Index k = p_.pair(i, j), n = p_.n();
    const double m = sol_.multiplier[0];
    const bool tight = p_.equality && sol_.violation <= 0;
    out.intercept[k] = -m;
    out.lowest[k] = tight ? std::min(-sol_.range[0][1], -m) : -m;
    out.highest[k] = tight ? std::max(-sol_.range[0][0], -m) : -m;
    out.n_iter[k] = static_cast<int>(sol_.n_iter);
    double quad = 0, cost = 0, conjugates = 0, size = 0, sum = 0, total = 0, rise = 0;
    double squares = 0, products = 0, parts = 0;
    for (Index r = 0; r < m_; ++r) {
      const double at = m - sol_.values[r], b = sol_.beta[r], root = root_diagonal(r);
      const double zero = problem_.phi(r, 0.0), phi = problem_.phi(r, b);
      quad += b * sol_.values[r];
      products += std::fabs(b * sol_.values[r]);
      squares += b * b * root * root;
      cost += problem_.conjugate(r, at) + zero;
      conjugates += phi - zero;
      if (b != 0) parts += std::fabs(phi) + std::fabs(zero);  // of which much may cancel
      size += std::fabs(b) * root;
      sum += b;
      total += std::fabs(b);
    }
    quad = std::max(quad, 0.0);
    const double primal = 0.5 * quad + cost, dual = std::min(-0.5 * quad - conjugates, primal);
    // The value of row r is wrong by k(r, r)^1/2 `spread` at most: errors of kernel values are
    // independent, and those of sums add up. Every sum over the rows has m terms. A sum of
    // coefficients that is not 0 changes the dual by the intercept.
    const double unit = 0.5 * std::numeric_limits<double>::epsilon();
    const double spread = unit * (kernel_error * std::sqrt(squares) + 0.5 * size);
    // The slope of a loss at either end of the interval that holds the value: a kink is inside.
    for (Index r = 0; r < m_; ++r) {
      const double at = m - sol_.values[r];
      const double e = root_diagonal(r) * spread + unit * few * (std::fabs(m) + std::fabs(at));
      rise += e * std::max(std::fabs(problem_.maximiser(r, at - e)),
                           std::fabs(problem_.maximiser(r, at + e)));
    }
    double error = size * spread + unit * (static_cast<double>(m_) + few) *
                                       (products + std::fabs(cost) + rise + parts);
    if (p_.equality)
      error += std::fabs(m) * (std::fabs(sum) + unit * static_cast<double>(m_) * total);
    // A gap that is too large, or whose rounding is, proves nothing.
    const bool proved =
        primal - dual + 2 * error + rise <= reached * gap_limit() * (primal > 0 ? primal : 1);
    if (sol_.status == Status::optimal && !proved)
      sol_.status = by_user() ? Status::iteration_limit : Status::stalled;
    out.status[k] = static_cast<signed char>(sol_.status);
    out.rounding[k] = 2 * error + rise;
    out.primal[k] = std::nextafter(primal + error + rise, infinite);
    out.dual[k] = std::nextafter(dual - error, -infinite);
    out.terms[k] = primal;
    out.norm2[k] = quad;
    out.violation[k] = sol_.violation;
    for (Index r = 0; r < m_; ++r) {
      const bool first = r < ni_;
      const Index line = first ? j - 1 : i;
      const Index at = line * n + p_.order[first ? p_.begin(i) + r : p_.begin(j) + (r - ni_)];
      const double b = sol_.beta[r], f = sol_.values[r] - m;
      const bool bounded = b >= problem_.upper[r] || b <= problem_.lower[r];
      out.coef[at] = b;
      out.excess[at] = first ? 1 - f : 1 + f;
      out.mark[at] = static_cast<signed char>((b != 0) + (b != 0 && bounded));
    }
  }

  Index n_iter() const { return sol_.n_iter; }
  /// The largest violation among the problems so far.
  double worst() const { return worst_; }

 private:
  static constexpr int rounds = 8;

  /// The relative gap of a problem that is solved.
  double gap_limit() const {
    if (settings_.gap_tol > 0) return settings_.gap_tol;
    return settings_.largest_gap > 0 ? settings_.largest_gap : infinite;
  }

  /// Whether the user's limit on steps is reached.
  bool by_user() const { return settings_.max_iter >= 0 && sol_.n_iter >= settings_.max_iter; }

  /// Room for m_ variables; inert slots after them.
  void place() {
    const Index size = round_up(m_, double_align);
    if (size > capacity_) {
      const Index count[2] = {size, 0};
      slots_.layout(p_.equality ? 1 : 0, count, double_align);
      stride_ = capacity_ = size;
      matrix_.require(size * stride_);
      std::fill_n(matrix_.data(), size * stride_, 0.0);
      for (Index r = 0; r < size; ++r) slots_.task.rows[r] = matrix_.data() + r * stride_;
      placed_ = 0;
    }
    for (Index r = m_; r < placed_; ++r) slots_.clear(r);
    placed_ = m_;
    // Fewer slots than there is room for are fewer to look at.
    slots_.task.size = slots_.task.group_end[0] = size;
    for (Index r = m_; r < size; ++r) slots_.task.values[r] = 0;
    if (problem_.size() == m_) return;
    for (auto* v : {&problem_.lower, &problem_.upper, &problem_.slope_left, &problem_.slope_right,
                    &problem_.curv_left, &problem_.curv_right, &problem_.kink})
      v->resize(static_cast<std::size_t>(m_));
    problem_.groups = p_.equality ? 1 : 0;
    problem_.group.assign(static_cast<std::size_t>(m_), 0);
    sol_.beta.resize(static_cast<std::size_t>(m_));
    sol_.values.resize(static_cast<std::size_t>(m_));
  }

  double root_diagonal(Index r) const { return std::sqrt(std::fabs(slots_.task.diag[r])); }

  double largest() const {
    double size = 0;
    for (Index r = 0; r < m_; ++r) size = std::max(size, std::fabs(sol_.beta[r]));
    return size;
  }

  /// Makes the coefficients sum to 0 by moving the one with the most room. A sum that is rounding
  /// moves none from its bound.
  void repair() {
    if (!p_.equality) return;
    const double rounding = problem_.rounding_of_sum(largest());
    for (int pass = 0; pass < 2; ++pass) {
      double sum = 0, lost = 0;
      for (Index r = 0; r < m_; ++r) {
        const double b = sol_.beta[r], next = sum + b;
        lost += std::fabs(sum) >= std::fabs(b) ? (sum - next) + b : (b - next) + sum;
        sum = next;
      }
      sum += lost;
      if (sum == 0) return;
      Index best = -1;
      double most = 0;
      for (Index r = 0; r < m_; ++r) {
        const double b = sol_.beta[r];
        if (b == 0) continue;
        const double down = b - problem_.lower[r], up = problem_.upper[r] - b;
        const bool inside = down > 0 && up > 0;
        if (!inside && std::fabs(sum) <= rounding) continue;
        // Strictly inside wins: one at its bound becomes free by the move.
        const double room = inside ? 2 + std::min(down, up) : (sum > 0 ? down : up);
        if ((sum > 0 ? down : up) >= std::fabs(sum) && room > most) most = room, best = r;
      }
      if (best < 0) return;
      sol_.beta[best] =
          std::clamp(sol_.beta[best] - sum, problem_.lower[best], problem_.upper[best]);
    }
  }

  /// Solves for the free variables; pair steps mend the others in between. Keeps the best point.
  /// Ends after so many multiply-adds.
  void polish(Index limit, Index operations) {
    const auto kernel = [this](Index i, Index j) { return matrix_[i * stride_ + j]; };
    best_ = sol_;
    for (int k = 0; k < systems && best_.violation > polished; ++k) {
      Index free = 0;
      for (Index r = 0; r < m_; ++r)
        free += sol_.beta[r] > problem_.lower[r] && sol_.beta[r] < problem_.upper[r];
      operations -= free * free * free;
      if (operations < 0) break;
      const double part = polish_step(problem_, kernel, sol_);
      if (part == 0) break;
      refresh();
      if (part < 1) continue;  // one more coefficient is at its bound
      if (best_.violation <= polished) break;
      InnerTask<double>& t = slots_.task;
      const double tol = t.tol;
      for (Index r = 0; r < m_; ++r) t.beta[r] = sol_.beta[r], t.values[r] = sol_.values[r];
      t.tol = std::max(polished, 1e-3 * sol_.violation);
      t.max_steps = std::min(4 * m_, std::max<Index>(limit - sol_.n_iter, 0));
      ops<double>().inner(t);
      t.tol = tol;
      best_.n_iter = sol_.n_iter += t.steps;
      if (t.steps == 0) break;
      std::copy_n(t.beta, m_, sol_.beta.begin());
      refresh();
    }
    std::swap(sol_, best_);
  }

  /// The proof of the coefficients as they are, and the best ones so far.
  void refresh() {
    repair();
    rebuild();
    summarise(problem_, sol_);
    if (sol_.violation < best_.violation) best_ = sol_;
  }

  /// values = K beta, afresh.
  void rebuild() {
    std::fill_n(slots_.task.values, slots_.task.size, 0.0);
    rows_.clear();
    coef_.clear();
    for (Index r = 0; r < m_; ++r)
      if (sol_.beta[r] != 0)
        rows_.push_back(matrix_.data() + r * stride_), coef_.push_back(sol_.beta[r]);
    ops<double>().axpy_rows(slots_.task.values, rows_.data(), coef_.data(),
                            static_cast<int>(rows_.size()), slots_.task.size);
    std::copy_n(slots_.task.values, m_, sol_.values.begin());
  }

  const ClassPairs& p_;
  const Settings& settings_;
  const std::atomic<bool>& stop_;
  Slots<double> slots_;
  Buffer<double> matrix_;
  Index stride_ = 0, capacity_ = 0, placed_ = 0, m_ = 0, ni_ = 0;
  double worst_ = 0;
  Problem problem_;
  Solution sol_, best_;
  std::vector<const double*> rows_;
  std::vector<double> coef_;
};

/// Kernel values of sorted rows [first, first + count) against columns [begin, end); the value of
/// column c stands at out[r * stride + c - returned offset].
Index values_of(const Evaluator<double>& kernel, Query<double>& query, Index first, Index count,
                Index begin, Index end, Buffer<double>& out, Index* stride) {
  const Index panel = kernel.panel(), aligned = begin / panel * panel;
  *stride = round_up(end - aligned, panel);
  out.require(count * *stride);
  const Index most = kernel.block();
  std::vector<Index> rows;
  for (Index r = 0; r < count; r += most) {
    rows.clear();
    for (Index k = r; k < std::min(count, r + most); ++k) rows.push_back(first + k);
    kernel.prepare(query, rows.data(), static_cast<int>(rows.size()));
    kernel.tile(query, aligned, end - aligned, out.data() + r * *stride, *stride);
  }
  return aligned;
}

/// Entries of the kernel matrices of all pairs.
Index entries(const ClassPairs& p) {
  Index squares = 0;
  for (Index c = 0; c < p.classes(); ++c) squares += p.size(c) * p.size(c);
  return (p.classes() - 2) * squares + p.n() * p.n();
}

}  // namespace

bool fits(const ClassPairs& p) {
  Index first = 0, second = 0, values = 0;
  for (Index c = 0; c < p.classes(); ++c) {
    const Index size = p.size(c);
    values += size * size;
    if (size > first) {
      second = first;
      first = size;
    } else if (size > second) {
      second = size;
    }
    if (size > largest_pair || values > most_block_values) return false;
  }
  return first + second <= largest_pair;
}

void solve_class_pairs(const ClassPairs& p, const std::shared_ptr<const Objects<double>>& objects,
                       const Evaluator<double>& kernel, const Settings& settings,
                       PairResults& out) {
  const auto begin = Clock::now();
  const bool limited = settings.time_limit > 0;
  const auto deadline =
      begin + std::chrono::duration_cast<Clock::duration>(
                  std::chrono::duration<double>(limited ? settings.time_limit : 0.0));
  const std::shared_ptr<const Objects<double>> sorted = objects->take(p.order.data(), p.n());
  const std::shared_ptr<Evaluator<double>> values = kernel.on(sorted, sorted);
  const Index classes = p.classes();
  const bool alone = !kernel.threads_allowed() || entries(p) < worth_waking;
  const int threads = alone ? 1 : std::max(settings.threads, 1);
  std::vector<double> diagonal(static_cast<std::size_t>(p.n()));
  std::atomic<bool> stop{false};
  Leaving leaving([&] { return settings.interrupted && settings.interrupted(); });
  if (values->diag(diagonal.data(), threads, leaving)) {
    require_finite(diagonal);
  } else {
    stop.store(true);
    std::fill(diagonal.begin(), diagonal.end(), 1.0);
  }
  const auto listen = [&] {
    if (settings.interrupted && settings.interrupted()) stop.store(true);
  };
  std::vector<PairSolver> solvers;
  solvers.reserve(static_cast<std::size_t>(threads));
  for (int t = 0; t < threads; ++t) solvers.emplace_back(p, settings, stop);

  // The blocks K_jj, which every pair of class j needs.
  std::vector<Index> block_at(static_cast<std::size_t>(classes) + 1, 0);
  for (Index c = 0; c < classes; ++c) block_at[c + 1] = block_at[c] + p.size(c) * p.size(c);
  Buffer<double> blocks(block_at[classes]);
  parallel_for(threads, classes, [&](Index c, int worker) {
    PairSolver& s = solvers[static_cast<std::size_t>(worker)];
    const Index size = p.size(c), first = p.begin(c);
    Index stride = 0;
    const Index aligned =
        values_of(*values, s.query, first, size, first, first + size, s.strip, &stride);
    for (Index r = 0; r < size; ++r)
      std::copy_n(s.strip.data() + r * stride + (first - aligned), size,
                  blocks.data() + block_at[c] + r * size);
  });

  std::atomic<Index> kernel_values{block_at[classes]}, updates{0};
  const Index pairs = classes * (classes - 1) / 2;
  parallel_for(
      threads, classes - 1,
      [&](Index i, int worker) {
        PairSolver& s = solvers[static_cast<std::size_t>(worker)];
        const Index size = p.size(i);
        for (Index j = i + 1; j < classes;) {
          if (worker == 0) listen();
          Index end = j + 1;
          while (end < classes && size * (p.ends[end] - p.begin(j)) <= strip_values) ++end;
          const Index from = p.begin(j), to = p.ends[end - 1];
          Index stride = 0, aligned = 0;
          const bool late =
              stop.load(std::memory_order_relaxed) || (limited && Clock::now() > deadline);
          if (late) {  // no kernel values for problems that take no step
            stride = round_up(to - from, 64);
            s.strip.require(size * stride);
            std::fill_n(s.strip.data(), size * stride, 0.0);
            aligned = from;
          } else {
            aligned = values_of(*values, s.query, p.begin(i), size, from, to, s.strip, &stride);
            kernel_values += size * (to - from);
          }
          for (; j < end; ++j) {
            s.load(i, j, blocks.data() + block_at[i], blocks.data() + block_at[j],
                   s.strip.data() + (p.begin(j) - aligned), stride);
            s.solve(deadline, limited);
            s.store(i, j, out);
            updates += s.n_iter();
          }
        }
        if (worker == 0 && settings.callback && !stop.load()) {
          const double unknown = std::numeric_limits<double>::quiet_NaN();
          if (settings.callback({updates.load(), s.worst(), unknown, unknown,
                                 pairs - p.pair(i, classes - 1) - 1, 0, 0}))
            stop.store(true);
        }
      },
      listen);
  out.n_kernel_values = kernel_values;
}

}  // namespace mercer
