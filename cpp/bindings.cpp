// The Python module mercer._native: translates arrays and calls, decides nothing.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>

#include "decomposition.hpp"
#include "evaluator.hpp"
#include "isa/dispatch.hpp"
#include "many.hpp"
#include "sequences/grams.hpp"
#include "sequences/hidden_markov.hpp"
#include "sequences/kernels.hpp"
#include "thread_pool.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace mercer {
namespace {

template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array2 = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

/// A new NumPy array that owns its memory.
template <class T>
nb::ndarray<nb::numpy, T> fresh(std::initializer_list<size_t> shape, T** data) {
  size_t n = 1;
  for (size_t s : shape) n *= s;
  auto buffer = std::make_unique<Buffer<T>>(static_cast<Index>(std::max<size_t>(n, 1)));
  *data = buffer->data();
  nb::capsule owner(buffer.release(), [](void* p) noexcept { delete static_cast<Buffer<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(*data, shape, owner);
}

template <class T>
std::vector<T> to_vector(const Array1<T>& a) {
  return std::vector<T>(a.data(), a.data() + a.shape(0));
}

template <class T>
nb::object array_of(const std::vector<T>& v) {
  T* data;
  auto a = fresh<T>({v.size()}, &data);
  std::copy(v.begin(), v.end(), data);
  return nb::cast(a);
}

/// A Python object that C++ threads may copy and drop without holding the interpreter lock.
std::shared_ptr<nb::object> shared(nb::object o) {
  return std::shared_ptr<nb::object>(new nb::object(std::move(o)), [](nb::object* p) {
    nb::gil_scoped_acquire gil;
    delete p;
  });
}

// ------------------------------------------------------------------ objects

template <class T, class U>
Strided<U> strided(const Array2<U>& x) {
  return {x.data(), static_cast<Index>(x.shape(0)), static_cast<Index>(x.shape(1)), x.stride(0),
          x.stride(1)};
}

/// Sequences from all their tokens or points, one after another, and where each begins.
template <class U>
SequenceStore sequence_store(const U* data, size_t total, const Array1<Index>& start, Index width,
                             const std::optional<Array1<double>>& norm) {
  SequenceStore s;
  s.start = to_vector(start);
  s.n = static_cast<Index>(s.start.size()) - 1;
  s.width = width;
  if (s.n < 0 || s.start.front() != 0 || s.start.back() != static_cast<Index>(total) ||
      !std::is_sorted(s.start.begin(), s.start.end()))
    throw nb::value_error("malformed sequences");
  if (norm && static_cast<Index>(norm->shape(0)) != s.n)
    throw nb::value_error("norm: wrong length");
  if (norm) s.norm = to_vector(*norm);
  auto& to = [&]() -> auto& {
    if constexpr (std::is_same_v<U, double>)
      return s.value;
    else
      return s.token;
  }();
  const Index size = static_cast<Index>(total) * std::max<Index>(width, 1);
  to.reset(std::max<Index>(size, 1));
  std::copy_n(data, size, to.data());
  return s;
}

template <class T>
class ObjectsBuilder {
 public:
  std::shared_ptr<Objects<T>> objects = std::make_shared<Objects<T>>();

  explicit ObjectsBuilder(Index n) {
    if (n < 0) throw nb::value_error("a negative number of objects");
    objects->n = n;
  }

  void add(Store<T> store, Index n) {
    if (objects->n != n) throw nb::value_error("a store with another number of objects");
    objects->stores.push_back(std::make_shared<const Store<T>>(std::move(store)));
  }

  template <class U>
  void dense(Array2<U> x, std::optional<Array1<double>> centre) {
    if (centre && centre->shape(0) != x.shape(1)) throw nb::value_error("centre: wrong length");
    const Strided<U> s = strided<T>(x);
    const double* c = centre ? centre->data() : nullptr;
    std::optional<DenseStore<T>> store;
    {
      nb::gil_scoped_release release;
      store = pack_dense<T, U>(s, c);
    }
    add(std::move(*store), s.n);
  }

  template <class U>
  void compress(Array2<U> x) {
    const Strided<U> s = strided<T>(x);
    std::optional<SparseStore<T>> store;
    {
      nb::gil_scoped_release release;
      store = compress_dense<T, U>(s);
    }
    add(std::move(*store), s.n);
  }

  template <class U, class I>
  void sparse(Array1<U> value, Array1<I> column, Array1<I> start, Index d, bool exact) {
    const auto n = static_cast<Index>(start.shape(0)) - 1;
    if (n < 0 || static_cast<size_t>(start.data()[n]) > value.shape(0) ||
        value.shape(0) != column.shape(0) || start.data()[0] != 0)
      throw nb::value_error("malformed compressed rows");
    add(pack_sparse<T, U, I>(value.data(), column.data(), start.data(), n, d, exact), n);
  }

  void tokens(Array1<std::int32_t> token, Array1<Index> start, std::optional<Array1<double>> norm) {
    add(sequence_store(token.data(), token.shape(0), start, 0, norm),
        static_cast<Index>(start.shape(0)) - 1);
  }

  void points(nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> value,
              Array1<Index> start, std::optional<Array1<double>> norm) {
    add(sequence_store(value.data(), value.shape(0), start, static_cast<Index>(value.shape(1)),
                       norm),
        static_cast<Index>(start.shape(0)) - 1);
  }

  /// The next leaf looks at the rows of a leaf of another set of the same objects, or of this one.
  void share(const ObjectsBuilder& other, int leaf) {
    if (other.objects->n != objects->n) throw nb::value_error("a store of other objects");
    objects->stores.push_back(other.objects->stores.at(static_cast<size_t>(leaf)));
  }

  /// From now on the objects know their positions.
  void number() {
    objects->id.resize(static_cast<size_t>(objects->n));
    std::iota(objects->id.begin(), objects->id.end(), Index(0));
  }

  void index(Array1<Index> id) { add(IndexStore{to_vector(id)}, static_cast<Index>(id.shape(0))); }

  void aux(Array1<double> a) {
    if (static_cast<Index>(a.shape(0)) != objects->n) throw nb::value_error("aux: wrong length");
    Buffer<T> b(std::max<Index>(static_cast<Index>(a.shape(0)), 1));
    for (size_t i = 0; i < a.shape(0); ++i) b[static_cast<Index>(i)] = static_cast<T>(a.data()[i]);
    objects->aux.push_back(std::move(b));
  }
};

/// Largest norm of a row, and of its rounding error, in the store of a leaf.
template <class T>
std::pair<double, double> describe(const ObjectsBuilder<T>& b, int leaf) {
  const Store<T>& s = *b.objects->stores.at(static_cast<size_t>(leaf));
  if (auto* d = std::get_if<DenseStore<T>>(&s)) return {d->radius, d->rounding};
  if (auto* p = std::get_if<SparseStore<T>>(&s))
    return {p->radius, p->radius * static_cast<double>(std::numeric_limits<T>::epsilon()) / 2};
  return {0.0, 0.0};
}

/// Columns of the rows in the store of a leaf.
template <class T>
Index columns_of(const ObjectsBuilder<T>& b, int leaf) {
  const Store<T>& s = *b.objects->stores.at(static_cast<size_t>(leaf));
  if (auto* d = std::get_if<DenseStore<T>>(&s)) return d->d;
  if (auto* p = std::get_if<SparseStore<T>>(&s)) return p->d;
  return 0;
}

// ------------------------------------------------------------------ programs and evaluators

/// ("table", grid, step, first, below, beyond, coefficients by falling power x pieces).
Table parse_table(const nb::tuple& t) {
  const auto grid = nb::cast<std::string>(t[1]);
  const auto c = nb::cast<nb::ndarray<const double, nb::ndim<2>, nb::c_contig>>(t[6]);
  Table table;
  TableView<double>& s = table.shape;
  s.grid = grid == "octaves" ? Grid::octaves : (grid == "root" ? Grid::root : Grid::even);
  s.factor = nb::cast<double>(t[2]);
  s.first = nb::cast<double>(t[3]);
  s.below = nb::cast<double>(t[4]);
  s.beyond = nb::cast<double>(t[5]);
  s.degree = static_cast<int>(c.shape(0)) - 1;
  s.pieces = static_cast<Index>(c.shape(1));
  table.coefficients.assign(c.data(), c.data() + c.size());
  return table;
}

Program parse_program(nb::list code, int n_leaves, int n_aux) {
  Program p;
  p.n_leaves = n_leaves;
  p.n_aux = n_aux;
  for (nb::handle h : code) {
    nb::tuple t = nb::cast<nb::tuple>(h);
    const auto name = nb::cast<std::string>(t[0]);
    Instruction i{};
    if (name == "leaf")
      i = {Op::leaf, nb::cast<int>(t[1]), 0, 0};
    else if (name == "const")
      i = {Op::constant, 0, nb::cast<double>(t[1]), 0};
    else if (name == "affine")
      i = {Op::affine, 0, nb::cast<double>(t[1]), nb::cast<double>(t[2])};
    else if (name == "exp")
      i = {Op::exp, 0, nb::cast<double>(t[1]), nb::cast<double>(t[2])};
    else if (name == "tanh")
      i = {Op::tanh, 0, 0, 0};
    else if (name == "powi")
      i = {Op::powi, nb::cast<int>(t[1]), 0, 0};
    else if (name == "add")
      i = {Op::add, 0, 0, 0};
    else if (name == "mul")
      i = {Op::mul, 0, 0, 0};
    else if (name == "aux")
      i = {Op::aux, nb::cast<int>(t[1]), 0, 0};
    else if (name == "aux_add")
      i = {Op::aux_add, nb::cast<int>(t[1]), 0, 0};
    else if (name == "dup")
      i = {Op::dup, 0, 0, 0};
    else if (name == "swap")
      i = {Op::swap, 0, 0, 0};
    else if (name == "log")
      i = {Op::log, 0, 0, 0};
    else if (name == "sqrt")
      i = {Op::sqrt, 0, 0, 0};
    else if (name == "cos")
      i = {Op::cos, 0, 0, 0};
    else if (name == "reciprocal")
      i = {Op::reciprocal, 0, 0, 0};
    else if (name == "power")
      i = {Op::power, 0, nb::cast<double>(t[1]), 0};
    else if (name == "polynomial") {
      i = {Op::polynomial, static_cast<int>(p.polynomials.size()), 0, 0};
      p.polynomials.push_back(nb::cast<std::vector<double>>(t[1]));
    } else if (name == "table") {
      i = {Op::table, static_cast<int>(p.tables.size()), 0, 0};
      p.tables.push_back(parse_table(t));
    } else
      throw nb::value_error(("unknown instruction " + name).c_str());
    p.code.push_back(i);
  }
  p.depth();
  return p;
}

/// Calls a Python function f(ids_a, ids_b) -> 2-d array and copies the tile out.
template <class T>
void call_python(const nb::object& f, const Index* a, Index na, const Index* b, Index nb_, T* out,
                 Index stride) {
  nb::gil_scoped_acquire gil;
  Index *ia, *ib;
  auto ids_a = fresh<Index>({static_cast<size_t>(na)}, &ia);
  auto ids_b = fresh<Index>({static_cast<size_t>(nb_)}, &ib);
  std::copy_n(a, na, ia);
  std::copy_n(b, nb_, ib);
  nb::object result;
  try {
    result = f(ids_a, ids_b);
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_KeyboardInterrupt)) throw;
    // The tile is finished all the same, and the signal raised again for the solver to hear:
    // it then stops with the model it has.
    result = f(ids_a, ids_b);
    PyErr_SetInterrupt();
  }
  Array2<double> tile;
  if (!nb::try_cast(result, tile)) throw nb::type_error("the kernel must return a float64 array");
  if (static_cast<Index>(tile.shape(0)) != na || static_cast<Index>(tile.shape(1)) != nb_)
    throw nb::value_error("the kernel returned an array of the wrong shape");
  for (Index r = 0; r < na; ++r)
    for (Index k = 0; k < nb_; ++k)
      out[r * stride + k] = static_cast<T>(tile.data()[r * tile.stride(0) + k * tile.stride(1)]);
}

/// ("subsequence", decay, weights) and the like; see sequences/kernels.hpp for what they mean.
std::shared_ptr<const PairKernel> parse_pair(const nb::tuple& t) {
  const auto name = nb::cast<std::string>(t[0]);
  const auto numbers = [&](int k) { return to_vector(nb::cast<Array1<double>>(t[k])); };
  if (name == "subsequence") return make_subsequence(nb::cast<double>(t[1]), numbers(2));
  if (name == "substring")
    return make_substring(nb::cast<double>(t[1]), nb::cast<Index>(t[2]), nb::cast<Index>(t[3]));
  if (name == "weighted_degree") return make_weighted_degree(numbers(1), nb::cast<Index>(t[2]));
  if (name == "global_alignment")
    return make_global_alignment(nb::cast<double>(t[1]), nb::cast<Index>(t[2]));
  if (name == "pair_model") {
    std::vector<double> pair = numbers(1), insert = numbers(2);
    const auto letters = static_cast<Index>(insert.size());
    if (pair.size() != insert.size() * insert.size()) throw nb::value_error("pair: wrong size");
    return make_pair_model(letters, std::move(pair), std::move(insert), nb::cast<double>(t[3]));
  }
  throw nb::value_error(("unknown kernel on sequences " + name).c_str());
}

/// k(x, x) of sequences, or its logarithm for the kernels that give those.
template <class U>
nb::object diagonal_of(nb::tuple kernel, const U* data, size_t total, const Array1<Index>& start,
                       Index width, int n_jobs) {
  const auto pair = parse_pair(kernel);
  const SequenceStore s = sequence_store(data, total, start, width, std::nullopt);
  if (pair->takes_points() != (width > 0))
    throw nb::value_error("sequences do not fit their kernel");
  std::vector<double> d;
  {
    nb::gil_scoped_release release;
    d = pair_diagonal(*pair, s, resolve_jobs(n_jobs));
  }
  return array_of(d);
}

template <class T>
std::shared_ptr<const CoordinateLeaf<T>> parse_coordinates(const nb::dict& d) {
  static constexpr const char* names[n_coordinates] = {
      "product",   "minimum", "power",   "half_power", "gaussian",
      "laplacian", "spline",  "bspline", "cosines",    "wrapped"};
  const auto name = nb::cast<std::string>(d["function"]);
  const auto* found = std::find(names, names + n_coordinates, name);
  if (found == names + n_coordinates)
    throw nb::value_error(("unknown function of coordinates " + name).c_str());
  auto leaf = std::make_shared<CoordinateLeaf<T>>();
  Coordinates<T>& c = leaf->shape;
  c.function = static_cast<Coordinate>(found - names);
  const auto combination = nb::cast<std::string>(d["combination"]);
  c.combination = combination == "product"   ? Combination::product
                  : combination == "maximum" ? Combination::maximum
                                             : Combination::anova;
  c.order = nb::cast<int>(d["order"]);
  if (c.combination == Combination::anova && (c.order < 1 || c.order > max_anova_order))
    throw nb::value_error("order out of range");
  c.exponent = nb::cast<double>(d["a"]);
  c.a = static_cast<T>(c.exponent);
  c.b = nb::cast<T>(d["b"]);
  c.count = nb::cast<int>(d["count"]);
  leaf->peak = nb::cast<double>(d["peak"]);
  for (double v : nb::cast<std::vector<double>>(d["coefficients"]))
    leaf->coefficients.push_back(static_cast<T>(v));
  const bool sum = c.function == Coordinate::bspline || c.function == Coordinate::cosines;
  const int needed = sum ? std::max(c.count, 1) : c.function == Coordinate::wrapped ? 2 : 0;
  if (static_cast<int>(leaf->coefficients.size()) < needed)
    throw nb::value_error("too few coefficients");
  return leaf;
}

template <class T>
LeafSource<T> parse_source(nb::handle h) {
  nb::tuple t = nb::cast<nb::tuple>(h);
  const auto name = nb::cast<std::string>(t[0]);
  LeafSource<T> s;
  if (t.size() == 2 && name != "matrix" && name != "coordinates" && name != "sequence")
    s.cache = nb::cast<std::shared_ptr<StatisticCache<T>>>(t[1]);
  if (name == "dot")
    s.stat = Stat::dot;
  else if (name == "sqdist")
    s.stat = Stat::sqdist;
  else if (name == "l1")
    s.stat = Stat::l1;
  else if (name == "minimum")
    s.stat = Stat::minimum;
  else if (name == "harmonic")
    s.stat = Stat::harmonic;
  else if (name == "chi")
    s.stat = Stat::chi;
  else if (name == "coordinates")
    s.coordinates = parse_coordinates<T>(nb::cast<nb::dict>(t[1]));
  else if (name == "matrix") {
    auto keep = shared(nb::borrow<nb::object>(t[1]));
    Array2<double> d;
    Array2<float> f;
    if (nb::try_cast(*keep, d, false)) {
      s.matrix = d.data();
      s.row_stride = d.stride(0);
      s.col_stride = d.stride(1);
    } else if (nb::try_cast(*keep, f, false)) {
      s.matrix = f.data();
      s.matrix_single = true;
      s.row_stride = f.stride(0);
      s.col_stride = f.stride(1);
    } else {
      throw nb::type_error("the kernel matrix must be a float array");
    }
    // Ties the array's life to the source; never called for a matrix.
    s.call_diag = [keep](const Index*, Index, T*) {};
  } else if (name == "python") {
    auto f = shared(nb::borrow<nb::object>(t[1]));
    auto g = shared(nb::borrow<nb::object>(t[2]));
    s.call = [f](const Index* a, Index na, const Index* b, Index n, T* out, Index stride) {
      call_python<T>(*f, a, na, b, n, out, stride);
    };
    s.call_diag = [g](const Index* a, Index na, T* out) {
      nb::gil_scoped_acquire gil;
      Index* ia;
      auto ids = fresh<Index>({static_cast<size_t>(na)}, &ia);
      std::copy_n(a, na, ia);
      const auto d = nb::cast<Array1<double>>((*g)(ids));
      if (static_cast<Index>(d.shape(0)) != na)
        throw nb::value_error("the kernel returned a diagonal of the wrong length");
      for (Index i = 0; i < na; ++i) out[i] = static_cast<T>(d.data()[i]);
    };
  } else if (name == "sequence") {
    s.pair = parse_pair(nb::cast<nb::tuple>(t[1]));
  } else {
    throw nb::value_error(("unknown leaf " + name).c_str());
  }
  return s;
}

/// Asks Python about signals at most every 50 ms; remembers the exception of a handler.
class Signals {
 public:
  bool operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return raised_;
    last_ = now;
    nb::gil_scoped_acquire gil;
    if (!raised_ && PyErr_CheckSignals() != 0) {
      raised_ = true;
      PyErr_Clear();
    }
    return raised_;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  bool raised_ = false;
};

/// Raises KeyboardInterrupt.
[[noreturn]] void raise_interrupt() {
  PyErr_SetNone(PyExc_KeyboardInterrupt);
  throw nb::python_error();
}

/// to[k * to_stride + r] = tile[r * stride + k] for k < columns, a cache line at a time.
template <class T>
void mirror(const T* tile, Index stride, Index rows, Index columns, T* to, Index to_stride) {
  constexpr Index line = 64 / sizeof(T);
  for (Index k = 0; k < columns; k += line) {
    const Index stop = std::min(k + line, columns);
    for (Index r = 0; r < rows; ++r)
      for (Index c = k; c < stop; ++c) to[c * to_stride + r] = tile[r * stride + c];
  }
}

/// The values of some rows, or of all. Of a symmetric matrix each pair is computed once: a block
/// of rows ends with its own last column and is written to both sides of the diagonal.
template <class T>
nb::ndarray<nb::numpy, T> tile_of(const Evaluator<T>& e, std::optional<Array1<Index>> rows,
                                  int n_jobs) {
  const Index n = rows ? static_cast<Index>(rows->shape(0)) : e.rows();
  const Index m = e.cols();
  if (rows)
    for (Index i = 0; i < n; ++i)
      if (rows->data()[i] < 0 || rows->data()[i] >= e.rows())
        throw nb::index_error("row out of range");
  T* out;
  auto result = fresh<T>({static_cast<size_t>(n), static_cast<size_t>(m)}, &out);
  const Index* ids = rows ? rows->data() : nullptr;
  const bool symmetric = !rows && e.symmetric();
  Signals signals;
  std::atomic<bool> interrupted{false};
  {
    nb::gil_scoped_release release;
    const Index block = e.block();
    const Index width = e.threads_allowed()
                            ? std::min<Index>(round_up(std::max<Index>(m, 1), e.panel()), 1024)
                            : round_up(std::max<Index>(m, 1), e.panel());
    const Index blocks = (n + block - 1) / block;
    int threads = e.threads_allowed() ? resolve_jobs(n_jobs) : 1;
    if (static_cast<double>(n) * static_cast<double>(m) * e.cost() < 2e6) threads = 1;
    struct Scratch {
      Query<T> query;
      Buffer<T> tile;
    };
    std::vector<Scratch> scratch(static_cast<size_t>(threads));
    if (m > 0)
      parallel_for(threads, blocks, [&](Index b, int worker) {
        Scratch& w = scratch[worker];
        w.tile.require(std::min(block, n) * width);
        // The longest blocks of a symmetric matrix first, so that the threads end together.
        const Index from = (symmetric ? blocks - 1 - b : b) * block, nq = std::min(block, n - from);
        std::vector<Index> q(static_cast<size_t>(nq));
        for (Index r = 0; r < nq; ++r) q[r] = ids ? ids[from + r] : from + r;
        e.prepare(w.query, q.data(), static_cast<int>(nq));
        const Index end = symmetric ? from + nq : m;
        for (Index c = 0; c < end; c += width) {
          if (worker == 0 && signals()) interrupted = true;
          if (interrupted) return;
          const Index count = std::min(width, end - c);
          e.tile(w.query, c, count, w.tile.data(), width);
          for (Index r = 0; r < nq; ++r)
            std::copy_n(w.tile.data() + r * width, count, out + (from + r) * m + c);
          if (symmetric)
            mirror(w.tile.data(), width, nq, std::min(count, from - c), out + c * m + from, m);
        }
      });
  }
  if (interrupted) raise_interrupt();
  return result;
}

template <class T>
nb::object product_of(const Evaluator<T>& e, nb::list segments, int n_jobs) {
  std::vector<Segment> parsed;
  std::vector<nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>> keep;
  Index cols = 0;
  for (nb::handle h : segments) {
    nb::tuple t = nb::cast<nb::tuple>(h);
    auto v = nb::cast<nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>>(t[1]);
    const Index begin = nb::cast<Index>(t[0]), end = begin + static_cast<Index>(v.shape(0));
    if (begin < 0 || end > e.cols()) throw nb::index_error("segment out of range");
    parsed.push_back({begin, end, static_cast<Index>(v.shape(1)), cols, v.data()});
    cols += static_cast<Index>(v.shape(1));
    keep.push_back(std::move(v));
  }
  double* out;
  auto result = fresh<double>({static_cast<size_t>(e.rows()), static_cast<size_t>(cols)}, &out);
  Signals signals;
  bool complete = false;
  {
    nb::gil_scoped_release release;
    int threads = resolve_jobs(n_jobs);
    if (static_cast<double>(e.rows()) * static_cast<double>(e.cols()) * e.cost() < 1e6) threads = 1;
    complete = e.product(parsed, out, cols, threads, [&] { return signals(); });
  }
  if (!complete) raise_interrupt();
  return nb::cast(result);
}

// ------------------------------------------------------------------ solving

std::vector<double> column(const nb::dict& d, const char* name) {
  return to_vector(nb::cast<Array1<double>>(d[name]));
}

SubProblem parse_problem(const nb::dict& d) {
  SubProblem s;
  Problem& p = s.problem;
  p.lower = column(d, "lower");
  p.upper = column(d, "upper");
  p.slope_left = column(d, "slope_left");
  p.slope_right = column(d, "slope_right");
  p.curv_left = column(d, "curv_left");
  p.curv_right = column(d, "curv_right");
  p.kink = column(d, "kink");
  p.groups = nb::cast<int>(d["groups"]);
  if (p.groups > 2) throw nb::value_error("at most two groups (equalities) are supported");
  if (p.groups) {
    const auto g = nb::cast<Array1<Index>>(d["group"]);
    p.group.assign(g.data(), g.data() + g.shape(0));
  }
  if (!d["rows"].is_none()) s.rows = to_vector(nb::cast<Array1<Index>>(d["rows"]));
  if (!d["start"].is_none()) s.start = to_vector(nb::cast<Array1<double>>(d["start"]));
  return s;
}

Settings parse_settings(const nb::dict& d) {
  Settings s;
  s.tol = nb::cast<double>(d["tol"]);
  s.gap_tol = nb::cast<double>(d["gap_tol"]);
  s.max_iter = nb::cast<Index>(d["max_iter"]);
  s.time_limit = nb::cast<double>(d["time_limit"]);
  s.shrinking = nb::cast<bool>(d["shrinking"]);
  s.cache_bytes = nb::cast<double>(d["cache_bytes"]);
  s.threads = resolve_jobs(nb::cast<int>(d["n_jobs"]));
  s.working_set = nb::cast<Index>(d["working_set"]);
  s.objective_floor = nb::cast<double>(d["objective_floor"]);
  return s;
}

const char* status_name(Status s) {
  switch (s) {
    case Status::optimal:
      return "optimal";
    case Status::iteration_limit:
      return "iteration_limit";
    case Status::time_limit:
      return "time_limit";
    case Status::interrupted:
      return "interrupted";
    case Status::infeasible:
      return "infeasible";
    case Status::stationary:
      return "stationary";
    case Status::stalled:
      return "stalled";
  }
  return "optimal";
}

nb::dict to_dict(const Solution& s, int groups) {
  nb::dict d;
  d["beta"] = array_of(s.beta);
  d["values"] = array_of(s.values);
  nb::list m, r;
  for (int g = 0; g < groups; ++g) {
    m.append(s.multiplier[g]);
    r.append(nb::make_tuple(s.range[g][0], s.range[g][1]));
  }
  d["multiplier"] = m;
  d["multiplier_range"] = r;
  d["status"] = status_name(s.status);
  d["violation"] = s.violation;
  d["objective"] = s.objective;
  d["relative_gap"] = s.relative_gap;
  d["n_iter"] = s.n_iter;
  d["n_kernel_values"] = s.n_kernel_values;
  d["outer"] = s.outer;
  d["cache_hits"] = s.cache_hits;
  d["cache_misses"] = s.cache_misses;
  d["negative_curvature"] = s.negative_curvature;
  d["fresh"] = s.fresh;
  return d;
}

template <class T>
nb::list solve_python(const Evaluator<T>& kernel, std::shared_ptr<Objects<T>> objects,
                      nb::list problems, const nb::dict& settings, nb::object callback) {
  std::vector<SubProblem> parsed;
  for (nb::handle h : problems) parsed.push_back(parse_problem(nb::cast<nb::dict>(h)));
  for (const SubProblem& p : parsed)
    for (Index r : p.rows)
      if (r < 0 || r >= objects->n) throw nb::index_error("problem row out of range");
  Settings s = parse_settings(settings);
  Signals signals;
  s.interrupted = [&] { return signals(); };
  if (!callback.is_none()) {
    s.callback = [&](const Progress& p) {
      nb::gil_scoped_acquire gil;
      nb::object stop = callback(p.iteration, p.violation, p.objective, p.gap, p.active,
                                 p.cache_hits, p.cache_misses);
      return !stop.is_none() && nb::cast<bool>(stop);
    };
  }
  std::vector<Solution> solutions;
  {
    nb::gil_scoped_release release;
    solutions = solve_many<T>(parsed, objects, kernel, s);
  }
  nb::list out;
  for (size_t k = 0; k < solutions.size(); ++k)
    out.append(to_dict(solutions[k], parsed[k].problem.groups));
  return out;
}

template <class T>
void bind_type(nb::module_& m, const char* objects_name, const char* statistics_name,
               const char* evaluator_name) {
  using Builder = ObjectsBuilder<T>;
  nb::class_<StatisticCache<T>>(m, statistics_name)
      .def(nb::new_([](Index n, double bytes) {
             if (n < 0 || !(bytes >= 0)) throw nb::value_error("a negative size");
             return std::make_shared<StatisticCache<T>>(n, bytes);
           }),
           "n"_a, "bytes"_a)
      .def_prop_ro("rows", &StatisticCache<T>::rows);
  nb::class_<Builder>(m, objects_name)
      .def(nb::init<Index>(), "n"_a)
      .def("dense", &Builder::template dense<float>, "x"_a.noconvert(), "centre"_a = nb::none())
      .def("dense", &Builder::template dense<double>, "x"_a.noconvert(), "centre"_a = nb::none())
      .def("compress", &Builder::template compress<float>, "x"_a.noconvert())
      .def("compress", &Builder::template compress<double>, "x"_a.noconvert())
      .def("sparse", &Builder::template sparse<float, std::int32_t>, "value"_a.noconvert(),
           "column"_a.noconvert(), "start"_a.noconvert(), "d"_a, "exact"_a = false)
      .def("sparse", &Builder::template sparse<double, std::int32_t>, "value"_a.noconvert(),
           "column"_a.noconvert(), "start"_a.noconvert(), "d"_a, "exact"_a = false)
      .def("sparse", &Builder::template sparse<float, std::int64_t>, "value"_a.noconvert(),
           "column"_a.noconvert(), "start"_a.noconvert(), "d"_a, "exact"_a = false)
      .def("sparse", &Builder::template sparse<double, std::int64_t>, "value"_a.noconvert(),
           "column"_a.noconvert(), "start"_a.noconvert(), "d"_a, "exact"_a = false)
      .def("index", &Builder::index, "id"_a)
      .def("tokens", &Builder::tokens, "token"_a.noconvert(), "start"_a.noconvert(),
           "norm"_a = nb::none())
      .def("points", &Builder::points, "value"_a.noconvert(), "start"_a.noconvert(),
           "norm"_a = nb::none())
      .def("share", &Builder::share, "other"_a, "leaf"_a)
      .def("number", &Builder::number)
      .def("aux", &Builder::aux, "values"_a)
      .def("take",
           [](const Builder& b, Array1<Index> index) {
             for (size_t i = 0; i < index.shape(0); ++i)
               if (index.data()[i] < 0 || index.data()[i] >= b.objects->n)
                 throw nb::index_error("index out of range");
             Builder out(0);
             out.objects = b.objects->take(index.data(), static_cast<Index>(index.shape(0)));
             return out;
           })
      .def(
          "radius", [](const Builder& b, int leaf) { return describe(b, leaf).first; }, "leaf"_a)
      .def(
          "rounding", [](const Builder& b, int leaf) { return describe(b, leaf).second; }, "leaf"_a)
      .def(
          "columns", [](const Builder& b, int leaf) { return columns_of(b, leaf); }, "leaf"_a)
      .def(
          "is_sparse",
          [](const Builder& b, int leaf) {
            return std::holds_alternative<SparseStore<T>>(
                *b.objects->stores.at(static_cast<size_t>(leaf)));
          },
          "leaf"_a)
      .def_prop_ro("n", [](const Builder& b) { return b.objects->n; });

  nb::class_<Evaluator<T>>(m, evaluator_name)
      .def(
          "__init__",
          [](Evaluator<T>* self, nb::list code, nb::list sources, int n_aux, const Builder& a,
             const Builder& b) {
            std::vector<LeafSource<T>> parsed;
            for (nb::handle h : sources) parsed.push_back(parse_source<T>(h));
            for (const LeafSource<T>& source : parsed)
              for (const auto& objects : {a.objects, b.objects})
                for (const Index i : objects->id)
                  if (source.cache && i >= source.cache->size())
                    throw nb::index_error("statistics are kept for fewer objects");
            Program program = parse_program(code, static_cast<int>(parsed.size()), n_aux);
            new (self) Evaluator<T>(std::move(program), std::move(parsed), a.objects, b.objects);
          },
          "code"_a, "sources"_a, "n_aux"_a, "a"_a, "b"_a)
      .def("tile", &tile_of<T>, "rows"_a = nb::none(), "n_jobs"_a = 0)
      .def("product", &product_of<T>, "segments"_a, "n_jobs"_a = 0)
      .def("diag",
           [](const Evaluator<T>& e) {
             std::vector<T> d(static_cast<size_t>(e.cols()));
             e.diag(d.data());
             return array_of(std::vector<double>(d.begin(), d.end()));
           })
      .def(
          "solve",
          [](const Evaluator<T>& e, const Builder& objects, nb::list problems,
             const nb::dict& settings, nb::object callback) {
            return solve_python<T>(e, objects.objects, problems, settings, callback);
          },
          "objects"_a, "problems"_a, "settings"_a, "callback"_a = nb::none());
}

// ------------------------------------------------------------------ hidden Markov models

using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// The emissions come transposed: symbols x states.
HiddenMarkovModel hidden_markov(const Array1<double>& initial, const Table& transition,
                                const Table& emission, const Array1<std::int32_t>& x) {
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
                                     Array1<double> initial, Table transition, Table emission,
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
  {
    nb::gil_scoped_release release;
    hidden_markov_gradients(m, x.data(), start.data(), static_cast<Index>(n), resolve_jobs(n_jobs),
                            log_probability, gradient);
  }
  return nb::make_tuple(first, second);
}

nb::tuple hidden_markov_passes_of(Array1<std::int32_t> x, Array1<double> initial, Table transition,
                                  Table emission) {
  const HiddenMarkovModel m = hidden_markov(initial, transition, emission, x);
  const size_t length = x.shape(0), k = initial.shape(0);
  ForwardBackward pass;
  const double log_probability = pass.run(m, x.data(), static_cast<Index>(length));
  double *forward, *backward, *scale;
  auto f = fresh<double>({length, k}, &forward);
  auto b = fresh<double>({length, k}, &backward);
  auto c = fresh<double>({length}, &scale);
  std::copy_n(pass.forward.data(), length * k, forward);
  std::copy_n(pass.backward.data(), length * k, backward);
  std::copy_n(pass.scale.data(), length, scale);
  return nb::make_tuple(log_probability, f, b, c);
}

}  // namespace
}  // namespace mercer

// threadpoolctl finds these two by name in the shared library.
extern "C" __attribute__((visibility("default"))) int mercer_get_num_threads() {
  return mercer::num_threads();
}
extern "C" __attribute__((visibility("default"))) void mercer_set_num_threads(int n) {
  mercer::set_num_threads(n);
}

NB_MODULE(_native, m) {
  using namespace mercer;
  // A module-level Gram of a Python kernel is a reference cycle at exit, not a leak.
  nb::set_leak_warnings(false);
  m.def("isa", [] { return std::string(current_isa().name); });
  m.def("available_isas", &available_isas);
  m.def("set_isa", &set_isa);
  m.def("get_num_threads", &num_threads);
  m.def("set_num_threads", &set_num_threads);
  m.def("usable_cpus", &usable_cpus);
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
            {
              nb::gil_scoped_release release;
              counts = table.count(s.token.data(), s.start.data(), s.n);
            }
            return nb::make_tuple(array_of(counts.value), array_of(counts.column),
                                  array_of(counts.start));
          },
          "token"_a.noconvert(), "start"_a.noconvert())
      .def_prop_ro("columns", &GramTable::columns);
  bind_type<float>(m, "Objects32", "Statistics32", "Evaluator32");
  bind_type<double>(m, "Objects64", "Statistics64", "Evaluator64");
  m.def("hidden_markov_gradients", &hidden_markov_gradients_of, "symbols"_a.noconvert(),
        "start"_a.noconvert(), "initial"_a.noconvert(), "transition"_a.noconvert(),
        "emission"_a.noconvert(), "n_jobs"_a = 0);
  m.def("hidden_markov_passes", &hidden_markov_passes_of, "symbols"_a.noconvert(),
        "initial"_a.noconvert(), "transition"_a.noconvert(), "emission"_a.noconvert());
}
