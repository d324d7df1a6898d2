// The classes that exist in single and in double precision.
#include "bindings/builder.hpp"
#include "bindings/pair_solving.hpp"
#include "bindings/parts.hpp"
#include "bindings/programs.hpp"
#include "bindings/solving.hpp"
#include "bindings/values.hpp"

namespace mercer {
namespace {

template <class T>
void bind_type(nb::module_& m, const char* objects_name, const char* statistics_name,
               const char* evaluator_name, const char* multiplier_name, const char* rows_name) {
  using Builder = ObjectsBuilder<T>;
  nb::class_<Multiplier<T>>(m, multiplier_name)
      .def_prop_ro("linear", [](const Multiplier<T>& self) { return self.weights != nullptr; });
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
           "norm"_a = nb::none(), "kernel"_a = nb::none())
      .def("points", &Builder::points, "value"_a.noconvert(), "start"_a.noconvert(),
           "norm"_a = nb::none())
      .def("share", &Builder::share, "other"_a, "leaf"_a)
      .def("number", &Builder::number)
      .def("aux", &Builder::aux, "values"_a)
      .def("take",
           [](const Builder& b, Array1<Index> index) {
             for (size_t i = 0; i < index.shape(0); ++i)
               require_object(index.data()[i], b.objects->n);
             Builder out(0);
             out.objects = b.objects->take(index.data(), static_cast<Index>(index.shape(0)));
             return out;
           })
      .def(
          "radius", [](const Builder& b, int leaf) { return describe(b, leaf).first; }, "leaf"_a)
      .def(
          "rounding", [](const Builder& b, int leaf) { return describe(b, leaf).second; }, "leaf"_a)
      .def(
          "partial_sums", [](const Builder& b, int leaf) { return partial_sums_of(b, leaf); },
          "leaf"_a)
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

  auto evaluator = nb::class_<Evaluator<T>>(m, evaluator_name);
  evaluator
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
      .def(
          "on", [](const Evaluator<T>& e, const Builder& rows) { return e.on(rows.objects); },
          "rows"_a)
      .def("tile", &tile_of<T>, "rows"_a = nb::none(), "n_jobs"_a = 0)
      .def("product", &product_of<T>, "segments"_a, "n_jobs"_a = 0)
      .def_prop_ro("linear", &Evaluator<T>::linear)
      .def("multiplier", &multiplier_of<T>, "segments"_a, "n_jobs"_a = 0, "exact"_a = false)
      .def("multiply", &multiply<T>, "multiplier"_a, "n_jobs"_a = 0)
      .def("diag", &diagonal_of<T>, "n_jobs"_a = 0)
      .def(
          "solve",
          [](const Evaluator<T>& e, const Builder& objects, nb::list problems,
             const nb::dict& settings, nb::object callback, std::shared_ptr<RowStore<T>> rows) {
            if (rows)
              for (const Index i : objects.objects->id)
                if (i >= rows->size()) throw nb::index_error("rows are kept for fewer objects");
            return solve_python<T>(e, objects.objects, problems, settings, callback, rows.get());
          },
          "objects"_a, "problems"_a, "settings"_a, "callback"_a = nb::none(),
          "rows"_a.none() = nb::none());
  nb::class_<RowStore<T>>(m, rows_name)
      .def(nb::new_([](const Evaluator<T>& e, const Builder& objects) {
             return std::make_shared<RowStore<T>>(e.on(objects.objects, objects.objects));
           }),
           "kernel"_a, "objects"_a)
      .def_prop_ro("rows", &RowStore<T>::rows);
  if constexpr (std::is_same_v<T, double>) {
    evaluator.def("split", &split_of, "high"_a, "low"_a, "n_jobs"_a = 0);
    evaluator.def(
        "solve_class_pairs",
        [](const Evaluator<T>& e, const Builder& objects, const nb::dict& problems,
           const nb::dict& settings, nb::object callback) {
          return class_pairs_python(e, objects.objects, problems, settings, callback);
        },
        "objects"_a, "problems"_a, "settings"_a, "callback"_a = nb::none());
  }
}

}  // namespace

void bind_single(nb::module_& m) {
  bind_type<float>(m, "Objects32", "Statistics32", "Evaluator32", "Multiplier32", "Rows32");
}
void bind_double(nb::module_& m) {
  bind_type<double>(m, "Objects64", "Statistics64", "Evaluator64", "Multiplier64", "Rows64");
}

}  // namespace mercer
