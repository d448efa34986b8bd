// Columns of a model file, the walk over them and the check of a forest.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "arrays.h"
#include "bevel/file/check_forest.h"
#include "bevel/file/column.h"
#include "bevel/file/fault.h"
#include "bevel/file/mapped_forest.h"
#include "bevel/support/check.h"
#include "bevel/support/memory.h"
#include "forest_view.h"
#include "reporter.h"

using namespace bevel;

namespace {

using ByteVector = Vector<uint8_t>;

constexpr size_t kWorkOfValue = 16;  // between polls for cancellation, roughly

// A column with the memory it reads.
class ColumnReader {
 public:
  ColumnReader(std::string encoding, std::string dtype, int64_t length, const nb::dict& meta,
               const nb::dict& parts) {
    ColumnSource source{std::move(encoding), std::move(dtype), length, {}, {}};
    for (auto [name, number] : meta)
      source.meta[nb::cast<std::string>(name)] = nb::cast<int64_t>(number);
    for (auto [name, part] : parts) {
      const auto bytes = nb::cast<ByteVector>(part, false);
      kept_.append(nb::cast(bytes));
      source.parts[nb::cast<std::string>(name)] = as_span(bytes);
    }
    dtype_ = source.dtype;
    column_ = open_column(source);
  }

  const Column& column() const { return *column_; }
  int64_t at(size_t i) const { return column_->at(i); }
  nb::object decode() const;

 private:
  template <class T>
  std::vector<T> decoded() const;
  template <class T>
  void decode_to(std::vector<T>& values) const;

  nb::list kept_;
  std::string dtype_;
  std::unique_ptr<Column> column_;
};

template <class T>
std::vector<T> ColumnReader::decoded() const {
  std::vector<T> values(column_->size());
  run_cancellable([&] { decode_to(values); });
  return values;
}

template <class T>
void ColumnReader::decode_to(std::vector<T>& values) const {
  const size_t n = values.size();
  std::vector<int64_t> block(std::min(n, Column::kBlock));
  column_->verify();
  for (size_t first = 0; first < n; first += Column::kBlock) {
    const size_t length = std::min(Column::kBlock, n - first);
    poll_cancellation(length * kWorkOfValue);
    column_->read(first, std::span(block).first(length));
    for (size_t k = 0; k < length; ++k) {
      values[first + k] = static_cast<T>(block[k]);
      if (static_cast<int64_t>(values[first + k]) != block[k])
        fault("Values of a column must be of type " + dtype_ + "; got " + std::to_string(block[k]) +
              ".");
    }
  }
}

// Floats come out as unsigned integers of their size; Python views them as floats.
nb::object ColumnReader::decode() const {
  if (dtype_ == "|i1") return nb::cast(to_numpy(decoded<int8_t>()));
  if (dtype_ == "<i2") return nb::cast(to_numpy(decoded<int16_t>()));
  if (dtype_ == "<i4") return nb::cast(to_numpy(decoded<int32_t>()));
  if (dtype_ == "<i8") return nb::cast(to_numpy(decoded<int64_t>()));
  if (dtype_ == "|u1") return nb::cast(to_numpy(decoded<uint8_t>()));
  if (dtype_ == "<u2") return nb::cast(to_numpy(decoded<uint16_t>()));
  if (dtype_ == "<u4" || dtype_ == "<f4") return nb::cast(to_numpy(decoded<uint32_t>()));
  if (dtype_ == "<u8" || dtype_ == "<f8") return nb::cast(to_numpy(decoded<uint64_t>()));
  fault("A column must hold integers or floats; got type " + dtype_ + ".");
}

nb::ndarray<nb::numpy, uint8_t> packed(Vector<uint64_t> numbers, unsigned width) {
  require(width >= 1 && width <= PackedBits::kGreatestWidth, "[pack_bits] width is not 1 to 57");
  std::vector<uint8_t> bytes;
  run_cancellable([&] { bytes = pack_bits(as_span(numbers), width); });
  return to_numpy(std::move(bytes));
}

// A forest of columns with the memory they read.
class MappedView {
 public:
  MappedView(nb::dict columns, int32_t n_features, int32_t n_classes, Vector<int32_t> levels,
             Vector<float> medians)
      : columns_(columns),
        levels_(levels),
        medians_(medians),
        forest_(forest_columns(columns), n_features, n_classes, as_span(levels_),
                as_span(medians_)) {}

  nb::ndarray<nb::numpy, int32_t> apply(RowMajorMatrix X, int n_threads) const {
    const RowMatrix rows = row_matrix(X);
    std::vector<int32_t> out(rows.n_rows * forest_.n_trees());
    run_cancellable([&] { forest_.apply(rows, n_threads, out.data()); });
    return to_numpy(std::move(out), {rows.n_rows, forest_.n_trees()});
  }
  nb::ndarray<nb::numpy, double> predict_proba(RowMajorMatrix X, int n_threads, bool hard) const {
    const RowMatrix rows = row_matrix(X);
    const auto k = static_cast<size_t>(forest_.n_classes());
    auto out = allocate<double>(rows.n_rows * k, "a number for each row and class");
    run_cancellable([&] { forest_.predict_proba(rows, n_threads, hard, out.data()); });
    return to_numpy(std::move(out), {rows.n_rows, k});
  }
  nb::ndarray<nb::numpy, double> predict_value(RowMajorMatrix X, int n_threads) const {
    const RowMatrix rows = row_matrix(X);
    const size_t m = forest_.n_outputs();
    std::vector<double> out(rows.n_rows * std::max<size_t>(1, m));
    run_cancellable([&] { forest_.predict_value(rows, n_threads, out.data()); });
    return m ? to_numpy(std::move(out), {rows.n_rows, m}) : to_numpy(std::move(out));
  }

 private:
  static ForestColumns forest_columns(const nb::dict& columns) {
    ForestColumns found;
    for_each_column(found, [&](const ForestField& field, const Column*& column) {
      column = &nb::cast<const ColumnReader&>(columns[field.name]).column();
    });
    return found;
  }
  RowMatrix row_matrix(const RowMajorMatrix& X) const {
    require(static_cast<int64_t>(X.shape(1)) == forest_.n_features(),
            "[MappedForest] wrong number of features");
    return {X.data(), X.shape(0), X.shape(1), 1};
  }

  nb::dict columns_;
  Vector<int32_t> levels_;
  Vector<float> medians_;
  MappedForest forest_;
};

void check_arrays(nb::dict arrays, int32_t n_features, int32_t n_classes, Vector<int32_t> levels,
                  Vector<float> medians) {
  KeptForest forest(arrays, n_features, n_classes, levels, medians, true);
  run_cancellable([&] { check_forest(forest.arrays()); });
}

// The table of forest_fields.h: (name, dtype, per, kind, use) of each array.
nb::list forest_fields() {
  nb::list table;
#define BEVEL_ROW(type, name, per, kind, use) \
  table.append(nb::make_tuple(#name, dtype_of<type>(), #per, #kind, #use));
  BEVEL_FOREST_ARRAYS(BEVEL_ROW)
#undef BEVEL_ROW
  return table;
}

void raise_model_file_error(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const FileFault& fault) {
    const nb::object type = nb::module_::import_("bevel.errors").attr("ModelFileError");
    PyErr_SetString(type.ptr(), fault.what());
  }
}

}  // namespace

void bind_file(nb::module_& m) {
  nb::register_exception_translator(raise_model_file_error);
  nb::class_<ColumnReader>(m, "ColumnReader")
      .def(nb::init<std::string, std::string, int64_t, nb::dict, nb::dict>(), nb::arg("encoding"),
           nb::arg("dtype"), nb::arg("length"), nb::arg("meta"), nb::arg("parts"))
      .def("at", &ColumnReader::at, nb::arg("i"))
      .def("decode", &ColumnReader::decode);
  nb::class_<MappedView>(m, "MappedForest")
      .def(nb::init<nb::dict, int32_t, int32_t, Vector<int32_t>, Vector<float>>(),
           nb::arg("columns"), nb::arg("n_features"), nb::arg("n_classes"),
           nb::arg("levels").noconvert(), nb::arg("medians").noconvert())
      .def("apply", &MappedView::apply, nb::arg("X").noconvert(), nb::arg("n_threads"))
      .def("predict_proba", &MappedView::predict_proba, nb::arg("X").noconvert(),
           nb::arg("n_threads"), nb::arg("hard"))
      .def("predict_value", &MappedView::predict_value, nb::arg("X").noconvert(),
           nb::arg("n_threads"));
  m.def("forest_fields", &forest_fields);
  m.def("pack_bits", &packed, nb::arg("numbers").noconvert(), nb::arg("width"));
  m.def("check_forest", &check_arrays, nb::arg("arrays"), nb::arg("n_features"),
        nb::arg("n_classes"), nb::arg("levels").noconvert(), nb::arg("medians").noconvert());
}
