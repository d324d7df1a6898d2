#include "evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "isa/dispatch.hpp"

namespace mercer {

namespace {
/// Rows of a tile that a caller's function fills in one call.
constexpr int callback_block = 1024;
/// Multiply-adds of a value from which on a row of them is a task by itself.
constexpr double costly = 1e5;
/// Multiply-adds of a value that takes as long as keeping and reading it. Measured on rows of 10 to
/// 784 columns: a value takes 0.25 + 0.026 d ns in single and 0.65 + 0.054 d ns in double
/// precision, and reading one back that left the caches, or picking it out of a longer row, about 1
/// ns.
template <class T>
constexpr double kept_cost = sizeof(T) == 4 ? 64 : 40;
/// Multiply-adds that a value of compressed rows costs on top of three for each entry: scattering,
/// transposing, looking for distances that lose digits.
constexpr double sparse_overhead = 48;
/// Values of a diagonal that a task computes.
constexpr Index diagonal_part = 1024;

/// Rows of a tile.
template <class T>
struct Rows {
  T* data;
  Index stride;
  T* row(int r) const { return data + r * stride; }
};

/// Calls f(from, to, values) row by row, or once where the rows lie one behind the other.
template <class T, class F>
inline void for_rows(int rows, Index n, Rows<T> from, Rows<T> to, F f) {
  if (from.stride == n && to.stride == n) return f(from.data, to.data, rows * n);
  for (int r = 0; r < rows; ++r) f(from.row(r), to.row(r), n);
}

/// Whether an instruction replaces single values by a function of them.
bool is_transform(Op op) {
  switch (op) {
    case Op::leaf:
    case Op::constant:
    case Op::dup:
    case Op::swap:
    case Op::add:
    case Op::mul:
    case Op::aux:
    case Op::aux_add:
      return false;
    default:
      return true;
  }
}
}  // namespace

template <class T>
Evaluator<T>::Evaluator(Program program, std::vector<LeafSource<T>> sources,
                        std::shared_ptr<const Objects<T>> a, std::shared_ptr<const Objects<T>> b)
    : program_(std::move(program)),
      sources_(std::move(sources)),
      a_(std::move(a)),
      b_(std::move(b)) {
  depth_ = program_.depth();
  symmetric_ = a_ == b_;
  panel_ = ops<T>().panel;
  block_ = 2 * query_block;
  const auto leaves = static_cast<std::size_t>(program_.n_leaves);
  if (sources_.size() != leaves || a_->stores.size() != leaves || b_->stores.size() != leaves)
    throw std::invalid_argument("objects do not fit the program");
  for (std::size_t l = 0; l < leaves; ++l) {
    if (a_->stores[l]->index() != b_->stores[l]->index())
      throw std::invalid_argument("the two object sets are stored differently");
    if (auto* s = std::get_if<DenseStore<T>>(a_->stores[l].get())) {
      const auto& t = std::get<DenseStore<T>>(*b_->stores[l]);
      if (s->d != t.d) throw std::invalid_argument("different numbers of columns");
      if (s->panel != panel_ || t.panel != panel_)
        throw std::invalid_argument("objects were packed for another instruction set");
    } else if (auto* p = std::get_if<SparseStore<T>>(a_->stores[l].get())) {
      if (p->d != std::get<SparseStore<T>>(*b_->stores[l]).d)
        throw std::invalid_argument("different numbers of columns");
      block_ = sparse_block;
    } else if (auto* q = std::get_if<SequenceStore>(a_->stores[l].get())) {
      if (!sources_[l].pair || q->width != std::get<SequenceStore>(*b_->stores[l]).width ||
          sources_[l].pair->takes_points() != (q->width > 0))
        throw std::invalid_argument("sequences do not fit their kernel");
      if (sources_[l].pair->prepares())
        for (const auto* both : {q, &std::get<SequenceStore>(*b_->stores[l])})
          if (static_cast<Index>(both->prepared.size()) != both->n)
            throw std::invalid_argument("sequences were not prepared for their kernel");
    }
    if (sources_[l].call) native_ = false;
    if (sources_[l].matrix) symmetric_ = false;
  }
  for (const auto& c : program_.polynomials) polynomials_.emplace_back(c.begin(), c.end());
  for (const Table& t : program_.tables) {
    const TableView<double>& s = t.shape;
    if (s.pieces < 1 || s.degree < 0 ||
        static_cast<Index>(t.coefficients.size()) != s.pieces * (s.degree + 1))
      throw std::invalid_argument("malformed table");
    Buffer<T> c(static_cast<Index>(t.coefficients.size()));
    std::copy(t.coefficients.begin(), t.coefficients.end(), c.data());
    tables_.push_back({s.grid, s.pieces, s.degree, static_cast<T>(s.factor),
                       static_cast<T>(s.first), static_cast<T>(s.below), static_cast<T>(s.beyond),
                       c.data()});
    coefficients_.push_back(std::move(c));
  }
  for (std::size_t l = 0; l < leaves; ++l) {
    std::size_t k = 0;
    while (a_->stores[k] != a_->stores[l] || b_->stores[k] != b_->stores[l] ||
           by_postings(k) != by_postings(l) || by_places(k) != by_places(l))
      ++k;
    first_.push_back(static_cast<int>(k));
  }
  // The number of a use stands in `a`, which leaves do not need.
  uses_.assign(leaves, 0);
  for (Instruction& i : program_.code)
    if (i.op == Op::leaf) i.a = uses_[i.index]++;
  symmetric_ = symmetric_ && native_;
  // A caller's function is asked for as many rows at once as memory allows, unless other leaves
  // share the tile.
  if (!native_ && leaves == 1 && depth_ == 1) block_ = callback_block;
  chunk_ = leaves > 0 ? long_chunk : chunk;
  for (std::size_t l = 0; l < leaves; ++l)
    if (!by_postings(l) && !std::holds_alternative<SequenceStore>(*b_->stores[l])) chunk_ = chunk;
  terms_ = find_terms();
  // Rows of costly values come one by one: interrupts are heard and threads change between them.
  if (native_ && !joint() && cost() > costly) block_ = 1;
}

template <class T>
std::shared_ptr<Evaluator<T>> Evaluator<T>::on(std::shared_ptr<const Objects<T>> a,
                                               std::shared_ptr<const Objects<T>> b) const {
  return std::make_shared<Evaluator<T>>(program_, sources_, std::move(a), std::move(b));
}

template <class T>
double Evaluator<T>::cost() const {
  double c = 4.0 * static_cast<double>(program_.code.size());
  for (std::size_t l = 0; l < b_->stores.size(); ++l) {
    const auto& store = b_->stores[l];
    if (auto* s = std::get_if<DenseStore<T>>(store.get()))
      c += static_cast<double>(s->d);
    else if (auto* p = std::get_if<SparseStore<T>>(store.get()))
      c += 2.0 * static_cast<double>(p->start.back()) /
           static_cast<double>(std::max<Index>(p->n, 1));
    else if (auto* q = std::get_if<SequenceStore>(store.get()))
      c += sources_[l].pair->cost(std::get<SequenceStore>(*a_->stores[l]), *q);
    else
      c += native_ ? 1 : 100;
  }
  return c;
}

template <class T>
bool Evaluator<T>::worth_keeping() const {
  if (!native_) return true;
  double c = cost();
  for (const auto& store : b_->stores)
    if (auto* p = std::get_if<SparseStore<T>>(store.get()))
      c += sparse_overhead +
           static_cast<double>(p->start.back()) / static_cast<double>(std::max<Index>(p->n, 1));
  return c >= kept_cost<T>;
}

template <class T>
const T* Evaluator<T>::matrix_rows(Index* stride) const {
  if (program_.code.size() != 1 || program_.code[0].op != Op::leaf) return nullptr;
  const LeafSource<T>& source = sources_[program_.code[0].index];
  const auto* index = std::get_if<IndexStore>(b_->stores[program_.code[0].index].get());
  if (!source.matrix || !index || source.col_stride != 1) return nullptr;
  if (source.matrix_single != std::is_same_v<T, float>) return nullptr;
  for (Index i = 0; i < b_->n; ++i)
    if (index->id[i] != i) return nullptr;
  *stride = source.row_stride;
  return static_cast<const T*>(source.matrix);
}

template <class T>
void Evaluator<T>::prepare(Query<T>& q, const Index* rows, int n) const {
  if (n > block_) throw std::invalid_argument("more query rows than a block holds");
  const auto leaves = static_cast<std::size_t>(program_.n_leaves);
  q.n = n;
  q.rows.assign(rows, rows + n);
  q.dense.resize(leaves);
  q.slot_of.resize(leaves);
  q.used.resize(leaves);
  q.slots.resize(leaves);
  q.cursor.resize(leaves);
  q.next.assign(leaves, -1);
  q.stack.resize(static_cast<std::size_t>(std::max(depth_ - 1, 0)));
  for (auto& s : q.stack) s.require(block_ * chunk_);
  q.kept.resize(leaves);
  for (std::size_t l = 0; l < leaves; ++l)
    if (uses_[l] > 1) q.kept[l].require(block_ * chunk_);
  for (std::size_t l = 0; l < leaves; ++l) {
    if (first_[l] < static_cast<int>(l)) continue;
    if (auto* s = std::get_if<DenseStore<T>>(a_->stores[l].get())) {
      const int groups = (n + query_block - 1) / query_block;
      q.dense[l].require(std::max<Index>(groups * query_block * s->d, 1));
      for (int r = 0; r < n; ++r) {
        const T* from = s->panel_of(rows[r]) + rows[r] % s->panel;
        T* to = q.dense[l].data() + (r / query_block) * query_block * s->d + r % query_block;
        for (Index k = 0; k < s->d; ++k) to[k * query_block] = from[k * s->panel];
      }
    } else if (auto* p = std::get_if<SparseStore<T>>(a_->stores[l].get())) {
      if (by_postings(l)) continue;
      q.sparse_out.require(chunk_ * sparse_block);
      auto& slot_of = q.slot_of[l];
      auto& used = q.used[l];
      auto& slots = q.slots[l];
      const auto& other = std::get<SparseStore<T>>(*b_->stores[l]);
      const auto* known = by_places(l) ? other.occurring.get() : nullptr;
      if (!slot_of.require(known ? static_cast<Index>(known->size()) : p->d))
        for (std::int32_t c : used) slot_of[c] = 0;
      used.clear();
      slots.assign(sparse_block, T(0));
      for (int r = 0; r < n; ++r)
        for (Index e = p->start[rows[r]]; e < p->start[rows[r] + 1]; ++e) {
          std::int32_t c = p->column[e];
          if (known) {
            const auto at = std::lower_bound(known->begin(), known->end(), c);
            if (at == known->end() || *at != c) continue;  // no row of the other set has it
            c = static_cast<std::int32_t>(at - known->begin());
          }
          if (slot_of[c] == 0) {
            used.push_back(c);
            slot_of[c] = static_cast<std::int32_t>(used.size());
            slots.resize(slots.size() + sparse_block, T(0));
          }
          slots[static_cast<std::size_t>(slot_of[c]) * sparse_block + r] = p->value[e];
        }
    }
  }
}

template <class T>
void Evaluator<T>::transform(const Instruction& i, const T* in, T* out, Index n) const {
  const Ops<T>& o = ops<T>();
  switch (i.op) {
    case Op::affine:
      return o.affine(in, out, n, static_cast<T>(i.a), static_cast<T>(i.b));
    case Op::exp:
      return o.exp_affine(in, out, n, static_cast<T>(i.a), static_cast<T>(i.b));
    case Op::log:
      return o.log(in, out, n);
    case Op::log1p:
      return o.log1p(in, out, n);
    case Op::at_least: {
      const T low = static_cast<T>(i.a);
      for (Index k = 0; k < n; ++k) out[k] = in[k] < low ? low : in[k];  // NaN stays what it is
      return;
    }
    case Op::sqrt:
      return o.sqrt(in, out, n);
    case Op::cos:
      return o.cos(in, out, n);
    case Op::tanh:
      return o.tanh(in, out, n);
    case Op::reciprocal:
      return o.reciprocal(in, out, n);
    case Op::powi:
      return o.powi(in, out, n, i.index);
    case Op::power:
      return o.power(in, out, n, i.a);
    case Op::polynomial: {
      const std::vector<T>& c = polynomials_[i.index];
      return o.polynomial(in, out, n, c.data(), static_cast<int>(c.size()) - 1);
    }
    case Op::table:
      return o.table(in, out, n, tables_[i.index]);
    default:
      throw std::logic_error("not an instruction on single values");
  }
}

template <class T>
void Evaluator<T>::tile(Query<T>& q, Index begin, Index count, T* out, Index stride) const {
  const Ops<T>& o = ops<T>();
  // A caller's function sees the whole tile in one call; native programs go in cached chunks.
  const Index step = native_ ? chunk_ : count;
  if (!native_) {
    for (auto& s : q.stack) s.require(block_ * round_up(count, panel_));
    for (std::size_t l = 0; l < uses_.size(); ++l)
      if (uses_[l] > 1) q.kept[l].require(block_ * round_up(count, panel_));
    q.sparse_out.require(count * sparse_block);
  }
  for (Index at = 0; at < count; at += step) {
    const Index n = std::min(step, count - at);
    const Index padded = round_up(n, panel_);
    const Index inner_stride = native_ ? chunk_ : round_up(count, panel_);
    int top = -1;
    const auto level = [&](int k) -> Rows<T> {
      return k == 0 ? Rows<T>{out + at, stride} : Rows<T>{q.stack[k - 1].data(), inner_stride};
    };
    for (std::size_t pc = 0; pc < program_.code.size(); ++pc) {
      const Instruction& i = program_.code[pc];
      switch (i.op) {
        case Op::leaf: {
          ++top;
          if (uses_[i.index] == 1) {
            const Instruction* next =
                pc + 1 < program_.code.size() ? &program_.code[pc + 1] : nullptr;
            if (leaf_values(i.index, q, begin + at, n, level(top).data, level(top).stride, next))
              ++pc;
            break;
          }
          // A leaf that is used again stays as it is; what follows takes it from where it is kept.
          const Rows<T> kept{q.kept[i.index].data(), inner_stride};
          if (i.a == 0) leaf_values(i.index, q, begin + at, n, kept.data, kept.stride, nullptr);
          if (pc + 1 < program_.code.size() && is_transform(program_.code[pc + 1].op)) {
            ++pc;
            for_rows(q.n, n, kept, level(top),
                     [&](const T* x, T* y, Index m) { transform(program_.code[pc], x, y, m); });
          } else {
            for_rows(q.n, n, kept, level(top),
                     [](const T* x, T* y, Index m) { std::copy_n(x, m, y); });
          }
          break;
        }
        case Op::constant:
          ++top;
          for (int r = 0; r < q.n; ++r) std::fill_n(level(top).row(r), n, static_cast<T>(i.a));
          break;
        case Op::dup:
          ++top;
          for_rows(q.n, n, level(top - 1), level(top),
                   [](const T* x, T* y, Index m) { std::copy_n(x, m, y); });
          break;
        case Op::swap:
          for_rows(q.n, n, level(top - 1), level(top),
                   [](T* x, T* y, Index m) { std::swap_ranges(x, x + m, y); });
          break;
        case Op::add:
        case Op::mul:
          --top;
          for_rows(
              q.n, n, level(top + 1), level(top),
              [f = i.op == Op::add ? o.add : o.mul](const T* x, T* y, Index m) { f(y, x, m); });
          break;
        case Op::aux:
        case Op::aux_add: {
          const auto f = i.op == Op::aux ? o.scale_pair : o.add_pair;
          for (int r = 0; r < q.n; ++r)
            f(level(top).row(r), n, a_->aux[i.index][q.rows[r]],
              b_->aux[i.index].data() + begin + at);
          break;
        }
        default:
          for_rows(q.n, n, level(top), level(top),
                   [&](const T* x, T* y, Index m) { transform(i, x, y, m); });
      }
    }
    if (padded > n)
      for (int r = 0; r < q.n; ++r)
        std::fill(out + r * stride + at + n, out + r * stride + at + padded, T(0));
  }
}

template <class T>
bool Evaluator<T>::diag(T* out, int threads, Leaving& leaving) const {
  // A caller's function is asked for everything at once.
  const Index n = cols(), part = !native_ ? std::max<Index>(n, 1) : block_ == 1 ? 1 : diagonal_part;
  if (!native_ || static_cast<double>(n) * cost() < 1e6) threads = 1;
  std::vector<PairScratch> scratch = scratch_of_threads(threads, leaving);
  return parallel_for(threads, (n + part - 1) / part, leaving, [&](Index task, int worker) {
    const Index begin = task * part;
    diag_part(begin, std::min(n, begin + part), out + begin, scratch[worker]);
  });
}

template <class T>
void Evaluator<T>::diag_part(Index begin, Index end, T* out, PairScratch& scratch) const {
  const Ops<T>& o = ops<T>();
  const Index n = end - begin;
  std::vector<Buffer<T>> stack(static_cast<std::size_t>(depth_));
  for (auto& s : stack) s.reset(std::max<Index>(n, 1));
  int top = -1;
  for (const Instruction& i : program_.code) {
    switch (i.op) {
      case Op::leaf: {
        T* x = stack[++top].data();
        const LeafSource<T>& source = sources_[i.index];
        const Store<T>& store = *b_->stores[i.index];
        if (source.coordinates) {
          coordinate_diagonal(*source.coordinates, store, begin, end, x);
        } else if (auto* s = std::get_if<DenseStore<T>>(&store)) {
          for (Index r = begin; r < end; ++r) {
            T sum = 0;
            if (source.stat == Stat::dot)
              sum = o.square(s->panel_of(r) + r % s->panel, s->d, s->panel);
            if (source.stat == Stat::minimum || source.stat == Stat::harmonic)
              for (Index k = 0; k < s->d; ++k) sum += s->at(r, k);
            x[r - begin] = source.stat == Stat::harmonic ? sum / 2 : sum;
          }
        } else if (auto* p = std::get_if<SparseStore<T>>(&store)) {
          for (Index r = begin; r < end; ++r) {
            const double sum = source.stat == Stat::dot        ? p->square[r]
                               : source.stat == Stat::minimum  ? p->mass[r]
                               : source.stat == Stat::harmonic ? p->mass[r] / 2
                                                               : 0.0;
            x[r - begin] = static_cast<T>(sum);
          }
        } else if (auto* q = std::get_if<SequenceStore>(&store)) {
          double value = 0;
          for (Index r = begin; r < end; ++r) {
            pair_values(*source.pair, *q, r, *q, r, 1, &value, scratch);
            x[r - begin] = static_cast<T>(value);
          }
        } else {
          const Index* id = std::get<IndexStore>(store).id.data() + begin;
          if (source.call) {
            source.call_diag(id, n, x);
          } else {
            for (Index r = 0; r < n; ++r) {
              const Index k = id[r] * (source.row_stride + source.col_stride);
              x[r] = source.matrix_single
                         ? static_cast<T>(static_cast<const float*>(source.matrix)[k])
                         : static_cast<T>(static_cast<const double*>(source.matrix)[k]);
            }
          }
        }
        break;
      }
      case Op::constant:
        std::fill_n(stack[++top].data(), n, static_cast<T>(i.a));
        break;
      case Op::dup:
        ++top;
        std::copy_n(stack[top - 1].data(), n, stack[top].data());
        break;
      case Op::swap:
        std::swap(stack[top - 1], stack[top]);
        break;
      case Op::add:
        --top;
        o.add(stack[top].data(), stack[top + 1].data(), n);
        break;
      case Op::mul:
        --top;
        o.mul(stack[top].data(), stack[top + 1].data(), n);
        break;
      case Op::aux:
        for (Index r = 0; r < n; ++r)
          stack[top][r] =
              (stack[top][r] * b_->aux[i.index][begin + r]) * b_->aux[i.index][begin + r];
        break;
      case Op::aux_add:
        for (Index r = 0; r < n; ++r) {
          const T u = b_->aux[i.index][begin + r];
          o.add_pair(&stack[top][r], 1, u, &u);
        }
        break;
      default:
        transform(i, stack[top].data(), stack[top].data(), n);
    }
  }
  std::copy_n(stack[0].data(), n, out);
}

template class Evaluator<float>;
template class Evaluator<double>;

}  // namespace mercer
