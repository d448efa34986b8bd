#include "python_source.h"

#include <algorithm>
#include <utility>

#include "arrays.h"
#include "bevel/projection/sampler.h"
#include "bevel/support/check.h"

using namespace bevel;

namespace {

class PythonSource : public DirectionSource {
 public:
  explicit PythonSource(nb::object function) : function_(std::move(function)) {}
  ~PythonSource() override {
    nb::gil_scoped_acquire gil;
    function_.reset();
  }

  void propose(const NodeRows& node, const DatasetView& data, uint64_t seed,
               Candidates& out) const override {
    nb::gil_scoped_acquire gil;
    const nb::object place = nb::make_tuple(node.row_data->tree, node.depth);
    nb::object result = function_(seed, place, features(node, data), targets(node), weights(node));
    const nb::tuple parts = nb::cast<nb::tuple>(result);
    const auto offset = nb::cast<Vector<uint32_t>>(parts[0], false);
    const auto index = nb::cast<Vector<int32_t>>(parts[1], false);
    const auto weight = nb::cast<Vector<float>>(parts[2], false);
    const auto base = static_cast<uint32_t>(out.index.size());
    require(offset.shape(0) > 0 && offset(offset.shape(0) - 1) == index.shape(0) &&
                weight.shape(0) == index.shape(0),
            "[custom] lengths of the arrays of directions");
    for (size_t e = 0; e < index.shape(0); ++e) {
      require(index(e) >= 0 && static_cast<size_t>(index(e)) < data.numeric.size(),
              "[custom] feature out of range");
      out.add_entry(index(e), weight(e));
    }
    for (size_t d = 1; d < offset.shape(0); ++d) out.offset.push_back(base + offset(d));
  }

 private:
  static nb::object features(const NodeRows& node, const DatasetView& data) {
    const size_t n = node.rows.size(), m = data.numeric.size();
    std::vector<float> values(n * m);
    for (size_t j = 0; j < m; ++j) {
      const int32_t feature = data.numeric[j];
      const float* x = node.columns[feature];
      for (size_t i = 0; i < n; ++i) {
        const float value = x[node.rows[i]];
        values[i * m + j] = value == value ? value : data.medians[feature];
      }
    }
    return nb::cast(to_numpy(std::move(values), {n, m}));
  }
  static nb::object targets(const NodeRows& node) {
    const size_t n = node.rows.size(), m = node.row_data->n_outputs();
    std::vector<int32_t> labels;
    std::vector<double> values;
    for (size_t i = 0; i < n; ++i) {
      int32_t first = 0;  // class of the output
      for (size_t k = 0; k < m; ++k) {
        if (node.row_data->n_classes == 0) {
          values.push_back(node.row_data->target(node.data_row(i), k));
          continue;
        }
        labels.push_back(node.row_data->label(node.data_row(i), k) - first);
        if (m > 1) first += node.row_data->output_classes[k];
      }
    }
    if (node.row_data->n_classes > 0)
      return nb::cast(m > 1 ? to_numpy(std::move(labels), {n, m}) : to_numpy(std::move(labels)));
    return nb::cast(m > 1 ? to_numpy(std::move(values), {n, m}) : to_numpy(std::move(values)));
  }
  static nb::object weights(const NodeRows& node) {
    std::vector<double> values(node.rows.size());
    for (size_t i = 0; i < values.size(); ++i) values[i] = node.row_data->weight(node.data_row(i));
    return nb::cast(to_numpy(std::move(values)));
  }

  nb::object function_;
};

}  // namespace

std::shared_ptr<const DirectionSource> make_python_source(nb::object function) {
  return std::make_shared<PythonSource>(std::move(function));
}
