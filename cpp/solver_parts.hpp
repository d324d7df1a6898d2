// Shared parts of the two solvers: limits, and the slots of an inner problem.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include "isa/dispatch.hpp"
#include "memory.hpp"
#include "problem.hpp"

namespace mercer {

inline constexpr double infinite = std::numeric_limits<double>::infinity();

/// Relative decrease of the objective over many steps below which the solver has stalled.
inline constexpr double stagnation = 1e-12;

/// Refuses a kernel that overflows on these objects.
template <class T>
void require_finite(const std::vector<T>& diag) {
  for (const T k : diag)
    if (!std::isfinite(k))
      throw std::invalid_argument(
          "kernel values are not finite on these objects: k(x, x) overflows. Scale the data, or "
          "use a smaller degree or gamma");
}

/// Smallest value + up and largest value + down of some variables; see problem.hpp.
template <class V>
struct Range {
  V min_up, max_down;
  V violation() const { return max_down - min_up; }
};
template <class V>
Range<V> range_of(const V* values, const V* up, const V* down, Index begin, Index end) {
  Range<V> r;
  ops<V>().extremes(values + begin, up + begin, down + begin, end - begin, &r.min_up, &r.max_down);
  return r;
}
/// The same of a group of slots; without an equality both ends are zero.
template <class T>
Range<T> range_of_group(const InnerTask<T>& t, int g) {
  if (t.groups == 0) return {T(0), T(0)};
  return range_of<T>(t.values, t.up, t.down, t.group_begin[g], t.group_end[g]);
}

/// Part of the violation that a run of inner steps aims at. Where the violation is within its
/// tolerance and the gap is not, runs follow one another until it is.
inline constexpr double closing = 0.1;

/// Whether a point within the tolerance of the violation has a small enough gap as well, or is as
/// close to the optimum as the rounding of the values allows.
template <class T>
bool closed(const Settings& s, double relative_gap, double violation) {
  constexpr double finest = sizeof(T) == 4 ? 5e-6 : 1e-9;
  if (s.largest_gap <= 0 || s.gap_tol > 0) return true;
  return relative_gap <= s.largest_gap || !(violation > finest);
}
template <class T>
bool closed(const Settings& s, const Solution& sol) {
  return closed<T>(s, sol.relative_gap, sol.violation);
}

/// Sets the status "optimal" if the tolerance was met before the search for a smaller gap ended.
inline void confirm(const Settings& s, Solution& sol) {
  const bool ended = sol.status == Status::stalled || sol.status == Status::iteration_limit;
  if (s.largest_gap > 0 && ended && sol.violation <= s.tol) sol.status = Status::optimal;
}

/// Thrown by a computation that is aborted; see Limits::leave.
struct Left {};

/// Time, iteration and interrupt limits, checked at every outer step.
class Limits {
 public:
  Limits(const Settings& s, std::atomic<bool>* stop) : s_(s), stop_(stop) {}

  /// Whether the user has interrupted the solver; for the calling thread, cheap enough to be called
  /// every millisecond.
  bool interrupted() {
    if (s_.interrupted && !stop_->load(std::memory_order_relaxed) && s_.interrupted())
      stop_->store(true);
    if (!stop_->load(std::memory_order_relaxed)) return false;
    if (!noticed_) noticed_ = seconds();
    return true;
  }
  /// The same for work that completes the result, which gets a moment after an interrupt.
  bool impatient() { return interrupted() && seconds() > *noticed_ + grace; }
  bool out_of_time(double reserve = 0) const {
    return s_.time_limit > 0 && seconds() + reserve > s_.time_limit;
  }

  /// Whether to abort long computations of kernel values; called by all threads.
  bool leave(int worker) {
    bool leaves = false;
    if (finishing_)
      leaves = worker == 0 && (impatient() || overdue());
    else
      leaves =
          (worker == 0 ? interrupted() : stop_->load(std::memory_order_relaxed)) || out_of_time();
    if (leaves) left_.store(true, std::memory_order_relaxed);
    return left();
  }
  /// Whether a computation was aborted, so that its values are invalid.
  bool left() const { return left_.load(std::memory_order_relaxed); }
  /// Marks the work that follows as completing the result.
  void finish() {
    finishing_ = true;
    left_.store(false);
  }
  bool finishing() const { return finishing_; }

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  /// Whether the solver must stop; sets the status. `reserve`: seconds kept to complete the result.
  bool reached(Index n_iter, Status* why, double reserve = 0) {
    if (interrupted()) return *why = Status::interrupted, true;
    if (s_.max_iter >= 0 && n_iter >= s_.max_iter) return *why = Status::iteration_limit, true;
    if (out_of_time(reserve)) return *why = Status::time_limit, true;
    return false;
  }
  /// Whether the time limit is exceeded by so much that even the completion of the result must be
  /// aborted.
  bool overdue() const {
    return s_.time_limit > 0 && seconds() > (1 + moment) * s_.time_limit + moment;
  }
  Index steps_left(Index n_iter, Index wish) const {
    return s_.max_iter < 0 ? wish : std::min(wish, s_.max_iter - n_iter);
  }
  const std::atomic<bool>* flag() const { return stop_; }

 private:
  static constexpr double grace = 0.2, moment = 0.05;

  const Settings& s_;
  std::atomic<bool>* stop_;
  std::optional<double> noticed_;  ///< seconds() of the interrupt
  std::atomic<bool> left_{false};
  bool finishing_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// The slots of an inner problem and their arrays; R is the type of the kernel rows.
template <class T, class R = T>
class Slots {
 public:
  /// Room for `count[g]` variables of each group, which starts at a multiple of `align`.
  void layout(int groups, const Index* count, Index align = slot_align) {
    task.groups = groups;
    Index at = 0;
    for (int g = 0; g < std::max(groups, 1); ++g) {
      task.group_begin[g] = at;
      at += round_up(std::max<Index>(count[g], 1), align);
      task.group_end[g] = at;
    }
    task.size = at;
    for (Buffer<T>* b : {&values_, &up_, &down_, &curve_up_, &curve_down_}) b->require(at);
    for (Buffer<double>* b : {&beta_, &lower_, &upper_, &slope_left_, &slope_right_, &curv_left_,
                              &curv_right_, &kink_, &diag_})
      b->require(at);
    rows_.assign(static_cast<std::size_t>(at), nullptr);
    task.values = values_.data();
    task.up = up_.data();
    task.down = down_.data();
    task.curve_up = curve_up_.data();
    task.curve_down = curve_down_.data();
    task.beta = beta_.data();
    task.lower = lower_.data();
    task.upper = upper_.data();
    task.slope_left = slope_left_.data();
    task.slope_right = slope_right_.data();
    task.curv_left = curv_left_.data();
    task.curv_right = curv_right_.data();
    task.kink = kink_.data();
    task.diag = diag_.data();
    task.rows = rows_.data();
    for (Index k = 0; k < at; ++k) clear(k);
  }

  /// Empties a slot: lower > upper allows no move.
  void clear(Index k) {
    values_[k] = T(0);
    up_[k] = std::numeric_limits<T>::infinity();
    down_[k] = -std::numeric_limits<T>::infinity();
    curve_up_[k] = curve_down_[k] = T(1);
    beta_[k] = 0;
    lower_[k] = 1;
    upper_[k] = -1;
    slope_left_[k] = slope_right_[k] = curv_left_[k] = curv_right_[k] = kink_[k] = 0;
    diag_[k] = 1;
  }

  void set(Index k, const Problem& p, Index i, double beta, double value, double diag) {
    values_[k] = static_cast<T>(value);
    beta_[k] = beta;
    lower_[k] = p.lower[i];
    upper_[k] = p.upper[i];
    slope_left_[k] = p.slope_left[i];
    slope_right_[k] = p.slope_right[i];
    curv_left_[k] = p.curv_left[i];
    curv_right_[k] = p.curv_right[i];
    kink_[k] = p.kink[i];
    diag_[k] = diag;
  }

  /// The variable in slot `from` of another problem.
  void copy(Index k, const InnerTask<T, R>& other, Index from) {
    values_[k] = other.values[from];
    beta_[k] = other.beta[from];
    lower_[k] = other.lower[from];
    upper_[k] = other.upper[from];
    slope_left_[k] = other.slope_left[from];
    slope_right_[k] = other.slope_right[from];
    curv_left_[k] = other.curv_left[from];
    curv_right_[k] = other.curv_right[from];
    kink_[k] = other.kink[from];
    diag_[k] = other.diag[from];
  }

  InnerTask<T, R> task;

 private:
  Buffer<T> values_, up_, down_, curve_up_, curve_down_;
  Buffer<double> beta_, lower_, upper_, slope_left_, slope_right_, curv_left_, curv_right_, kink_,
      diag_;
  std::vector<const R*> rows_;
};

}  // namespace mercer
