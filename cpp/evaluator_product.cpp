// Products of a kernel matrix with vectors, of which no row is stored.
#include <algorithm>
#include <limits>

#include "evaluator.hpp"
#include "isa/dispatch.hpp"
#include "leaving.hpp"

namespace mercer {

namespace {
/// Bytes of packed rows that a block of queries reuses from the second-level cache.
constexpr Index panel_bytes = Index(1) << 18;
/// Query blocks that share one sweep over those rows.
constexpr int queries = 4;
/// Rows of a task of a product with weight vectors; a multiple of every panel.
constexpr Index weighted_rows = 512;
static_assert(weighted_rows % largest_panel == 0);
/// Objects that a weight vector must stand for to be worth its making, and numbers that all may
/// hold.
constexpr Index objects_per_weight = 4;
constexpr double most_weights = 1 << 23;

template <class T>
struct ProductScratch {
  Query<T> query[queries];
  Buffer<T> tile;
  Buffer<double> acc;
};

std::vector<Coefficients> lay_out(const std::vector<Segment>& segments, Index panel) {
  std::vector<Coefficients> out;
  Index offset = 0;
  for (const Segment& g : segments) {
    Coefficients c{g.begin, g.end, 0, 0, offset, g.cols, g.offset, g.cols == 1, {}};
    const Index count = g.end - g.begin;
    if (c.single) {
      c.first = g.begin / panel * panel;
      c.width = panel;
      const Index length = round_up(g.end, panel) - c.first;
      c.v.reset(std::max<Index>(length, 1));
      std::fill_n(c.v.data(), length, 0.0);
      std::copy_n(g.v, count, c.v.data() + (g.begin - c.first));
    } else {
      c.width = round_up(g.cols, column_block);
      c.v.reset(std::max<Index>(count * c.width, 1));
      for (Index k = 0; k < count; ++k)
        for (Index j = 0; j < c.width; ++j)
          c.v[k * c.width + j] = j < g.cols ? g.v[k * g.cols + j] : 0.0;
    }
    offset += c.width;
    out.push_back(std::move(c));
  }
  return out;
}

/// Adds a tile of `rows` rows and columns [begin, begin + count) to the accumulators.
template <class T>
void accumulate_tile(const Ops<T>& o, const std::vector<Coefficients>& all, const T* tile,
                     Index stride, int rows, Index begin, Index count, double* acc,
                     Index acc_stride) {
  for (const Coefficients& c : all) {
    const Index lo = std::max(c.begin, begin), hi = std::min(c.end, begin + count);
    if (lo >= hi) continue;
    if (c.single) {
      const Index from = lo / o.panel * o.panel, length = round_up(hi, o.panel) - from;
      for (int r = 0; r < rows; ++r)
        o.dot_lanes(tile + r * stride + (from - begin), c.v.data() + (from - c.first), length,
                    acc + r * acc_stride + c.at);
    } else {
      o.gemm_cols(tile + (lo - begin), stride, rows, c.v.data() + (lo - c.begin) * c.width, hi - lo,
                  c.width, acc + c.at, acc_stride);
    }
  }
}

}  // namespace

template <class T>
std::vector<LinearTerm> Evaluator<T>::find_terms() const {
  std::vector<LinearTerm> terms = linear_terms(program_);
  for (const LinearTerm& term : terms) {
    if (term.leaf < 0) continue;
    const LeafSource<T>& source = sources_[term.leaf];
    const Store<T>& store = *b_->stores[term.leaf];
    const bool rows = std::holds_alternative<DenseStore<T>>(store) ||
                      std::holds_alternative<SparseStore<T>>(store);
    if (!rows || source.coordinates || source.stat != Stat::dot) return {};
  }
  return terms;
}

template <class T>
std::unique_ptr<Weights<T>> Evaluator<T>::weights(const std::vector<Segment>& segments,
                                                  int threads) const {
  Index columns = 0;
  for (const Segment& g : segments) columns += g.cols;
  // The rule knows nothing of the rows, whose values must not depend on their company.
  if (!linear() || objects_per_weight * columns > cols()) return nullptr;
  if (Weights<T>::size(terms_, *b_, columns) > most_weights) return nullptr;
  auto made = std::make_unique<Weights<T>>(terms_, *b_, columns);
  for (const Segment& g : segments) made->set(*b_, g.begin, g.end, g.v, g.cols, g.offset, threads);
  return made;
}

template <class T>
std::unique_ptr<Multiplier<T>> Evaluator<T>::multiplier(const std::vector<Segment>& segments,
                                                        int threads, bool exact) const {
  auto made = std::make_unique<Multiplier<T>>();
  made->objects = cols();
  for (const Segment& g : segments) made->cols += g.cols;
  if (exact || sizeof(T) == sizeof(double)) made->weights = weights(segments, threads);
  if (!made->weights) made->coefficients = lay_out(segments, panel_);
  return made;
}

template <class T>
bool Evaluator<T>::product(const Multiplier<T>& multiplier, double* out, int threads,
                           const std::function<bool()>& interrupted) const {
  const Index n = rows(), out_cols = multiplier.cols;
  if (n == 0 || cols() == 0) {
    std::fill_n(out, n * out_cols, 0.0);
    return true;
  }
  const Weights<T>* w = multiplier.weights.get();
  if (!w) return product_by_values(multiplier, out, threads, interrupted);
  std::fill_n(out, n * out_cols, std::numeric_limits<double>::quiet_NaN());
  Leaving leaving(interrupted);
  return parallel_for(
      threads, (n + weighted_rows - 1) / weighted_rows, leaving, [&](Index task, int) {
        const Index begin = task * weighted_rows, end = std::min(n, begin + weighted_rows);
        std::fill_n(out + begin * out_cols, (end - begin) * out_cols, 0.0);
        w->add_values(*a_, begin, end, out + begin * out_cols, out_cols);
      });
}

template <class T>
bool Evaluator<T>::product_by_values(const Multiplier<T>& multiplier, double* out, int threads,
                                     const std::function<bool()>& interrupted) const {
  const Ops<T>& o = ops<T>();
  const Index n = rows(), m = cols(), out_cols = multiplier.cols;
  std::fill_n(out, n * out_cols, std::numeric_limits<double>::quiet_NaN());
  if (!native_) threads = 1;
  const std::vector<Coefficients>& coefficients = multiplier.coefficients;
  Index acc_cols = 0;
  for (const Coefficients& c : coefficients) acc_cols += c.width;
  double bytes = 1;
  for (std::size_t l = 0; l < b_->stores.size(); ++l)
    if (auto* s = std::get_if<DenseStore<T>>(b_->stores[l].get()))
      if (first_[l] == static_cast<int>(l)) bytes += static_cast<double>(s->d) * sizeof(T);
  Index width = static_cast<Index>(static_cast<double>(panel_bytes) / bytes) / panel_ * panel_;
  width = std::clamp<Index>(width, panel_, chunk_);
  if (!native_) width = round_up(m, panel_);
  Index per_task = std::min(block_, 128);
  if (native_)
    per_task = std::min<Index>(queries * block_, round_up((n + threads - 1) / threads, block_));
  const Index tasks = (n + per_task - 1) / per_task;
  std::vector<ProductScratch<T>> scratch(static_cast<std::size_t>(std::max(threads, 1)));
  Leaving leave(interrupted);
  for (std::size_t w = 0; w < scratch.size(); ++w)
    for (Query<T>& q : scratch[w].query)
      q.pair.leave = [&, w] { return leave(static_cast<int>(w)); };
  return parallel_for(threads, tasks, leave, [&](Index task, int worker) {
    ProductScratch<T>& w = scratch[worker];
    const Index first = task * per_task, last = std::min(n, first + per_task);
    w.tile.require(std::min<Index>(block_, last - first) * width);
    w.acc.require((last - first) * acc_cols);
    std::fill_n(w.acc.data(), (last - first) * acc_cols, 0.0);
    std::vector<Index> ids(static_cast<std::size_t>(block_));
    int blocks = 0;
    for (Index r = first; r < last; r += block_, ++blocks) {
      const int nq = static_cast<int>(std::min<Index>(block_, last - r));
      for (int k = 0; k < nq; ++k) ids[k] = r + k;
      prepare(w.query[blocks], ids.data(), nq);
    }
    for (Index c = 0; c < m; c += width) {
      const Index count = std::min(width, m - c);
      if (leave(worker)) return;
      for (int b = 0; b < blocks; ++b) {
        Query<T>& q = w.query[b];
        tile(q, c, count, w.tile.data(), width);
        accumulate_tile(o, coefficients, w.tile.data(), width, q.n, c, count,
                        w.acc.data() + b * block_ * acc_cols, acc_cols);
      }
    }
    if (leave.left()) return;
    for (Index r = first; r < last; ++r)
      for (const Coefficients& c : coefficients) {
        const double* acc = w.acc.data() + (r - first) * acc_cols + c.at;
        double* to = out + r * out_cols + c.offset;
        std::fill_n(to, c.cols, 0.0);
        if (c.single) {
          for (int k = 0; k < panel_; ++k) to[0] += acc[k];
        } else {
          for (Index k = 0; k < c.cols; ++k) to[k] += acc[k];
        }
      }
  });
}

template std::vector<LinearTerm> Evaluator<float>::find_terms() const;
template std::vector<LinearTerm> Evaluator<double>::find_terms() const;
template std::unique_ptr<Multiplier<float>> Evaluator<float>::multiplier(
    const std::vector<Segment>&, int, bool) const;
template std::unique_ptr<Multiplier<double>> Evaluator<double>::multiplier(
    const std::vector<Segment>&, int, bool) const;
template bool Evaluator<float>::product(const Multiplier<float>&, double*, int,
                                        const std::function<bool()>&) const;
template bool Evaluator<double>::product(const Multiplier<double>&, double*, int,
                                         const std::function<bool()>&) const;

}  // namespace mercer
